"""Partitions: a column's values cut into parts, by steps of a scale, by shares, by thresholds or by class.

A part holds the values above its lower boundary up to its upper one (lower exclusive, upper inclusive); the first has
no lower boundary and, but for log-deciles and quantiles, the last no upper one. What has no value is a part of its
own, 'unspecified'.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from remix.errors import UsageError, nearest

__all__ = ["SCHEMES", "Partition", "Part", "counted", "partition", "selecting"]

SCHEMES = ("log-deciles", "quantiles", "head-torso-tail", "thresholds", "classes")
UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True)
class Part:
    """One part: the values above `low` up to `high` (None is no boundary), or one class, or what has no value."""

    name: str
    low: float | None = None
    high: float | None = None
    category: str | None = None
    missing: bool = False


Partition = tuple[Part, ...]


def partition(values: pl.Series, scheme: str) -> Partition:
    """Return the parts into which a scheme cuts values; null and NaN are unspecified.

    `log-deciles`: ten equal steps on a logarithmic scale between the smallest positive and the largest value, not
    rounded; what is not positive is in the first. `quantiles N`: N parts of equal size, as far as equal values allow.
    `head-torso-tail`: the values than which less than 10 % are higher, less than 55 %, the rest, of those that are cut;
    the same shares of the knowledge base are the column `pagerankSegment`. `deciles` is short for `log-deciles`.
    `thresholds 3,5,16`. `classes`: a part for each value.

    >>> [round(part.high, 2) for part in partition(pl.Series([1, 4105]), "log-deciles")[:3]]
    [2.3, 5.28, 12.13]

    Raises `UsageError` for another scheme, and for values that it cannot cut.
    """
    name, numbers = _parsed(scheme)
    if name == "classes":
        categories = values.drop_nulls().cast(pl.String).unique().sort().to_list()
        if len(categories) > 1000:
            raise UsageError(f"{len(categories)} classes are too many parts: cut numbers with --scheme log-deciles")
        return (*_classes(categories), _missing([_named(category) for category in categories]))
    if not values.dtype.is_numeric():
        raise UsageError(f"'{values.name}' holds no numbers: --scheme classes makes a part of each value")
    known = values.cast(pl.Float64).fill_nan(None).drop_nulls().sort()
    if name == "thresholds":
        edges = numbers
    elif known.is_empty():
        raise UsageError(f"'{values.name}' has no value at all: there is nothing to cut")
    elif name == "log-deciles":
        return _logarithmic(known)
    elif name == "quantiles":
        edges = _quantiles(known, int(numbers[0]))
    else:
        return _segments(known)
    bounds = [None, *edges, None]
    parts = [Part(_between(low, high), low, high) for low, high in zip(bounds, bounds[1:], strict=False)]
    return (*parts, _missing())


def _parsed(scheme: str) -> tuple[str, list[float]]:
    name, _, given = re.sub(r"[:=\s]+", " ", scheme.strip()).partition(" ")
    name = "log-deciles" if name == "deciles" else name
    if name not in SCHEMES:
        raise UsageError(f"no scheme '{name}'{nearest(name, SCHEMES)}")
    try:
        numbers = [float(number) for number in re.split(r"[,\s]+", given) if number]
    except ValueError:
        raise UsageError(f"'{given}' are no numbers: {name} takes some with commas, such as 3,5,16") from None
    if name == "thresholds" and (not numbers or numbers != sorted(set(numbers))):
        raise UsageError("thresholds are numbers that rise, such as 3,5,16")
    if name == "quantiles" and (len(numbers) != 1 or numbers[0] < 2 or numbers[0] != int(numbers[0])):
        raise UsageError("quantiles need one whole number, 2 or more")
    if name not in {"thresholds", "quantiles"} and numbers:
        raise UsageError(f"{name} takes no number")
    return name, numbers


def _classes(categories: list[str]) -> list[Part]:
    """Return a part for each category; two that are the same in the name of a file are told apart by number."""
    names = pl.Series([_named(category) for category in categories], dtype=pl.String)
    counted_up = names.to_frame("name").select(n=pl.int_range(pl.len()).over("name") + 1)["n"]
    every = zip(names, counted_up, categories, strict=True)
    return [Part(name if n == 1 else f"{name}-{n}", category=category) for name, n, category in every]


def _missing(taken: Sequence[str] = ()) -> Part:
    # Some columns have a class of that name.
    return Part("without-value" if UNSPECIFIED in taken else UNSPECIFIED, missing=True)


def _logarithmic(known: pl.Series) -> Partition:
    positive = known.filter(known > 0)
    if positive.is_empty() or not np.isfinite(known[-1]):
        raise UsageError(f"'{known.name}' has no positive values, or infinite ones: there is no logarithmic scale")
    low, high = float(positive[0]), float(positive[-1])
    if low == high:
        return (Part(_between(None, high), None, high), _missing())
    edges = [low * (high / low) ** (step / 10) for step in range(1, 10)] + [high]
    bounds = [None, *edges]
    parts = [Part(_between(a, b), a, b) for a, b in zip(bounds, edges, strict=False)]
    return (*parts, _missing())


def _quantiles(known: pl.Series, count: int) -> list[float]:
    """Return the inner boundaries: the value up to which k of `count` shares lie; equal ones are one."""
    places = [-(-len(known) * k // count) - 1 for k in range(1, count)]
    edges = sorted({float(known[place]) for place in places})
    return [edge for edge in edges if edge < known[-1]]


def _segments(known: pl.Series) -> Partition:
    counts = known.value_counts(name="count").sort(known.name, descending=True)
    better = (counts["count"].cum_sum() - counts["count"]) / len(known)
    edges = [counts.filter(better >= share)[known.name] for share in (0.55, 0.10)]
    low, high = (float(edge[0]) if len(edge) else None for edge in edges)
    parts = [Part("head", high, None)]
    if high is not None:
        parts.append(Part("torso", low, high))
    if low is not None:
        parts.append(Part("tail", None, low))
    return (*(part for part in parts if part.low is None or part.low != part.high), _missing())


def _between(low: float | None, high: float | None) -> str:
    """Return the name of an interval, fit for a file's name."""
    if low is None:
        return f"to-{_short(high)}" if high is not None else "all"
    return f"above-{_short(low)}" if high is None else f"{_short(low)}-{_short(high)}"


def _short(number: float | None) -> str:
    return f"{number:.4g}".replace("+", "")


def _named(category: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", category).strip("-.") or "empty"


def selecting(column: str, part: Part) -> pl.Expr:
    """Return whether a value belongs to a part.

    >>> part = Part("x", 2.0, 5.0)
    >>> pl.DataFrame({"v": [2, 3, 5, 6, None]}).select(selecting("v", part))["v"].to_list()
    [False, True, True, False, False]
    """
    value = pl.col(column)
    if part.category is not None:
        return (value.cast(pl.String) == part.category).fill_null(False)
    if part.missing:
        return value.is_null()
    above = pl.lit(True) if part.low is None else value > part.low
    below = pl.lit(True) if part.high is None else value <= part.high
    return (value.is_not_null() & above & below).fill_null(False).alias(column)


def counted(values: pl.Series, parts: Sequence[Part]) -> pl.DataFrame:
    """Return a row per part: part, above, to (its boundaries), annotations and share of all.

    >>> counted(pl.Series("v", [1, 3, 9]), partition(pl.Series("v", [1, 3, 9]), "thresholds 3")).rows()[:2]
    [('to-3', None, 3.0, 2, 0.6666666666666666), ('above-3', 3.0, None, 1, 0.3333333333333333)]
    """
    frame = values.to_frame("value")
    numbers = [int(frame.select(selecting("value", part).sum()).item()) for part in parts]
    return pl.DataFrame(
        {
            "part": [part.name for part in parts],
            "above": pl.Series([part.low for part in parts], dtype=pl.Float64),
            "to": pl.Series([part.high for part in parts], dtype=pl.Float64),
            "annotations": numbers,
            "share": [number / max(1, len(values)) for number in numbers],
        }
    )
