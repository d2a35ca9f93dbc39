"""GERBIL's JSON: an array of documents, each with its annotations.

    [{"id": 0, "iri": "http://…/d1", "text": "Ada met Bob", "annotations":
      [{"start": 0, "end": 3, "confidence": 0.5, "meaning": ["http://dbpedia.org/resource/Ada"], "types": ["http://…"]}]}]

A document is called by its `iri`, else by its `id`, else by its place. Of several `meaning`s any is right; none (`[]`,
or no such field) is NIL. An annotation without `start` and `end` is about the whole document and is not read. Offsets
are positions in Java's strings: UTF-16 code units, end exclusive.
Source: GERBIL, src/main/java/org/aksw/gerbil/io/json/SimpleJsonDatasetReader.java and SimpleJsonDatasetWriter.java;
transfer/nif/MarkingBuilder.java.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from remix.errors import BadInput
from remix.expressions import fill
from remix.files import write_whole
from remix.formats import Format, Loss, SourceFile
from remix.formats.json import json_text, json_value, tell_misspelt
from remix.formats.mentions import MentionTables, reader
from remix.formats.offsets import characters_of_units, units_of_characters
from remix.formats.repairs import RepairTally
from remix.formats.writing import gather, lay_out
from remix.frames import Frames
from remix.names import RMX

EXACT = 1 << 53
"""Up to here each whole number is a float."""

_ANNOTATION = pl.Struct(
    {
        "start": pl.Float64(),
        "end": pl.Float64(),
        "confidence": pl.Float64(),
        "meaning": pl.List(pl.String()),
        "types": pl.List(pl.String()),
    }
)
_NO_NUMBER = re.compile(r'"(?:(?:start|end)"\s*:\s*(?:-?\d+[.eE]|[tf])|confidence"\s*:\s*[tf])')
"""What a parser that was told the types reads as a number all the same: parts of numbers as whole, true as 1."""

_SCHEMA = {"id": pl.String(), "iri": pl.String(), "text": pl.String(), "annotations": pl.List(_ANNOTATION)}

FIELDS = (*_SCHEMA, *_ANNOTATION.to_schema())


def _is_gerbil(head: bytes, name: str) -> bool:
    if re.match(rb"\[\s*\{", head) is None or re.search(rb'"(?:@[a-z]+|passages)"\s*:', head) is not None:
        return False
    listed = re.search(rb'"annotations"\s*:\s*\[', head) is not None
    # A long text hides what comes after it.
    named = re.match(rb'\[\s*\{\s*"(?:id|iri)"\s*:', head) is not None
    return re.search(rb'"text"\s*:\s*"', head) is not None and (listed or named)


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    text = json_text(source.read(), tally)
    tell_misspelt(text, FIELDS, tally)
    try:
        documents = pl.read_json(text.encode(), schema=_SCHEMA)
    except pl.exceptions.PolarsError as error:
        raise _error_of(source, text, error) from None
    if _NO_NUMBER.search(text) and (broken := _first_wrong(json_value(source.name, text))):
        raise BadInput(source.name, broken)
    documents = _name_documents(documents, tally)
    # As whole numbers those of 20 digits would be null; no text is longer than what a float counts exactly.
    offsets = pl.col("start", "end").clip(-EXACT, EXACT).cast(pl.Int64)
    rows = documents.select("name", "text", "annotations").explode("annotations", empty_as_null=True, keep_nulls=True)
    rows = rows.drop_nulls("annotations").unnest("annotations").with_row_index("mention")
    nth = pl.int_range(1, pl.len() + 1).over("name")
    rows = rows.with_columns(offsets, place=fill("{}, annotation {}", "name", nth))
    rows = characters_of_units(_with_spans(source, rows, tally), "name", "start", "end")
    return MentionTables(
        documents=documents,
        mentions=rows.rename({"start": "begin"}),
        links=rows.select("mention", identifier="meaning").explode("identifier").drop_nulls(),
        classes=rows.select("mention", **{"class": "types"}).explode("class").drop_nulls(),
    )


def _name_documents(documents: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return the documents with `name`; one whose name another has gets its place behind it, which is counted."""
    place = pl.int_range(pl.len()).cast(pl.String)
    named = documents.with_columns(name=pl.coalesce("iri", "id", place))
    own = named["name"]
    taken = again = ~own.is_first_distinct()
    tally.add_rows("duplicate-document", named.filter(again), "{name} is the name of two documents")
    # Another document may be called like this already; places differ, so that no two of these are.
    while taken.any():
        named = named.with_columns(name=pl.when(taken).then(fill("{}-{}", "name", place)).otherwise("name"))
        taken = again & named["name"].is_in(own.implode())
    return named


def _with_spans(source: SourceFile, rows: pl.DataFrame, tally: RepairTally) -> pl.DataFrame:
    """Return the rows that have a span; those without are counted, those with half a one refused."""
    begins, ends = pl.col("start").is_not_null(), pl.col("end").is_not_null()
    if (half := rows.filter(begins ^ ends)).height:
        raise BadInput(source.name, f"{half['place'][0]}: start and end go together")
    tally.add_rows("unread", rows.filter(~begins), "{place} is about the whole document (no start and end)")
    return rows.filter(begins)


def _error_of(source: SourceFile, text: str, error: Exception) -> BadInput:
    """Return what is wrong with a file: its JSON, the first document or annotation, or else what polars says."""
    try:
        whole = json_value(source.name, text, strict=True)
    except BadInput as broken:
        return broken
    told = f"is no array of GERBIL's documents: {' '.join(str(error).split())[:150]}"
    return BadInput(source.name, _first_wrong(whole) or told)


def _first_wrong(value: Any) -> str:
    """Return what is wrong with the first document or annotation that is not as it should be, nothing where all are."""
    for number, document in enumerate(value if isinstance(value, list) else [], 1):
        if not isinstance(document, dict):
            return f"document {number} is no JSON object"
        listed = document.get("annotations") or []
        for place, annotation in enumerate(listed if isinstance(listed, list) else [listed], 1):
            if wrong := _wrong(annotation):
                return f"document {number}, annotation {place}: {wrong}"
    return ""


def _wrong(annotation: Any) -> str:
    if not isinstance(annotation, dict):
        return "is no JSON object"
    told = {name: annotation[name] for name in ("start", "end", "confidence") if annotation.get(name) is not None}
    for name, said in told.items():
        # For Python true is a number.
        is_number = isinstance(said, int | float) and not isinstance(said, bool)
        if name != "confidence" and not (is_number and said % 1 == 0):
            return f"{name} is a whole number, not {json.dumps(said)}"
        if not is_number:
            return f"{json.dumps(said)} is no number for a confidence"
    return ""


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    documents, rows, losses = lay_out(frames, r"^[^\x00]+$")
    classes = frames.classes.group_by("annotation", maintain_order=True).agg(
        types=pl.col("class").str.strip_prefix(RMX)
    )
    rows = rows.join(classes, on="annotation", how="left", maintain_order="left")
    rows = units_of_characters(rows, "document", "begin", "end").rename({"begin": "start"})
    rows = rows.with_columns(meaning=pl.col("identifiers").fill_null([]))
    whole = gather(documents, rows, annotations=pl.struct("start", "end", "confidence", "meaning", "types"))
    whole = whole.with_row_index("id").with_columns(pl.col("annotations").fill_null([]), iri="label")
    said = whole.select(pl.struct("id", "iri", "text", "annotations").struct.json_encode()).to_series()
    with write_whole(path) as stream:
        # GERBIL's own reader takes no null; a quote within a text is escaped.
        told = ",\n".join(said.str.replace_all(r',"(?:confidence|types)":null', ""))
        stream.write(f"[{told}]\n".encode())
    return losses


gerbil_json = Format(
    name="gerbil-json",
    summary="GERBIL's JSON (an array of documents with annotations)",
    suffixes=(".json",),
    sniff=_is_gerbil,
    read=_read,
    write=_write,
    holds=frozenset({"texts", "nil", "links", "confidence", "classes", "further-classes", "unannotated"}),
)
