"""The place of an entity among all that have a score: rank, percentile and segment."""

from __future__ import annotations

import polars as pl

__all__ = ["SEGMENTS", "placed", "placement"]

SEGMENTS: dict[str, float] = {"head": 0.10, "torso": 0.55, "tail": 1.0}
"""The segments of the remixing paper, section 2.4, by the share of the population that is strictly better."""


def placed(frame: pl.DataFrame, score: str) -> pl.DataFrame:
    """Return the frame with rank, percentile and segment of a score among all rows that have one.

    Ranks begin at 1 and ties share the better one. The percentile is 100 for the best and falls by the share of
    rows that are strictly better; ties so share the better segment, too.

    >>> for row in placed(pl.DataFrame({"s": [3.0, 1.0, 1.0, None]}), "s").rows():
    ...     print(row)
    (3.0, 1, 100.0, 'head')
    (1.0, 2, 66.6666666667, 'torso')
    (1.0, 2, 66.6666666667, 'torso')
    (None, None, None, None)
    """
    rank = pl.col(score).rank("min", descending=True).cast(pl.Int64)
    return frame.with_columns(rank.alias(f"{score}_rank"), *placement(score, rank, pl.col(score).count()))


def placement(score: str, rank: pl.Expr, count: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return percentile and segment of a score by the rank among so many; see `placed`."""
    # polars divides by multiplying with the reciprocal: 213 of 2130 come out below 0.1, and would be head.
    better = ((rank - 1) / count).round(12)
    segment = (
        pl.when(better < SEGMENTS["head"])
        .then(pl.lit("head"))
        .when(better < SEGMENTS["torso"])
        .then(pl.lit("torso"))
        .when(better < SEGMENTS["tail"])
        .then(pl.lit("tail"))
    )
    return (100 * (1 - better)).round(10).alias(f"{score}_percentile"), segment.alias(f"{score}_segment")
