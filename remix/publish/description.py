"""What is said about a published dataset: its origin in PROV-O, its distribution in DCAT, its size in VoID."""

from __future__ import annotations

import polars as pl
import pyoxigraph as ox

from remix.names import DCAT, DCTERMS, HFTS, ITSRDF, NIF, PROV, RDF, RDFS, RMX, VOID
from remix.rdf.turtle import Value, stated
from remix.signature import content_hash
from remix.store import DatasetEntry

__all__ = ["data_description", "manifest"]

SPDX = "http://spdx.org/rdf/terms#"
_TURTLE = "https://www.iana.org/assignments/media-types/text/turtle"


def manifest(entry: DatasetEntry, version: str) -> pl.DataFrame:
    """Return where a published dataset comes from, as triples; no time, no host, no path."""
    activity, software = f"{entry.iri}#publication", f"{entry.iri}#software"
    rows: list[tuple[str, str, Value]] = [
        (entry.iri, f"{RDF}type", ox.NamedNode(f"{PROV}Entity")),
        (entry.iri, f"{DCTERMS}title", entry.name),
        (entry.iri, f"{RMX}contentHash", entry.content),
        (entry.iri, f"{PROV}wasGeneratedBy", ox.NamedNode(activity)),
        (activity, f"{RDF}type", ox.NamedNode(f"{PROV}Activity")),
        (activity, f"{PROV}wasAssociatedWith", ox.NamedNode(software)),
        (software, f"{RDF}type", ox.NamedNode(f"{PROV}SoftwareAgent")),
        (software, f"{RDFS}label", "remix"),
        (software, f"{RMX}version", version),
    ]
    if entry.enrichment is not None:
        rows.append((entry.iri, f"{RMX}enrichment", entry.enrichment))
    return stated(rows)


def data_description(
    entry: DatasetEntry, triples: pl.DataFrame, file: str, content: bytes, *, licence: str | None
) -> pl.DataFrame:
    """Return the description of a dataset and of its one distribution, a Turtle file of that name and content."""
    distribution, checksum = f"{entry.iri}#distribution", f"{entry.iri}#checksum"
    rows: list[tuple[str, str, Value]] = [
        *(
            (entry.iri, f"{RDF}type", ox.NamedNode(kind))
            for kind in (f"{DCAT}Dataset", f"{VOID}Dataset", f"{HFTS}Dataset")
        ),
        (entry.iri, f"{DCTERMS}title", entry.name),
        (entry.iri, f"{DCTERMS}identifier", entry.iri),
        (entry.iri, f"{DCAT}keyword", "entity linking"),
        (entry.iri, f"{DCAT}distribution", ox.NamedNode(distribution)),
        (entry.iri, f"{RMX}documents", entry.documents),
        (entry.iri, f"{RMX}annotations", entry.annotations),
        *((entry.iri, f"{VOID}{name}", count) for name, count in _sizes(triples).items()),
        *((entry.iri, f"{VOID}vocabulary", ox.NamedNode(vocabulary)) for vocabulary in (NIF, ITSRDF, HFTS, RMX)),
        (distribution, f"{RDF}type", ox.NamedNode(f"{DCAT}Distribution")),
        (distribution, f"{DCTERMS}title", file),
        (distribution, f"{DCAT}mediaType", ox.NamedNode(_TURTLE)),
        (distribution, f"{DCAT}byteSize", len(content)),
        (distribution, f"{SPDX}checksum", ox.NamedNode(checksum)),
        (checksum, f"{RDF}type", ox.NamedNode(f"{SPDX}Checksum")),
        (checksum, f"{SPDX}algorithm", ox.NamedNode(f"{SPDX}checksumAlgorithm_sha256")),
        (checksum, f"{SPDX}checksumValue", content_hash(content)),
    ]
    if licence is not None:
        rows += [(thing, f"{DCTERMS}license", ox.NamedNode(licence)) for thing in (entry.iri, distribution)]
    return stated(rows)


def _sizes(triples: pl.DataFrame) -> dict[str, int]:
    """Return VoID's counts; an entity is a subject that has an IRI."""
    subjects = triples["subject"].unique()
    return {
        "triples": triples.height,
        "entities": int(subjects.str.starts_with("<").sum()),
        "distinctSubjects": len(subjects),
        "distinctObjects": triples["object"].n_unique(),
        "properties": triples["predicate"].n_unique(),
    }
