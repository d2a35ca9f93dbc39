"""The measures of datasets side by side: a table with a column for each, and a plot."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from remix.errors import Error, UsageError, nearest
from remix.measures import AVERAGES, LOW_COVERAGE, MEASURES

__all__ = ["chosen", "plot", "side_by_side"]


def chosen(datasets: pl.DataFrame, average: str = "all") -> pl.DataFrame:
    """Return the rows of one average, or of `all`; a measure without that average keeps what it has.

    >>> rows = pl.DataFrame({"measure": ["a", "a", "b"], "average": ["micro", "macro", "count"]})
    >>> chosen(rows, "micro").rows()
    [('a', 'micro'), ('b', 'count')]
    """
    if average == "all":
        return datasets
    if average not in AVERAGES:
        raise UsageError(f"no average '{average}'{nearest(average, (*AVERAGES, 'all'))}")
    has = (pl.col("average") == average).any().over("measure")
    return datasets.filter((pl.col("average") == average) | ~has)


def side_by_side(datasets: pl.DataFrame) -> pl.DataFrame:
    """Return measure, average and a column per dataset, as text for people.

    A value that does not speak for all annotations has its coverage behind it, marked with ! below one half.
    """
    coverage = (100 * pl.col("coverage")).floor().cast(pl.Int64)  # 99.9 % must not look like all
    mark = pl.when(pl.col("coverage") < LOW_COVERAGE).then(pl.lit("!")).otherwise(pl.lit(""))
    behind = pl.when(pl.col("coverage") < 1).then(pl.format(" ({} %{})", coverage, mark)).otherwise(pl.lit(""))
    count = pl.col("average") == "count"
    number = pl.when(count).then(pl.col("value").cast(pl.Int64).cast(pl.String)).otherwise(_short(pl.col("value")))
    order = {summary.name: place for place, summary in enumerate(s for m in MEASURES for s in m.summaries)}
    place = pl.col("measure").replace_strict(order, default=None, return_dtype=pl.Int64)
    cells = datasets.with_columns(cell=number + behind).sort(place, "average", maintain_order=True)
    return cells.pivot(on="dataset", index=["measure", "average"], values="cell", sort_columns=True).with_columns(
        pl.all().fill_null("")
    )


def _short(value: pl.Expr) -> pl.Expr:
    small = value.round_sig_figs(4)
    return pl.when(value.abs() >= 0.001).then(value.round(4)).otherwise(small).cast(pl.String)


def plot(datasets: pl.DataFrame, to: Path, *, measures: Iterable[str] | None = None) -> None:
    """Draw a bar per dataset for each measure into a PNG, SVG or PDF file.

    Needs the extra `plot`. Bars that speak for less than half of the annotations are hatched.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise Error("plots need matplotlib: pip install 'nel-remix[plot]'") from None
    names = list(measures) if measures else datasets["measure"].unique(maintain_order=True).to_list()
    panels = [(name, part) for name in names if (part := datasets.filter(pl.col("measure") == name)).height]
    if not panels:
        raise UsageError(f"nothing to plot{nearest(names[0] if names else '', datasets['measure'].unique())}")
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.5 * columns, 0.8 + 2.6 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis, (name, part) in zip(axes, panels, strict=False):
        one = part.sort("dataset", "average").unique("dataset", keep="last", maintain_order=True)
        hatch = ["//" if covered < LOW_COVERAGE else "" for covered in one["coverage"]]
        axis.barh(one["dataset"].to_list(), one["value"].to_list(), hatch=hatch, color="#4c72b0", edgecolor="white")
        axis.set_title(f"{name} ({one['average'][0]})", fontsize=9)
        axis.tick_params(labelsize=7)
        axis.invert_yaxis()
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    try:
        # No date in the file: the same values give the same bytes.
        figure.savefig(to, dpi=150, metadata={"Software": None} if to.suffix == ".png" else None)
    except (OSError, ValueError) as error:
        raise Error(f"{to} cannot be written: {error}") from error
