"""What a score without denominator is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from remix.scoring.conventions import Convention
from remix.scoring.statistics import ratio, scores


@dataclass(frozen=True, kw_only=True)
class Undefined(Convention):
    """Scores without denominator."""

    scores: Callable[[], Mapping[str, pl.Expr]]
    """Returns the expression of each score over counts."""


def _fill(fill: Callable[[pl.Expr, pl.Expr], pl.Expr]) -> dict[str, pl.Expr]:
    """Return the scores with what `fill` makes of a precision or recall and its FPs, F1 being their harmonic mean.

    A precision that means nothing, as its FPs are null, has no F1.
    """
    exact = scores()
    recall = fill(exact["recall"], pl.col("fp"))
    found = {"recall": recall}
    for of in ("", "_in_scope", "_on_mention"):
        wrong = pl.col(f"fp{of}")
        precision = fill(exact[f"precision{of}"], wrong)
        f1 = ratio(2 * precision * recall, precision + recall).fill_null(0.0)
        found[f"precision{of}"] = pl.when(wrong.is_not_null()).then(precision)
        found[f"f1{of}"] = pl.when(wrong.is_not_null()).then(f1)
    return {name: found[name] for name in exact}


def _zero() -> dict[str, pl.Expr]:
    return _fill(lambda score, _: score.fill_null(0.0))


def _empty_is_perfect() -> dict[str, pl.Expr]:
    def fill(score: pl.Expr, wrong: pl.Expr) -> pl.Expr:
        empty = (pl.col("tp") == 0) & (wrong == 0) & (pl.col("fn") == 0)
        return pl.when(empty).then(1.0).otherwise(score.fill_null(0.0))

    return _fill(fill)


def _one() -> dict[str, pl.Expr]:
    return _fill(lambda score, _: score.fill_null(1.0))


undefined_null = Undefined(name="undefined-null", words="a score without denominator is null", scores=scores)
undefined_zero = Undefined(name="undefined-zero", words="a score without denominator is 0", scores=_zero)
empty_is_perfect = Undefined(
    name="empty-is-perfect",
    words="P = R = F1 = 1 where nothing is asked and nothing answered; 0 where only one of them is",
    scores=_empty_is_perfect,
)
undefined_one = Undefined(
    name="undefined-one",
    words="P = 1 without answers, R = 1 without gold; F1 is their harmonic mean",
    scores=_one,
)
