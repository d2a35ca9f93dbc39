"""What is stated of annotations besides what their file says: each is a phrase, and has its classes in any spelling."""

from __future__ import annotations

from pathlib import Path

import pytest

from remix.formats.conversion import convert
from remix.measures.enrichment import enrich
from remix.remixes import build
from remix.store import Store
from remix.store.answers import answer
from remix.store.queries import Query
from remix.store.targets import write_out
from remix.workspace import Workspace

NIF = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix rmx: <https://w3id.org/nel-remix/ns#> .
<http://x/d#char=0,12> a nif:Context ; nif:isString "Ada met Acme" .
<http://x/d#char=0,3> a nif:RFC5147String ; nif:referenceContext <http://x/d#char=0,12> ; nif:anchorOf "Ada" ;
  nif:beginIndex 0 ; nif:endIndex 3 ; itsrdf:taIdentRef <http://x/Ada> ;
  itsrdf:taClassRef <http://xmlns.com/foaf/0.1/Person> .
<http://x/d#char=8,12> a nif:Phrase ; nif:referenceContext <http://x/d#char=0,12> ; nif:anchorOf "Acme" ;
  nif:beginIndex 8 ; nif:endIndex 12 ; itsrdf:taIdentRef <http://x/Acme> ;
  itsrdf:taClassRef <http://dbpedia.org/ontology/Organisation> , <http://schema.org/Organization> .
<http://x/d#char=4,7> a rmx:Ignorable ; rmx:document <http://x/d#char=0,12> ; rmx:ignorable "optional" ;
  nif:anchorOf "met" ; nif:beginIndex 4 ; nif:endIndex 7 .
"""
ALL = "SELECT ?document ?annotation { ?annotation nif:referenceContext ?document }"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "x.ttl").write_text(NIF)
    store = Store(tmp_path / "workspace")
    store.load(tmp_path / "x.ttl")
    return store


def forms(store: Store, pattern: str) -> list[str]:
    """Return the forms of what a pattern draws as ?a, each as often as it is drawn."""
    return sorted(answer(store, Query.parse(f"SELECT ?f {{ {pattern} ?a nif:anchorOf ?f }}")).table["f"])


def test_every_annotation_is_drawn_as_a_phrase_and_nothing_ignorable(store: Store) -> None:
    assert forms(store, "?a a nif:Phrase .") == ["Acme", "Ada"]
    enrich(store, None)
    assert forms(store, "?a a nif:Phrase .") == ["Acme", "Ada"]


def test_what_is_exported_has_the_types_that_its_file_gave(store: Store, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    convert(tmp_path / "x.ttl", tmp_path / "y.ttl")
    path, _ = build(store, Query.parse(ALL)).write(tmp_path / "out")
    for file in (tmp_path / "y.ttl", write_out(store, "x", tmp_path / "out"), path):
        assert file.read_text().count("nif:Phrase") == 1


@pytest.mark.at_hand(2)
@pytest.mark.parametrize(
    ("spelling", "found"),
    [
        ("dbo:Organization", ["Acme"]),
        ("dbo:Organisation", ["Acme"]),
        ("schema:Organization", ["Acme"]),
        ("<https://schema.org/Organization>", ["Acme"]),
        ("foaf:Person", ["Ada"]),
        ("dbo:Person", ["Ada"]),
        ("schema:Person", ["Ada"]),
        ("dbo:Place", []),
    ],
)
def test_classes_are_found_in_every_spelling_once(store: Store, spelling: str, found: list[str]) -> None:
    enrich(store, None)
    assert forms(store, f"?a itsrdf:taClassRef {spelling} .") == found


@pytest.mark.long
def test_other_spellings_are_in_no_remix_and_no_count(store: Store, tmp_path: Path) -> None:
    before = store.frames().classes.sort("annotation", "class")
    enrich(store, None)
    assert store.frames().classes.sort("annotation", "class").equals(before)
    path, _ = build(store, Query.parse(ALL)).write(tmp_path / "remix.ttl".removesuffix(".ttl"))
    assert "dbo:Organization" not in path.read_text() and "https://schema.org" not in path.read_text()
    workspace = Workspace(tmp_path / "workspace")
    rows = workspace.evaluate("x", run=f"me={tmp_path / 'x.ttl'}", by="class").rows
    slices = set(rows["slice"].unique()) - {""}
    assert not {one for one in slices if one.endswith("ontology/Organization") or one.startswith("https://schema")}
