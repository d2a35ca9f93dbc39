"""The measures of datasets: side by side in a table and a plot, and how the values of a column are spread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import polars as pl

from remix.errors import Error, UnknownName, UsageError, nearest
from remix.expressions import fill, mean
from remix.formats import SIZES, sizes_of
from remix.frames import Frames
from remix.measures import AVERAGES, LOW_COVERAGE, MEASURES, Measured
from remix.measures.declaration import Measure
from remix.measures.labels import label_of
from remix.measures.measured import document_column
from remix.measures.partitions import Partition
from remix.reports.charts import figure_of_distributions
from remix.reports.figures import Axis, Figure, Panel, Series, are_whole, count_values
from remix.signature import Signature
from remix.store import DatasetEntry
from remix.store.state import GIVEN
from remix.tables import Printed

LEVELS = ("dataset", "document", "annotation")
_POINTS = 200
"""Points of a line that says which share of the values is no larger."""


@dataclass(frozen=True, eq=False, repr=False)
class Statistics(Printed):
    """The measures of datasets, with what is shown of them: `level`, what a row is about, and the `average`.

    `sizes` are the rows of `sizes_of_datasets`, which stand before those of the measures. `undrawn` is
    why a plot could not be drawn, which loses no values.
    """

    measured: Measured
    level: str = "dataset"
    average: str = "micro"
    sizes: pl.DataFrame | None = None
    undrawn: Error | None = None

    def __post_init__(self) -> None:
        """Refuse another level, and another average."""
        if self.level not in LEVELS:
            raise UsageError(f"no level '{self.level}'{nearest(self.level, LEVELS)}")
        choose_average(self.measured.datasets.clear(), self.average)

    @property
    def rows(self) -> pl.DataFrame:
        """Return dataset, measure, average, value, coverage and term of the average that is shown."""
        rows = choose_average(cover_types(self.measured.datasets), self.average)
        return rows if self.sizes is None else pl.concat([self.sizes, rows], how="diagonal_relaxed")

    @property
    def table(self) -> pl.DataFrame:
        """Return datasets side by side, or a row for each document or annotation."""
        if self.level == "dataset":
            return side_by_side(self.rows)
        return self.documents if self.level == "document" else self.annotations

    @property
    def figure(self) -> Figure:
        """Return the measures of datasets as bars, or how those of documents or annotations are spread as boxes.

        Raises `UsageError` where there is nothing to draw.
        """
        return figure_of_measures(self.rows) if self.level == "dataset" else figure_of_spreads(self.table)

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


def cover_types(datasets: pl.DataFrame) -> pl.DataFrame:
    """Return averages with, of the shares of types, the coverage that has a type: what has none speaks for none.

    The shares themselves are of all links; where no link has a type they are unknown, not 0, as their number is. Of 100
    links, of which 76 have no type, 24 say how many are persons, in per cent and as a number:

    >>> rows = {"dataset": ["a"] * 3, "measure": ["typePerson", "typePerson", "typeNone"],
    ...     "average": ["micro", "count", "micro"], "value": [0.01, 1.0, 0.76], "coverage": [1.0] * 3}
    >>> cover_types(pl.DataFrame(rows))["coverage"].to_list()
    [0.24, 0.24, 1.0]
    """
    none = datasets.filter(pl.col("average") != "count", measure="typeNone")
    none = none.select("dataset", "average", _untyped="value").unique(["dataset", "average"])
    none = pl.concat([none, none.filter(average="micro").with_columns(average=pl.lit("count"))])
    rows = datasets.join(none, on=["dataset", "average"], how="left", maintain_order="left")
    typed = pl.col("coverage") * (1 - pl.col("_untyped").fill_null(0.0))
    of_types = pl.col("measure").is_in(_TYPED)
    own = pl.when(of_types).then(typed.round(6)).otherwise("coverage")
    rows = rows.with_columns(coverage=own).drop("_untyped")
    known = (pl.col("coverage") != 0) | (pl.col("average") == "count")
    return rows.with_columns(value=pl.when(~of_types | known).then("value"))


_TYPED = ("typePerson", "typeOrganisation", "typePlace", "typeOther")
OF_TYPES = (
    "Shares of types are of all links, and covered is the share whose type is known; they may add up to more than "
    "100 %, as an entity may be of several types."
)
"""What is said where the shares of types stand side by side."""
ALTERNATIVES = (
    "Alternatives of a mention share its weight: of one that has two the half counts that has the value, and lists "
    "have it."
)
"""What is said where shares lead to lists."""


def columns_by_measure(datasets: pl.DataFrame, measures: Sequence[str], average: str = "micro") -> pl.DataFrame:
    """Return a row for each dataset: its name, of each measure the value, and `share with NAME`, its coverage.

    A measure without that average has its micro average, else what it counts (see `explain_lacking`). What a dataset
    has no value of is null.

    >>> rows = {"dataset": ["a"] * 2, "measure": ["x"] * 2, "average": ["count", "micro"], "value": [4.0, 0.5]}
    >>> columns_by_measure(pl.DataFrame({**rows, "coverage": [1.0, 0.8]}), ["x"], "distinct").rows()
    [('a', 0.5, 0.8)]
    """
    order = pl.col("average").replace_strict({name: place for place, name in enumerate(_INSTEAD)}, default=9)
    chosen = choose_average(cover_types(datasets), average).filter(pl.col("measure").is_in(measures))
    own = chosen.sort(order, maintain_order=True).unique(["dataset", "measure"], keep="first", maintain_order=True)
    wide = own.pivot("measure", on_columns=measures, index="dataset", values=["value", "coverage"])
    known = datasets.select(pl.col("dataset").unique(maintain_order=True))
    of_each = ({name: f"value_{name}", f"share with {name}": f"coverage_{name}"} for name in measures)
    columns = {called: own for each in of_each for called, own in each.items()}
    return known.join(wide, on="dataset", how="left", maintain_order="left").select("dataset", **columns)


_INSTEAD = ("micro", "count", "macro", "distinct")
"""Which average stands for one that a measure does not have."""


def by_average(average: str) -> str:
    """Return by which average measures are shown, in words.

    >>> by_average("macro"), by_average("count")
    ('by the macro average', 'as numbers')
    """
    return "as numbers" if average == "count" else f"by the {average} average"


def explain_lacking(datasets: pl.DataFrame, measures: Sequence[str], average: str) -> str:
    """Return which of the measures lack an average, so that `columns_by_measure` has another of them; else nothing.

    Numbers that are sums alone have no average, and lack none.
    """
    own = datasets.filter(pl.col("measure").is_in(measures)).group_by("measure", maintain_order=True).agg("average")
    lacking = own.filter(~pl.col("average").list.contains(average), pl.col("average").list.contains(_INSTEAD[0]))
    if lacking.is_empty():
        return ""
    names = ", ".join(lacking["measure"].unique(maintain_order=True))
    return f"These have no average '{average}', and are shown by the {_INSTEAD[0]} average: {names}."


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


def figure_of_measures(datasets: pl.DataFrame) -> Figure:
    """Return a panel for each measure with a bar per dataset.

    Bars that speak for less than half of the annotations are pale; measures that are 0 or absent everywhere are left
    out. Raises `UsageError` where nothing is left to draw.
    """
    says = pl.col("value").fill_null(0) != 0
    parts = datasets.filter(says.any().over("measure")).partition_by("measure", maintain_order=True)
    if not parts:
        raise UsageError("nothing to plot: no measure has a value other than 0")
    known = pl.DataFrame({"dataset": datasets["dataset"].unique().sort()})
    panels = []
    for part in parts:
        one = part.sort("dataset", "average").unique("dataset", keep="last", maintain_order=True)
        own = known.join(one, on="dataset", how="left", maintain_order="left")
        pale = (own["coverage"].fill_null(1.0) < LOW_COVERAGE).to_list()
        bars = Series("", own["dataset"].to_list(), own["value"].to_list(), pale=pale)
        called = label_of(one["measure"][0], of_statistics=True).words
        panels.append(Panel(f"{called} ({one['average'][0]})", "bars", [bars], lying=True))
    return Figure("Measures of datasets", panels, f"Bars for {', '.join(known['dataset'])}.", min(4, len(panels)))


def figure_of_spreads(rows: pl.DataFrame) -> Figure:
    """Return a panel for each column of numbers with a box for each dataset: how its values are spread.

    `rows` have `dataset` and the columns of documents or annotations. Raises `UsageError` where no column has a value.
    """
    panels = []
    for name, kind in rows.schema.items():
        if kind.is_numeric() and rows[name].count():
            parts = rows.partition_by("dataset", maintain_order=True, as_dict=True)
            values = {str(dataset): own[name] for (dataset,), own in parts.items()}
            panels += [
                replace(one, title=label_of(name).words) for one in figure_of_distributions(values, label="").panels
            ]
    if not panels:
        raise UsageError("nothing to plot: no column of numbers has a value")
    return Figure("Distributions of measures", panels, "A box for each dataset, a panel for each measure.", 4)


@dataclass(frozen=True)
class Quantity:
    """A column of numbers: its name, what it is of (`annotations` or `documents`), and what it says."""

    name: str
    of: str
    meaning: str


def explain(measure: Measure, meaning: str = "") -> str:
    """Return what a column or statistic of a measure means, and on the next line how it is made and read."""
    said = f"{meaning[:1].upper()}{meaning[1:]}.\n" if meaning else ""
    parts = {"Formula": measure.formula, "High": measure.high, "Low": measure.low, "Without a value": measure.empty}
    return said + " ".join(f"{name}: {text}." for name, text in parts.items() if text)


def explain_averages(measured: Measured) -> dict[str, str]:
    """Return what each measure that any dataset has a value of says, by its name, in the order of the measures.

    The first line of each says what it is, the second how it is made and read.
    """
    known = {*measured.datasets["measure"]}
    return {
        summary.name: explain(measure, summary.meaning)
        for measure in measured.measures
        for summary in measure.summaries
        if summary.name in known
    }


def explain_stored(entry: DatasetEntry, measured: Measured) -> str:
    """Return in which measures of a dataset are stored otherwise than they are measured, empty where they are not."""
    if entry.enrichment is None:
        return "Its measures are not stored: queries and partitions do not see them yet."
    if entry.enrichment == GIVEN:
        return (
            "Queries and partitions see the measures that its file brings; those of this page and of `remix stats` are "
            "computed here."
        )
    own, others = measured.signature.fields, [entry.enrichment]
    with suppress(UsageError):  # a store may be given values that remix has not computed
        stored = Signature.parse(entry.enrichment).fields
        others = [f"{name} {value}" for name, value in stored.items() if own.get(name, value) != value]
    said = "Queries and partitions see the values that `remix enrich` stored by other choices than this page"
    return f"{said} and `remix stats` have: {', '.join(others)}." if others else ""


def list_quantities(measured: Measured) -> Mapping[str, Quantity]:
    """Return the columns of numbers by their names: those of annotations, then those of documents, shares left out."""
    found = {
        "words": Quantity("words", "documents", "The number of words of the text.\nWords are runs without white space.")
    }
    for measure in measured.measures:
        for column in measure.columns:
            if column.kind in ("integer", "double"):
                found[column.name] = Quantity(column.name, "annotations", explain(measure, column.meaning))
        for summary in measure.summaries:
            if "document" in summary.terms and not summary.is_share:
                name = document_column(summary, "document")
                found.setdefault(name, Quantity(name, "documents", explain(measure, summary.meaning)))
    return dict(sorted(found.items(), key=lambda pair: (pair[1].of, pair[0])))


def values_of(name: str, measured: Measured, frames: Frames) -> pl.DataFrame:
    """Return dataset and `value` of a quantity, a row for each annotation or document; null where it has none.

    Raises `UnknownName` for a name that no column of numbers has.
    """
    known = list_quantities(measured)
    if name not in known:
        raise UnknownName("column of numbers", name, known, "remix list columns")
    if name == "words":
        return frames.documents.select("dataset", value="words")
    rows = measured.annotations if known[name].of == "annotations" else measured.documents
    return rows.select("dataset", value=name)


def summarise(measured: Measured, frames: Frames, datasets: Iterable[str]) -> pl.DataFrame:
    """Return a row for each quantity of datasets: column, of, share (that has a value), least, quarters, most, mean."""
    names = pl.Series("dataset", [*datasets], dtype=pl.String)
    rows = []
    for quantity in list_quantities(measured).values():
        found = values_of(quantity.name, measured, frames)
        values = found.filter(pl.col("dataset").is_in(names.implode()))["value"].cast(pl.Float64)
        quarters = [values.quantile(share, "lower") for share in (0, 0.25, 0.5, 0.75, 1)]
        share = (len(values) - values.null_count()) / max(1, len(values))
        rows.append((quantity.name, quantity.of, share, *quarters, mean(values)))
    numbers = ["share", "least", "lower quarter", "median", "upper quarter", "most", "mean"]
    schema = {"column": pl.String, "of": pl.String, **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row").filter(pl.col("share") > 0)


def draw_distribution(
    quantity: Quantity, values: pl.Series, parts: Partition, link: Callable[[str], str] | None = None
) -> Figure:
    """Return the histogram of values on a linear and on a logarithmic scale, with the boundaries between them.

    `link` makes the address that a bar leads to of its scale and number, as `log:7`.
    """
    known = values.cast(pl.Float64).fill_nan(None).drop_nulls()
    edges = sorted({edge for part in parts for edge in (part.low, part.high) if edge is not None})
    # A boundary beyond all values, of parts that have none, would press them together.
    lines = [edge for edge in edges if (known < edge).any() and (known >= edge).any()]
    panels = [
        Panel(
            f"{scale} scale",
            "histogram",
            [_with_links(count_values(quantity.name, values, scale=scale), scale, link)],
            Axis(_label(quantity), scale, whole=are_whole(known)),
            Axis(quantity.of, whole=True),
            lines,
        )
        for scale in ("linear", "log")
    ]
    words = label_of(quantity.name).words
    described = f"How many {quantity.of} have which value of {words}, on a linear and on a logarithmic scale."
    return Figure(f"{words}, {quantity.of}", panels, described, columns=2)


def _label(quantity: Quantity) -> str:
    label = label_of(quantity.name)
    return label.words if label.unit in ("", label.words) else f"{label.words} ({label.unit})"


def _with_links(counted: Series, scale: str, link: Callable[[str], str] | None) -> Series:
    """Return the bars, those that stand for anything with the address that they lead to."""
    if link is None or not counted.y:
        return counted
    words = [f"{number or 0:.0f}, from {low:.4g} to {high:.4g}" for number, low, high in
             zip(counted.y, counted.x, counted.x[1:], strict=False)]  # fmt: skip
    return replace(counted, links=[link(f"{scale}:{n}") if y else "" for n, y in enumerate(counted.y)], words=words)


def draw_shares(quantity: Quantity, values: Mapping[str, pl.Series]) -> Figure:
    """Return for each dataset the share of its annotations or documents whose value is no larger than x."""
    panels = []
    for scale in ("linear", "log"):
        series = [_share_below(name, one, scale) for name, one in values.items()]
        across = Axis(_label(quantity), scale)
        panels.append(Panel(f"{scale} scale", "steps", series, across, Axis("share of all", limits=(0, 1))))
    described = (
        f"The share of {quantity.of} whose {label_of(quantity.name).words} is no larger than x, a line a dataset."
    )
    return Figure(f"{label_of(quantity.name).words}, {quantity.of}", panels, described, columns=2)


def _share_below(name: str, values: pl.Series, scale: str) -> Series:
    """Return which share of all values is no larger than each; of those without a place on the scale their number."""
    import numpy as np  # which `remix stats` has no use for

    known = values.cast(pl.Float64).drop_nulls().drop_nans()
    # A page has dozens of lines, and polars takes longer to begin a step than numpy to sort some thousand values.
    found, counts = np.unique(known.to_numpy(), return_counts=True)
    shares = np.cumsum(counts) / max(1, len(known))
    places = np.flatnonzero(found > 0) if scale == "log" else np.arange(len(found))
    shown = np.unique(np.append(places[:: max(1, len(places) // _POINTS)], places[-1:]))
    return Series(name, found[shown].tolist(), shares[shown].tolist(), left_out=len(known) - int(counts[places].sum()))
