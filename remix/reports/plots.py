"""Figures drawn by matplotlib for print, as PNG, PDF or SVG, without a display; the same values give the same bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remix.errors import Error, UsageError, nearest
from remix.reports.figures import COLOURS, Figure, Panel, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

WIDEST, HIGHEST = 12.0, 24.0
"""Size of a figure in inches at the most: 1,800 by 3,600 pixels, which a page and a screen can show."""
ROW, MARGIN, LETTER = 3.4, 1.2, 0.08
"""Height of a panel, width of what is beside its bars, and width of a letter of labels, in inches."""
SHORTEST = len("0000 mentions")
"""Letters of a label that there is always room for."""
STYLES = ("-", "--", ":", "-.")
METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""What files say of themselves by their suffix: no date and no version."""


def save(figure: Figure, to: Path, width: str = "screen") -> None:
    """Write a figure as PNG, SVG or PDF, by the suffix, as wide as a `column` or the `page` of a paper, or a `screen`.

    Raises `UsageError` for another suffix, `Error` without room on the disk or without the extra `plot`.
    """
    if to.suffix not in METADATA:
        raise UsageError(f"no plot is written as '{to.suffix}'{nearest(to.suffix, METADATA)}")
    sheet = _sheet(figure)
    from matplotlib import rc_context

    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with rc_context({"svg.hashsalt": "remix"}):  # else names in the file would be random
            sheet.savefig(to, dpi=150, metadata=METADATA[to.suffix])
    except OSError as error:
        raise Error(f"{to} cannot be written: {error.strerror or error}") from error


def width_of_bars(labels: Sequence[str], series: int) -> float:
    """Return the width in inches of a panel in which bars can be told apart and labels do not touch."""
    return max(4.5, MARGIN + len(labels) * _step(labels, series))


def groups_within(width: float, labels: Sequence[str], series: int) -> int:
    """Return how many groups of bars a panel of this width has room for."""
    return max(1, int((width - MARGIN) / _step(labels, series)))


def _step(labels: Sequence[str], series: int) -> float:
    """Return the width of a group of bars in inches."""
    longest = max([SHORTEST, *(len(line) for label in labels for line in label.split("\n"))])
    return max(0.35 * (series + 1), LETTER * (longest + 1))


def _size(panel: Panel) -> tuple[float, float]:
    """Return width and height of a panel in inches."""
    if panel.lying:
        return 2.6, 0.55 + 0.22 * len(panel.categories) * max(1, len(panel.series))
    return (width_of_bars(panel.categories, len(panel.series)) if panel.kind == "bars" else 4.0), ROW


def _sheet(figure: Figure) -> Sheet:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Made
    except ImportError:
        raise Error("plots need matplotlib: pip install 'nel-remix[plot]'") from None
    columns = min(figure.columns, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    width, height = (max(size) for size in zip(*map(_size, figure.panels), strict=True))
    beside = 1.5 if figure.panels[0].lying else 0.0  # the names of categories stand once in a row
    size = min(beside + width * columns, WIDEST), min(height * rows + (0.4 if beside else 0.0), HIGHEST)
    sheet: Sheet = Made(figsize=size, layout="constrained")
    FigureCanvasAgg(sheet)
    for number, panel in enumerate(figure.panels):
        axis = sheet.add_subplot(rows, columns, number + 1, polar=panel.kind == "spider")
        _draw(figure, panel, axis)
        _finish(panel, axis, hidden=figure.repeats_categories(number))
    _add_legend(figure, sheet)
    return sheet


def _draw(figure: Figure, panel: Panel, axis: Axes) -> None:
    """Draw the series of a panel, its boundaries and its diagonal."""
    for nth, (one, points) in enumerate(zip(panel.series, panel.drawn, strict=True)):
        number = figure.colour(one)
        look: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "label": one.name}
        xs, ys = [point.x for point in points], [point.y for point in points]
        if panel.kind in ("bars", "boxes", "dots"):
            _draw_bars(panel, axis, nth, look)
        elif panel.kind == "histogram":
            axis.bar(xs, ys, [point.end - point.x for point in points], align="edge", edgecolor="white", **look)
        elif panel.kind == "scatter":
            axis.scatter(xs, ys, s=12, **look)
        else:
            _draw_line(panel, axis, points, {**look, "linestyle": STYLES[number % len(STYLES)]})
    for at in filter(panel.x.places, panel.boundaries):
        axis.axvline(at, color="#555555", linestyle="--", linewidth=1)
    if panel.diagonal:
        ends = [pick(span[nth] for span in panel.spans) for nth, pick in ((0, max), (1, min))]
        axis.plot(ends, ends, color="#bbbbbb", linewidth=1, zorder=0)


def _draw_bars(panel: Panel, axis: Axes, nth: int, look: dict[str, Any]) -> None:
    points, count = panel.drawn[nth], len(panel.series)
    part = 0.8 / count
    places = [point.x + (nth - (count - 1) / 2) * part for point in points]
    draw, spread = (axis.barh, "xerr") if panel.lying else (axis.bar, "yerr")
    more: dict[str, Any] = {spread: _spread(points)} if _spread(points) else {}
    more |= {"edgecolor": "white"} if panel.lying else {}
    hatch = ["//" if point.hatched else "" for point in points]
    draw(places, [point.y for point in points], part, hatch=hatch, **look, **more)


def _draw_line(panel: Panel, axis: Axes, points: Sequence[Point], look: dict[str, Any]) -> None:
    xs, ys = [point.x for point in points], [point.y for point in points]
    if panel.kind == "spider":
        turn = 2 * math.pi / max(1, len(panel.categories))
        axis.plot([x * turn for x in [*xs, *xs[:1]]], [*ys, *ys[:1]], marker="o", markersize=3, **look)
        return
    step = "steps-post" if panel.kind == "steps" else "default"
    few: dict[str, Any] = {"marker": "o", "markersize": 3} if panel.categories else {}
    axis.plot(xs, ys, drawstyle=step, **few, **look)
    for point in points:
        if point.marked:
            axis.plot(point.x, point.y, marker="o", color=look["color"])
    if panel.categories and (spread := _spread(points)):
        axis.errorbar(xs, ys, spread, fmt="none", ecolor=look["color"], elinewidth=0.8)


def _spread(points: Sequence[Point]) -> list[list[float]] | None:
    """Return how far intervals reach below and above their points, None where points have none."""
    if not points or all(point.low is None or point.high is None for point in points):
        return None
    below = [max(0.0, point.y - (point.y if point.low is None else point.low)) for point in points]
    return [below, [max(0.0, (point.y if point.high is None else point.high) - point.y) for point in points]]


def _finish(panel: Panel, axis: Axes, *, hidden: bool) -> None:
    """Set the scales, ticks and titles of an axis, and what is said of values without a place."""
    small = 7 if panel.lying else 8
    axis.set_title(panel.title, fontsize=8 if panel.lying else 10)
    axis.tick_params(axis="both" if panel.lying else "x", labelsize=small)
    notes = "\n".join(panel.notes)
    if panel.kind == "spider":
        turn = 2 * math.pi / max(1, len(panel.categories))
        axis.set_xticks([nth * turn for nth in range(len(panel.categories))], panel.categories)
        axis.set(theta_offset=math.pi / 2, theta_direction=-1, ylim=panel.spans[1])
        axis.set_xlabel(notes, fontsize=small)
        return
    across, up = (axis.yaxis, axis.xaxis) if panel.lying else (axis.xaxis, axis.yaxis)
    across.axes.set(**{f"{'y' if panel.lying else 'x'}scale": panel.x.scale})
    up.axes.set(**{f"{'x' if panel.lying else 'y'}scale": panel.y.scale})
    if panel.categories:
        tilted = panel.kind != "bars" and sum(map(len, panel.categories)) > 40
        across.set_ticks(range(len(panel.categories)), panel.categories, rotation=35 * tilted)
    if panel.y.limits is not None:
        (axis.set_xlim if panel.lying else axis.set_ylim)(*panel.spans[1])
    if panel.lying:
        axis.invert_yaxis()
        axis.tick_params(axis="y", labelleft=not hidden)
        axis.locator_params(axis="x", nbins=4)
    elif panel.kind != "bars":
        axis.grid(alpha=0.3)
    across.set_label_text(panel.x.label)
    up.set_label_text(panel.y.label)
    if notes:
        axis.set_xlabel("\n".join(filter(None, [axis.get_xlabel(), notes])), fontsize=small)
    axis.spines[["top", "right"]].set_visible(False)


def _add_legend(figure: Figure, sheet: Sheet) -> None:
    """Add the names of series below the figure, in as many columns as it is wide for."""
    drawn = [axis.get_legend_handles_labels() for axis in sheet.axes]
    handles = {label: handle for own, labels in drawn for handle, label in zip(own, labels, strict=True)}
    names = [name for name in figure.names if name in handles]
    if not names:
        return
    columns = max(1, int(sheet.get_figwidth() / (0.6 + LETTER * max(map(len, names)))))
    keys = [handles[name] for name in names]
    sheet.legend(keys, names, fontsize=8, frameon=False, loc="outside lower center", ncols=columns)
