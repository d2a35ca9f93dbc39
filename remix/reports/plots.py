"""Plots: the scores of systems as bars, and their curves; made without a display.

The same values give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix.errors import Error, UsageError, nearest
from remix.expressions import fill
from remix.names import shorten
from remix.reports.figures import COLOURS
from remix.reports.readable import with_f1_shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "DRAWN", "add_legend", "new_figure", "plot_curve", "plot_scores", "save"]

LETTER = 0.08
"""Width of a letter of labels, in inches."""


WIDEST, HIGHEST = 12.0, 24.0
"""Size of a figure in inches at the most: 1,800 by 3,600 pixels, which a page and a screen can show."""
STYLES = ("-", "--", ":", "-.")
ROW, MARGIN = 3.4, 1.2
"""Height of a panel, and width of what is beside its bars, in inches."""


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of that size in inches, or of the largest; raises `Error` without the extra `plot`."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise Error("plots need matplotlib: pip install 'nel-remix[plot]'") from None
    figure = Figure(figsize=(min(width, WIDEST), min(height, HIGHEST)), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def add_legend(figure: Figure, axis: Axes) -> None:
    """Add what the axis labels below the figure, in as many columns as it is wide for."""
    handles, labels = axis.get_legend_handles_labels()
    columns = max(1, int(figure.get_figwidth() / (0.6 + LETTER * max(map(len, labels), default=0))))
    figure.legend(handles, labels, fontsize=8, frameon=False, loc="outside lower center", ncols=columns)


def save(figure: Figure, to: Path) -> None:
    """Write the figure as PNG, SVG or PDF, by the suffix; raises `UsageError` for another, `Error` without room."""
    from matplotlib import rc_context

    # No date, no version and no random name in the file: the same values give the same bytes.
    metadata = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    if to.suffix not in metadata:
        raise UsageError(f"no plot is written as '{to.suffix}'{nearest(to.suffix, metadata)}")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with rc_context({"svg.hashsalt": "remix"}):
            figure.savefig(to, dpi=150, metadata=metadata[to.suffix])
    except OSError as error:
        raise Error(f"{to} cannot be written: {error.strerror or error}") from error


def plot_scores(rows: pl.DataFrame, to: Path, datasets: Sequence[str] = ()) -> None:
    """Draw the micro-F1 that tables show of each system by dataset, or by slice where rows have slices.

    A task and matching has its panel, and one of many slices several below each other; of more slices than these have
    room for the largest are drawn, which is said. `rows` are those of `remix.scoring.evaluate`; bootstrap intervals are
    drawn where rows have them. Needs the extra `plot`. `datasets` orders the datasets; the others follow. Raises
    `UsageError` where no row has a score.
    """
    rows, of_f1 = with_f1_shown(rows)
    panels = [part for part in _bars(rows, datasets).partition_by("panel", maintain_order=True) if part["f1"].count()]
    if not panels:
        raise UsageError("nothing to plot: no row has a score")
    systems = rows["system"].unique().sort().to_list()
    width = _width(panels, len(systems))
    beside = 2 if len(panels) > 1 and 2 * width <= WIDEST else 1
    panels = panels if width <= WIDEST else _facets(panels, len(systems))
    below = -(-len(panels) // beside)
    figure = new_figure(width * beside, ROW * below)
    axes = figure.subplots(below, beside, squeeze=False, sharey=True).ravel()
    for axis, part in zip(axes, panels, strict=False):
        groups = part["group"].unique(maintain_order=True).to_list()
        for number, system in enumerate(systems):
            own = {row["group"]: row for row in part.filter(system=system).to_dicts()}
            shown = [(place, own[group]) for place, group in enumerate(groups) if group in own]
            bar = 0.8 / len(systems)
            places = [place + (number - (len(systems) - 1) / 2) * bar for place, _ in shown]
            heights = [row["f1"] or 0.0 for _, row in shown]
            axis.bar(places, heights, bar, label=system, color=COLOURS[number % len(COLOURS)], yerr=_spread(shown))
        sizes = dict(part.group_by("group").agg(pl.col("mentions").max()).iter_rows())
        axis.set_xticks(range(len(groups)), [f"{shorten(group)}\n{sizes[group]} mentions" for group in groups])
        axis.tick_params(axis="x", labelsize=8)
        axis.set_ylim(0, 1)
        axis.set_ylabel("micro-F1" if of_f1 == "all" else f"micro-F1 (P {of_f1})")
        axis.set_title(part["panel"][0], fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    add_legend(figure, axes[0])
    save(figure, to)


def _width(panels: Sequence[pl.DataFrame], systems: int) -> float:
    """Return the width of a panel in inches in which bars can be told apart and labels do not touch."""
    most = max(part["group"].n_unique() for part in panels)
    return max(4.5, MARGIN + most * _step(panels, systems))


def _step(panels: Sequence[pl.DataFrame], systems: int) -> float:
    """Return the width of a group of bars in inches."""
    groups = max((part["group"].unique() for part in panels), key=len)
    longest = max(len("0000 mentions"), *(len(shorten(group)) for group in groups))
    return max(0.35 * (systems + 1), LETTER * (longest + 1))


def _facets(panels: Sequence[pl.DataFrame], systems: int) -> list[pl.DataFrame]:
    """Return the panels in parts that are as wide as a figure at the most, and no more of them than it is high for."""
    fitting = max(1, int((WIDEST - MARGIN) / _step(panels, systems)))
    room = fitting * max(1, int(HIGHEST / ROW) // len(panels))
    facets = []
    for part in panels:
        groups = part["group"].unique(maintain_order=True)
        if len(groups) > room:
            sizes = part.group_by("group", maintain_order=True).agg(pl.col("mentions").max())
            largest = sizes.sort("mentions", descending=True, maintain_order=True)["group"].head(room)
            progress.note(f"plot of {part['panel'][0]}: the {room} largest of {len(groups)} slices")
            groups = groups.filter(groups.is_in(largest.implode()))
        number = -(-len(groups) // fitting)
        each = -(-len(groups) // number)
        for nth in range(number):
            own = part.filter(pl.col("group").is_in(groups.slice(nth * each, each).implode()))
            title = fill(f"{{}} ({nth + 1} of {number})", "panel") if number > 1 else pl.col("panel")
            facets.append(own.with_columns(panel=title))
    return facets


def _bars(rows: pl.DataFrame, datasets: Sequence[str]) -> pl.DataFrame:
    """Return the rows to draw, with `panel` (task and matching) and `group` (what a group of bars stands for)."""
    # C2KB compares no spans, so its rows are the same under every matching: one panel.
    spanless = pl.col("task") == "C2KB"
    micro = rows.filter(pl.col("average") == "micro", ~spanless | (pl.col("matching") == pl.col("matching").first()))
    whole = micro.filter((pl.col("column") == "") & ~pl.col("dataset").is_in(["all", "mean"]))
    sliced = micro.filter((pl.col("column") != "") & (pl.col("dataset") == "all") & ~pl.col("column").is_in(_KINDS))
    if not sliced.is_empty():
        drawn = sliced.with_columns(group="slice")
    elif not whole.is_empty():
        places = {name: place for place, name in enumerate(datasets)}
        order = pl.col("dataset").replace_strict(places, default=len(places), return_dtype=pl.Int64)
        drawn = whole.with_columns(group="dataset").sort(order, maintain_order=True)
    else:
        drawn = micro.filter(pl.col("column") == "").with_columns(group="dataset")
    return drawn.with_columns(panel=pl.when(spanless).then("task").otherwise(fill("{} {}", "task", "matching")))


_KINDS = ["kb", "error_class", ""]
"""Columns whose slices come with every table and are no answer to `--by`."""


def _spread(shown: list[tuple[int, dict[str, float]]]) -> list[list[float]] | None:
    if not shown or shown[0][1].get("f1_low") is None:
        return None
    below = [max(0.0, row["f1"] - row["f1_low"]) for _, row in shown]
    return [below, [max(0.0, row["f1_high"] - row["f1"]) for _, row in shown]]


@dataclass(frozen=True)
class CurvePanel:
    """A score, over what it is drawn, and how both are called.

    `step` where it changes in jumps, `diagonal` where both should be equal.
    """

    score: str
    title: str
    over: str
    label: str
    step: bool = False
    diagonal: bool = False


ALPHA, RANK = "weight α of what is not strict", "combinations of classes, best first"

DRAWN: Mapping[str, tuple[CurvePanel, ...]] = {
    "alpha": (CurvePanel("fuzzy_recall", "R*", "alpha", ALPHA), CurvePanel("fuzzy_f1", "F1*", "alpha", ALPHA)),
    "progression": tuple(
        CurvePanel(name, title, "rank", RANK, True)
        for name, title in (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))
    ),
    "threshold": (
        CurvePanel("precision", "precision", "recall", "recall"),
        CurvePanel("f1", "F1", "threshold", "confidence above which answers count", True),
    ),
    "calibration": (
        CurvePanel("accuracy", "share right", "confidence", "confidence", diagonal=True),
        CurvePanel("risk", "risk (share wrong)", "coverage", "coverage (share answered, surest first)"),
    ),
}


def plot_curve(name: str, rows: pl.DataFrame, to: Path) -> None:
    """Draw a curve of `remix.scoring.statistics.curves` as PNG, SVG or PDF: a row of panels a task and matching.

    Needs the extra `plot`. Raises `UsageError` where there is nothing to draw.
    """
    panels = DRAWN[name]
    parts = rows.partition_by("task", "matching", maintain_order=True)
    if not parts:
        raise UsageError("nothing to plot: no row has a score")
    systems = rows["system"].unique().sort().to_list()
    figure = new_figure(4.0 * len(panels), 3.4 * len(parts))
    grid = figure.subplots(len(parts), len(panels), squeeze=False, sharey=True)
    for line, part in zip(grid, parts, strict=True):
        for axis, panel in zip(line, panels, strict=True):
            for number, system in enumerate(systems):
                own = part.filter(system=system).drop_nulls([panel.over, panel.score])
                style = {"color": COLOURS[number % len(COLOURS)], "linestyle": STYLES[number % len(STYLES)]}
                drawn = "steps-post" if panel.step else "default"
                axis.plot(own[panel.over].to_list(), own[panel.score].to_list(), label=system, drawstyle=drawn, **style)
                for row in own.filter("best").to_dicts() if "best" in own.columns else ():
                    axis.plot(row[panel.over], row[panel.score], marker="o", color=style["color"])
            if panel.diagonal:
                axis.plot([0, 1], [0, 1], color="#bbbbbb", linewidth=1, zorder=0)
            axis.set_ylim(0, 1.02)
            axis.set_xlabel(panel.label)
            axis.set_ylabel(panel.title)
            axis.set_title(f"{panel.title}, {part['task'][0]} {part['matching'][0]}", fontsize=10)
            axis.grid(alpha=0.3)
            axis.spines[["top", "right"]].set_visible(False)
    add_legend(figure, grid[0][0])
    save(figure, to)
