"""A corrected NIF file keeps all that it said beside what was corrected."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

from remix.workspace import Workspace

FILE = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix x: <http://x.org/> .
@prefix y: <http://y.org/> .
@prefix hfts: <https://raw.githubusercontent.com/santifa/hfts/master/ont/hfts.ttl#> .
x:d a nif:Context, x:Article ; nif:isString "Ada met Bob, and Bob." ; x:author [ x:name "me" ] .
x:a1 a nif:Phrase ; nif:referenceContext x:d ; nif:beginIndex 0 ; nif:endIndex 3 ; nif:anchorOf "Ada"@en ;
  itsrdf:taIdentRef y:Ada ; itsrdf:taSource "DBpedia_en_3.9" ; x:note "sure" ; hfts:pagerank 2.5 .
x:a2 a nif:Phrase ; nif:referenceContext x:d ; nif:beginIndex 8 ; nif:endIndex 12 ; nif:anchorOf "Bob," ;
  itsrdf:taIdentRef y:Bob ; itsrdf:taSource "DBpedia_en_3.9" .
x:a3 a nif:Phrase ; nif:referenceContext x:d ; nif:beginIndex 0 ; nif:endIndex 3 ; nif:anchorOf "Ada" ;
  itsrdf:taIdentRef y:Ada ; x:note "again" ; hfts:pagerank 2.5 .
y:Ada x:seeAlso <http://dbpedia.org/resource/Ada_Lovelace> .
"""


def triples(path: Path) -> set[str]:
    said = {str(one) for one in ox.parse(path.read_bytes(), format=ox.RdfFormat.TURTLE)}
    return {one for one in said if "_:" not in one} | {"a blank node" for one in said if "_:" in one}


@pytest.mark.parametrize("loaded", [False, True], ids=["file", "loaded"])
def test_fixing_nif_replaces_what_changed_and_keeps_every_other_triple(tmp_path: Path, loaded: bool) -> None:
    """'Bob,' becomes 'Bob' and the second 'Ada', which repeats the first, goes; nothing else is touched."""
    given, fixed = tmp_path / "given.ttl", tmp_path / "fixed.ttl"
    given.write_text(FILE)
    work = Workspace(tmp_path / ".remix")
    if loaded:
        work.load([given])
    changes = work.check(["given" if loaded else given], fix=fixed)
    assert set(changes["change"]) == {"outer-characters", "repeated-annotation"}
    before, after = triples(given), triples(fixed)
    # Measures of a loaded dataset are the store's, and no part of what its file said.
    before = {one for one in before if not loaded or "pagerank" not in one}
    gone, new = before - after, after - before
    assert {one for one in gone if "/a3>" not in one} == {
        one for one in before if "/a2>" in one and ("endIndex" in one or "anchorOf" in one)
    }
    assert len([one for one in gone if "/a3>" in one]) == (7 if loaded else 8)  # all of the annotation that went
    assert not any("/a3>" in one for one in after)
    assert sorted(one.split('"')[1] for one in new) == ["11", "Bob"]
