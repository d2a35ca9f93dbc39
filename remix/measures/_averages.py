"""Micro, macro and distinct averages, derived once for all measures from part and whole.

    micro      sum of parts over sum of wholes, pooled over the dataset
    macro      mean of the documents' values
    distinct   mean over distinct surface forms, or entities, of the dataset
    count      sum of parts

The paper calls macro what its formulas (3) and (5) to (9) label "micro", and labels distinct "macro".
Groups keep the order of the rows, which are sorted: floating-point sums come out the same each time.

All are made of sums that add up over parts of a dataset, each with whole documents (`summed`, `added`); only what is
distinct is a set of the whole, so the sums of each form and entity are kept until all parts are in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from remix.measures._declaration import Summary

__all__ = ["Sums", "added", "averaged", "averages", "means_of_units", "summed"]

Tables = Mapping[str, pl.DataFrame]
Units = dict[tuple[str, str], pl.DataFrame]
_LONG = {
    "dataset": pl.String(),
    "measure": pl.String(),
    "average": pl.String(),
    "value": pl.Float64(),
    "coverage": pl.Float64(),
}


@dataclass(frozen=True)
class Sums:
    """What averages are made of: per dataset and table, per distinct unit of a table, and over documents."""

    pooled: dict[str, pl.DataFrame]
    units: Units
    macro: pl.DataFrame


def averaged(
    summaries: Iterable[Summary], tables: Tables, *, empty: float | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the documents' values, wide (document, dataset, a column per statistic), and the datasets', long.

    A document without a value is left out of the macro average, unless `empty` says what it counts as. The
    tables have at least the columns document and dataset; statistics over one table are derived together.
    """
    chosen = list(summaries)
    values, sums = summed(chosen, tables, empty=empty)
    return values, averages(chosen, sums, means_of_units(chosen, sums.units))


def summed(summaries: Sequence[Summary], tables: Tables, *, empty: float | None = None) -> tuple[pl.DataFrame, Sums]:
    """Return the documents' values, and the sums that the averages of the datasets are made of."""
    values = tables["documents"].select("document", "dataset")
    pooled: dict[str, pl.DataFrame] = {}
    units: Units = {}
    for table in sorted({summary.over for summary in summaries}):
        of_table = [summary for summary in summaries if summary.over == table]
        pooled[table] = _pooled(of_table, tables[table])
        for unit in sorted({s.unit for s in of_table if s.unit and "distinct" in s.terms}):
            units[table, unit] = _units(_distinct(summaries, table, unit), tables[table], unit)
    for table in sorted({_own(summary)[2] for summary in summaries}):
        of_table = [summary for summary in summaries if _own(summary)[2] == table]
        values = values.join(_documents(of_table, tables[table]), on="document", how="left", maintain_order="left")
    if empty is not None:
        values = values.with_columns(pl.col(summary.name).fill_null(empty) for summary in summaries)
    macro = _totals(values, [s.name for s in summaries if "macro" in s.terms], covered=True)
    return values.drop([f"{s.name}:covered" for s in summaries]).sort("document"), Sums(pooled, units, macro)


def added(parts: Sequence[Sums]) -> Sums:
    """Return the sums of several parts together."""
    first = parts[0]
    pooled = {table: _added([part.pooled[table] for part in parts], ["dataset"]) for table in first.pooled}
    units = {key: _added([part.units[key] for part in parts], ["dataset", key[1]]) for key in first.units}
    return Sums(pooled, units, _added([part.macro for part in parts], ["dataset"]))


def averages(summaries: Sequence[Summary], sums: Sums, means: Units) -> pl.DataFrame:
    """Return dataset, measure, average, value and coverage, given the sums and those over distinct units."""
    long: list[pl.DataFrame] = []
    for table, wide in sums.pooled.items():
        of_table = [summary for summary in summaries if summary.over == table]
        covered = {s.name: pl.col(f"{s.name}:spoken") / pl.col(":rows") for s in of_table}
        micro = {s.name: _divided(s.name) for s in of_table if "micro" in s.terms}
        counts = {s.name: pl.col(f"{s.name}:count") for s in of_table if "count" in s.terms}
        long += [_long(wide, micro, covered, "micro"), _long(wide, counts, covered, "count")]
    for (table, unit), wide in means.items():
        names = [summary.name for summary in _distinct(summaries, table, unit)]
        long.append(_long(wide, *_means(names, covered=False), "distinct"))
    names = [summary.name for summary in summaries if "macro" in summary.terms]
    long.append(_long(sums.macro, *_means(names, covered=True), "macro"))
    order = {summary.name: place for place, summary in enumerate(summaries)}
    place = pl.col("measure").replace_strict(order, return_dtype=pl.Int64)
    return pl.concat(long).filter(pl.col("value").is_not_null()).sort("dataset", place, "average")


def means_of_units(summaries: Sequence[Summary], units: Units) -> Units:
    """Return the sums over distinct surface forms and entities: they add up over disjoint shares of these."""
    means: Units = {}
    for (table, unit), wide in units.items():
        names = [summary.name for summary in _distinct(summaries, table, unit)]
        ratios = wide.select("dataset", *(_divided(name).alias(name) for name in names))
        means[table, unit] = _totals(ratios, names, covered=False)
    return means


def _distinct(summaries: Iterable[Summary], table: str, unit: str) -> list[Summary]:
    return [s for s in summaries if s.over == table and s.unit == unit and "distinct" in s.terms]


def _added(parts: list[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    return pl.concat(parts).group_by(keys, maintain_order=True).agg(pl.all().sum())


def _own(summary: Summary) -> tuple[pl.Expr, pl.Expr, str]:
    return summary.own or (summary.part, summary.whole, summary.over)


def _spoken(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    return (part.is_not_null() & whole.is_not_null() & (whole.cast(pl.Float64) != 0.0)).fill_null(False)


def _top(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    return pl.when(_spoken(part, whole)).then(part.cast(pl.Float64)).sum()


def _bottom(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    return pl.when(_spoken(part, whole)).then(whole.cast(pl.Float64)).sum()


def _divided(name: str) -> pl.Expr:
    top, bottom = pl.col(f"{name}:top"), pl.col(f"{name}:bottom")
    return pl.when(bottom != 0).then(top / bottom)


def _ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    bottom = _bottom(part, whole)
    return pl.when(bottom != 0).then(_top(part, whole) / bottom)


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


def _long(
    wide: pl.DataFrame, values: Mapping[str, pl.Expr], covered: Mapping[str, pl.Expr], average: str
) -> pl.DataFrame:
    """Return the wide frame as rows of the datasets' table: a row per dataset and measure."""
    parts = [
        wide.select(
            "dataset",
            pl.lit(name).alias("measure"),
            pl.lit(average).alias("average"),
            value.cast(pl.Float64).alias("value"),
            covered[name].cast(pl.Float64).alias("coverage"),
        )
        for name, value in values.items()
    ]
    return pl.concat(parts) if parts else pl.DataFrame(schema=_LONG)


def _pooled(summaries: list[Summary], table: pl.DataFrame) -> pl.DataFrame:
    columns = [pl.len().alias(":rows")]
    for summary in summaries:
        name, part, whole = summary.name, summary.part, summary.whole
        columns.append(_top(part, whole).alias(f"{name}:top"))
        columns.append(_bottom(part, whole).alias(f"{name}:bottom"))
        columns.append(_spoken(part, whole).cast(pl.Int64).sum().alias(f"{name}:spoken"))
        columns.append(part.cast(pl.Float64).sum().alias(f"{name}:count"))
    return table.group_by("dataset", maintain_order=True).agg(*columns)


def _units(summaries: list[Summary], table: pl.DataFrame, unit: str) -> pl.DataFrame:
    """Return the sums of each distinct value of a column, within each dataset."""
    columns: list[pl.Expr] = []
    for summary in summaries:
        columns.append(_top(summary.part, summary.whole).alias(f"{summary.name}:top"))
        columns.append(_bottom(summary.part, summary.whole).alias(f"{summary.name}:bottom"))
    known = table.filter(pl.col(unit).is_not_null())
    return known.group_by("dataset", unit, maintain_order=True).agg(*columns)


def _totals(values: pl.DataFrame, names: Iterable[str], *, covered: bool) -> pl.DataFrame:
    """Return per dataset the sum of each column and how many rows have a value; `covered`: also of its coverage."""
    every = [column for name in names for column in ([name, f"{name}:covered"] if covered else [name])]
    sums = [pl.col(column).sum().alias(f"{column}:sum") for column in every]
    counts = [pl.col(column).count().alias(f"{column}:values") for column in every]
    return values.group_by("dataset", maintain_order=True).agg(pl.len().alias(":rows"), *sums, *counts)


def _means(names: Iterable[str], *, covered: bool) -> tuple[dict[str, pl.Expr], dict[str, pl.Expr]]:
    """Return the means of `_totals`; their coverage is the mean share that rows speak for, or the share that speak."""

    def mean(column: str) -> pl.Expr:
        count = pl.col(f"{column}:values")
        return pl.when(count > 0).then(pl.col(f"{column}:sum") / count)

    names = list(names)
    spoken = {
        name: mean(f"{name}:covered") if covered else pl.col(f"{name}:values") / pl.col(":rows") for name in names
    }
    return {name: mean(name) for name in names}, spoken
