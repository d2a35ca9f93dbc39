"""From counts per document to precision, recall and F1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

__all__ = ["AVERAGES", "Average", "SCORES", "scores"]

SCORES = ("precision", "recall", "f1", "precision_in_scope", "precision_on_mention")


def ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Return part / whole, null where the whole is zero."""
    return pl.when(whole > 0).then(part / whole)


def scores() -> dict[str, pl.Expr]:
    """Return an expression over counts for each score.

    F1 takes the false positives in scope where they are defined, else those on kept mentions, else all.

    >>> row = pl.DataFrame({"tp": [2], "fp": [2], "fn": [0], "fp_in_scope": [None], "fp_on_mention": [None]})
    >>> row.select(**scores()).rows()
    [(0.5, 1.0, 0.6666666666666666, None, None)]
    """
    tp, fp, fn = pl.col("tp"), pl.col("fp"), pl.col("fn")
    chosen = pl.coalesce("fp_in_scope", "fp_on_mention", "fp")
    return {
        "precision": ratio(tp, tp + fp),
        "recall": ratio(tp, tp + fn),
        "f1": ratio(2 * tp, 2 * tp + chosen + fn),
        "precision_in_scope": ratio(tp, tp + pl.col("fp_in_scope")),
        "precision_on_mention": ratio(tp, tp + pl.col("fp_on_mention")),
    }


@dataclass(frozen=True)
class Average:
    """How the counts of documents become scores: `summarise(counts, keys)` returns a row for each value of the keys
    with the counts, the scores of `SCORES` and, where an average is over documents, `<score>_documents`."""

    name: str
    summarise: Callable[[pl.DataFrame, list[str]], pl.DataFrame]


COUNTS = ("tp", "fp", "fn", "ignored", "fp_in_scope", "fp_on_mention")


def _sums() -> list[pl.Expr]:
    # A column that is null throughout is undefined, not zero.
    return [pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).sum()).alias(name) for name in COUNTS]


def micro(counts: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the scores of the summed counts."""
    return counts.group_by(keys, maintain_order=True).agg(_sums()).with_columns(**scores())


def macro(counts: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the mean of each score over the documents where it is defined, and how many these are."""
    each = counts.with_columns(**scores())
    means = [pl.col(name).mean() for name in SCORES]
    numbers = [pl.col(name).is_not_null().sum().alias(f"{name}_documents") for name in SCORES[:3]]
    return each.group_by(keys, maintain_order=True).agg(*_sums(), *means, *numbers)


AVERAGES: Mapping[str, Average] = {"micro": Average("micro", micro), "macro": Average("macro", macro)}
"""Micro: each mention counts the same. Macro: each document does."""
