"""Frames of the same rows that polars keeps in other pieces."""

from __future__ import annotations

import random
from typing import TypeVar

import polars as pl

Rows = TypeVar("Rows", pl.DataFrame, pl.Series)


def cut_at_random(rows: Rows, seed: int) -> Rows:
    """Return the same rows in pieces of memory that are cut anywhere, some of them empty."""
    draw = random.Random(seed)
    cuts = sorted([0, len(rows), *(draw.randint(0, len(rows)) for _ in range(draw.randint(1, 9)))])
    pieces = [rows[begin:end] for begin, end in zip(cuts, cuts[1:], strict=False)]
    made: Rows = pl.concat(pieces, rechunk=False)
    return made
