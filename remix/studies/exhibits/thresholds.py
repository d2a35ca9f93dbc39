"""Precision and recall by the threshold of confidence, and where they cross."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from remix.paper import Typesetting
from remix.reports.figures import Axis, Figure, Panel, Series
from remix.studies.exhibit import Exhibit, ShownFigure, ShownTable
from remix.studies.exhibits._holes import THERE, list_names, order_systems, tell_missing
from remix.studies.results import Results

_SCORES = {"precision": "precision", "recall": "recall", "f1": "F1"}
_POINTS = 200
"""Points of a line of many thresholds."""
_EVERY = "every answer counts"


def show(results: Results) -> Iterator[ShownFigure | ShownTable]:
    """Yield precision, recall and F1 of each system by threshold, and where precision and recall cross."""
    systems = order_systems(results, "system", "baseline")
    known = set(results.thresholds["system"])
    named = [name for name in systems["system"] if name in known]
    without = [name for name in systems.filter(state=THERE)["system"] if name not in known]
    if not named:
        return
    curves = {name: _curve(results, name) for name in named}
    notes = [f"On {results.unfiltered}; an answer counts where its confidence is above the threshold."]
    if without:
        notes.append(f"Without confidences, and so without thresholds: {list_names(without)}.")
    notes += tell_missing(systems, "system")
    rows = [_cross(name, curve) for name, curve in curves.items()]
    crossings = {str(row["system"]): row.get("threshold") for row in rows}
    panels = [_panel(name, curve, crossings[name]) for name, curve in curves.items()]
    title = "Precision, recall and F1 by the threshold of confidence."
    figure = Figure(title, panels, title, min(3, len(panels)))
    line = "Lines across are where precision and recall cross."
    yield ShownFigure("scores-by-threshold", title, figure, (*notes, line))
    numbers = ("threshold", *_SCORES, "best threshold", "best f1")
    kinds = {"system": pl.String, "crossing": pl.String, **dict.fromkeys(numbers, pl.Float64)}
    frame = pl.DataFrame(rows, schema=kinds)
    columns = {"system": "", "crossing": "where", "threshold": "threshold", **_SCORES}
    how = Typesetting(columns={**columns, "best threshold": "best threshold", "best f1": "its F1"}, digits=3)
    said = (
        "They cross at the lowest threshold at which precision is no less than recall, as no more answers count than "
        f"there are mentions. Where a threshold has no number {_EVERY}. The best threshold is the lowest of the best "
        "F1 on this very gold, which no system could know."
    )
    title = "Where precision and recall cross, by the threshold of confidence."
    yield ShownTable("crossing-of-precision-and-recall", title, frame, how, (*notes, said))


def _curve(results: Results, system: str) -> pl.DataFrame:
    """Return above, precision, recall and f1 at each threshold of a system, from none to the highest."""
    tp, fp, fn = pl.col("tp"), pl.col("fp"), pl.col("fn")
    ratios = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "f1": (2 * tp, 2 * tp + fp + fn)}
    rows = results.thresholds.filter(system=system).sort("above", nulls_last=False)
    return rows.select(
        "above", **{name: pl.when(whole > 0).then(part / whole) for name, (part, whole) in ratios.items()}
    )


def _cross(system: str, curve: pl.DataFrame) -> dict[str, object]:
    """Return where the precision of a system first is no less than its recall, and its best threshold."""
    best = curve.sort("f1", descending=True, nulls_last=True, maintain_order=True).row(0, named=True)
    found: dict[str, object] = {"system": system, "best threshold": best["above"], "best f1": best["f1"]}
    first = curve.row(0, named=True)
    if first["precision"] is not None and first["recall"] is not None and first["precision"] > first["recall"]:
        return found | {"crossing": "nowhere: precision is always the higher"}
    crossed = curve.filter(pl.col("precision") >= pl.col("recall"))
    if crossed.is_empty():
        return found | {"crossing": "nowhere: recall is always the higher"}
    row = crossed.row(0, named=True)
    return found | {
        "crossing": _EVERY if row["above"] is None else "above the threshold",
        "threshold": row["above"],
        **{name: row[name] for name in _SCORES},
    }


def _panel(system: str, curve: pl.DataFrame, crossing: object) -> Panel:
    lowest = curve["above"].min()
    start = min(0.0, float(str(lowest))) if lowest is not None else 0.0
    drawn = curve.gather_every(max(1, curve.height // _POINTS)).vstack(curve.tail(1)).unique(maintain_order=True)
    across = drawn["above"].fill_null(start).to_list()
    series = [Series(called, across, drawn[name].to_list()) for name, called in _SCORES.items()]
    lines = [float(str(crossing))] if crossing is not None else []
    return Panel(system, "steps", series, Axis("threshold"), Axis("score", limits=(0.0, 1.0)), lines)


THRESHOLDS = Exhibit(name="thresholds", title="Thresholds of confidence", place=57, show=show)
