"""Curves as pictures: a line a system, a panel a score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from remix.errors import UsageError
from remix.reports._figure import COLOURS, add_legend, new_figure, save

__all__ = ["DRAWN", "plot_curve"]

STYLES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Panel:
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

DRAWN: Mapping[str, tuple[Panel, ...]] = {
    "alpha": (Panel("fuzzy_recall", "R*", "alpha", ALPHA), Panel("fuzzy_f1", "F1*", "alpha", ALPHA)),
    "progression": tuple(
        Panel(name, title, "rank", RANK, True)
        for name, title in (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))
    ),
    "threshold": (
        Panel("precision", "precision", "recall", "recall"),
        Panel("f1", "F1", "threshold", "confidence above which answers count", True),
    ),
    "calibration": (
        Panel("accuracy", "share right", "confidence", "confidence", diagonal=True),
        Panel("risk", "risk (share wrong)", "coverage", "coverage (share answered, surest first)"),
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
