"""Matchings: when an answer's span is that of a gold mention. One file a matching."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix.registry import Registry

__all__ = ["MATCHINGS", "Matching"]


@dataclass(frozen=True)
class Matching:
    """When two spans that overlap match.

    `spans` is an expression over the pairs of `remix.scoring.overlaps`: `equal` (same begin and end), `shared`
    and `union` (characters).
    """

    name: str
    summary: str
    spans: pl.Expr


MATCHINGS: Registry[Matching] = Registry("matching", "remix.scoring.matchings", Matching)
