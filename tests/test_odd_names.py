"""Any text as an entity, document or class, in any format that holds it, goes the whole way through the tool.

A name that is no IRI has to become one wherever triples are written. One place that forgets it would end every verb
for the whole workspace, as the store refuses the graph.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remix.files import read_bytes
from remix.formats import FORMATS, read, write
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures.enrichment import enrich
from remix.names import ITSRDF, RMX
from remix.remixes import build
from remix.remixes.facets import Condition, compose, list_facets
from remix.runs.stored import register
from remix.store import Store
from remix.store.answers import answer
from remix.store.queries import Query
from tests.examples import FEW
from tests.formats.test_any_identifier import IDENTIFIERS, NAMES

ODD = [
    "AC\\DC",
    "a>b",
    "Q1<x>",
    "foo bar>baz",
    "</s>",
    'x"y',
    "{a}|`^",
    "http://x/a>b c",
    "wd:Q1<x>",
    "_:b",
    "a\\u003e",
]
ALL = "SELECT ?document ?annotation { ?annotation nif:referenceContext ?document }"
WRITTEN = sorted(one.name for one in FORMATS if one.write is not None)
"""Every format that a dataset can come in and that remix writes, so that a test can make a file of any names."""


Row = tuple[str, str, str]


def as_jsonl(rows: Sequence[Row]) -> str:
    lines: list[dict[str, object]] = []
    for document, entity, class_ in rows:
        lines.append({"document": document, "text": "Ada met Bob"})
        lines.append({"document": document, "begin": 0, "end": 3, "entity": entity, "class": class_})
    return "".join(json.dumps(line) + "\n" for line in lines)


def go_the_whole_way(format: str, rows: Sequence[Row], folder: Path) -> Frames:
    """Return what is stored of a dataset of these names in a format, after every verb was carried out with it.

    A format that holds no texts, or nothing of these names, has the answers to the same dataset in another format.
    """
    first = folder / "first.jsonl"
    first.write_text(as_jsonl(rows), encoding="utf-8")
    known, store = FORMATS[format], Store(folder / "workspace")
    file = folder / ("file.zip" if known.collection else f"file{known.suffixes[0]}")
    losses = {loss.kind for loss in write(read(first, name="first").frames, file, format)}
    bare = bool(losses & {"texts", "entities"})
    if bare:  # where there are no texts, names alone tell which document is which, and not every format holds any
        plain = [(f"d{number}", entity, class_) for number, (_, entity, class_) in enumerate(rows)]
        first.write_text(as_jsonl(plain), encoding="utf-8")
        write(read(first, name="first").frames, file, format)
    store.load(first if bare else file, name="odd", format="jsonl" if bare else format)
    enrich(store, None)
    # Outcomes are kept of a system that is right everywhere.
    register(store, None, folder / "runs", "me", str(file), on=["odd"], perfect=True, formats=[f"{format}={file}"])
    [entry], frames = store.datasets(), store.frames()
    for graph in (f"{entry.folder}/data.nt.zst", str(entry.enrichment_file)):
        assert list(ox.parse(read_bytes(store.folder / graph), ox.RdfFormat.N_TRIPLES))
    found = answer(store, Query.parse(f"SELECT ?a {{ ?a <{ITSRDF}taIdentRef> ?e ; <{RMX}entity> ?m }}"))
    assert found.table.height == frames.links.height
    path, _ = build(store, Query.parse(ALL)).write(folder)
    again = read(path, name="odd").frames
    assert sorted(again.links["entity"]) == sorted(frames.links["entity"])
    assert again.annotations.height == frames.annotations.height
    return frames


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("format", WRITTEN)
def test_odd_names_in_any_format_are_loaded_enriched_queried_built_and_exported(format: str, tmp_path: Path) -> None:
    rows = [(f"d{number} {one}", one, one) for number, one in enumerate(ODD)]
    assert go_the_whole_way(format, rows, tmp_path).annotations.height == len(ODD)


@pytest.mark.long
@settings(max_examples=FEW)
@given(st.sampled_from(WRITTEN), st.lists(st.tuples(NAMES, IDENTIFIERS, IDENTIFIERS), min_size=1, max_size=3))
@example("jsonl", [("a", "AC\\DC", "a>b")])
def test_any_names_are_loaded_enriched_queried_built_and_exported(format: str, rows: Sequence[Row]) -> None:
    with TemporaryDirectory() as place:
        go_the_whole_way(format, rows, Path(place))


@pytest.mark.long
def test_odd_names_of_a_knowledge_base_are_written_as_iris(tmp_path: Path, kb_of: Callable[..., KnowledgeBase]) -> None:
    # 'Ada' means an entity that the knowledge base knows as another one and whose class is no IRI either.
    kb = kb_of(
        {
            "surface_forms.tsv": "surface_form\tentity\tcount\tsource\nAda\thttp://x/a\\DC\t1\tx\n",
            "redirects.tsv": "redirect\ttarget\tsource\nhttp://x/Ada\thttp://x/a\\DC\tx\n",
            "types.tsv": "entity\tclass\tsource\nhttp://x/a\\DC\tfoo bar>baz\tx\n",
        }
    )
    (tmp_path / "x.jsonl").write_text(as_jsonl([("d", "http://x/Ada", "Person")]), encoding="utf-8")
    store = Store(tmp_path / "workspace")
    store.load(tmp_path / "x.jsonl")
    enrich(store, kb)
    found = answer(store, Query.parse("SELECT ?e ?c { ?a rmx:entity ?e ; itsrdf:taClassRef ?c }")).table
    assert found.sort("c").rows() == [
        ("http://x/a%5CDC", "https://w3id.org/nel-remix/ns#Person"),
        ("http://x/a%5CDC", "urn:remix:entity:foo%20bar%3Ebaz"),
    ]


def test_class_of_a_facet_that_is_no_iri_is_asked_for_as_one(small_store: Store) -> None:
    facet = list_facets()["class"]
    query = compose([Condition(facet, among=("a> } b", "http://dbpedia.org/ontology/Person"))])
    assert "IN (<urn:remix:entity:a%3E%20%7D%20b>, <http://dbpedia.org/ontology/Person>)" in query
    assert answer(small_store, Query.parse(query)).table.height == 5  # Anna, Michael, David, Alice, Jordan
