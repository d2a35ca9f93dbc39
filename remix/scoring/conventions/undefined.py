"""What a score without denominator is."""

from __future__ import annotations

import polars as pl

from remix.scoring.averages import ratio, scores
from remix.scoring.conventions import Undefined


def _found() -> tuple[pl.Expr, pl.Expr]:
    """Return the expressions of precision and recall, null where undefined."""
    exact = scores()
    return exact["precision"], exact["recall"]


def _harmonic(precision: pl.Expr, recall: pl.Expr) -> pl.Expr:
    return ratio(2 * precision * recall, precision + recall).fill_null(0.0)


def _unscoped(precision: pl.Expr, recall: pl.Expr, f1: pl.Expr) -> dict[str, pl.Expr]:
    return {**scores(), "precision": precision, "recall": recall, "f1": f1}


def _zero() -> dict[str, pl.Expr]:
    precision, recall = (score.fill_null(0.0) for score in _found())
    return _unscoped(precision, recall, _harmonic(precision, recall))


def _empty_is_perfect() -> dict[str, pl.Expr]:
    empty = (pl.col("tp") == 0) & (pl.col("fp") == 0) & (pl.col("fn") == 0)
    precision, recall = (pl.when(empty).then(1.0).otherwise(score.fill_null(0.0)) for score in _found())
    return _unscoped(precision, recall, _harmonic(precision, recall))


def _one() -> dict[str, pl.Expr]:
    precision, recall = (score.fill_null(1.0) for score in _found())
    return _unscoped(precision, recall, _harmonic(precision, recall))


undefined_null = Undefined(
    aspect="undefined", name="undefined-null", words="a score without denominator is null", scores=scores
)
undefined_zero = Undefined(
    aspect="undefined", name="undefined-zero", words="a score without denominator is 0", scores=_zero
)
empty_is_perfect = Undefined(
    aspect="undefined",
    name="empty-is-perfect",
    words="P = R = F1 = 1 where nothing is asked and nothing answered; 0 where only one of them is",
    scores=_empty_is_perfect,
)
undefined_one = Undefined(
    aspect="undefined",
    name="undefined-one",
    words="P = 1 without answers, R = 1 without gold; F1 is their harmonic mean",
    scores=_one,
)
