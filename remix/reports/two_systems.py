"""Where one of two systems is ahead of the other, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import polars as pl

from remix.names import UNSPECIFIED, WITHOUT_VALUE, shorten
from remix.reports.labels import label_flags
from remix.reports.matrix import order_systems

_OTHERS = ("all", UNSPECIFIED, WITHOUT_VALUE)
"""Columns of slices that are not held against others in words."""


def tell_two_systems(
    cells: pl.DataFrame,
    score: str,
    by: str,
    labels: Mapping[str, str],
    group: Callable[[Sequence[str]], Sequence[Sequence[str]]] = lambda _: (),
) -> str:
    """Return where one of two systems is ahead of the other.

    What has no value is told of alone, where a star says so or the difference is the largest. Of datasets that hold the
    same texts, as `group` groups them, the largest counts. It is empty where there are not just two systems.
    """
    if not by:
        every = cells["part"].unique(maintain_order=True).to_list()
        counted = order_systems(cells, every, group).shared
        once = cells.filter(pl.col("part").is_in(counted)) if counted else cells
        left = len(_list_shared(cells)) - len(counted) if counted else 0
        said = _tell_first(once, score)
        return f"{said} Datasets of the same texts count once, by the largest." if said and left > 0 else said
    said = _tell_first(cells.filter(~pl.col("part").is_in(_OTHERS)), score, label_flags(by) | dict(labels))
    if not said:
        return ""
    gaps = {part: _find_gap(own) for (part,), own in cells.drop_nulls("f1").group_by("part", maintain_order=True)}
    largest = max((gap for part, gap in gaps.items() if part not in _OTHERS), default=0.0)
    none = [part for part in (UNSPECIFIED, WITHOUT_VALUE) if part in gaps]
    for part in none:
        own = cells.filter(part=part).drop_nulls("f1").sort("f1", descending=True)
        starred = own["mark"].fill_null("").str.starts_with("*").any()
        if own.height == 2 and (starred or gaps[part] > largest):
            high, low = own.to_dicts()
            ahead = f"{high['system']} is ahead of {low['system']} ({high['f1']:.3f} against {low['f1']:.3f})"
            why = "which a star marks" if starred else "a larger difference than in any of these"
            said += f" Of mentions without a value in the column ({part}) {ahead}, {why}."
    return f"{said} Mentions without a value in the column are in none of the columns counted first." if none else said


def _find_gap(own: pl.DataFrame) -> float:
    """Return how far two scores of a column are apart, 0 where there is one."""
    first, *others = own["f1"].to_list()
    return abs(float(first) - float(others[0])) if len(others) == 1 else 0.0


def _list_shared(cells: pl.DataFrame) -> list[str]:
    """Return the columns in which both of two systems have a score."""
    counts = cells.drop_nulls("f1").group_by("part").agg(pl.col("system").n_unique())
    return counts.filter(system=2)["part"].to_list()


def _tell_first(cells: pl.DataFrame, score: str, labels: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return where the first of two systems is ahead of the other, and where behind, the largest difference of each.

    It is empty where there are not just two systems. `score` is what is compared, `labels` are those of parts.

    >>> cells = pl.DataFrame({"system": ["a", "a", "b", "b"], "part": ["x", "y", "x", "y"], "f1": [0.2, 0.9, 0.4, 0.8]})
    >>> print(*_tell_first(cells, "F1").split("; "), sep=";\\n")
    By F1, a is ahead of b in 1 of 2 columns, most in y (0.900 against 0.800);
    b in 1, most in x (0.400 against 0.200).
    """
    names = cells["system"].unique().sort().to_list()
    if len(names) != 2:
        return ""
    first, second = names
    own = cells.filter(system=first).select("part", own="f1")
    both = own.join(cells.filter(system=second).select("part", other="f1"), on="part", maintain_order="left")
    both = both.drop_nulls().with_columns(apart=pl.col("own") - pl.col("other"))
    if both.is_empty():
        return ""
    number, count = both.height, (both["apart"] > 0).sum()
    told = [f"{first} is ahead of {second} in {count or 'none'} of {number} column{'s' if number != 1 else ''}"]
    told.append(f"{second} in {(both['apart'] < 0).sum() or 'none'}")
    for nth, (high, low, sign) in enumerate((("own", "other", 1), ("other", "own", -1))):
        best = both.sort(sign * pl.col("apart"), "part", descending=[True, False]).row(0, named=True)
        if sign * best["apart"] > 0:
            called = labels.get(best["part"], shorten(best["part"]))
            told[nth] += f", most in {called} ({best[high]:.3f} against {best[low]:.3f})"
    return f"By {score}, {'; '.join(told)}."
