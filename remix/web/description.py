"""What the endpoint says of itself, and which format a client wants most.

It describes itself by SPARQL 1.1 Service Description, with VoID's counts of its graphs; formats are negotiated.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyoxigraph as ox

from remix.names import DCTERMS, HFTS, ITSRDF, NIF, RMX, VOID
from remix.rdf.iris import legal_iri
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
    service, graphs = ox.NamedNode(legal_iri(address)), state.graphs()
    formats = ", ".join(f"<http://www.w3.org/ns/formats/{name}>" for name in (*_RESULTS, *_SYNTAXES))
    prefixes = {"sd": SD, "void": VOID, "dcterms": DCTERMS}
    text = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in prefixes.items())
    text += f"""
        {service} a sd:Service ; sd:endpoint {service} ; sd:supportedLanguage sd:SPARQL11Query ;
            sd:feature sd:UnionDefaultGraph ; sd:resultFormat {formats} ; sd:defaultDataset _:dataset .
        _:dataset a sd:Dataset ; sd:defaultGraph _:default .
        _:default a sd:Graph ; void:triples {sum(count for _, count in graphs.values())} .
    """
    datasets = {entry.iri: entry for entry in state.datasets.values()}
    for number, (iri, (_, count)) in enumerate(sorted(graphs.items())):
        text += f"""
            _:dataset sd:namedGraph _:named{number} .
            _:named{number} a sd:NamedGraph ; sd:name {ox.NamedNode(iri)} ; sd:graph _:graph{number} .
            _:graph{number} a sd:Graph ; void:triples {count} .
        """
        if entry := datasets.get(iri):
            text += f"""
                _:graph{number} void:classPartition _:annotations{number} ; a void:Dataset ;
                    dcterms:title {ox.Literal(entry.name)} ; void:documents {entry.documents} ;
                    void:vocabulary <{NIF}>, <{ITSRDF}>, <{HFTS}>, <{RMX}> .
                _:annotations{number} void:class <{NIF}Phrase> ; void:entities {entry.annotations} .
            """
    triples = (quad.triple for quad in ox.parse(text, format=ox.RdfFormat.TURTLE))
    shown = prefixes if form in ("ttl", "rdfxml") else None
    return ox.serialize(triples, format=ox.RdfFormat.from_media_type(GRAPHS[form][0]), prefixes=shown) or b""


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
