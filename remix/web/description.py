"""What the endpoint says of itself: SPARQL 1.1 Service Description, with VoID's counts of its graphs."""

from __future__ import annotations

import pyoxigraph as ox

from remix.names import DCTERMS, HFTS, ITSRDF, NIF, RDF, RMX, VOID, XSD
from remix.store.state import State

__all__ = ["describe"]

SD = "http://www.w3.org/ns/sparql-service-description#"
_FORMATS = {
    "ttl": ox.RdfFormat.TURTLE,
    "nt": ox.RdfFormat.N_TRIPLES,
    "rdfxml": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
}
_RESULTS = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV")
_SYNTAXES = ("Turtle", "N-Triples", "RDF_XML", "JSON-LD")


def describe(state: State, address: str, form: str = "ttl") -> bytes:
    """Return the description of an endpoint at an address, as Turtle, N-Triples, RDF/XML or JSON-LD.

    >>> b"sd:UnionDefaultGraph" in describe(State(), "http://127.0.0.1:8890/sparql")
    True
    """
    service, dataset, default = ox.NamedNode(address), ox.BlankNode("dataset"), ox.BlankNode("default")
    triples = [
        _triple(service, RDF + "type", ox.NamedNode(SD + "Service")),
        _triple(service, SD + "endpoint", service),
        _triple(service, SD + "supportedLanguage", ox.NamedNode(SD + "SPARQL11Query")),
        _triple(service, SD + "feature", ox.NamedNode(SD + "UnionDefaultGraph")),
        *(
            _triple(service, SD + "resultFormat", ox.NamedNode(f"http://www.w3.org/ns/formats/{name}"))
            for name in (*_RESULTS, *_SYNTAXES)
        ),
        _triple(service, SD + "defaultDataset", dataset),
        _triple(dataset, RDF + "type", ox.NamedNode(SD + "Dataset")),
        _triple(dataset, SD + "defaultGraph", default),
        _triple(default, RDF + "type", ox.NamedNode(SD + "Graph")),
        _triple(default, VOID + "triples", _count(sum(count for _, count in state.graphs().values()))),
    ]
    datasets = {entry.iri: entry for entry in state.datasets.values()}
    for number, (iri, (_, count)) in enumerate(sorted(state.graphs().items())):
        named, graph = ox.BlankNode(f"named{number}"), ox.BlankNode(f"graph{number}")
        triples += [
            _triple(dataset, SD + "namedGraph", named),
            _triple(named, RDF + "type", ox.NamedNode(SD + "NamedGraph")),
            _triple(named, SD + "name", ox.NamedNode(iri)),
            _triple(named, SD + "graph", graph),
            _triple(graph, RDF + "type", ox.NamedNode(SD + "Graph")),
            _triple(graph, VOID + "triples", _count(count)),
        ]
        if entry := datasets.get(iri):
            annotations = ox.BlankNode(f"annotations{number}")
            triples += [
                _triple(graph, VOID + "classPartition", annotations),
                _triple(annotations, VOID + "class", ox.NamedNode(NIF + "Phrase")),
                _triple(annotations, VOID + "entities", _count(entry.annotations)),
                _triple(graph, RDF + "type", ox.NamedNode(VOID + "Dataset")),
                _triple(graph, DCTERMS + "title", ox.Literal(entry.name)),
                _triple(graph, VOID + "documents", _count(entry.documents)),
                *(_triple(graph, VOID + "vocabulary", ox.NamedNode(one)) for one in (NIF, ITSRDF, HFTS, RMX)),
            ]
    prefixes = {"sd": SD, "void": VOID, "dcterms": DCTERMS} if form in ("ttl", "rdfxml") else None
    return ox.serialize(triples, format=_FORMATS[form], prefixes=prefixes) or b""


def _triple(
    subject: ox.NamedNode | ox.BlankNode, predicate: str, value: ox.NamedNode | ox.BlankNode | ox.Literal
) -> ox.Triple:
    return ox.Triple(subject, ox.NamedNode(predicate), value)


def _count(number: int) -> ox.Literal:
    return ox.Literal(str(number), datatype=ox.NamedNode(XSD + "integer"))
