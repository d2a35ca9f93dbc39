"""Scores as a picture: how systems fare on each dataset, remix or slice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.names import shorten
from remix.reports._figure import COLOURS, HIGHEST, LETTER, WIDEST, add_legend, new_figure, save
from remix.reports.readable import with_f1_shown

__all__ = ["plot"]

ROW, MARGIN = 3.4, 1.2
"""Height of a panel, and width of what is beside its bars, in inches."""


def plot(rows: pl.DataFrame, to: Path, datasets: Sequence[str] = ()) -> None:
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
            title = pl.format(f"{{}} ({nth + 1} of {number})", "panel") if number > 1 else pl.col("panel")
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
    return drawn.with_columns(panel=pl.when(spanless).then("task").otherwise(pl.format("{} {}", "task", "matching")))


_KINDS = ["kb", "error_class", ""]
"""Columns whose slices come with every table and are no answer to `--by`."""


def _spread(shown: list[tuple[int, dict[str, float]]]) -> list[list[float]] | None:
    if not shown or shown[0][1].get("f1_low") is None:
        return None
    below = [max(0.0, row["f1"] - row["f1_low"]) for _, row in shown]
    return [below, [max(0.0, row["f1_high"] - row["f1"]) for _, row in shown]]
