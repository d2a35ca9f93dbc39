"""A corrected NIF file keeps all that it said beside what was corrected."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest

from remix.checks.correction import relink
from remix.checks.findings import find_violations
from remix.files import read_bytes
from remix.formats.layers import RANKED
from remix.frames import Frames
from remix.workspace import Workspace
from tests.checks.test_nothing_lost import damaged_file

WIKIDATA = "http://www.wikidata.org/entity/"

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


OFF = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix mnt: <http://x.org/mnt#> .
@prefix o: <http://y.org/o#> .
<http://x.org/d#char=0,20> a nif:Context ; nif:isString "Ada met Bob, and Eve" ; nif:beginIndex 0 ; nif:endIndex 21 .
<http://x.org/d#char=1,4> a nif:Phrase ; nif:referenceContext <http://x.org/d#char=0,20> ; nif:beginIndex 1 ;
  nif:endIndex 4 ; nif:anchorOf "Ada" ; itsrdf:taIdentRef <http://x.org/Ada> .
<http://x.org/d#char=8,12> a nif:Phrase ; nif:referenceContext <http://x.org/d#char=0,20> ; nif:beginIndex 8 ;
  nif:endIndex 12 ; nif:anchorOf "Bob," ; itsrdf:taIdentRef <http://en.wikipedia.org/wiki/Bob> , [ mnt:is mnt:Person ] .
<http://x.org/d#char=8,11> a nif:Phrase ; nif:referenceContext <http://x.org/d#char=0,20> ; nif:beginIndex 8 ;
  nif:endIndex 11 ; nif:anchorOf "Bob" ; itsrdf:taIdentRef <http://dbpedia.org/resource/Bob> , o:Bob .
<http://x.org/d#char=17,20> a nif:Phrase ; nif:referenceContext <http://x.org/d#char=0,20> ; nif:beginIndex 17 ;
  nif:endIndex 20 ; nif:anchorOf "Mallory" ; itsrdf:taIdentRef <http://x.org/Eve> .
o:note o:about <http://x.org/d#char=1,4> .
"""


@pytest.mark.parametrize("loaded", [False, True], ids=["file", "loaded"])
def test_names_of_fixed_annotations_say_their_offsets_and_links_are_replaced_one_by_one(
    tmp_path: Path, loaded: bool
) -> None:
    """'Ada' is at 0,3 and its IRI says 1,4; 'Bob,' loses its comma and is called as the other 'Bob', numbered."""
    given, fixed = tmp_path / "given.ttl", tmp_path / "fixed.ttl"
    given.write_text(OFF)
    work = Workspace(tmp_path / ".remix")
    if loaded:
        work.load([given])
    changes = work.check(["given" if loaded else given], fix=fixed)
    said = triples(fixed)
    names = {one.split()[0] for one in said if "referenceContext" in one}
    assert names == {f"<http://x.org/d#char={place}>" for place in ("0,3", "8,11", "8,11;2", "17,20")}
    assert "<http://y.org/o#note> <http://y.org/o#about> <http://x.org/d#char=0,3>" in said
    # 'Bob,' has Wikipedia's spelling no longer, and keeps what is no link; 'o:Bob' is a link of its own.
    links = [one for one in said | {*fixed.read_text().splitlines()} if "Bob" in one and "taIdentRef" in one]
    assert not any("wikipedia" in one for one in links)
    assert "http://x.org/mnt#Person" in fixed.read_text() and " _:" in fixed.read_text()
    assert any("http://y.org/o#Bob" in one for one in said)
    told = changes.group_by("change").len().rows()
    # Offsets of one mention and the end of the text were mended while loading; 'Mallory' stays what the file says.
    expected = {"offset": 1, "context-end": 1, "outer-characters": 1, "link-spelling": 1, "fragment": 2}
    assert dict(told) == expected
    left = work.check([fixed], each=True).group_by("rule").len().rows()
    assert {rule for rule, _ in left} & {*expected} == set() and dict(left)["anchor"] == 1


def test_fixed_links_of_ranked_readings_are_written_in_files_of_tokens() -> None:
    """A link of HIPE is spelt in its cell; a redirect of Q1 to Q3 has to arrive there, the NIL behind it stays."""
    frames = Frames.of(
        documents=pl.DataFrame({"document": ["d"], "text": ["Bonn"]}),
        annotations=pl.DataFrame({"annotation": ["a"], "document": ["d"], "begin": [0], "end": [4]}),
        links=pl.DataFrame({"annotation": ["a"], "entity": [f"{WIKIDATA}Q1"], "entity_as_given": "Q1"}),
        values=pl.DataFrame({"subject": ["a", "d"], "term": [RANKED, "x:y"], "text": ["Q1|NIL", "Q1"]}),
    )
    to = pl.DataFrame({"annotation": ["a"], "entity": [f"{WIKIDATA}Q3"], "entity_as_given": "Q3"})
    assert relink(frames, to).values["text"].to_list() == ["Q3|NIL", "Q1"]


FORM, END = (
    "The form of a mention is what its text says there.",
    "The end of a text is its length in Unicode code points.",
)


def violations(file: Path) -> Counter[str]:
    """Return how often a file says other than each shape of NIF."""
    pytest.importorskip("pyshacl", reason="needs the extra `shacl`")
    return Counter(what.split(": ", 1)[-1] for what in find_violations(str(file), Frames.empty())["what"])


def violations_of_both(given: Path, tmp_path: Path) -> tuple[Counter[str], Counter[str]]:
    """Return what a file says other than its shapes, and what it does as `--fix` writes it."""
    Workspace(tmp_path / ".remix").check([given], fix=tmp_path / "fixed.ttl")
    return violations(given), violations(tmp_path / "fixed.ttl")


@pytest.mark.extra
@pytest.mark.parametrize(
    ("text", "form", "end"),
    [(OFF, (2, 1), (1, 0)), (damaged_file(1), (0, 0), (0, 0)), (damaged_file(22317), (4, 0), (0, 0))],
    ids=["off", "outer-characters", "groups"],
)
def test_what_is_fixed_has_its_shapes(text: str, form: tuple[int, int], end: tuple[int, int], tmp_path: Path) -> None:
    """Offsets and ends are mended, 'Mallory' stays; types of numbers that nothing mends stay what the file says."""
    (tmp_path / "given.ttl").write_text(text, encoding="utf-8")
    before, after = violations_of_both(tmp_path / "given.ttl", tmp_path)
    assert ((before[FORM], after[FORM]), (before[END], after[END])) == (form, end)
    assert after - before == Counter()
    assert [what for what in before if "ignorable" in what] == []
    # A compressed file is held against the shapes as it stands as well.
    (tmp_path / "given.ttl.gz").write_bytes(gzip.compress(text.encode()))
    assert violations(tmp_path / "given.ttl.gz") == before


def some_documents(file: Path, to: Path, every: int) -> Path:
    """Write each n-th document of a file with its mentions: to hold a long one against its shapes takes ten seconds."""
    triples = list(ox.parse(read_bytes(file), format=ox.RdfFormat.TURTLE))
    context = {one.subject: one.object for one in triples if one.predicate.value.endswith("#referenceContext")}
    chosen = {*sorted({*context.values()}, key=str)[::every]}
    own = (one for one in triples if context.get(one.subject, one.subject) in chosen)
    ox.serialize(own, str(to), format=ox.RdfFormat.TURTLE)
    return to


@pytest.mark.extra
@pytest.mark.parametrize(
    ("name", "every"), [("dbpedia-spotlight/dbpedia-spotlight-nif.ttl.gz", 6), ("kore50/kore50-nif.ttl", 2)]
)
def test_what_is_fixed_of_a_real_file_has_its_shapes(name: str, every: int, real_data: Path, tmp_path: Path) -> None:
    given = some_documents(real_data / "nif" / name, tmp_path / "given.ttl", every)
    before, after = violations_of_both(given, tmp_path)
    assert before[FORM] > 0 == after[FORM]
    assert after - before == Counter()
