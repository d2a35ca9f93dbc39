"""What becomes of counts: what is averaged over documents, and what a score without denominator is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from remix.scoring.conventions import Convention
from remix.scoring.statistics import SCORES, Over, ratio, scores


@dataclass(frozen=True, kw_only=True)
class Macro(Convention):
    """Means over documents."""

    documents: Over
    """Which: those where the score is defined, those with gold, or all."""
    harmonic: bool = False
    """Whether macro-F1 is the harmonic mean of macro precision and recall, else it is the mean of the documents' F1."""


macro_where_defined = Macro(
    name="macro-where-defined",
    words="macro scores are means over the documents where the score is defined",
    documents="defined",
)
macro_of_all = Macro(
    name="macro-of-all",
    words="macro scores, F1 too, are means over all documents, also those without annotations",
    documents="all",
)
macro_of_asked = Macro(
    name="macro-of-asked", words="macro scores, F1 too, are means over the documents that have gold", documents="asked"
)
macro_harmonic = Macro(
    name="macro-harmonic",
    words="macro P and R are means over all documents, macro-F1 is the harmonic mean of these two",
    documents="all",
    harmonic=True,
)


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
    name="undefined-one", words="P = 1 without answers, R = 1 without gold; F1 is their harmonic mean", scores=_one
)


def zero_of_all() -> dict[str, pl.Expr]:
    """Return the scores with 0 for precision, recall and F1 without denominator, for tools without further precisions.

    F1 is that of the counts, which the harmonic mean of `undefined_zero` is but for the last digit.
    """
    return {name: score.fill_null(0.0) if name in SCORES[:3] else score for name, score in scores().items()}
