"""The dataset as a table with a document a row, and its description in Croissant, which is schema.org."""

from __future__ import annotations

import io
import json

import polars as pl

from remix.frames import Frames
from remix.publication.description import Publication
from remix.signature import content_hash

__all__ = ["table_of", "to_croissant"]

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
        "distribution": [_describe_file(about, file) for file in about.media],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "documents", "name": "documents", "field": [*fields, mentions]}],
    }
    more = {
        "license": about.licence,
        "citeAs": about.citation,
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


def _describe_file(about: Publication, file: str) -> dict[str, str]:
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
