"""Prominence of entities: PageRank and HITS over the link graph, in memory or by joins, and places by score."""

from __future__ import annotations

import polars as pl

SCORES = ("pagerank", "hits", "hub")
"""The scores of an entity that have places."""

SEGMENTS: dict[str, float] = {"head": 0.10, "torso": 0.55, "tail": 1.0}
"""The segments of the remixing paper, section 2.4, by the share of the population that is strictly better."""

FADED = 1e-290
"""Below this a score has died out: soon it has too few digits for a quotient."""


def add_places(frame: pl.DataFrame, score: str) -> pl.DataFrame:
    """Return the frame with rank, number of equals, percentile and segment of a score among all rows that have one.

    Ranks begin at 1 and equals share the better one. The percentile is the share of the rows with a smaller score plus
    half of those with the same one, itself among them. The segment follows from the share that is strictly better.

    >>> for row in add_places(pl.DataFrame({"s": [3.0, 1.0, 1.0, None]}), "s").rows():
    ...     print(row)
    (3.0, 1, 1, 83.3333333333, 'head')
    (1.0, 2, 2, 33.3333333333, 'torso')
    (1.0, 2, 2, 33.3333333333, 'torso')
    (None, None, None, None, None)
    """
    return add_ranks(frame, score).with_columns(*place_columns(score, pl.col(score).count()))


def add_ranks(frame: pl.DataFrame, score: str) -> pl.DataFrame:
    """Return the frame with rank and number of equals of a score; see `add_places`."""
    rank = pl.col(score).rank("min", descending=True).cast(pl.Int64)
    last = pl.col(score).rank("max", descending=True).cast(pl.Int64)
    return frame.with_columns(rank.alias(f"{score}_rank"), (last - rank + 1).alias(f"{score}_equal"))


def place_columns(score: str, count: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return percentile and segment of a score by rank and number of equals among so many; see `add_places`."""
    before = pl.col(f"{score}_rank") - 1
    # polars divides by multiplying with the reciprocal: 213 of 2130 come out below 0.1, and would be head.
    better = (before / count).round(12)
    segment = (
        pl.when(better < SEGMENTS["head"])
        .then(pl.lit("head"))
        .when(better < SEGMENTS["torso"])
        .then(pl.lit("torso"))
        .when(better < SEGMENTS["tail"])
        .then(pl.lit("tail"))
    )
    percentile = (100 * (1 - (before + pl.col(f"{score}_equal") / 2) / count)).round(10)
    return percentile.alias(f"{score}_percentile"), segment.alias(f"{score}_segment")
