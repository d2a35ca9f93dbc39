"""From counts per document to precision, recall and F1."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from remix.expressions import sum_up
from remix.scoring.inputs.case_tables import Counts, LabelledCounts

KEYS = ["system", "doc"]
"""What there is a row of counts for."""

SCOPED = ("fp_in_scope", "fp_on_mention")
"""The false positives behind the second and third precision."""

UNSCOPED = [pl.lit(None, pl.Int64).alias(name) for name in SCOPED]
"""The same, of what has one precision alone."""

SCORES = ("precision", "recall", "f1", "precision_in_scope", "precision_on_mention", "f1_in_scope", "f1_on_mention")

WRONG = {name: re.sub("^(precision|f1)", "fp", name) for name in SCORES if name != "recall"}
"""The false positives of each precision and F1."""

F1 = {"all": "f1", "in scope": "f1_in_scope", "on mention": "f1_on_mention"}
"""The F1 of each precision, by what the precision is of."""


def count_pairs(tp: pl.DataFrame, fp: pl.DataFrame, fn: pl.DataFrame) -> Counts:
    """Return counts per system and document; the rows of the three are what is counted, fp has `free` as well."""
    wrong = {"fp": (~pl.col("free")).cast(pl.Int64), "ignored": pl.col("free").cast(pl.Int64)}
    one = pl.lit(1, pl.Int64)
    parts = [tp.select(*KEYS, tp=one), fp.select(*KEYS, **wrong), fn.select(*KEYS, fn=one)]
    rows = pl.concat(parts, how="diagonal").group_by(KEYS).agg(pl.col("tp", "fp", "fn", "ignored").sum())
    return rows.with_columns(UNSCOPED)


def ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Return part / whole, null where the whole is zero."""
    return pl.when(whole > 0).then(part / whole)


def scores() -> dict[str, pl.Expr]:
    """Return an expression over counts for each score.

    `tp_of_gold` are the mentions of gold that were found, `tp` the answers that are right. Each precision has its F1.

    >>> row = pl.DataFrame({"tp": [2], "tp_of_gold": [2], "fp": [2], "fn": [0], "fp_in_scope": [1]})
    >>> row = row.with_columns(fp_on_mention=None)
    >>> row.select(**scores()).select("precision", "f1", "f1_in_scope", "f1_on_mention").rows()
    [(0.5, 0.6666666666666666, 0.8, None)]
    """
    tp, found, recall = (
        pl.col("tp"),
        pl.col("tp_of_gold"),
        ratio(pl.col("tp_of_gold"), pl.col("tp_of_gold") + pl.col("fn")),
    )
    wrong = {"": pl.col("fp"), "_in_scope": pl.col("fp_in_scope"), "_on_mention": pl.col("fp_on_mention")}
    exact = {f"precision{of}": ratio(tp, tp + fp) for of, fp in wrong.items()}
    exact["recall"] = recall
    for of, fp in wrong.items():
        # Where the TPs of precision and of recall differ, F1 is their harmonic mean.
        precision = exact[f"precision{of}"]
        mean = ratio(2 * precision * recall, precision + recall).fill_null(0.0)
        f1 = pl.when(tp == found).then(ratio(2 * tp, 2 * tp + fp + pl.col("fn"))).otherwise(mean)
        exact[f"f1{of}"] = pl.when(fp.is_not_null()).then(f1)
    return {name: exact[name] for name in SCORES}


def precision_of_f1(counts: LabelledCounts) -> str:
    """Return which F1 is shown of all these counts: 'in scope' where all have it, else 'on mention', else 'all'.

    Where no gold was cut that is 'all', as it is for tasks that know one precision alone. InKB and its like do not
    decide.
    """
    shown = counts.filter(pl.col("column") != "kb")
    if not shown["cut"].any():
        return "all"
    several = pl.col("fp_on_mention").is_not_null().any()  # or the task knows one precision alone
    for of in ("in scope", "on mention"):
        known = pl.col(f"fp_{of.replace(' ', '_')}").is_not_null().all()
        tasks = shown.group_by("task").agg(several=several, known=known).filter("several")
        if len(tasks) and tasks["known"].all():
            return of
    return "all"


def with_fp_of_f1(counts: LabelledCounts, of: str) -> LabelledCounts:
    """Return the counts with `fp_of_f1`, the false positives of the F1 that takes the precision `of`."""
    wrong = pl.col("fp") if of == "all" else pl.coalesce(f"fp_{of.replace(' ', '_')}", "fp")
    return counts.with_columns(fp_of_f1=wrong)


Over = Literal["defined", "asked", "all"]
"""Over which documents a mean is: those where something counts and the score is defined, those with gold, or all."""


SPREAD = "_documents_deviation"
"""How the column is called, behind a score, of its standard deviation over the documents of its mean."""

COUNTS = ("tp", "fp", "fn", "ignored", *SCOPED)


@dataclass(frozen=True)
class Average:
    """How the counts of documents become scores.

    'micro' scores are those of the summed counts: each mention counts the same. 'macro' scores are means over the
    documents of `documents` in which the score is defined; with `harmonic`, macro-F1 is that of macro precision and
    recall. Whoever means over documents takes the values of `of_documents`, so that one place says which count.
    """

    name: Literal["micro", "macro"]
    scores: Callable[[], Mapping[str, pl.Expr]]
    documents: Over = "defined"
    harmonic: bool = False

    def of_documents(self, counts: Counts | LabelledCounts) -> pl.DataFrame:
        """Return counts by document with the scores of `SCORES` that a mean is over, null where a document is in none.

        Where the mean is over documents in which the score is defined ('defined'), one in which nothing counts, as
        every answer is ignored, is none of them, whatever the profile makes of a score without denominator. Else it is
        over those with gold ('asked', where `has_gold` says so) or 'all'.

        >>> counts = pl.DataFrame({"tp": [1, 0], "fp": [0, 0], "fn": [0, 0]}, schema_overrides={"fp": pl.Int64})
        >>> counts = with_tp_of_gold(counts.with_columns(UNSCOPED))
        >>> zero = Average("macro", lambda: {name: score.fill_null(0.0) for name, score in scores().items()})
        >>> zero.of_documents(counts)["f1"].to_list()
        [1.0, None]
        """
        if self.documents == "defined":
            counting = {name: pl.sum_horizontal("tp", "tp_of_gold", WRONG.get(name, "fp"), "fn") > 0 for name in SCORES}
        else:
            asked = pl.col("has_gold").fill_null(False) if self.documents == "asked" else pl.lit(True)
            counting = dict.fromkeys(SCORES, asked)
        found = counts.with_columns(**self.scores())
        return found.with_columns(pl.when(counting[name]).then(name).alias(name) for name in SCORES)

    def summarise(self, counts: Counts | LabelledCounts, keys: list[str]) -> pl.DataFrame:
        """Return a row for each value of the keys: the counts, `mentions`, the scores of `SCORES` and, where they are
        means over documents, `<score>_documents`, how many, and `<score>_documents_deviation`."""
        counts = with_tp_of_gold(counts)
        # A column that is null throughout is undefined, not zero; a precision that one part has not, the whole has not.
        names = [name for name in (*COUNTS, "tp_of_gold", "asked") if name in counts.columns]
        known = {name: pl.col(name).is_not_null() for name in names}
        every = {name: each.all() if name.startswith("fp_") else each.any() for name, each in known.items()}
        sums = [pl.when(every[name]).then(pl.col(name).sum()).alias(name) for name in names]
        # The TP and FN of gold, or their number where they count in part.
        asked = pl.col("tp_of_gold") + pl.col("fn")
        mentions = pl.coalesce("asked", asked) if "asked" in names else asked
        if self.name == "micro":
            rows = sum_up(counts, keys, *sums)
            return rows.with_columns(mentions=mentions, **self.scores())
        rows = sum_up(self.of_documents(counts), keys, *sums, *self._means())
        rows = rows.with_columns(mentions=mentions)
        if self.harmonic:
            recall = pl.col("recall")
            for precision in (name for name in SCORES if name.startswith("precision")):
                f1 = ratio(2 * pl.col(precision) * recall, pl.col(precision) + recall).fill_null(0.0)
                name = precision.replace("precision", "f1")
                rows = rows.with_columns(pl.when(pl.col(precision).is_not_null()).then(f1).alias(name))
        return rows

    def _means(self) -> list[pl.Expr]:
        # Every document must have the false positives that a score is made of.
        known = {name: pl.col(wrong).is_not_null().all() for name, wrong in WRONG.items()}
        means = [pl.when(known.get(name, pl.lit(True))).then(pl.col(name).mean()).alias(name) for name in SCORES]
        numbers = [pl.col(name).is_not_null().sum().alias(f"{name}_documents") for name in SCORES[:3]]
        # Documents are all there are, not a sample: squares are divided by their number.
        spread = [
            pl.when(known.get(name, pl.lit(True))).then(pl.col(name).std(ddof=0)).alias(f"{name}{SPREAD}")
            for name in SCORES[:3]
        ]
        return [*means, *numbers, *spread]


def averages(
    scores: Callable[[], Mapping[str, pl.Expr]] = scores, documents: Over = "defined", harmonic: bool = False
) -> dict[str, Average]:
    """Return the averages of a profile by their names, micro first."""
    return {"micro": Average("micro", scores), "macro": Average("macro", scores, documents, harmonic)}


def with_tp_of_gold(counts: Counts | LabelledCounts) -> pl.DataFrame:
    """Return counts with `tp_of_gold`: where gold is found in part or twice, it differs from the TP among answers."""
    own = [name for name in ("tp_of_gold", "tp") if name in counts.columns]
    return counts.with_columns(tp_of_gold=pl.coalesce(own))


AVERAGES: Mapping[str, Average] = averages()
"""The averages of the default profile: undefined scores are left out."""
