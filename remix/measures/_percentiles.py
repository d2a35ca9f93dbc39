"""Percentiles: the share of all values that are not higher."""

from __future__ import annotations

import polars as pl

__all__ = ["percentile", "percentiles_of"]


def percentile(column: str) -> pl.Expr:
    """Return the share, in percent, of all rows with a value that have no higher one; equals share the better place.

    >>> pl.DataFrame({"x": [1, 5, 5, None]}).select(percentile("x"))["x_percentile"].round(1).to_list()
    [33.3, 100.0, 100.0, None]
    """
    rank = pl.col(column).rank("min", descending=True)
    return (100 * (1 - (rank - 1) / pl.col(column).count())).round(10).alias(f"{column}_percentile")


def percentiles_of(column: str, counts: pl.DataFrame) -> pl.DataFrame:
    """Return each value of a column with its `percentile`, given how often it comes (`count`).

    >>> percentiles_of("x", pl.DataFrame({"x": [5, 1], "count": [2, 1]}))["x_percentile"].round(1).to_list()
    [100.0, 33.3]
    """
    higher = pl.col("count").cum_sum() - pl.col("count")
    ordered = counts.drop_nulls(column).sort(column, descending=True)
    placed = (100 * (1 - higher / pl.col("count").sum())).round(10).alias(f"{column}_percentile")
    return ordered.select(column, placed)
