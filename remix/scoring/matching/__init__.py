"""Matchings: when an answer's span is that of a gold mention. One file a matching."""

from __future__ import annotations

import re

from remix.errors import UsageError
from remix.registry import Registry
from remix.scoring.matching.cases import Matching, found_whole

__all__ = ["MATCHINGS", "Matching", "found_whole", "matching_named", "whole_matching_named"]


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
