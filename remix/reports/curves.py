"""Curves as pictures: a line a system, a panel a score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from remix.errors import UsageError
from remix.reports._figure import COLOURS, new_figure, save

__all__ = ["DRAWN", "plot_curve"]

STYLES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Axes:
    """What a curve is drawn over and what is drawn, columns with their labels; `step` where it changes in jumps."""

    over: tuple[str, str]
    scores: Mapping[str, str]
    step: bool = False


DRAWN: Mapping[str, Axes] = {
    "alpha": Axes(("alpha", "weight α of what is not strict"), {"fuzzy_recall": "R*", "fuzzy_f1": "F1*"}),
    "progression": Axes(
        ("rank", "combinations of classes, best first"),
        {"precision": "precision", "recall": "recall", "f1": "F1"},
        True,
    ),
}


def plot_curve(name: str, rows: pl.DataFrame, to: Path) -> None:
    """Draw a curve of `remix.scoring.curves` into a PNG, SVG or PDF: a row of panels for each task and matching.

    Needs the extra `plot`. Raises `UsageError` where there is nothing to draw.
    """
    axes_of = DRAWN[name]
    over, label = axes_of.over
    parts = rows.partition_by("task", "matching", maintain_order=True)
    if not parts:
        raise UsageError("nothing to plot: no row has a score")
    systems = rows["system"].unique(maintain_order=True).to_list()
    figure = new_figure(4.0 * len(axes_of.scores), 3.4 * len(parts))
    grid = figure.subplots(len(parts), len(axes_of.scores), squeeze=False, sharey=True)
    for line, part in zip(grid, parts, strict=True):
        for axis, (score, title) in zip(line, axes_of.scores.items(), strict=True):
            for number, system in enumerate(systems):
                own = part.filter(system=system).drop_nulls([over, score])
                style = {"color": COLOURS[number % len(COLOURS)], "linestyle": STYLES[number % len(STYLES)]}
                drawn = "steps-post" if axes_of.step else "default"
                axis.plot(own[over].to_list(), own[score].to_list(), label=system, drawstyle=drawn, **style)
            axis.set_ylim(0, 1.02)
            axis.set_xlabel(label)
            axis.set_ylabel(title)
            axis.set_title(f"{title}, {part['task'][0]} {part['matching'][0]}", fontsize=10)
            axis.grid(alpha=0.3)
            axis.spines[["top", "right"]].set_visible(False)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, frameon=False, loc="outside lower center", ncols=min(6, len(systems)))
    save(figure, to)
