"""Namespaces, well-known prefixes, the short names of IRIs, and what is called alike everywhere."""

from __future__ import annotations

import re

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITSRDF = "http://www.w3.org/2005/11/its/rdf#"
HFTS = "https://raw.githubusercontent.com/santifa/hfts/master/ont/hfts.ttl#"
HFTS_OLD = "https://raw.githubusercontent.com/santifa/hfts/master/ont/nif-ext.ttl#"
RMX = "https://w3id.org/nel-remix/ns#"
# The EMNLP 2019 files use `el:` and `mnt:` without declaring them anywhere: these are ours.
EL = "https://w3id.org/nel-remix/el#"
MNT = "https://w3id.org/nel-remix/mnt#"
DBR = "http://dbpedia.org/resource/"
DBO = "http://dbpedia.org/ontology/"
DCAT = "http://www.w3.org/ns/dcat#"
DCTERMS = "http://purl.org/dc/terms/"
PROV = "http://www.w3.org/ns/prov#"
VOID = "http://rdfs.org/ns/void#"
REPEAT = f"{RMX}repeat"
"""The value that numbers the repeats of a run; it is of an answer, or of a document without any."""

FAILED = f"{RMX}failed"
"""The value of a document that a system failed on, which is no answer: its text says why."""

UNSPECIFIED = "unspecified"
"""What the part of a column is called that has what has no value."""
WITHOUT_VALUE = "without-value"
"""What it is called in a column that has a class 'unspecified' of its own."""

PREFIXES: dict[str, str] = {
    "dbo": DBO,
    "dbr": DBR,
    "dbp": "http://dbpedia.org/property/",
    "dcat": DCAT,
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": DCTERMS,
    "dul": "http://www.ontologydesignpatterns.org/ont/dul/DUL.owl#",
    "el": EL,
    "foaf": "http://xmlns.com/foaf/0.1/",
    "hfts": HFTS,
    "its": ITSRDF,
    "itsrdf": ITSRDF,
    "mnt": MNT,
    "nif": NIF,
    "oa": "http://www.w3.org/ns/oa#",
    "owl": OWL,
    "prov": PROV,
    "rdf": RDF,
    "rdfs": RDFS,
    "rmx": RMX,
    "schema": "http://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "void": VOID,
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "xsd": XSD,
}
"""The prefixes that queries and broken files may use without declaring them."""


_PREFIX_OF = {namespace: prefix for prefix, namespace in reversed(PREFIXES.items())}
"""The first prefix of each namespace."""
_EDITION = re.compile("http://([a-z-]+)[.]dbpedia[.]org/resource/([^/]+)")
"""An entity of DBpedia in another language than English, with the language and the name."""


def shorten(iri: str) -> str:
    """Return the IRI with a well-known prefix where there is one, for people to read.

    >>> shorten("http://dbpedia.org/resource/Berlin"), shorten("http://de.dbpedia.org/resource/BP")
    ('dbr:Berlin', 'dbpedia-de:BP')
    >>> shorten("http://www.w3.org/2005/11/its/rdf#taIdentRef"), shorten("http://dbpedia.org/resource/a/b")
    ('its:taIdentRef', 'http://dbpedia.org/resource/a/b')
    """
    last = iri.rfind("/") + 1
    for end in (last, iri.find("#", last) + 1):
        if (prefix := _PREFIX_OF.get(iri[:end])) and end < len(iri):
            return f"{prefix}:{iri[end:]}"
    edition = _EDITION.fullmatch(iri)
    return f"dbpedia-{edition[1]}:{edition[2]}" if edition else iri
