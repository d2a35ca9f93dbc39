"""ELEVANT's simple JSON Lines: an article a line, with `labels` (gold) or `predictions` (answers).

    {"text": "Ada met Bob", "title": "…", "labels": [{"start_char": 0, "end_char": 3, "entity_reference": "Q7259"}]}

Predictions have no texts in ELEVANT: a line belongs to the article of its place in the benchmark, which is named
`urn:elevant:article:N` from 0, as in `remix.formats.definitions.elevant`. Offsets are code points, end exclusive.
Source: ELEVANT, simple_jsonl_benchmark_reader.py and simple_jsonl_prediction_reader.py.
"""

from __future__ import annotations

import polars as pl

from remix.errors import BadInput
from remix.formats import Contents, Format, SourceFile
from remix.formats.elevant import SIMPLE, kind_of, write_simple
from remix.formats.json import json_lines, json_text, tell_misspelt
from remix.formats.mends import Mends
from remix.formats.mentions import MentionTables, assemble

_MENTION = pl.List(
    pl.Struct(
        {
            "start_char": pl.Int64(),
            "end_char": pl.Int64(),
            "entity_reference": pl.String(),
            "candidates": pl.List(pl.String()),
        }
    )
)
_SCHEMA = {"title": pl.String(), "text": pl.String(), "labels": _MENTION, "predictions": _MENTION}

FIELDS = (*_SCHEMA, "start_char", "end_char", "entity_reference", "candidates", "entity_mentions", "evaluation_span")


def _is_simple(head: bytes, name: str) -> bool:
    return kind_of(head) == SIMPLE


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    text = json_text(source.read(), mends)
    tell_misspelt(text, FIELDS, mends)
    articles = json_lines(source.name, text.encode(), _SCHEMA, "an article").with_row_index("line", offset=1)
    place = pl.format("urn:elevant:article:{}", pl.col("line") - 1)
    titled = pl.col("title").is_not_null() & pl.col("title").is_unique() & pl.col("text").is_not_null()
    articles = articles.with_columns(name=pl.when(titled).then("title").otherwise(place))
    listed = articles.select("line", "name", mention=pl.coalesce("predictions", "labels")).explode("mention")
    rows = listed.drop_nulls("mention").unnest("mention").with_row_index("mention")
    rows = rows.with_columns(place=pl.format("line {}", "line"))
    spanless = rows.filter(pl.col("start_char").is_null() | pl.col("end_char").is_null())
    if spanless.height:
        raise BadInput(source.name, "a mention without start_char and end_char", line=int(spanless["line"][0]))
    links = rows.select("mention", identifier="entity_reference").drop_nulls()
    candidates = rows.select("mention", identifier="candidates").explode("identifier").drop_nulls()
    read = MentionTables(
        documents=articles.select("name", "text"),
        mentions=rows.rename({"start_char": "begin", "end_char": "end"}),
        links=links,
        candidates=candidates,
        mends=mends,
    )
    return assemble(read, dataset)


elevant_simple = Format(
    name="elevant-simple",
    summary="ELEVANT's simple JSON Lines (labels or predictions)",
    suffixes=(".jsonl",),
    sniff=_is_simple,
    read=_read,
    write=write_simple,
    holds=frozenset({"texts", "nil", "candidates", "unannotated"}),
)
