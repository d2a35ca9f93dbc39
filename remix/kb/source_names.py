"""The names of sources that rows carry, matched by patterns as in a shell."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

import polars as pl

__all__ = ["GOLD", "UNCOUNTED", "matching", "named"]

GOLD = ("gold:*",)
"""Sources that were derived from a gold standard: a dataset measured by them is measured by itself."""

UNCOUNTED = ("candidate:*", "system:*", "redirect-title", "wikidata-label-or-alias")
"""Sources whose counts say how often a tool or a list named the pair, not how often people meant the entity."""


def named(known: Iterable[str | None], patterns: Iterable[str]) -> list[str]:
    """Return the sources that match any of the patterns, written as in a shell.

    >>> named(["gold:a", "label", None], ["gold:*"])
    ['gold:a']
    """
    patterns = list(patterns)
    names = sorted({name for name in known if name is not None})
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def matching(source: pl.Expr, patterns: Iterable[str], known: Iterable[str]) -> pl.Expr:
    """Return whether a source matches any of the patterns, written as in a shell; null never does."""
    return source.is_in(named(known, patterns)).fill_null(False)
