"""Matchings: when an answer's span is that of a gold mention. One file a matching."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from remix.errors import UsageError
from remix.registry import Registry

if TYPE_CHECKING:
    from remix.scoring.matching.cases import Case, Judged

__all__ = ["MATCHINGS", "Matching", "found_whole", "matching_named", "whole_matching_named"]


def overlapping(case: Case) -> pl.DataFrame:
    """Return the pairs of gold mentions and answers that share a character."""
    return case.overlaps


def found_whole(case: Case, judged: Judged) -> pl.DataFrame:
    """Return system, doc, group, option and `share`, which is 1, of the mentions of gold that were found."""
    found = judged.pairs.filter("correct").join(case.kept().select("g", "doc", "group", "option"), on="g")
    found = found.join(judged.groups, on=["system", "group"], how="semi")
    return found.select("system", "doc", "group", "option", share=1.0).unique()


@dataclass(frozen=True)
class Matching:
    """When two spans match.

    `spans` is an expression over the pairs that `pairs` returns: those of `remix.scoring.matching.overlaps` with
    `equal` (same begin and end), `shared` and `union` (characters), and what else a matching adds. `at(value)` returns
    the matching with its parameter, where it has one. `credit(case, judged, counts, on_mention_only)` returns the
    counts with what is right or wrong in part, where a matching has that; the counts are those of
    `remix.scoring.tasks.tally`.
    `shares(case, judged)` returns the mentions of gold that are found, as `found_whole` does, each with the share that
    is found; recall is the sum of the shares by the number of mentions. None where recall is something else.
    """

    name: str
    summary: str
    spans: pl.Expr
    pairs: Callable[[Case], pl.DataFrame] = overlapping
    at: Callable[[float], Matching] | None = None
    credit: Callable[[Case, Judged, pl.DataFrame, bool], pl.DataFrame] | None = None
    shares: Callable[[Case, Judged], pl.DataFrame] | None = found_whole


MATCHINGS: Registry[Matching] = Registry("matching", "remix.scoring.matching", Matching)


def matching_named(name: str) -> Matching:
    """Return the matching of a name such as 'strong' or 'fuzzy(0.85)'.

    Raises `UnknownName` for a name that no matching has, `UsageError` for a parameter that it does not take.

    >>> matching_named("fuzzy(0.5)").name
    'fuzzy(0.5)'
    """
    parts = re.fullmatch(r"([\w-]+)\(([^)]*)\)", name)
    if parts is None:
        return MATCHINGS[name]
    found = MATCHINGS[parts[1]]
    try:
        value = float(parts[2])
    except ValueError:
        value = -1.0
    if found.at is None or not 0 <= value <= 1:
        taken = "a number from 0 to 1" if found.at is not None else "no parameter"
        raise UsageError(f"matching '{found.name}' takes {taken}, not '{parts[2]}'")
    return found.at(value)


def whole_matching_named(name: str) -> Matching:
    """Return the matching of a name, where it counts pairs as a whole; raises `UsageError` for one with credit."""
    found = matching_named(name)
    if found.credit is not None:
        raise UsageError(f"matching '{name}' counts in part, which this profile's tool cannot: use --profile remix")
    return found
