"""Micro, macro and distinct averages, derived once for all measures from part and whole.

    micro      sum of parts over sum of wholes, pooled over the dataset
    macro      mean of the documents' values
    distinct   mean over distinct surface forms, or entities, of the dataset
    count      sum of parts

A mention counts once: its alternatives share it (`weight`), those that have a value in the place of those without.

The paper calls macro what its formulas (3) and (5) to (9) label "micro", and labels distinct "macro".
Groups keep the order of the rows, which are sorted: floating-point sums come out the same each time.

All are made of sums that add up: rows to documents, these to datasets, those of parts of a dataset, each with whole
documents, to those of all (`compute_sums`, `add_sums`). Distinct forms and entities are a set of the whole. What is
said of them themselves is summed up over one row of each; for what differs between their mentions, the sums of each
form and entity are kept until all parts are in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from remix.expressions import sum_up
from remix.measures.coded import CODE_OF
from remix.measures.declaration import Summary

FIRSTS = {"key": "dataset_forms", "entity": "dataset_entities"}
"""The table with one row of each distinct value of a column of the annotations."""

Tables = Mapping[str, pl.DataFrame]
Units = dict[str, pl.DataFrame]
NO_AVERAGES = pl.DataFrame(
    schema=dict.fromkeys(("dataset", "measure", "average"), pl.String())
    | dict.fromkeys(("value", "coverage"), pl.Float64())
)


@dataclass(frozen=True)
class Sums:
    """What averages are made of: per dataset and table, per distinct form and entity, and over documents.

    Those of units have the columns dataset, unit and code: the number of the unit, which parts of a dataset share.
    """

    pooled: dict[str, pl.DataFrame]
    units: Units
    macro: pl.DataFrame


@dataclass(frozen=True)
class Fraction:
    """Part and whole, each summed up over the rows of a table that both speak for, under a name."""

    name: str
    part: pl.Expr
    whole: pl.Expr
    over: str

    @property
    def statistic(self) -> str:
        """Return the name of the statistic that it is of."""
        return self.name.partition(":")[0]

    @property
    def counts_rows(self) -> bool:
        """Return whether the whole is 1 in each row, so that rows are counted."""
        return self.whole.meta.eq(pl.lit(1.0))

    @property
    def columns(self) -> list[pl.Expr]:
        """Return part and whole of each row, null where they do not speak for it; a whole of 1 needs no column."""
        if self.counts_rows:
            return [self.part.alias(f"{self.name}:part")]
        spoken = pl.when(self.part.is_not_null() & (self.whole != 0))
        return [spoken.then(self.part).alias(f"{self.name}:part"), spoken.then(self.whole).alias(f"{self.name}:whole")]

    def sums(self, spoken: pl.Expr) -> list[pl.Expr]:
        """Return the sums of the columns over a group, and how many of its rows they speak for (`spoken`)."""
        whole = [] if self.counts_rows else [pl.col(f"{self.name}:whole").sum()]
        return [pl.col(f"{self.name}:part").sum(), *whole, spoken.alias(f"{self.name}:spoken")]

    @property
    def total(self) -> pl.Expr:
        """Return the sum of parts, a column of what `sums` gives."""
        return pl.col(f"{self.name}:part")

    @property
    def count(self) -> pl.Expr:
        """Return the sum of parts, rounded: alternatives that differ count in part. What no document says is null."""
        total = self.total.round()
        return pl.when(pl.col(f"{self.name}:spoken") > 0).then(total) if self.over == "documents" else total

    @property
    def value(self) -> pl.Expr:
        """Return the sum of parts over that of wholes, null where nothing is spoken for."""
        whole = pl.col(f"{self.name}:{'spoken' if self.counts_rows else 'whole'}")
        return pl.when(whole != 0).then(self.total / whole)

    @property
    def covered(self) -> pl.Expr:
        """Return the share of rows that it speaks for."""
        return pl.col(f"{self.name}:spoken") / pl.col(":rows")


def compute_sums(
    summaries: Sequence[Summary], tables: Tables, *, empty: float | None = None
) -> tuple[pl.DataFrame, Sums]:
    """Return the documents' values, and the sums that the averages of the datasets are made of.

    Values are wide: document, dataset, a column per statistic. A document without a value is left out of the macro
    average, unless `empty` says what it counts as. The tables have at least the columns document and dataset.
    """
    keys = ["document", "dataset"]
    values = tables["documents"].select(keys)
    every = [one for summary in summaries for one in fractions(summary) if one.over not in CODE_OF]
    pooled: dict[str, pl.DataFrame] = {}
    for table in sorted({fraction.over for fraction in every}):
        documents = _sums([fraction for fraction in every if fraction.over == table], tables[table], "document")
        pooled[table] = sum_up(documents.drop("document"), "dataset", pl.all().cast(pl.Float64).sum())
        of_documents = documents.select(*keys, *_of_documents(summaries, table))
        values = values.join(of_documents, on=keys, how="left", nulls_equal=True, maintain_order="left")
    units = {unit: _units(summaries, tables["annotations"], unit) for unit in CODE_OF if _varying(summaries, unit)}
    if empty is not None:
        values = values.with_columns(pl.col(summary.name).fill_null(empty) for summary in summaries)
    macro = _sums([*_of_macro(summaries), *_of_macro(summaries, ":covered")], values)
    return values.drop([f"{s.name}:covered" for s in summaries]).sort("document"), Sums(pooled, units, macro)


def add_sums(parts: Sequence[Sums]) -> Sums:
    """Return the sums of several parts together, without those of units."""

    def together(frames: list[pl.DataFrame]) -> pl.DataFrame:
        return sum_up(pl.concat(frames), "dataset", pl.all().sum())

    pooled = {table: together([part.pooled[table] for part in parts]) for table in parts[0].pooled}
    return Sums(pooled, {}, together([part.macro for part in parts]))


def averages(summaries: Sequence[Summary], sums: Sums, means: Units) -> pl.DataFrame:
    """Return dataset, measure, average, value and coverage, given the sums and those over distinct units."""
    long: list[pl.DataFrame] = []
    for table, wide in sums.pooled.items():
        for average, of in (("micro", _pool), ("count", _pool), ("distinct", _first)):
            every = [of(s) for s in summaries if average in s.terms and (average != "distinct" or s.of_unit)]
            here = [one for one in every if one.over == table]
            values = [one.count if average == "count" else one.value for one in here]
            long.append(_long(wide, average, here, values, [one.covered for one in here]))
    for unit, wide in means.items():
        for average in ("micro", "distinct"):
            ratios = _of_units([s for s in summaries if (s.over == unit) == (average == "micro")], unit)
            long.append(_long(wide, average, ratios, [one.value for one in ratios], [one.covered for one in ratios]))
    macro, covered = _of_macro(summaries), _of_macro(summaries, ":covered")
    long.append(_long(sums.macro, "macro", macro, [one.value for one in macro], [one.value for one in covered]))
    order = {summary.name: place for place, summary in enumerate(summaries)}
    place = pl.col("measure").replace_strict(order, return_dtype=pl.Int64)
    return pl.concat(long).filter(pl.col("value").is_not_null()).sort("dataset", place, "average")


def means_of_units(summaries: Sequence[Summary], units: Units) -> Units:
    """Return the sums over distinct surface forms and entities: they add up over disjoint shares of these."""
    means: Units = {}
    for unit, wide in units.items():
        ratios = wide.select("dataset", *(_pool(one).value.alias(one.name) for one in _varying(summaries, unit)))
        means[unit] = _sums(_of_units(summaries, unit), ratios)
    return means


def fractions(summary: Summary) -> list[Fraction]:
    """Return what a statistic sums up: for datasets, for documents, and over one row of each distinct unit."""
    own = [_own(summary)] if summary.own else []
    return [_pool(summary), *own, *([_first(summary)] if summary.of_unit else [])]


def _pool(summary: Summary) -> Fraction:
    return Fraction(summary.name, summary.part, summary.whole, summary.over)


def _own(summary: Summary) -> Fraction:
    return Fraction(f"{summary.name}:own", *summary.own) if summary.own else _pool(summary)


def _first(summary: Summary) -> Fraction:
    return Fraction(f"{summary.name}:first", summary.part, summary.whole, FIRSTS[str(summary.unit)])


def _varying(summaries: Iterable[Summary], unit: str) -> list[Summary]:
    """Return the statistics that differ between the mentions of a form or entity, over which there is an average."""
    varying = (s for s in summaries if s.unit == unit and not s.of_unit)
    return [s for s in varying if s.over == unit or "distinct" in s.terms]


def _mean(column: str, over: str) -> Fraction:
    """Return the mean of a column, over the rows that have a value."""
    return Fraction(column, pl.col(column), pl.lit(1.0), over)


def _of_macro(summaries: Iterable[Summary], of: str = "") -> list[Fraction]:
    """Return the means of the documents' values, or `:covered`, of the shares of their rows that these speak for."""
    return [_mean(f"{summary.name}{of}", "documents") for summary in summaries if "macro" in summary.terms]


def _of_units(summaries: Iterable[Summary], unit: str) -> list[Fraction]:
    """Return the means of the values that each form, or entity, has of its mentions."""
    return [_mean(summary.name, unit) for summary in _varying(summaries, unit)]


def _sums(of: Sequence[Fraction], table: pl.DataFrame, *keys: str, names: Sequence[str] = ()) -> pl.DataFrame:
    """Return the sums over the rows of each dataset and keys, with the first of each of the columns `names`."""
    # What is summed up is computed once for all rows, not within groups, where polars does it again for each.
    columns = [column for fraction in of for column in fraction.columns]
    firsts = [pl.first(name) for name in names]
    if "weight" in table.columns and (table["weight"] < 1).any():
        rows = _weigh(of, table.select("dataset", *keys, *names, "group", "weight", *columns))
        sums = [column for one in of for column in one.sums(pl.col(f"{one.name}:spoken").sum())]
        every = pl.col("weight").sum().alias(":rows")
    else:
        rows = table.select("dataset", *keys, *names, *columns)
        sums = [column for one in of for column in one.sums(pl.col(f"{one.name}:part").count())]
        every = pl.len().alias(":rows")
    return sum_up(rows, ["dataset", *keys], *firsts, every, *sums)


def _weigh(of: Sequence[Fraction], rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of which those of one mention count 1 together, shared by those that a fraction speaks for."""
    spoken = {one.name: pl.when(pl.col(f"{one.name}:part").is_not_null()).then("weight") for one in of}
    shares = rows.with_columns(
        (own / own.sum().over("dataset", "group")).alias(f"{name}:spoken") for name, own in spoken.items()
    )
    counting = [one.name for one in of if one.counts_rows]
    return shares.with_columns(pl.col(f"{name}:part") * pl.col(f"{name}:spoken") for name in counting)


def _units(summaries: Iterable[Summary], annotations: pl.DataFrame, unit: str) -> pl.DataFrame:
    """Return the sums of each form or entity, which has its name as `unit` and its number as `code`."""
    code = CODE_OF[unit]
    sums = _sums([_pool(summary) for summary in _varying(summaries, unit)], annotations, code, names=[unit])
    # Where a part has alternatives its mentions are counted in shares, and those of other parts in whole numbers.
    numbers = sums.with_columns(pl.exclude("dataset", code, unit).cast(pl.Float64))
    return numbers.rename({code: "code", unit: "unit"}).drop_nulls("code")


def _of_documents(summaries: Iterable[Summary], table: str) -> list[pl.Expr]:
    """Return the value of each statistic of a document, its count, and the share of rows that it speaks for."""
    columns: list[pl.Expr] = []
    for summary in summaries:
        own = _own(summary)
        if own.over == table:
            columns += [own.value.alias(summary.name), own.covered.alias(f"{summary.name}:covered")]
            if "count" in summary.terms:
                columns.append(own.count.cast(pl.Int64).alias(f"{summary.name}:count"))
    return columns


def _long(
    wide: pl.DataFrame, average: str, of: Sequence[Fraction], values: Sequence[pl.Expr], covered: Sequence[pl.Expr]
) -> pl.DataFrame:
    """Return the wide frame as rows of the datasets' table: a row per dataset and measure."""
    if not of:
        return NO_AVERAGES

    def lengthen(column: str, numbers: Sequence[pl.Expr]) -> pl.DataFrame:
        named = (number.cast(pl.Float64).alias(one.statistic) for one, number in zip(of, numbers, strict=True))
        rows = wide.select("dataset", *named)
        return rows.unpivot(index="dataset", variable_name="measure", value_name=column)

    coverage = lengthen("coverage", covered)["coverage"]
    rows = lengthen("value", values)
    return rows.select("dataset", "measure", pl.lit(average).alias("average"), "value", coverage)
