"""The CONSTRUCT that a query stands for: other stores make of it the documents and annotations that `build` keeps."""

from __future__ import annotations

import re
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest
import rdflib

from remix.errors import QueryError
from remix.measures.enrichment import named_frames
from remix.measures.measurement import terms
from remix.names import HFTS, RDF, RMX
from remix.remixes import build
from remix.store import Store
from remix.store.construct import construct_of
from remix.store.queries import Query, find
from remix.workspace import Workspace, open_workspace
from tests.commands import run_verb
from tests.kb.sources.endpoints import virtuoso

IRI = "urn:remix:dataset:own"
NAMES = """
@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix rmx: <https://w3id.org/nel-remix/ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix dbr: <http://dbpedia.org/resource/> .
@prefix dct: <http://purl.org/dc/terms/> .
"""
DATA = (
    NAMES
    + """
<http://x.org/1#char=0,27> a nif:Context ; nif:isString "Ada met Chatham, New Jersey" ; dct:source "first" .
<http://x.org/1#char=0,3> a nif:Phrase ; nif:referenceContext <http://x.org/1#char=0,27> ; nif:anchorOf "Ada" ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "3"^^xsd:nonNegativeInteger ; itsrdf:taIdentRef dbr:Ada .
<http://x.org/1#char=8,15> a nif:Phrase ; nif:referenceContext <http://x.org/1#char=0,27> ; nif:anchorOf "Chatham" ;
    nif:beginIndex "8"^^xsd:nonNegativeInteger ; nif:endIndex "15"^^xsd:nonNegativeInteger ;
    itsrdf:taIdentRef dbr:Chatham ; rmx:group "g" ; rmx:option "1" .
<http://x.org/1#char=8,27> a nif:Phrase ; nif:referenceContext <http://x.org/1#char=0,27> ;
    nif:anchorOf "Chatham, New Jersey" ; nif:beginIndex "8"^^xsd:nonNegativeInteger ;
    nif:endIndex "27"^^xsd:nonNegativeInteger ; itsrdf:taIdentRef dbr:Chatham ; rmx:group "g" ; rmx:option "2" .
<http://x.org/2#char=0,11> a nif:Context ; nif:isString "Ada or Rome" .
<http://x.org/2#char=0,3> a nif:Phrase ; nif:referenceContext <http://x.org/2#char=0,11> ; nif:anchorOf "Ada" ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "3"^^xsd:nonNegativeInteger ; itsrdf:taIdentRef dbr:Ada .
<http://x.org/2#char=7,11> a rmx:Ignorable ; rmx:document <http://x.org/2#char=0,11> ; rmx:ignorable "optional" ;
    nif:anchorOf "Rome" ; nif:beginIndex "7"^^xsd:nonNegativeInteger ; nif:endIndex "11"^^xsd:nonNegativeInteger .
<http://x.org/3#char=0,4> a nif:Context ; nif:isString "Oslo" .
<http://x.org/3#char=0,4m> a nif:Phrase ; nif:referenceContext <http://x.org/3#char=0,4> ; nif:anchorOf "Oslo" ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "4"^^xsd:nonNegativeInteger ; itsrdf:taIdentRef dbr:Oslo .
"""
)
QUERIES = {
    "annotations": 'SELECT ?annotation { ?annotation nif:anchorOf "Ada" }',
    "of_a_group": "SELECT ?document ?annotation { ?annotation nif:referenceContext ?document ; "
    'nif:anchorOf "Chatham" }',
    "documents": 'SELECT ?document { ?document a nif:Context ; nif:isString ?text FILTER(CONTAINS(?text, "Ada")) }',
    "first": "SELECT ?annotation { ?annotation nif:anchorOf ?form } ORDER BY DESC(?form) LIMIT 2",
    "grouped": "SELECT ?document { ?a nif:referenceContext ?document } GROUP BY ?document HAVING (COUNT(*) > 1)",
    "constructed": "CONSTRUCT { ?d ?dp ?do . ?m ?mp ?mo } WHERE { ?d ?dp ?do . ?m ?mp ?mo ; "
    'nif:referenceContext ?d ; nif:anchorOf ?form FILTER(?form != "Ada") }',
}
Triples = set[tuple[str, str, str]]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("construct")
    (folder / "own-data.ttl").write_text(DATA)
    made = open_workspace(folder / ".remix")
    made.load(folder / "own-data.ttl")
    made.enrich()
    return made


def triples_of(store: Store) -> bytes:
    """All that the store holds: data and measures."""
    return b"".join(
        bytes(store.triples(file))
        for entry in store.datasets()
        for file in (f"{entry.folder}/data.nt.zst", *entry.value_files())
    )


def plain(store: Store, lines: str) -> Triples:
    """Triples by the names that the files gave, numbers as numbers, without what `build` computes afresh."""
    graph = ox.Store()
    graph.load(lines.encode(), ox.RdfFormat.N_TRIPLES)
    frames = named_frames(store)
    given = {
        name: said or name
        for table, key in ((frames.documents, "document"), (frames.annotations, "annotation"))
        for name, said in table.select(key, "given").iter_rows()
    }
    documents = {given[one] for one in frames.documents["document"]}
    fresh = {one.term.replace("hfts:", HFTS).replace("rmx:", RMX) for one in terms()}
    found = set()
    for subject, predicate, value, *_ in graph:
        names = [given.get(one.value, one.value) for one in (subject, predicate, value)]
        measured = names[1] in fresh and names[0] in {*documents, IRI}
        if not measured and names[1] != f"{RMX}givenIri" and (names[0] != IRI or names[1] in MEMBERS):
            number = re.fullmatch(r"-?[0-9.]+(e-?[0-9]+)?", names[2], re.IGNORECASE)
            found.add((names[0], names[1], f"{float(names[2]):.6g}" if number else names[2]))
    return found


MEMBERS = (f"{RDF}type", f"{HFTS}referenceDocuments")


def built(store: Store, text: str) -> Triples:
    remix = build(store, Query.parse(text, "own"))
    lines = "".join(
        f"{s} {p} {o} .\n" for s, p, o in remix.triples.select("subject", "predicate", "object").iter_rows()
    )
    return plain(store, lines)


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("name", QUERIES)
def test_rdflib_makes_of_the_construct_what_build_keeps(work: Workspace, name: str) -> None:
    graph = rdflib.Graph().parse(data=triples_of(work.store), format="nt")
    made = graph.query(construct_of(QUERIES[name], IRI)).graph
    assert made is not None
    assert plain(work.store, made.serialize(format="nt")) == built(work.store, QUERIES[name])


def test_construct_of_annotations_says_which_are_ignorable_and_keeps_alternatives(work: Workspace) -> None:
    found = built(work.store, QUERIES["of_a_group"])
    # Ada is dropped; of the alternatives, of which one is selected, both stay.
    assert ("http://x.org/1#char=0,3", f"{RDF}type", f"{RMX}Ignorable") in found
    assert {s for s, p, _ in found if p.endswith("referenceContext")} == {
        "http://x.org/1#char=8,15",
        "http://x.org/1#char=8,27",
    }


@pytest.mark.extra
def test_virtuoso_makes_of_the_construct_what_build_keeps(work: Workspace, tmp_path: Path) -> None:
    with virtuoso(tmp_path, 100_000, data=triples_of(work.store).decode()) as address:
        for name, text in QUERIES.items():
            form = {"query": construct_of(text, IRI), "format": "text/plain", "default-graph-uri": "urn:data"}
            with urllib.request.urlopen(address, urllib.parse.urlencode(form).encode(), timeout=60) as answer:
                lines = answer.read().decode()
            assert plain(work.store, lines) == built(work.store, text), name


@pytest.mark.long
@pytest.mark.parametrize("name", ["basic", "persons_hard", "easy", "rare"])
def test_construct_of_a_shipped_query_gives_what_build_keeps(
    sample_workspace: Callable[[], Workspace], name: str
) -> None:
    own = sample_workspace()
    text = find(name).bind({})
    graph = ox.Store()
    graph.bulk_load(triples_of(own.store), ox.RdfFormat.N_TRIPLES)
    made = ox.serialize(graph.query(construct_of(text, IRI)), format=ox.RdfFormat.N_TRIPLES)
    assert made is not None
    assert plain(own.store, made.decode()) == built(own.store, text)


@pytest.mark.long
def test_show_prints_the_construct_with_its_values_and_build_names_it(work: Workspace, tmp_path: Path) -> None:
    place = ("-w", str(work.store.folder))
    shown = run_verb("show", "persons_hard", "--construct", "--set", "min_confusion=7", *place).stdout
    assert shown.startswith("PREFIX ") and "CONSTRUCT {" in shown and "VALUES ?min_confusion { 7 }" in shown
    assert "<urn:remix:dataset:persons_hard>" in shown and rdflib.Graph().query(shown).graph is not None
    done = run_verb("build", "--query", QUERIES["annotations"], "--explain", "--to", str(tmp_path), *place)
    assert "`remix show QUERY --construct`" in done.stdout, done.stderr
    refused = run_verb("show", "density", "--construct", *place)
    assert refused.returncode == 2 and "--construct is for queries" in refused.stderr


def test_query_whose_selection_cannot_be_told_is_refused() -> None:
    with pytest.raises(QueryError, match="write it as SELECT"):
        construct_of("CONSTRUCT WHERE { ?s ?p ?o }", IRI)
    with pytest.raises(QueryError, match="never bound"):
        construct_of("CONSTRUCT { ?x ?p ?o } WHERE { ?s ?p ?o }", IRI)
