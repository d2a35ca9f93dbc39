"""What the endpoint says of itself, and which format a client wants most.

It describes itself by SPARQL 1.1 Service Description, with VoID's counts of its graphs; formats are negotiated.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyoxigraph as ox

from remix.names import DCTERMS, HFTS, ITSRDF, NIF, RDF, RMX, VOID, XSD
from remix.store.state import State

SD = "http://www.w3.org/ns/sparql-service-description#"
_RESULTS = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV")
_SYNTAXES = ("Turtle", "N-Triples", "RDF_XML", "JSON-LD")


SOLUTIONS = {
    "json": ("application/sparql-results+json", "application/json"),
    "xml": ("application/sparql-results+xml", "application/xml", "text/xml"),
    "csv": ("text/csv",),
    "tsv": ("text/tab-separated-values",),
}
"""Formats of solutions and booleans, the preferred first, each with its media type and other names for it."""

GRAPHS = {
    "ttl": ("text/turtle", "application/x-turtle"),
    "nt": ("application/n-triples", "text/plain"),
    "rdfxml": ("application/rdf+xml", "application/xml", "text/xml"),
    "jsonld": ("application/ld+json", "application/json"),
}
"""Formats of graphs, the preferred first."""


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
    return ox.serialize(triples, format=ox.RdfFormat.from_media_type(GRAPHS[form][0]), prefixes=prefixes) or b""


def _triple(
    subject: ox.NamedNode | ox.BlankNode, predicate: str, value: ox.NamedNode | ox.BlankNode | ox.Literal
) -> ox.Triple:
    return ox.Triple(subject, ox.NamedNode(predicate), value)


def _count(number: int) -> ox.Literal:
    return ox.Literal(str(number), datatype=ox.NamedNode(XSD + "integer"))


def negotiate(accept: str, formats: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return the format that an Accept header wants most, None where it accepts none; without a header the first.

    >>> negotiate("text/csv;q=0.5, application/sparql-results+xml", SOLUTIONS)
    'xml'
    >>> negotiate("*/*;q=0.1, text/csv;q=0", SOLUTIONS), negotiate("image/png", SOLUTIONS)
    ('json', None)
    """
    ranges = _ranges(accept) or {"*/*": 1.0}
    best: tuple[float, str | None] = (0.0, None)
    for name, media in formats.items():
        weight = max(_weight(one, ranges) for one in media)
        if weight > best[0]:
            best = (weight, name)
    return best[1]


def _ranges(accept: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for item in accept.split(","):
        media, *parameters = (part.strip().lower() for part in item.split(";"))
        if not media:
            continue
        weight = 1.0
        for parameter in parameters:
            key, _, value = parameter.partition("=")
            if key.strip() == "q":
                try:
                    weight = min(max(float(value), 0.0), 1.0)
                except ValueError:
                    weight = 0.0
        found[media] = weight
    return found


def _weight(media: str, ranges: Mapping[str, float]) -> float:
    """Return the weight of a media type: that of the most specific range that it is in."""
    for one in (media, f"{media.partition('/')[0]}/*", "*/*"):
        if one in ranges:
            return ranges[one]
    return 0.0
