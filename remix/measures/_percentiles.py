"""Percentiles: the share of all values that are smaller, and half of those that are equal."""

from __future__ import annotations

import polars as pl

__all__ = ["percentile", "percentiles_of"]


def percentile(column: str) -> pl.Expr:
    """Return the share, in percent, of all rows with a value that have a smaller one, plus half of the equal ones.

    A row is equal to itself, so the mean of all percentiles is 50.

    >>> pl.DataFrame({"x": [1, 5, 5, None]}).select(percentile("x"))["x_percentile"].round(1).to_list()
    [16.7, 66.7, 66.7, None]
    """
    middle = pl.col(column).rank("average") - 0.5
    return (100 * middle / pl.col(column).count()).round(10).alias(f"{column}_percentile")


def percentiles_of(column: str, counts: pl.DataFrame) -> pl.DataFrame:
    """Return each value of a column with its `percentile`, given how often it comes (`count`).

    >>> percentiles_of("x", pl.DataFrame({"x": [5, 1], "count": [2, 1]}))["x_percentile"].round(1).to_list()
    [66.7, 16.7]
    """
    middle = pl.col("count").cum_sum(reverse=True) - pl.col("count") / 2
    ordered = counts.drop_nulls(column).sort(column, descending=True)
    placed = (100 * middle / pl.col("count").sum()).round(10).alias(f"{column}_percentile")
    return ordered.select(column, placed)
