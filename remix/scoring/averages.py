"""From counts per document to precision, recall and F1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

__all__ = ["AVERAGES", "SCORES", "Average", "averages", "ratio", "scores"]

SCORES = ("precision", "recall", "f1", "precision_in_scope", "precision_on_mention")


def ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Return part / whole, null where the whole is zero."""
    return pl.when(whole > 0).then(part / whole)


def scores() -> dict[str, pl.Expr]:
    """Return an expression over counts for each score.

    `tp_of_gold` are the mentions of gold that were found, `tp` the answers that are right. F1 takes the false
    positives in scope where they are defined, else those on kept mentions, else all.

    >>> row = pl.DataFrame({"tp": [2], "tp_of_gold": [2], "fp": [2], "fn": [0]})
    >>> row = row.with_columns(fp_in_scope=None, fp_on_mention=None)
    >>> row.select(**scores()).rows()
    [(0.5, 1.0, 0.6666666666666666, None, None)]
    """
    tp, fp, fn, found = pl.col("tp"), pl.col("fp"), pl.col("fn"), pl.col("tp_of_gold")
    chosen = pl.coalesce("fp_in_scope", "fp_on_mention", "fp")
    return {
        "precision": ratio(tp, tp + fp),
        "recall": ratio(found, found + fn),
        "f1": pl.when(tp == found)
        .then(ratio(2 * tp, 2 * tp + chosen + fn))
        .otherwise(_harmonic(tp, chosen, found, fn)),
        "precision_in_scope": ratio(tp, tp + pl.col("fp_in_scope")),
        "precision_on_mention": ratio(tp, tp + pl.col("fp_on_mention")),
    }


def _harmonic(tp: pl.Expr, fp: pl.Expr, found: pl.Expr, fn: pl.Expr) -> pl.Expr:
    """Return F1 where the TPs of precision and of recall differ."""
    precision, recall = ratio(tp, tp + fp), ratio(found, found + fn)
    return ratio(2 * precision * recall, precision + recall).fill_null(0.0)


@dataclass(frozen=True)
class Average:
    """How the counts of documents become scores: `summarise(counts, keys)` returns a row for each value of the keys
    with the counts, the scores of `SCORES` and, where an average is over documents, `<score>_documents`.

    `scores`, `documents` and `harmonic` are those of `averages`, by which samples of documents are scored, too."""

    name: str
    summarise: Callable[[pl.DataFrame, list[str]], pl.DataFrame]
    scores: Callable[[], Mapping[str, pl.Expr]]
    documents: str = "defined"
    harmonic: bool = False

    def counting(self) -> pl.Expr:
        """Return whether a mean is over the document of a row, if its score is defined."""
        return pl.col("has_gold").fill_null(False) if self.documents == "asked" else pl.lit(True)


COUNTS = ("tp", "fp", "fn", "ignored", "fp_in_scope", "fp_on_mention")


def _sums(counts: pl.DataFrame) -> list[pl.Expr]:
    # A column that is null throughout is undefined, not zero.
    names = [name for name in (*COUNTS, "tp_of_gold", "asked") if name in counts.columns]
    return [pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).sum()).alias(name) for name in names]


def averages(
    scores: Callable[[], Mapping[str, pl.Expr]] = scores, documents: str = "defined", harmonic: bool = False
) -> dict[str, Average]:
    """Return the averages of a profile: micro (each mention counts the same) and macro (each document does).

    Micro scores are those of the summed counts. Macro scores are means over the documents where the score is defined
    ('defined', 'all') or those with gold ('asked', where `has_gold` says so); with `harmonic`, macro-F1 is that of
    macro precision and recall.
    """

    def micro(counts: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
        """Return the scores of the summed counts, a row per keys."""
        sums = counts.group_by(keys, maintain_order=True).agg(_sums(counts))
        return _with_mentions(_of_both(sums).with_columns(**scores()))

    def macro(counts: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
        """Return the mean scores of documents and over how many they are, a row per keys."""
        each = _of_both(counts).with_columns(**scores())
        counting = own.counting()
        means = [pl.col(name).filter(counting).mean() for name in SCORES]
        numbers = [(pl.col(name).is_not_null() & counting).sum().alias(f"{name}_documents") for name in SCORES[:3]]
        found = each.group_by(keys, maintain_order=True).agg(*_sums(counts), *means, *numbers)
        if harmonic:
            precision, recall = pl.col("precision"), pl.col("recall")
            f1 = ratio(2 * precision * recall, precision + recall).fill_null(0.0)
            found = found.with_columns(f1=pl.when(precision.is_not_null()).then(f1))
        return _with_mentions(_of_both(found))

    own = Average("macro", macro, scores, documents, harmonic)
    return {"micro": Average("micro", micro, scores), "macro": own}


def _of_both(counts: pl.DataFrame) -> pl.DataFrame:
    """Return counts with `tp_of_gold`: where gold is found in part or twice, it differs from the TP among answers."""
    if "tp_of_gold" not in counts.columns:
        return counts.with_columns(tp_of_gold="tp")
    return counts.with_columns(tp_of_gold=pl.coalesce("tp_of_gold", "tp"))


def _with_mentions(sums: pl.DataFrame) -> pl.DataFrame:
    """Return sums with `mentions`: the TP and FN of gold, or their number where they count in part."""
    asked = pl.col("tp_of_gold") + pl.col("fn")
    if "asked" in sums.columns:
        asked = pl.coalesce("asked", asked)
    return sums.with_columns(mentions=asked).drop("tp_of_gold", "asked", strict=False)


AVERAGES: Mapping[str, Average] = averages()
"""The averages of the default profile: undefined scores are left out."""
