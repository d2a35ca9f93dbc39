"""DWIE: one JSON object an article, whose mentions name a concept by its number, and whose concepts have the link.

    {"id": "DW_1", "mentions": [{"begin": 0, "end": 5, "text": "Essen", "concept": 0, "candidates": ["Essen"],
     "scores": [0.9]}], "concepts": [{"concept": 0, "link": "Essen", "tags": ["type::location"]}]}

As published there is no text, which a script of DWIE fetches (`content`). A link is a title of the English Wikipedia;
the mentions of a concept without one are NIL, and one entity. Classes are the concept's tags `type::…`. A file, or a
folder or archive of them. Source: Zaporojets et al. 2021; the README of DWIE.
"""

from __future__ import annotations

import re

import polars as pl

from remix.errors import BadInput
from remix.expressions import fill
from remix.formats import Format, SourceFile
from remix.formats.identifiers import title_url
from remix.formats.json import json_text, json_value
from remix.formats.mentions import MentionTables, reader
from remix.formats.repairs import RepairTally, separate_names

_MENTION = {
    "begin": pl.Float64(),
    "end": pl.Float64(),
    "text": pl.String(),
    "concept": pl.Int64(),
    "candidates": pl.List(pl.String()),
    "scores": pl.List(pl.Float64()),
}
_CONCEPT = {"concept": pl.Int64(), "link": pl.String(), "tags": pl.List(pl.String())}
_FARTHEST = 1 << 53
"""Up to here each whole number is a float."""

_ARTICLE = pl.Struct(
    {
        "id": pl.String(),
        "content": pl.String(),
        "mentions": pl.List(pl.Struct(_MENTION)),
        "concepts": pl.List(pl.Struct(_CONCEPT)),
    }
)


def _is_dwie(head: bytes, name: str) -> bool:
    fields = (rb'"mentions"\s*:\s*\[', rb'"concept"\s*:\s*[0-9]', rb'"begin"\s*:')
    return head.startswith(b"{") and all(re.search(field, head) for field in fields)


@reader
def _read(source: SourceFile, tally: RepairTally) -> MentionTables:
    parts = [_article(source.place(name), data, tally) for name, data in source.files_that(_is_dwie).items()]
    articles = pl.concat(parts).with_row_index("article")
    said = articles.select(pl.coalesce("id", pl.col("article").cast(pl.String)))
    articles = articles.with_columns(name=separate_names(said.to_series(), tally))
    mentions = _with_offsets(source, _rows(articles, "mentions").with_row_index("mention"))
    concepts = _rows(articles, "concepts").unique(["article", "concept"], keep="first", maintain_order=True)
    told = mentions.join(concepts, on=["article", "concept"], how="left", maintain_order="left")
    astray = told.filter(pl.col("tags").is_null() & pl.col("concept").is_not_null())
    tally.add_rows("dangling", astray, "{place}: concept {concept} is none of {name}")
    types = pl.col("tags").list.eval(pl.element().filter(pl.element().str.starts_with("type::")).str.slice(6))
    each = pl.int_ranges(pl.col("candidates").list.len())
    scores = pl.col("scores").fill_null([]).list.gather(each, null_on_oob=True)
    ranked = told.select("mention", identifier="candidates", score=scores).drop_nulls("identifier")
    cluster, linked = fill("{}#{}", "name", "concept"), title_url(pl.col("link"))
    return MentionTables(
        documents=articles.select("name", text="content"),
        mentions=told.with_columns(anchor="text", cluster=cluster, identifier=linked),
        candidates=ranked.explode("identifier", "score").with_columns(title_url(pl.col("identifier"))),
        classes=told.select("mention", **{"class": types}).explode("class").drop_nulls(),
        keep_outside=True,
        apart=True,
    )


def _article(file: str, data: bytes, tally: RepairTally) -> pl.DataFrame:
    """Return the article of a file as a row; raises `BadInput` with what is not as it should be."""
    text = json_text(data, tally)
    try:
        return pl.Series([text]).str.json_decode(_ARTICLE).struct.unnest()
    except pl.exceptions.PolarsError as error:
        json_value(file, text, strict=True)
        raise BadInput(file, f"is no article of DWIE: {' '.join(str(error).split())[:150]}") from None


def _rows(articles: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the objects of a list of the articles as rows, with article, name and place."""
    listed = articles.select("article", "name", one=column).explode("one").drop_nulls("one")
    place = fill("{}, {} {}", "name", pl.lit(column), pl.int_range(1, pl.len() + 1).over("article"))
    return listed.with_columns(place=place).unnest("one")


def _with_offsets(source: SourceFile, mentions: pl.DataFrame) -> pl.DataFrame:
    """Return the mentions with offsets as whole numbers; raises `BadInput` for the first that has none."""
    whole = ((pl.col("begin") % 1 == 0) & (pl.col("end") % 1 == 0)).fill_null(False)
    if (wrong := mentions.filter(~whole)).height:
        raise BadInput(
            source.name,
            f"{wrong['place'][0]}: begin and end are whole numbers, not {wrong['begin'][0]} and {wrong['end'][0]}",
        )
    return mentions.with_columns(pl.col("begin", "end").clip(-_FARTHEST, _FARTHEST).cast(pl.Int64))


dwie_json = Format(
    name="dwie-json",
    summary="DWIE (a JSON object an article, links by concept; a folder or zip)",
    suffixes=(".json",),
    sniff=_is_dwie,
    read=_read,
    collection=True,
)
