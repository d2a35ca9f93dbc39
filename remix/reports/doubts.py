"""What is said of intervals and tests below tables of scores: how they were made, which are missing or in doubt."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from remix.scoring.slicing import local_names
from remix.scoring.statistics.intervals import LEAST_UNITS

_NAMED = 6
"""Rows that a line names; of more it says how many they are."""


def explain_intervals(rows: pl.DataFrame, unit: str) -> list[str]:
    """Return what the intervals of rows are, and of which rows they are missing or in doubt."""
    lines = [f"F1 from … to is its 95 % interval over {unit}s: a jackknife on logits, with t"]
    shown = rows.filter(average="micro") if "average" in rows.columns else rows
    if "interval_doubt" not in shown.columns:
        return lines
    shown = shown.with_columns(local_names("slice")).filter(pl.col("interval_doubt") != "")
    shown = shown.unique(["system", "dataset", "slice", "interval_doubt"])
    for (why,), own in shown.sort("system", "dataset", "slice").group_by("interval_doubt", maintain_order=True):
        words = "no interval" if own["f1_low"].null_count() == len(own) else "interval in doubt"
        named = [part or system for part, system in own.select("slice", "system").iter_rows()]
        lines.append(f"{words} ({str(why).replace('document', unit)}): {_list(named)}")
    return lines


def explain_tests(rows: pl.DataFrame, unit: str, against: str) -> list[str]:
    """Return what the tests of slices are, and which slices are not tested."""
    other = f"mentions of {against}" if against else "other mentions"
    lines = []
    if rows["p_holm"].count():
        lines = [
            f"difference is micro-F1 less that of {against or 'all'}",
            f"p (Holm): that mentions of a slice are found as often as {other}, {unit}s and entities having effects; "
            "corrected over the slices of a column (-o json has the p of precision, on mentions)",
        ]
    if "untested" not in rows.columns:
        return lines
    left = rows.with_columns(local_names("slice")).filter(pl.col("untested") != "").unique(["slice", "untested"])
    few = pl.col("untested").str.extract(r"^held by (\d+) ")
    left = left.with_columns(few=few, why=pl.when(few.is_null()).then("untested")).sort("why", "slice")
    for (why,), own in left.group_by("why", maintain_order=True):
        said = str(why).replace("document", unit) if why else f"held by fewer than {LEAST_UNITS} {unit}s"
        # One slice may be held by more in one dataset than in another: its fewest are told.
        own = own.sort("slice", pl.col("few").cast(pl.Int64)).unique("slice", keep="first", maintain_order=True)
        named = [name if few is None else f"{name} ({few})" for name, few in own.select("slice", "few").iter_rows()]
        lines.append(f"not tested, {said}: {_list(named)}")
    return lines


def _list(names: Iterable[str]) -> str:
    names = [*dict.fromkeys(names)]
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
