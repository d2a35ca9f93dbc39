"""Micro, macro and distinct averages, derived once for all measures from part and whole.

    micro      sum of parts over sum of wholes, pooled over the dataset
    macro      mean of the documents' values
    distinct   mean over distinct surface forms, or entities, of the dataset
    count      sum of parts

The paper calls macro what its formulas (3) and (5) to (9) label "micro", and labels distinct "macro".
Groups keep the order of the rows, which are sorted: floating-point sums come out the same each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from remix.measures._declaration import Summary

__all__ = ["averaged"]

Tables = Mapping[str, pl.DataFrame]
_LONG = {
    "dataset": pl.String(),
    "measure": pl.String(),
    "average": pl.String(),
    "value": pl.Float64(),
    "coverage": pl.Float64(),
}


def averaged(
    summaries: Iterable[Summary], tables: Tables, *, empty: float | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the documents' values, wide (document, dataset, a column per statistic), and the datasets', long.

    A document without a value is left out of the macro average, unless `empty` says what it counts as. The
    tables have at least the columns document and dataset; statistics over one table are derived together.
    """
    chosen = list(summaries)
    values = tables["documents"].select("document", "dataset")
    long: list[pl.DataFrame] = []
    for table in sorted({summary.over for summary in chosen}):
        of_table = [summary for summary in chosen if summary.over == table]
        long += [_pooled(of_table, tables[table])]
        for unit in sorted({s.unit for s in of_table if s.unit and "distinct" in s.terms}):
            long += [_distinct([s for s in of_table if s.unit == unit and "distinct" in s.terms], tables[table], unit)]
    for table in sorted({_own(summary)[2] for summary in chosen}):
        of_table = [summary for summary in chosen if _own(summary)[2] == table]
        values = values.join(_documents(of_table, tables[table]), on="document", how="left", maintain_order="left")
    if empty is not None:
        values = values.with_columns(pl.col(summary.name).fill_null(empty) for summary in chosen)
    long += [_macro([s for s in chosen if "macro" in s.terms], values)]
    order = {summary.name: place for place, summary in enumerate(chosen)}
    averages = pl.concat(long).filter(pl.col("value").is_not_null())
    place = pl.col("measure").replace_strict(order, return_dtype=pl.Int64)
    averages = averages.sort("dataset", place, "average")
    return values.drop([f"{s.name}:covered" for s in chosen]).sort("document"), averages


def _own(summary: Summary) -> tuple[pl.Expr, pl.Expr, str]:
    return summary.own or (summary.part, summary.whole, summary.over)


def _spoken(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    return (part.is_not_null() & whole.is_not_null() & (whole.cast(pl.Float64) != 0.0)).fill_null(False)


def _ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    spoken = _spoken(part, whole)
    top = pl.when(spoken).then(part.cast(pl.Float64)).sum()
    bottom = pl.when(spoken).then(whole.cast(pl.Float64)).sum()
    return pl.when(bottom != 0).then(top / bottom)


def _documents(summaries: list[Summary], table: pl.DataFrame) -> pl.DataFrame:
    """Return per document the value of each statistic, its count, and the share of rows that it speaks for."""
    columns: list[pl.Expr] = []
    for summary in summaries:
        part, whole, _ = _own(summary)
        columns.append(_ratio(part, whole).alias(summary.name))
        columns.append(_spoken(part, whole).cast(pl.Float64).mean().alias(f"{summary.name}:covered"))
        if "count" in summary.terms:
            columns.append(part.cast(pl.Int64).sum().alias(f"{summary.name}:count"))
    return table.group_by("document", maintain_order=True).agg(*columns)


def _long(wide: pl.DataFrame, names: list[str], average: str) -> pl.DataFrame:
    """Return the wide frame with `name` and `name:covered` columns as rows of the datasets' table."""
    parts = [
        wide.select(
            "dataset",
            pl.lit(name).alias("measure"),
            pl.lit(average).alias("average"),
            pl.col(name).cast(pl.Float64).alias("value"),
            pl.col(f"{name}:covered").cast(pl.Float64).alias("coverage"),
        )
        for name in names
    ]
    return pl.concat(parts) if parts else pl.DataFrame(schema=_LONG)


def _pooled(summaries: list[Summary], table: pl.DataFrame) -> pl.DataFrame:
    columns: list[pl.Expr] = []
    for summary in summaries:
        columns.append(_ratio(summary.part, summary.whole).alias(summary.name))
        columns.append(_spoken(summary.part, summary.whole).cast(pl.Float64).mean().alias(f"{summary.name}:covered"))
        columns.append(summary.part.cast(pl.Float64).sum().alias(f"{summary.name}:count"))
    wide = table.group_by("dataset", maintain_order=True).agg(*columns)
    micro = _long(wide, [s.name for s in summaries if "micro" in s.terms], "micro")
    counted = [s.name for s in summaries if "count" in s.terms]
    sums = wide.select(
        "dataset",
        *(pl.col(f"{name}:count").alias(name) for name in counted),
        *(pl.col(f"{name}:covered") for name in counted),
    )
    return pl.concat([micro, _long(sums, counted, "count")])


def _distinct(summaries: list[Summary], table: pl.DataFrame, unit: str) -> pl.DataFrame:
    """Return the mean over the distinct values of a column, within each dataset."""
    per_unit = (
        table.filter(pl.col(unit).is_not_null())
        .group_by("dataset", unit, maintain_order=True)
        .agg(_ratio(summary.part, summary.whole).alias(summary.name) for summary in summaries)
    )
    wide = per_unit.group_by("dataset", maintain_order=True).agg(
        *(pl.col(summary.name).mean() for summary in summaries),
        *(pl.col(summary.name).is_not_null().mean().alias(f"{summary.name}:covered") for summary in summaries),
    )
    return _long(wide, [summary.name for summary in summaries], "distinct")


def _macro(summaries: list[Summary], values: pl.DataFrame) -> pl.DataFrame:
    """Return the mean of the documents' values; its coverage is the mean share that these speak for."""
    wide = values.group_by("dataset", maintain_order=True).agg(
        *(pl.col(summary.name).mean() for summary in summaries),
        *(pl.col(f"{summary.name}:covered").mean() for summary in summaries),
    )
    return _long(wide, [summary.name for summary in summaries], "macro")
