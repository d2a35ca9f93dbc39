"""What is said of a published dataset in RDF: where it comes from, what is in it, how to get it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from remix import catalog
from remix.files import read_bytes
from remix.frames import Frames
from remix.names import DCAT, DCTERMS, HFTS, ITSRDF, NIF, PROV, RDF, RDFS, RMX, VOID
from remix.rdf.ntriples import columns
from remix.rdf.turtle import Value, state_triples
from remix.signature import content_hash
from remix.store import DatasetEntry

__all__ = ["Publication", "describe_catalogued", "describe_for_gerbil", "describe_origin"]

SPDX = "http://spdx.org/rdf/terms#"
FOAF = "http://xmlns.com/foaf/0.1/"
DATAID = "http://dataid.dbpedia.org/ns/core#"


@dataclass(frozen=True)
class Publication:
    """What is published: a dataset, its triples under the names of its file, and the files that hold them.

    `media` are the media types of the data files, of which `data` is that with the triples. What the user did not say,
    the catalogue does where it knows the dataset.
    """

    entry: DatasetEntry
    frames: Frames
    triples: pl.DataFrame
    files: Mapping[str, bytes]
    media: Mapping[str, str]
    data: str
    licence: str | None
    url: str | None
    creators: tuple[str, ...]
    said: str

    @cached_property
    def known(self) -> catalog.Entry | None:
        """Return the dataset's entry of the catalogue."""
        return catalog.entries().get(self.entry.name)

    @property
    def title(self) -> str:
        """Return what the dataset is called."""
        return (self.known and self.known.title) or self.entry.name

    @property
    def description(self) -> str:
        """Return what the dataset is, in a sentence or more."""
        counts = f"{self.entry.documents:,} documents with {self.entry.annotations:,} annotations of entities"
        return self.said or f"{self.title}: {counts}, with the measures of remix."

    @property
    def citation(self) -> str:
        """Return how the dataset is cited, empty where that is not known."""
        return (self.known and self.known.citation) or ""

    @property
    def languages(self) -> list[str]:
        """Return the languages of the texts as tags, sorted."""
        return self.frames.documents["language"].drop_nulls().unique().sort().to_list()

    def place(self, file: str) -> str | None:
        """Return where a file will be."""
        return None if self.url is None else f"{self.url.removesuffix('/')}/{file}"


def describe_origin(about: Publication, version: str, folder: Path) -> pl.DataFrame:
    """Return where a published dataset comes from, as triples; no time, no host, no path.

    Of a remix that was loaded that is its manifest, which its folder keeps: query, parameters, origins.
    """
    entry = about.entry
    if (manifest := folder / "data.manifest.ttl").is_file():
        parsed = ox.parse(read_bytes(manifest), format=ox.RdfFormat.TURTLE)
        return columns(ox.serialize((quad.triple for quad in parsed), format=ox.RdfFormat.N_TRIPLES) or b"")
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
    return state_triples(rows)


def describe_catalogued(about: Publication) -> pl.DataFrame:
    """Return the description of a dataset and of the files that hold it in DCAT and VoID, as triples."""
    entry = about.entry
    rows: list[tuple[str, str, Value]] = [
        *(
            (entry.iri, f"{RDF}type", ox.NamedNode(kind))
            for kind in (f"{DCAT}Dataset", f"{VOID}Dataset", f"{HFTS}Dataset")
        ),
        (entry.iri, f"{DCTERMS}title", about.title),
        (entry.iri, f"{DCTERMS}description", about.description),
        (entry.iri, f"{DCTERMS}identifier", entry.iri),
        (entry.iri, f"{DCAT}keyword", "entity linking"),
        (entry.iri, f"{RMX}documents", entry.documents),
        (entry.iri, f"{RMX}annotations", entry.annotations),
        *((entry.iri, f"{DCTERMS}creator", creator) for creator in about.creators),
        *((entry.iri, f"{DCTERMS}language", language) for language in about.languages),
        *((entry.iri, f"{VOID}{name}", count) for name, count in _sizes(about.triples).items()),
        *((entry.iri, f"{VOID}vocabulary", ox.NamedNode(vocabulary)) for vocabulary in (NIF, ITSRDF, HFTS, RMX)),
    ]
    if about.citation:
        rows.append((entry.iri, f"{DCTERMS}bibliographicCitation", about.citation))
    if about.url is not None:
        rows.append((entry.iri, f"{DCAT}landingPage", ox.NamedNode(about.url)))
    if (dump := about.place(about.data)) is not None:
        rows.append((entry.iri, f"{VOID}dataDump", ox.NamedNode(dump)))
    if about.licence is not None:
        rows.append((entry.iri, f"{DCTERMS}license", ox.NamedNode(about.licence)))
    for name in about.media:
        rows += _describe_file(about, name)
    return state_triples(rows)


def _describe_file(about: Publication, name: str) -> list[tuple[str, str, Value]]:
    """Return what is said of one file; that of the triples is `#distribution`, another is named by its suffix."""
    suffix = "" if name == about.data else f"-{name.rpartition('.')[2]}"
    distribution, checksum = f"{about.entry.iri}#distribution{suffix}", f"{about.entry.iri}#checksum{suffix}"
    media = about.media[name]
    rows: list[tuple[str, str, Value]] = [
        (about.entry.iri, f"{DCAT}distribution", ox.NamedNode(distribution)),
        (distribution, f"{RDF}type", ox.NamedNode(f"{DCAT}Distribution")),
        (distribution, f"{DCTERMS}title", name),
        (distribution, f"{DCAT}mediaType", ox.NamedNode(media) if ":" in media else media),
        (distribution, f"{DCAT}byteSize", len(about.files[name])),
        (distribution, f"{SPDX}checksum", ox.NamedNode(checksum)),
        (checksum, f"{RDF}type", ox.NamedNode(f"{SPDX}Checksum")),
        (checksum, f"{SPDX}algorithm", ox.NamedNode(f"{SPDX}checksumAlgorithm_sha256")),
        (checksum, f"{SPDX}checksumValue", content_hash(about.files[name])),
    ]
    if (place := about.place(name)) is not None:
        rows.append((distribution, f"{DCAT}downloadURL", ox.NamedNode(place)))
    if about.licence is not None:
        rows.append((distribution, f"{DCTERMS}license", ox.NamedNode(about.licence)))
    return rows


def describe_for_gerbil(about: Publication) -> pl.DataFrame:
    """Return the description in DataID as GERBIL's corpora have it: a document about `#dataset`, counts as texts."""
    place, data = about.place(f"{about.entry.name}.dataid.ttl"), about.place(about.data)
    document, thing = (place, f"{place}#dataset") if place else (f"{about.entry.iri}#dataid", about.entry.iri)
    kinds = (f"{DATAID}Dataset", f"{DCAT}Dataset", f"{VOID}Dataset", f"{PROV}Entity")
    rows: list[tuple[str, str, Value]] = [
        (document, f"{RDF}type", ox.NamedNode(f"{VOID}DatasetDescription")),
        (document, f"{FOAF}primaryTopic", ox.NamedNode(thing)),
        *((thing, f"{RDF}type", ox.NamedNode(kind)) for kind in kinds),
        (thing, f"{RDFS}label", about.title),
        (thing, f"{DCTERMS}description", about.description),
        (thing, f"{VOID}triples", str(about.triples.height)),
        (thing, f"{VOID}vocabulary", ox.NamedNode(NIF)),
        *((thing, f"{DCAT}keyword", keyword) for keyword in ("nif", "entity linking", "evaluation")),
        *((thing, f"{DCTERMS}language", language) for language in about.languages),
    ]
    if about.licence is not None:
        rows.append((thing, f"{DCTERMS}license", ox.NamedNode(about.licence)))
    if about.citation:
        rows.append((thing, f"{DCTERMS}rights", about.citation))
    if about.url is not None and data is not None:
        places = (f"{VOID}rootResource", f"{VOID}exampleResource", f"{DCAT}distribution")
        rows += [(thing, f"{DCAT}landingPage", ox.NamedNode(about.url))]
        rows += [(thing, place, ox.NamedNode(data)) for place in places]
    return state_triples(rows)


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
