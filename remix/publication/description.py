"""What is said of a published dataset for machines.

In RDF it is where it comes from, what is in it, and how to get it; in Croissant, which is schema.org, the table with a
document a row.
"""

from __future__ import annotations

import io
import json
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
from remix.rdf.turtle import Said, iri, state_triples
from remix.remixes.manifest import describe_software
from remix.signature import content_hash
from remix.store import DatasetEntry

SPDX = "http://spdx.org/rdf/terms#"
FOAF = "http://xmlns.com/foaf/0.1/"
DATAID = "http://dataid.dbpedia.org/ns/core#"

_TERMS = (
    "citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes isLiveDataset "
    "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
    "subField transform"
)
_CONTEXT: dict[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
_FIELDS = {
    "document": "The IRI of the document.",
    "text": "The text; offsets count its Unicode code points.",
    "language": "The language of the text, as a tag.",
}
_MENTION = {
    "annotation": ("sc:Text", "The IRI of the annotation."),
    "begin": ("sc:Integer", "Where the mention begins in the text."),
    "end": ("sc:Integer", "Where it ends: the first character behind it."),
    "surface_form": ("sc:Text", "What the text says there."),
    "entities": ("sc:Text", "The IRIs that it is linked to, in canonical form."),
    "classes": ("sc:Text", "The IRIs of its classes."),
    "nil": ("sc:Boolean", "Whether its entity is in no knowledge base."),
    "ignorable": ("sc:Text", "Why it counts neither way, if it does not: optional, dropped, layer."),
    "group": ("sc:Text", "What alternatives of one mention have in common."),
}
"""The fields of a mention: their types, and what they say. Those that are lists are `_LISTS`."""

_LISTS = ("entities", "classes")


@dataclass(frozen=True)
class Publication:
    """What is published: a dataset, its triples under the names of its file, and the files that hold them.

    `media` are the media types of the data files, of which `data` is that with the triples. `folder` is where the store
    keeps it, `runs` are triples on the runs that columns were derived from. What the user did not say, the catalogue
    does where it knows the dataset, or what a remix was made of.
    """

    entry: DatasetEntry
    frames: Frames
    triples: pl.DataFrame
    files: Mapping[str, bytes]
    media: Mapping[str, str]
    data: str
    licence: str | None
    url: str | None
    makers: tuple[str, ...]
    said: str
    folder: Path
    runs: pl.DataFrame

    @cached_property
    def manifest(self) -> bytes | None:
        """Return the manifest of a remix, None of what is none."""
        file = self.folder / "data.manifest.ttl"
        return read_bytes(file) if file.is_file() else None

    @cached_property
    def origins(self) -> tuple[catalog.Entry, ...]:
        """Return what the catalogue knows of the dataset, or of each dataset that a remix was made of."""
        own = catalog.recognise(self.entry.name, self.entry.source)
        found = [own] if own else []
        if self.manifest is not None:
            parsed = list(ox.parse(self.manifest, format=ox.RdfFormat.TURTLE))
            told = sorted(one.object.value for one in parsed if one.predicate.value == f"{RMX}catalogueEntry")
            found += [one for name in told for one in catalog.find(name)[:1]]
        return tuple({one.name: one for one in found}.values())

    @property
    def title(self) -> str:
        """Return the title that the catalogue has, or the name of a remix and of what is in no catalogue."""
        return self.origins[0].title if self.origins and self.manifest is None else self.entry.name

    @property
    def description(self) -> str:
        """Return what the dataset is, in a sentence or more."""
        counts = f"{self.entry.documents:,} documents with {self.entry.annotations:,} annotations of entities"
        made = f" Made of {', '.join(one.title for one in self.origins)}." if self.manifest and self.origins else ""
        return self.said or f"{self.title}: {counts}, with the measures of remix.{made}"

    @property
    def citation(self) -> str:
        """Return how the dataset, or what it was made of, is cited, empty where that is not known."""
        return "; ".join(dict.fromkeys(one.citation for one in self.origins))

    @property
    def creators(self) -> tuple[str, ...]:
        """Return who made the dataset: as the user says, else the authors of what is cited."""
        return self.makers or tuple(dict.fromkeys(name for one in self.origins for name in catalog.authors(one)))

    @property
    def licences(self) -> list[str]:
        """Return the IRIs of the licence that the user says, else of all that hold for what it was made of."""
        known = (catalog.licence_iri(one.licence) for one in self.origins)
        return [self.licence] if self.licence else list(dict.fromkeys(one for one in known if one))

    @property
    def rights(self) -> list[str]:
        """Return in words under which licence each origin is."""
        return [
            f"{one.title}: {one.licence}" + (f" ({one.licence_source})" if one.licence_source else "")
            for one in self.origins
        ]

    @property
    def sources(self) -> list[str]:
        """Return where the dataset, or what it was made of, comes from: addresses, else names of what ships."""
        return list(dict.fromkeys(one.url or f"{one.title} (ships with remix)" for one in self.origins))

    @property
    def languages(self) -> list[str]:
        """Return the languages of the texts as tags, sorted."""
        return self.frames.documents["language"].drop_nulls().unique().sort().to_list()

    def place(self, file: str) -> str | None:
        """Return the address that a file will have, None where the folder's is not known."""
        return None if self.url is None else f"{self.url.removesuffix('/')}/{file}"


def _describe_rights(about: Publication) -> Said:
    """Return what each description says of licence, citation, creator and source."""
    return {
        f"{DCTERMS}license": _iris(*about.licences),
        f"{DCTERMS}rights": about.rights,
        f"{DCTERMS}bibliographicCitation": about.citation,
        f"{DCTERMS}creator": about.creators,
        f"{DCTERMS}source": [ox.NamedNode(one) if "://" in one else one for one in about.sources],
    }


def describe_origin(about: Publication, version: str) -> pl.DataFrame:
    """Return where a published dataset comes from, as triples; no time, no host but that of its source, no path.

    Of a remix that was loaded that is its manifest, which its folder keeps: query, parameters, origins. The runs that
    columns were derived from are told with how each was made: system, version, parameters, the revision of the texts.
    """
    entry = about.entry
    runs = {
        f"{entry.iri}#publication": {f"{PROV}used": _iris(*about.runs["subject"].unique().sort().str.strip_chars("<>"))}
    }
    derived = pl.concat([about.runs, state_triples(runs)]) if len(about.runs) else about.runs
    if about.manifest is not None:
        parsed = list(ox.parse(about.manifest, format=ox.RdfFormat.TURTLE))
        said = columns(ox.serialize((quad.triple for quad in parsed), format=ox.RdfFormat.N_TRIPLES) or b"")
        made = [one.subject.value for one in parsed if one.predicate.value == f"{PROV}wasGeneratedBy"]
        rights = state_triples({iri: _describe_rights(about) for iri in made[:1]})
        return pl.concat([said, rights, derived]).unique()
    activity, software = f"{entry.iri}#publication", f"{entry.iri}#software"
    told = state_triples(
        {
            entry.iri: {
                f"{RDF}type": iri(f"{PROV}Entity"),
                f"{DCTERMS}title": entry.name,
                f"{RMX}contentHash": entry.content,
                f"{RMX}enrichment": entry.enrichment,
                f"{PROV}wasGeneratedBy": iri(activity),
                f"{PROV}hadPrimarySource": _iris(*(one for one in about.sources if "://" in one)),
                **_describe_rights(about),
            },
            activity: {f"{RDF}type": iri(f"{PROV}Activity"), f"{PROV}wasAssociatedWith": iri(software)},
            software: describe_software(version),
        }
    )
    return pl.concat([told, derived]).unique()


def describe_catalogued(about: Publication) -> pl.DataFrame:
    """Return the description of a dataset and of the files that hold it in DCAT and VoID, as triples."""
    entry = about.entry
    files = {name: _describe_file(about, name) for name in about.media}
    said = {
        f"{RDF}type": _iris(f"{DCAT}Dataset", f"{VOID}Dataset", f"{HFTS}Dataset"),
        f"{DCTERMS}title": about.title,
        f"{DCTERMS}description": about.description,
        f"{DCTERMS}identifier": entry.iri,
        f"{DCAT}keyword": "entity linking",
        f"{RMX}documents": entry.documents,
        f"{RMX}annotations": entry.annotations,
        f"{DCTERMS}language": about.languages,
        **_describe_rights(about),
        f"{DCAT}landingPage": iri(about.url),
        f"{DCAT}distribution": _iris(*(next(iter(file)) for file in files.values())),
        f"{VOID}dataDump": iri(about.place(about.data)),
        f"{VOID}vocabulary": _iris(NIF, ITSRDF, HFTS, RMX),
        **{f"{VOID}{name}": count for name, count in _sizes(about.triples).items()},
    }
    return state_triples({entry.iri: said, **{part: told for file in files.values() for part, told in file.items()}})


def _describe_file(about: Publication, name: str) -> dict[str, Said]:
    """Return what is said of one file; that of the triples is `#distribution`, another is named by its suffix."""
    suffix = "" if name == about.data else f"-{name.rpartition('.')[2]}"
    distribution, checksum = f"{about.entry.iri}#distribution{suffix}", f"{about.entry.iri}#checksum{suffix}"
    media = about.media[name]
    return {
        distribution: {
            f"{RDF}type": iri(f"{DCAT}Distribution"),
            f"{DCTERMS}title": name,
            f"{DCTERMS}license": _iris(*about.licences),
            f"{DCAT}mediaType": iri(media) if ":" in media else media,
            f"{DCAT}byteSize": len(about.files[name]),
            f"{DCAT}downloadURL": iri(about.place(name)),
            f"{SPDX}checksum": iri(checksum),
        },
        checksum: {
            f"{RDF}type": iri(f"{SPDX}Checksum"),
            f"{SPDX}algorithm": iri(f"{SPDX}checksumAlgorithm_sha256"),
            f"{SPDX}checksumValue": content_hash(about.files[name]),
        },
    }


def describe_for_gerbil(about: Publication) -> pl.DataFrame:
    """Return the description in DataID as GERBIL's corpora have it: a document about `#dataset`, counts as texts."""
    place, data = about.place(f"{about.entry.name}.dataid.ttl"), iri(about.place(about.data))
    document, thing = (place, f"{place}#dataset") if place else (f"{about.entry.iri}#dataid", about.entry.iri)
    said = {
        f"{RDF}type": _iris(f"{DATAID}Dataset", f"{DCAT}Dataset", f"{VOID}Dataset", f"{PROV}Entity"),
        f"{RDFS}label": about.title,
        f"{DCTERMS}description": about.description,
        f"{DCTERMS}language": about.languages,
        **_describe_rights(about),
        f"{DCAT}keyword": ["nif", "entity linking", "evaluation"],
        f"{DCAT}landingPage": iri(about.url),
        f"{DCAT}distribution": data,
        f"{VOID}triples": str(about.triples.height),
        f"{VOID}vocabulary": iri(NIF),
        f"{VOID}rootResource": data,
        f"{VOID}exampleResource": data,
    }
    head = {f"{RDF}type": iri(f"{VOID}DatasetDescription"), f"{FOAF}primaryTopic": iri(thing)}
    return state_triples({document: head, thing: said})


def _iris(*texts: str) -> list[ox.NamedNode]:
    return [ox.NamedNode(text) for text in texts]


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


def table_of(frames: Frames) -> bytes:
    """Return the dataset as Parquet: document, text, language and the list of its mentions.

    A mention has annotation, begin, end, surface_form, entities and classes (lists), nil, ignorable and group.
    """
    links = frames.links.group_by("annotation").agg(entities=pl.col("entity").sort())
    classes = frames.classes.group_by("annotation").agg(classes=pl.col("class").unique().sort())
    rows = frames.annotations.join(links, on="annotation", how="left").join(classes, on="annotation", how="left")
    lists = [pl.col(name).fill_null(pl.lit([], pl.List(pl.String))) for name in _LISTS]
    mention = rows.with_columns(*lists, nil="is_nil").select("document", mentions=pl.struct(list(_MENTION)))
    by_document = mention.sort("document", pl.col("mentions").struct.field("begin", "end", "annotation"))
    grouped = by_document.group_by("document", maintain_order=True).agg("mentions")
    documents = frames.documents.with_columns(iri=pl.coalesce("given", "document"))
    table = documents.join(grouped, on="document", how="left", maintain_order="left")
    stream = io.BytesIO()
    table.select("iri", "text", "language", "mentions").rename({"iri": "document"}).write_parquet(stream)
    return stream.getvalue()


def to_croissant(about: Publication) -> bytes:
    """Return the description in Croissant 1.0 as JSON-LD: the files with their checksums, and the table's columns."""
    name, table = about.entry.name, f"{about.entry.name}.parquet"
    fields = [_describe_field(table, column, "sc:Text", text) for column, text in _FIELDS.items()]
    mentions = {
        "@type": "cr:Field",
        "@id": "documents/mentions",
        "name": "mentions",
        "repeated": True,
        "description": "The mentions in the text.",
        "subField": [_describe_field(table, "mentions", kind, text, part) for part, (kind, text) in _MENTION.items()],
    }
    described: dict[str, object] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": about.description,
        "keywords": ["entity linking"],
        "url": about.url or about.entry.iri,
        "distribution": [_describe_object(about, file) for file in about.media],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "documents", "name": "documents", "field": [*fields, mentions]}],
    }
    more = {
        "license": about.licences[0] if len(about.licences) == 1 else about.licences or about.rights,
        "citeAs": about.citation,
        "isBasedOn": about.sources,
        "inLanguage": about.languages,
        "creator": [{"@type": "sc:Person", "name": creator} for creator in about.creators],
    }
    described |= {key: value for key, value in more.items() if value}
    return (json.dumps(described, ensure_ascii=False, indent=1) + "\n").encode()


def _describe_field(table: str, column: str, kind: str, text: str, part: str = "") -> dict[str, object]:
    """Return the description of a column of the table, or of a part of the structures in it."""
    source: dict[str, object] = {"fileObject": {"@id": table}, "extract": {"column": column}}
    said: dict[str, object] = {"description": text, "dataType": kind, "source": source}
    if part:
        source["transform"] = {"jsonPath": f"$.{part}"}
        said |= {"repeated": True} if part in _LISTS else {}
    name = part or column
    return {"@type": "cr:Field", "@id": f"documents/{column}{f'/{part}' if part else ''}", "name": name, **said}


def _describe_object(about: Publication, file: str) -> dict[str, str]:
    return {
        "@type": "cr:FileObject",
        "@id": file,
        "name": file,
        "contentUrl": about.place(file) or file,
        "contentSize": f"{len(about.files[file])} B",
        # mlcroissant reads tables under this name of their type alone.
        "encodingFormat": about.media[file].rpartition("media-types/")[2].replace("vnd.apache.", "x-"),
        "sha256": content_hash(about.files[file]),
    }
