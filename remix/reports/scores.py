"""Figures of scores: of systems by dataset or slice, and the curves that `remix evaluate` draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.expressions import fill, sum_up
from remix.names import shorten
from remix.reports.charts import APART, figure_of_parts, shorten_parts
from remix.reports.figures import COLOURS, Axis, Figure, Panel, Series
from remix.reports.readable import with_f1_shown
from remix.scoring.rows import ALL_SLICES

_SLICES = 40
"""Slices that are drawn of a column."""
_KINDS = ["kb", "error_class", ""]
"""Columns whose slices come with every table and are no answer to `--by`."""


def figure_of_scores(rows: pl.DataFrame, datasets: Sequence[str] = ()) -> Figure:
    """Return the micro-F1 that tables show of each system by dataset, or by slice where rows have slices, as bars.

    A task and matching has its panel; of many slices the largest are drawn, which is said. `rows` are those of
    `remix.scoring.evaluate`; intervals are drawn where rows have them. `datasets` orders the datasets; the others
    follow. Raises `UsageError` where no row has a score.
    """
    rows, of_f1 = with_f1_shown(rows)
    panels = [part for part in _bars(rows, datasets).partition_by("panel", maintain_order=True) if part["f1"].count()]
    if not panels:
        raise UsageError("nothing to plot: no row has a score")
    systems = rows["system"].unique().sort().to_list()
    axis = Axis("micro-F1" if of_f1 == "all" else f"micro-F1 (P {of_f1})", limits=(0, 1))
    drawn = [Panel(part["panel"][0], "bars", _series(_largest(part), systems), y=axis) for part in panels]
    return Figure(f"{axis.label} of systems", drawn, f"Bars for {', '.join(systems)}.", min(2, len(panels)))


def figure_of_slices(rows: pl.DataFrame) -> Figure:
    """Return precision, recall and micro-F1 of each system over the slices of a column, before their share of mentions.

    A system, column, task and matching has its panel; `rows` are those of `remix.scoring.evaluate`. Intervals are
    those of F1. Raises `UsageError` where rows have no slices.
    """
    rows, of_f1 = with_f1_shown(rows)
    own = _bars(rows, ()).filter(~pl.col("column").is_in(["", *_KINDS]))
    if own.is_empty():
        raise UsageError("nothing to plot: scores have parts where --by names a column")
    precision = "precision" if of_f1 == "all" else f"precision_{of_f1.replace(' ', '_')}"
    keys = [name for name in ("system", "column", "panel") if name == "system" or own[name].n_unique() > 1]
    share = pl.col("mentions") / pl.col("mentions").sum().over("system", "column", "panel")
    told = own.with_columns(panel=pl.concat_str(keys, separator=", "), share=share)
    absent = pl.lit(None, pl.Float64)
    cells = []
    for name, score in (("P", precision), ("R", "recall"), ("F1", "f1")):
        ends = {
            end: pl.col(f"f1_{end}") if score == "f1" and f"f1_{end}" in told.columns else absent
            for end in ("low", "high")
        }
        cells.append(
            told.select(
                "panel", "mentions", "share", *(one.alias(end) for end, one in ends.items()), series=pl.lit(name),
                part=pl.col("group").map_elements(shorten, pl.String), value=pl.col(score),
            )
        )  # fmt: skip
    columns = ", ".join(own["column"].unique(maintain_order=True))
    label = "score" if of_f1 == "all" else f"score (P {of_f1})"
    return figure_of_parts(pl.concat(cells), label=label, column=columns)


def _series(part: pl.DataFrame, systems: Sequence[str]) -> list[Series]:
    sizes = dict(part.group_by("group").agg(pl.col("mentions").max()).iter_rows())
    found = []
    for system in systems:
        own = part.filter(system=system)
        names = [f"{shorten(group)}\n{sizes[group]} mentions" for group in own["group"]]
        low, high = (own[name].to_list() if name in own.columns else () for name in ("f1_low", "f1_high"))
        found.append(Series(system, names, own["f1"].to_list(), low, high))
    return found


def _largest(panel: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the largest slices, in the order of all; of which others there are more is said."""
    groups = panel["group"].unique(maintain_order=True)
    if len(groups) <= _SLICES:
        return panel
    sizes = panel.group_by("group", maintain_order=True).agg(pl.col("mentions").max())
    largest = sizes.sort("mentions", descending=True, maintain_order=True)["group"].head(_SLICES)
    progress.note(f"plot of {panel['panel'][0]}: the {_SLICES} largest of {len(groups)} slices")
    return panel.filter(pl.col("group").is_in(largest.implode()))


def _bars(rows: pl.DataFrame, datasets: Sequence[str]) -> pl.DataFrame:
    """Return the rows to draw, with `panel` (task and matching) and `group` (what a group of bars stands for)."""
    # C2KB compares no spans, so its rows are the same under every matching: one panel.
    spanless = pl.col("task") == "C2KB"
    rows = rows.filter(pl.col("slice") != ALL_SLICES)
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


def figure_of_columns(
    cells: pl.DataFrame,
    score: str,
    *,
    spider: str = "",
    links: Callable[[Mapping[str, Any]], str] = lambda _: "",
    by: str = "",
) -> dict[str, Figure]:
    """Return figures of the scores of systems in parts, by what they show: `scores`, and `spider` over three or more.

    `cells` has system, part, mentions, f1, its interval where there is one, precision, recall and `macro F1`, a row for
    each system and part. Parts of a range, whose names begin with numbers, are drawn as lines before the
    share of mentions of each, others as bars. With
    `spider` 'scores' that plot is over the scores in the first part. The best come first, baselines behind systems; of
    many the first are drawn. `by` says by which task, matching and conventions the scores are.
    """
    proper = pl.col("kind") == "system" if "kind" in cells.columns else pl.lit(True)
    best = sum_up(cells, "system", proper.all().alias("proper"), pl.col("f1").mean()).sort(
        "proper", "f1", "system", descending=[True, True, False], nulls_last=True
    )
    systems = best["system"].head(len(COLOURS)).to_list()
    more = f" The best {len(systems)} of {len(best)}, baselines last." if len(best) > len(systems) else ""
    cells = cells.with_columns(shown=shorten_parts("part"))
    parts = cells["part"].unique(maintain_order=True)
    ranged = parts.filter(parts.str.contains(r"^\d+: "))
    drawn = cells.filter(pl.col("part").is_in(ranged.implode())) if len(ranged) > 1 else cells
    series, around = [], []
    for system in systems:
        own = drawn.filter(system=system)
        low, high = (own[name].to_list() if name in own.columns else () for name in ("f1_low", "f1_high"))
        said = [f"{number} mentions" if number is not None else "" for number in own["mentions"]]
        places = [links(row) for row in own.select("system", "part").to_dicts()]
        series.append(
            Series(system, [shorten(part) for part in own["shown"]], own["f1"].to_list(), low, high, places, said)
        )
        whole = cells.filter(system=system, part=parts[0]).select(score for score in SCORES if score in cells.columns)
        if spider == "scores" and len(whole):
            around.append(Series(system, whole.columns, whole.row(0)))
        elif not spider:
            around.append(Series(system, [shorten(part) for part in own["shown"]], own["f1"].to_list(), words=said))
    axis, kind = Axis(score, limits=(0, 1)), "lines" if len(ranged) > 1 else "bars"
    apart = [shorten(part) for part in ranged.filter(ranged.str.contains(APART))]
    behind = _shares(drawn) if kind == "lines" else None
    told = f"{score} of {', '.join(systems)} in {', '.join(parts)}.{f' {by}.' if by else ''}{more}"
    over = f"{by}{'.' if more and by else ''}{more}".strip()
    figures = {
        "by column": Figure(f"{score} by column", [Panel(over, kind, series, y=axis, behind=behind, apart=apart)], told)
    }
    if 3 <= max((len(one.x) for one in around), default=0) <= 12:
        title = f"scores in {parts[0]}" if spider else score
        called = f"{title}: {by}" if by else title
        figures["spider"] = Figure(
            f"{title} of systems", [Panel(called, "spider", around, y=Axis(limits=(0, 1)))], told
        )
    return figures


def _shares(cells: pl.DataFrame) -> Series | None:
    """Return the share that each part has of the mentions of all, None where these are not known."""
    sizes = cells.group_by("shown", maintain_order=True).agg(pl.col("mentions").max())
    if sizes["mentions"].null_count() or not sizes["mentions"].sum():
        return None
    shares = sizes.select(pl.col("mentions") / pl.col("mentions").sum())["mentions"].to_list()
    said = [f"{number} mentions" for number in sizes["mentions"]]
    return Series("share of mentions", [shorten(part) for part in sizes["shown"]], shares, words=said)


SCORES = ("precision", "recall", "f1", "macro F1")


@dataclass(frozen=True)
class Curve:
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

DRAWN: Mapping[str, tuple[Curve, ...]] = {
    "alpha": (Curve("fuzzy_recall", "R*", "alpha", ALPHA), Curve("fuzzy_f1", "F1*", "alpha", ALPHA)),
    "progression": tuple(
        Curve(name, title, "rank", RANK, True)
        for name, title in (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))
    ),
    "threshold": (
        Curve("precision", "precision", "recall", "recall"),
        Curve("f1", "F1", "threshold", "confidence above which answers count", True),
    ),
    "calibration": (
        Curve("accuracy", "share right", "confidence", "confidence", diagonal=True),
        Curve("risk", "risk (share wrong)", "coverage", "coverage (share answered, surest first)"),
    ),
}


def figure_of_curve(name: str, rows: pl.DataFrame) -> Figure:
    """Return a curve of `remix.scoring.statistics.curves` as a figure: a row of panels for each task and matching.

    Raises `UsageError` where there is nothing to draw.
    """
    curves = DRAWN[name]
    parts = rows.partition_by("task", "matching", maintain_order=True)
    if not parts:
        raise UsageError("nothing to plot: no row has a score")
    systems = rows["system"].unique().sort().to_list()
    panels = [_panel(part, curve, systems) for part in parts for curve in curves]
    return Figure(f"{name} of systems", panels, f"Lines for {', '.join(systems)}.", len(curves))


def _panel(part: pl.DataFrame, curve: Curve, systems: Sequence[str]) -> Panel:
    series = []
    for system in systems:
        own = part.filter(system=system).drop_nulls([curve.over, curve.score])
        best = own["best"].fill_null(False).to_list() if "best" in own.columns else ()
        series.append(Series(system, own[curve.over].to_list(), own[curve.score].to_list(), marked=best))
    return Panel(
        f"{curve.title}, {part['task'][0]} {part['matching'][0]}",
        "steps" if curve.step else "lines",
        series,
        Axis(curve.label),
        Axis(curve.title, limits=(0, 1.02)),
        diagonal=curve.diagonal,
    )
