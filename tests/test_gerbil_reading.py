"""NIF that is published, read by the rules of GERBIL's own parser, written here apart from ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import rdflib

from remix.formats import read
from remix.formats.nif.streaming import stream
from remix.frames import Frames
from remix.iris import canonical_iri
from remix.workspace import Workspace

NIF = rdflib.Namespace("http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#")
LINK = rdflib.URIRef("http://www.w3.org/2005/11/its/rdf#taIdentRef")
Marking = tuple[int, int, tuple[str, ...]]


def read_as_gerbil(file: Path) -> list[tuple[str, list[Marking]]]:
    """Return text and markings (begin, end, IRIs) of each document.

    A document is a nif:Context with nif:isString; its markings are what has it as nif:referenceContext, begins and
    ends. All nif:taIdentRef of a marking are one set of IRIs, offsets are code points.
    """
    graph = rdflib.Graph().parse(file)
    documents = []
    for context in graph.subjects(rdflib.RDF.type, NIF.Context):
        for text in graph.objects(context, NIF.isString):
            markings = []
            for one in graph.subjects(NIF.referenceContext, context):
                begin, end = (graph.value(one, NIF[name]) for name in ("beginIndex", "endIndex"))
                if begin is not None and end is not None:
                    iris = tuple(sorted(str(link) for link in graph.objects(one, LINK)))
                    markings.append((int(begin), int(end), iris))
            documents.append((str(text), sorted(markings)))
    return documents


Meant = Counter[tuple[str, int, int, frozenset[str]]]


def _is_nil(iri: str) -> bool:
    """GERBIL's rule: what no knowledge base has is an emerging entity; here those that say so by their name."""
    return "notInWiki" in iri


def _meant(frames: Frames) -> Meant:
    """Count the mentions of gold by text, place and right entities, which alternatives of a mention have together."""
    gold = frames.gold().annotations.join(frames.documents.select("document", "text"), on="document")
    links = frames.links.group_by("annotation").agg("entity")
    found: dict[tuple[str, int, int, str], set[str]] = {}
    for row in gold.join(links, on="annotation", how="left").iter_rows(named=True):
        place = row["text"], row["begin"], row["end"], row["group"]
        found.setdefault(place, set()).update(row["entity"] or ["NIL"])
    return Counter((text, begin, end, frozenset(iris)) for (text, begin, end, _), iris in found.items())


def _read(documents: list[tuple[str, list[Marking]]]) -> Meant:
    return Counter(
        (text, begin, end, frozenset("NIL" if _is_nil(iri) else canonical_iri(iri) for iri in iris))
        for text, markings in documents
        for begin, end, iris in markings
    )


@pytest.mark.long
@pytest.mark.parametrize("name", ["sample-posts", "sample-news", "sample-biographies", "mixed"])
def test_published_nif_is_read_by_gerbil_with_all_texts_places_and_entities_of_gold(
    name: str, sample_workspace: Callable[[], Workspace], tmp_path: Path
) -> None:
    """Texts without annotations are documents, ignorable mentions are no markings, alternatives are one, NIL is NIL."""
    work = sample_workspace()
    if name == "mixed":
        work.build("persons", to=tmp_path / "mixed.ttl", name="mixed")
        work.load([tmp_path / "mixed.ttl"])
        assert work.frames("mixed").annotations["ignorable"].drop_nulls().len() > 0
    frames = work.store.frames([name])
    work.publish(name, to=tmp_path / "out")
    read_there = read_as_gerbil(tmp_path / "out" / f"{name}.ttl")
    assert Counter(text for text, _ in read_there) == Counter(frames.documents["text"].to_list())
    assert _read(read_there) == _meant(frames)


NIF_FILE = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix dbr: <http://dbpedia.org/resource/> .
<http://x.org/1#char=0,14> a nif:Context , nif:RFC5147String ; nif:isString "Ada met Bob D." .
<http://x.org/1#char=0,3> a nif:Phrase , nif:RFC5147String ; nif:referenceContext <http://x.org/1#char=0,14> ;
  nif:beginIndex 0 ; nif:endIndex 3 ; nif:anchorOf "Ada" ; itsrdf:taIdentRef dbr:Ada_Lovelace , dbr:Ada .
<http://x.org/1#char=0,3;2> a nif:Phrase , nif:RFC5147String ; nif:referenceContext <http://x.org/1#char=0,14> ;
  nif:beginIndex 0 ; nif:endIndex 3 ; nif:anchorOf "Ada" ; itsrdf:taIdentRef dbr:Ada_County , dbr:Ada .
<http://x.org/1#char=8,14> a nif:Phrase , nif:RFC5147String ; nif:referenceContext <http://x.org/1#char=0,14> ;
  nif:beginIndex 8 ; nif:endIndex 14 ; nif:anchorOf "Bob D." .
"""


@pytest.mark.long
def test_links_alternatives_and_nil_are_published_as_gerbil_reads_them_and_come_back_as_they_were(
    tmp_path: Path,
) -> None:
    given = tmp_path / "given.ttl"
    given.write_text(NIF_FILE)
    work = Workspace(tmp_path / ".remix")
    work.load([given], name="given")
    work.publish("given", to=tmp_path / "out")
    file = tmp_path / "out" / "given.ttl"
    [(_, markings)] = read_as_gerbil(file)
    ada = tuple(f"http://dbpedia.org/resource/Ada{rest}" for rest in ("", "_County", "_Lovelace"))
    assert markings == [(0, 3, ada), (8, 14, ("http://aksw.org/notInWiki/Bob_D.",))]
    names = {str(one) for one in rdflib.Graph().parse(file).subjects(NIF.referenceContext)}
    assert names == {"http://x.org/1#char=0,3", "http://x.org/1#char=8,14"}
    want = work.store.frames(["given"])
    assert want.annotations.height == 3
    back = read(file, name="given").frames
    streamed = stream([_as_lines(file, tmp_path / "given.nt")], tmp_path / "frames", name="given").folder.part(0)
    for found in (back, streamed):
        for table in ("documents", "annotations", "links"):
            columns = getattr(want, table).columns
            assert getattr(found, table).sort(columns).equals(getattr(want, table).sort(columns)), table
    # Published again, it says the same.
    work.load([file], name="again")
    assert work.store.dataset("again").triples == work.store.dataset("given").triples


def _as_lines(file: Path, to: Path) -> Path:
    """Write a file with a triple a line, those of a subject together."""
    lines = rdflib.Graph().parse(file).serialize(format="nt").splitlines()
    to.write_text("\n".join(sorted(line for line in lines if line)) + "\n")
    return to
