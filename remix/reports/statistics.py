"""The measures of datasets side by side: a table with a column for each, and a plot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from remix.errors import UsageError, nearest
from remix.expressions import fill
from remix.formats import SIZES, sizes_of
from remix.frames import Frames
from remix.measures import AVERAGES, LOW_COVERAGE, MEASURES, Measured
from remix.reports.figures import Figure, Panel, Series
from remix.reports.plots import save
from remix.tables import Printed

__all__ = [
    "Statistics",
    "choose_average",
    "columns_by_measure",
    "figure_of_measures",
    "plot",
    "side_by_side",
    "sizes_of_datasets",
]

LEVELS = ("dataset", "document", "annotation")


@dataclass(frozen=True, eq=False, repr=False)
class Statistics(Printed):
    """The measures of datasets, with what is shown of them: `level`, what a row is about, and the `average`.

    `sizes` are the rows of `sizes_of_datasets`, which stand before those of the measures.
    """

    measured: Measured
    level: str = "dataset"
    average: str = "micro"
    sizes: pl.DataFrame | None = None

    def __post_init__(self) -> None:
        """Refuse another level, and another average."""
        if self.level not in LEVELS:
            raise UsageError(f"no level '{self.level}'{nearest(self.level, LEVELS)}")
        choose_average(self.measured.datasets.clear(), self.average)

    @property
    def rows(self) -> pl.DataFrame:
        """Return dataset, measure, average, value, coverage and term of the average that is shown."""
        rows = choose_average(self.measured.datasets, self.average)
        return rows if self.sizes is None else pl.concat([self.sizes, rows], how="diagonal_relaxed")

    @property
    def table(self) -> pl.DataFrame:
        """Return datasets side by side, or a row for each document or annotation."""
        if self.level == "dataset":
            return side_by_side(self.rows)
        return self.documents if self.level == "document" else self.annotations

    @property
    def datasets(self) -> pl.DataFrame:
        """Return all averages of the measures of datasets."""
        return self.measured.datasets

    @property
    def documents(self) -> pl.DataFrame:
        """Return the measures of documents."""
        return self.measured.documents

    @property
    def annotations(self) -> pl.DataFrame:
        """Return the measures of annotations."""
        return self.measured.annotations

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return what is measured, and the table."""
        datasets = self.datasets["dataset"].n_unique()
        measures = len(self.measured.measures)
        return f"measures: {measures}; datasets: {datasets}; average: {self.average}", self.table


def sizes_of_datasets(frames: Frames) -> pl.DataFrame:
    """Return dataset, measure, average, value and coverage: how large each is, in the words of `SIZES`."""
    rows = []
    for name in frames.documents["dataset"].unique().sort():
        own = (part.filter(dataset=name) for part in (frames.documents, frames.annotations))
        said = sizes_of(Frames.of(**dict(zip(("documents", "annotations"), own, strict=True))))
        rows += [(name, size, "count", float(said[size]), 1.0) for size in SIZES]
    return pl.DataFrame(rows, schema=["dataset", "measure", "average", "value", "coverage"], orient="row")


def choose_average(datasets: pl.DataFrame, average: str = "all") -> pl.DataFrame:
    """Return the rows of one average, or of `all`; a measure without that average keeps what it has.

    >>> rows = pl.DataFrame({"measure": ["a", "a", "b"], "average": ["micro", "macro", "count"]})
    >>> choose_average(rows, "micro").rows()
    [('a', 'micro'), ('b', 'count')]
    """
    if average == "all":
        return datasets
    if average not in AVERAGES:
        raise UsageError(f"no average '{average}'{nearest(average, (*AVERAGES, 'all'))}")
    has = (pl.col("average") == average).any().over("measure")
    return datasets.filter((pl.col("average") == average) | ~has)


def columns_by_measure(datasets: pl.DataFrame, measures: Sequence[str], average: str = "micro") -> pl.DataFrame:
    """Return a row for each dataset: its name, of each measure the value, and `share with NAME`, its coverage.

    A measure without that average has the first of those that it has. What a dataset has no value of is null.

    >>> rows = {"dataset": ["a"], "measure": ["x"], "average": ["micro"], "value": [2.0], "coverage": [0.5]}
    >>> columns_by_measure(pl.DataFrame(rows), ["x"]).rows()
    [('a', 2.0, 0.5)]
    """
    order = pl.col("average").replace_strict({name: place for place, name in enumerate(AVERAGES)}, default=9)
    chosen = choose_average(datasets, average).sort(order, maintain_order=True)
    known = datasets.select(pl.col("dataset").unique(maintain_order=True))
    for name in measures:
        own = chosen.filter(pl.col("measure") == name).unique("dataset", keep="first")
        said = own.select("dataset", pl.col("value").alias(name), pl.col("coverage").alias(f"share with {name}"))
        known = known.join(said, on="dataset", how="left", maintain_order="left")
    return known


def side_by_side(datasets: pl.DataFrame) -> pl.DataFrame:
    """Return measure, average and a column per dataset, as text for people.

    Shares are in per cent. A value that does not speak for all annotations has behind it how much it covers, marked
    with ! below one half.
    """
    coverage = (100 * pl.col("coverage")).floor().cast(pl.Int64)  # 99.9 % must not look like all
    mark = pl.when(pl.col("coverage") < LOW_COVERAGE).then(pl.lit("!")).otherwise(pl.lit(""))
    behind = pl.when(pl.col("coverage") < 1).then(fill(" (covers {} %{})", coverage, mark)).otherwise(pl.lit(""))
    count = pl.col("average") == "count"
    summaries = [summary for measure in MEASURES for summary in measure.summaries]
    share = pl.col("measure").is_in([summary.name for summary in summaries if summary.is_share])
    number = (
        pl.when(count)
        .then(pl.col("value").cast(pl.Int64).cast(pl.String))
        .when(share)
        .then(_per_cent(pl.col("value")))
        .otherwise(_short(pl.col("value")))
    )
    order = {name: place for place, name in enumerate((*SIZES, *(summary.name for summary in summaries)))}
    place = pl.col("measure").replace_strict(order, default=None, return_dtype=pl.Int64)
    cells = datasets.with_columns(cell=number + behind).sort(place, "average", maintain_order=True)
    return cells.pivot(on="dataset", index=["measure", "average"], values="cell", sort_columns=True).with_columns(
        pl.all().fill_null("")
    )


def _per_cent(value: pl.Expr) -> pl.Expr:
    percent = (100 * value).round(1)
    return pl.when((percent == 0) & (value > 0)).then(pl.lit("<0.1 %")).otherwise(fill("{} %", percent))


def _short(value: pl.Expr) -> pl.Expr:
    small = value.round_sig_figs(4)
    return pl.when(value.abs() >= 0.001).then(value.round(4)).otherwise(small).cast(pl.String)


def figure_of_measures(datasets: pl.DataFrame, *, measures: Iterable[str] | None = None, columns: int = 4) -> Figure:
    """Return a panel for each measure with a bar per dataset.

    Bars that speak for less than half of the annotations are hatched; measures that are 0 or absent everywhere are left
    out. Raises `UsageError` where nothing is left to draw.
    """
    names = list(measures) if measures else datasets["measure"].unique(maintain_order=True).to_list()
    says = pl.col("value").fill_null(0) != 0
    parts = [part for name in names if (part := datasets.filter(pl.col("measure") == name)).select(says.any()).item()]
    if not parts:
        raise UsageError(f"nothing to plot{nearest(names[0] if names else '', datasets['measure'].unique())}")
    known = pl.DataFrame({"dataset": datasets["dataset"].unique().sort()})
    panels = []
    for part in parts:
        one = part.sort("dataset", "average").unique("dataset", keep="last", maintain_order=True)
        own = known.join(one, on="dataset", how="left", maintain_order="left")
        hatched = (own["coverage"].fill_null(1.0) < LOW_COVERAGE).to_list()
        bars = Series("", own["dataset"].to_list(), own["value"].to_list(), hatched=hatched)
        panels.append(Panel(f"{one['measure'][0]} ({one['average'][0]})", "bars", [bars], lying=True))
    return Figure("Measures of datasets", panels, f"Bars for {', '.join(known['dataset'])}.", min(columns, len(panels)))


def plot(datasets: pl.DataFrame, to: Path, *, measures: Iterable[str] | None = None) -> None:
    """Write the figure of measures as PNG, SVG or PDF; needs the extra `plot`."""
    save(figure_of_measures(datasets, measures=measures), to)
