"""Dates, segments and noise: what HIPE's files say of tokens beside their layers, as values of documents and as lines.

Tokens that are read have `name`, their document, those that are written `document` and `TOKEN`.
"""

from __future__ import annotations

import polars as pl

from remix.expressions import fill
from remix.formats.layers import COMMENT, DATES, MAIN, NOISES, SEGMENTS
from remix.frames import Frames

GLUED = "NoSpaceAfter"
"""What MISC says of a token behind which no space stands."""
NOISY = r"(?i)LED([0-9]+(?:\.[0-9]+)?)"
"""What MISC says of a token that has noise."""


def segments_of(tokens: pl.DataFrame) -> pl.DataFrame:
    """Return name and `segments` of the documents that have several, as `SEGMENTS` has them."""
    read = tokens.filter(~pl.col("token").str.starts_with(COMMENT))
    sizes = read.group_by("name", "segment", maintain_order=True).agg(size=pl.len())
    several = sizes.filter(pl.len().over("name") > 1)
    return several.group_by("name").agg(segments=pl.col("size").cast(pl.String).str.join(" "))


def dates_of(tokens: pl.DataFrame) -> pl.DataFrame:
    """Return name, `dates` and `days` of the documents that have several dates, as `DATES` has them."""
    turns = _turns(tokens, "day").filter(pl.len().over("name") > 1)
    days = pl.col("day").drop_nulls().unique()
    return turns.group_by("name", maintain_order=True).agg(dates=_say("day"), days=days)


def noises_of(tokens: pl.DataFrame, mentions: pl.DataFrame) -> pl.DataFrame:
    """Return name and `noises` of the documents of whose tokens the noise is not that of the mention they are in.

    Mentions have name, begin, end, layer and noise, that of their first token. `noises` are as `NOISES` has them.
    """
    spans = mentions.filter(layer=MAIN).select("name", first="begin", stop="end", meant="noise").sort("name", "first")
    told = tokens.select("name", "begin", "end", "noise").sort("name", "begin")
    told = told.join_asof(
        spans, left_on="begin", right_on="first", by="name", strategy="backward", check_sortedness=False
    )
    meant = pl.when(pl.col("end") <= pl.col("stop")).then("meant")
    other = pl.col("noise").cast(pl.Float64).ne_missing(meant.cast(pl.Float64))
    turns = _turns(told.filter(other.any().over("name")), "noise")
    return turns.group_by("name", maintain_order=True).agg(noises=_say("noise"))


def _turns(tokens: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return name, begin and what the column says, of each token that says other than the one before it."""
    other = pl.col(column).ne_missing(pl.col(column).shift()) | (pl.col("name") != pl.col("name").shift())
    return tokens.select("name", "begin", column).filter(other.fill_null(True))


def _say(column: str) -> pl.Expr:
    return fill("{} {}", "begin", pl.col(column).fill_null("")).str.join("\n")


def turns_in(frames: Frames, term: str) -> pl.DataFrame:
    """Return document, begin and `turn`, what `DATES` or `NOISES` say from there on; empty where that is nothing.

    >>> value = pl.DataFrame({"subject": ["d"], "term": [NOISES], "text": ["0 0.25\\n4 "]})
    >>> turns_in(Frames.of(documents=pl.DataFrame({"document": ["d"]}), values=value), NOISES).rows()
    [('d', 0, '0.25'), ('d', 4, '')]
    """
    lines = frames.values.filter(pl.col("term") == term).select(document="subject", turn=pl.col("text").str.split("\n"))
    split = pl.col("turn").str.splitn(" ", 2).struct
    turns = lines.explode("turn").select(
        "document", begin=split.field("field_0").cast(pl.Int64), turn=split.field("field_1").fill_null("")
    )
    return turns.sort("begin")


def find_inside(tokens: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens in the order of the text with what the rows say of those inside of them."""
    told = rows.drop("document", "begin", "end").columns
    spans = rows.rename({"begin": "first", "end": "stop"}).sort("document", "first")
    found = tokens.sort("document", "begin").join_asof(
        spans, left_on="begin", right_on="first", by="document", strategy="backward", check_sortedness=False
    )
    inside = (pl.col("end") <= pl.col("stop")).fill_null(False)
    return found.with_columns(pl.when(inside).then(name).alias(name) for name in told).drop("first", "stop")


def add_segments(frames: Frames, tokens: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens with `ends`, the line of a segment before the first token of each but the first."""
    sizes = frames.values.filter(pl.col("term") == SEGMENTS).select(
        document="subject", nth=pl.col("text").str.split(" ")
    )
    after = sizes.explode("nth").with_columns(pl.col("nth").cast(pl.Int64).cum_sum().over("document"))
    after = after.with_columns(ends=pl.lit("# segment\n"))
    read = ~pl.col("TOKEN").str.starts_with(COMMENT)
    nth = pl.when(read).then(read.cast(pl.Int64).cum_sum().over("document") - 1)
    return (
        tokens.with_columns(nth=nth).join(after, on=["document", "nth"], how="left", maintain_order="left").drop("nth")
    )


def add_dates(frames: Frames, tokens: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens with `dated`, the line of a date before the first token that it is of."""
    turns = turns_in(frames, DATES).filter(pl.col("turn") != "")
    dated = turns.select("document", "begin", dated=fill("# date = {}\n", "turn"))
    return tokens.join(dated, on=["document", "begin"], how="left", maintain_order="left")


def add_noise(frames: Frames, tokens: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the tokens with MISC: whether a space follows, and the noise of the token, or of the row it is in."""
    found = find_inside(tokens, rows.select("document", "begin", "end", noise=pl.col("noise").cast(pl.String)))
    turns = turns_in(frames, NOISES)
    found = found.join_asof(turns, on="begin", by="document", check_sortedness=False)
    own = pl.col("document").is_in(turns["document"].unique().implode())
    noise = pl.when(own).then(pl.col("turn").replace("", None)).otherwise("noise")
    glued = pl.when("glued").then(pl.lit(GLUED))
    misc = pl.concat_str(glued, fill("LED{}", noise), separator="|", ignore_nulls=True)
    return found.with_columns(MISC=pl.when(misc != "").then(misc).otherwise(pl.lit("_"))).drop("turn")
