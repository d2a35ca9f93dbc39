"""Whatever a file calls its documents, entities and classes: it loads, and nothing that comes after fails for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remix.files import read_bytes
from remix.formats import read
from remix.formats.conversion import convert
from remix.frames import Frames
from remix.iris import canonical
from remix.remixes import build
from remix.store import Store
from remix.store.answers import answer
from remix.store.queries import Query
from tests.examples import FEW

NAMES = st.text(
    st.one_of(
        st.sampled_from("a#%/?:@[] \\^`{|}<>\"'\x7f\x85\xa0\ue000\ufdd0\ufffd\uffff\U0001fffe\U000e0001"),
        st.characters(codec="utf-8", exclude_characters="\x00\r\n"),
    ),
    min_size=1,
    max_size=10,
)
# A document's name of white space alone is none: `parse_rows` refuses it, with its line.
DOCUMENTS = NAMES.filter(str.strip)
IDENTIFIERS = st.one_of(NAMES, NAMES.map("http://x/{}".format), NAMES.map("http://dbpedia.org/resource/{}".format))
LANGUAGES = st.sampled_from(["en", "zh_Hant", "x-", "Klingon tongue"])
Row = tuple[str, str, str, str]


def as_jsonl(rows: Sequence[Row]) -> str:
    lines: list[dict[str, object]] = []
    for document, entity, class_, language in rows:
        lines.append({"document": document, "text": "Ada met Bob", "language": language})
        lines.append({"document": document, "begin": 0, "end": 3, "entity": entity, "type": class_, "class": class_})
    return "".join(json.dumps(line) + "\n" for line in lines)


def as_gerbil(rows: Sequence[Row]) -> str:
    documents = []
    for number, (document, entity, class_, _) in enumerate(rows):
        mention = {"start": 0, "end": 3, "meaning": [entity], "types": [class_]}
        documents.append({"id": number, "iri": document, "text": "Ada met Bob", "annotations": [mention]})
    return json.dumps(documents)


def as_turtle(rows: Sequence[Row]) -> str:
    blocks = [
        """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
        @prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> ."""
    ]
    for number, row in enumerate(rows):
        document, entity, class_, _ = (
            "".join(f"\\u{ord(c):04X}" if c in "<>\\" or ord(c) < 33 else c for c in one) for one in row
        )
        blocks.append(f"""<http://d/{document}> nif:isString "Ada met Bob" .
        <http://d/a{number}> nif:referenceContext <http://d/{document}> ; nif:beginIndex 0 ; nif:endIndex 3 ;
          nif:anchorOf "Ada" ; itsrdf:taIdentRef <{entity}> ; itsrdf:taClassRef <{class_}> .""")
    return "\n".join(blocks)


FORMATS = {"jsonl": (".jsonl", as_jsonl), "gerbil-json": (".json", as_gerbil), "nif": (".ttl", as_turtle)}


def told(frames: Frames) -> list[tuple[object, ...]]:
    """Return what each mention's document, entity and class are called, sorted."""
    rows = frames.documents.select("document", "given").join(
        frames.annotations.select("document", "annotation"), on="document"
    )
    for table, column in ((frames.links, "entity"), (frames.classes, "class")):
        rows = rows.join(table.select("annotation", column), on="annotation", how="left")
    return sorted(rows.select("given", "entity", "class").rows(), key=repr)


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=FEW)
@given(rows=st.tuples(st.tuples(DOCUMENTS, IDENTIFIERS, IDENTIFIERS, LANGUAGES)))
@example(
    rows=(
        ("a#b#c", "a#b#c", "a#b#c", "en"),
        ("100%", "http://x/100%", "http://x/a b", "en"),
        ("http://[x]/", "http://x:y/", "x:", "de"),
        ("0", "http://dbpedia.org/resource/%\U00040000", "0", "en"),
    )
)
def test_file_with_any_identifiers_loads_and_converts_to_rdf_and_back(name: str, rows: tuple[Row, ...]) -> None:
    suffix, written = FORMATS[name]
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / f"x{suffix}").write_text(written(rows), encoding="utf-8", newline="\n")
        found = read(folder / f"x{suffix}", name="x", format=name, triples_to=folder / "data.nt.zst").frames
        strictly = list(ox.parse(read_bytes(folder / "data.nt.zst"), ox.RdfFormat.N_TRIPLES))
        assert len(strictly) > 8 * len(rows)
        for target in ("y.ttl", "y.nt"):
            convert(folder / f"x{suffix}", folder / target, name="x", format=name)
            again = read(folder / target, name="x")
            assert again.report.repairs == ()
            assert again.frames.documents["text"].to_list() == ["Ada met Bob"] * len(rows)
            assert told(again.frames) == told(found)
        assert canonical(found.links["entity"]).to_list() == found.links["entity"].to_list()


def test_what_was_loaded_makes_no_query_and_no_build_fail(tmp_path: Path) -> None:
    hostile = [
        "a#b#c",
        "%",
        "http://x/a#b#c",
        "http://x/%",
        "http://x/[a] {b}",
        "http://x:y/",
        "http://u@v@w/",
        "é\ue000",
    ]
    rows = [(f"d {one}", one, one, "zh_Hant") for one in hostile]
    (tmp_path / "x.jsonl").write_text(as_jsonl(rows), encoding="utf-8")
    store = Store(tmp_path / "ws")
    done = store.load(tmp_path / "x.jsonl")
    assert {repair.kind: repair.count for repair in done.report.repairs} == {"invalid-iri": 10, "language": 8}
    found = answer(store, Query.parse("SELECT ?e { ?a itsrdf:taIdentRef ?e ; itsrdf:taClassRef ?c }"))
    assert found.table.height == 8
    made = build(store, Query.parse("SELECT ?document ?annotation { ?annotation nif:referenceContext ?document }"))
    path, _ = made.write(tmp_path)
    again = read(path).frames
    assert sorted(again.links["entity"]) == sorted(store.frames().links["entity"])
