"""Intervals over documents: a jackknife on the logits of scores.

Documents are left out one at a time. The spread of the logits tells the standard error, and t the quantile, with as
many degrees of freedom as documents count, less one; documents of unequal size count as fewer (Kish). The sums are
those of the score itself, so that every score has its interval, means over documents too. Sources: Tukey, Bias and
Confidence in Not Quite Large Samples, 1958; Kish, Survey Sampling, 1965; for all right or all wrong, whose spread is
none, Wilson, Probable Inference, 1927; for differences, Zou and Donner, Construction of Confidence Limits about Effect
Measures, 2008. How often these intervals hold the truth, beside those of bootstraps: docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from remix.errors import UsageError
from remix.scoring.inputs.case_tables import CaseDocuments, LabelledCounts
from remix.scoring.statistics import AVERAGES, Average, with_tp_of_gold

METHOD = "jackknife-logit-t"
"""What a signature calls these intervals."""

LEAST_UNITS = 10
"""Fewer documents than these say nothing about others: they have no interval and no test."""

LEVEL = 0.95

CORRELATION = 0.1
"""How much the mentions of a document are taken to go together where all are right, or all wrong, so that none tell."""

EXTREME = 0.95
"""Scores from here on, and below 1 less this, have intervals that are flagged."""

Array = npt.NDArray[Any]


def intervals(
    counts: LabelledCounts, keys: list[str], documents: CaseDocuments, *, averages: Mapping[str, Average] = AVERAGES
) -> pl.DataFrame:
    """Return keys, `average` and, for precision, recall and f1, `<score>_low` and `<score>_high`; `interval_doubt`.

    `documents` (doc, dataset) are all there are, those without annotations too; rows of one dataset are over its
    documents, those of dataset 'all' over the documents of 'all', by default over every one. A score that fewer than
    ten documents count in has no interval. `interval_doubt` says why the interval of F1 is missing or to be doubted,
    and is empty where it is fine. Documents are scored by the `averages` of a profile.

    Raises `UsageError` where there are fewer than ten documents in all.
    """
    if (number := len(units_of(documents, "all"))) < LEAST_UNITS:
        raise UsageError(
            f"no intervals over {number} documents: at least {LEAST_UNITS} are needed for one that means "
            "something; evaluate without --intervals, or give more documents (--unit context takes lines or sentences)"
        )
    if counts.is_empty():
        bounds = {f"{name}_{end}": pl.Float64() for name in _SCORES for end in ("low", "high")}
        told = {"average": pl.String(), **bounds, "interval_doubt": pl.String()}
        return pl.DataFrame(schema={**{key: counts.schema[key] for key in keys}, **told})
    parts = []
    for dataset in counts["dataset"].unique().sort():
        units = units_of(documents, dataset)
        rows = counts.filter(pl.col("dataset") == dataset)
        labels = rows.select(keys).unique(maintain_order=True).with_row_index("label")
        tables = tables_of(rows.join(labels, on=keys), units, len(labels), averages)
        parts.append(_bounds(jackknife(tables), labels.drop("label")))
    return pl.concat(parts)


def units_of(documents: CaseDocuments, dataset: str) -> pl.DataFrame:
    """Return the documents (doc, dataset) of a dataset; without any of its own, 'all' has every one."""
    own = documents.filter(pl.col("dataset") == dataset)
    return documents if own.is_empty() and dataset == "all" else own


def _bounds(found: Mapping[tuple[str, str], Estimates], labels: pl.DataFrame) -> pl.DataFrame:
    parts = []
    for average in ("micro", "macro"):
        columns: dict[str, pl.Series] = {"average": pl.Series([average] * len(labels), dtype=pl.String)}
        for name in _SCORES:
            columns[f"{name}_low"] = pl.Series(found[average, name].low, nan_to_null=True)
            columns[f"{name}_high"] = pl.Series(found[average, name].high, nan_to_null=True)
        columns["interval_doubt"] = pl.Series(found[average, "f1"].doubts(), dtype=pl.String)
        parts.append(labels.with_columns(**columns))
    return pl.concat(parts)


@dataclass(frozen=True)
class Estimates:
    """A score of each of several labels, with its interval; NaN where fewer than ten documents count in it.

    `change` is what the score becomes without a document, less the score: an array of documents by labels. `effective`
    is how many mentions, each independent of the others, would tell as much of a score as these do where they go
    together in their document by `CORRELATION`; `largest` the share of the largest document.
    """

    score: Array
    low: Array
    high: Array
    change: Array
    documents: Array
    effective: Array
    largest: Array

    def of(self, labels: Array) -> Estimates:
        """Return the estimates of these labels, each as often as it is named."""
        return Estimates(*(getattr(self, one.name)[..., labels] for one in fields(self)))

    def doubts(self) -> list[str]:
        """Return of each label why its interval is missing or to be doubted; nothing where it is fine."""
        extreme = (self.score >= EXTREME) | (self.score <= 1 - EXTREME)
        said = {
            f"fewer than {LEAST_UNITS} documents": self.documents < LEAST_UNITS,
            "most in one document": self.largest > 0.5,
            f"{EXTREME} or more": extreme & (self.score > 0.5),
            f"{1 - EXTREME:.2f} or less": extreme & (self.score < 0.5),
        }
        return [str(one) for one in np.select([*said.values()], [*said], "")]


def sum_documents(values: Array) -> Array:
    """Return the sums over documents, the first axis.

    The last digit of a sum does not depend on how many others are summed beside it.

    >>> sum_documents(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [4.0, 6.0]
    """
    sums: Array = np.ascontiguousarray(values.T).sum(axis=-1)
    return sums


def jackknife(tables: DocumentTables) -> dict[tuple[str, str], Estimates]:
    """Return the estimates of each average and score."""
    whole = sum_documents(tables.columns)[None, :]
    scores, without = tables.scores(whole), tables.scores(whole - tables.columns)
    return {key: _estimate(scores[key][0], without[key], *tables.weights(*key)) for key in scores}


def _estimate(score: Array, without: Array, items: Array, weights: Array) -> Estimates:
    """Return the interval of scores, by the scores without each document.

    `items` are what a score is a share of in each document, `weights` how much each document counts in it.
    """
    from scipy.special import expit, logit, stdtrit

    with np.errstate(all="ignore"):
        change = np.nan_to_num(without - score)
        number, whole = (weights > 0).sum(axis=0), sum_documents(items)
        shares = weights / sum_documents(weights)
        freedom = np.maximum(1 / sum_documents(shares**2) - 1, 1)
        quantile = stdtrit(freedom, (1 + LEVEL) / 2)
        # Half a mention is as near to all as a logit comes.
        edge = np.minimum(0.5 / whole, 0.5)
        middle = logit(np.clip(score, edge, 1 - edge))
        moved = logit(np.clip(score + change, edge, 1 - edge)) - middle
        spread = np.sqrt(sum_documents(moved**2) * (number - 1) / number)
        # Never less than that of mentions which have nothing to do with each other.
        spread = np.maximum(spread, 1 / np.sqrt(whole * score * (1 - score)))
        effective = whole / (1 + CORRELATION * (sum_documents(items**2) / whole - 1))
        bound = quantile**2 / (effective + quantile**2)
        low = np.where(score >= 1, 1 - bound, np.minimum(score, expit(middle - quantile * spread)))
        high = np.where(score <= 0, bound, np.maximum(score, expit(middle + quantile * spread)))
        low, high = np.where(score <= 0, 0.0, low), np.where(score >= 1, 1.0, high)
        known = (number >= LEAST_UNITS) & ~np.isnan(score)
        none = np.full_like(score, np.nan)
        low, high = np.where(known, low, none), np.where(known, high, none)
        return Estimates(score, low, high, change, number, effective, shares.max(axis=0, initial=0.0))


def difference_of(one: Estimates, other: Estimates) -> tuple[Array, Array]:
    """Return between what the difference of two scores lies, by both intervals and how far the scores move together.

    What both scores become without a document tells their correlation, which is never taken to be perfect: two systems
    that agree on all of these mentions may differ on the next.
    """
    with np.errstate(all="ignore"):
        together = sum_documents(one.change * other.change)
        sizes = np.sqrt(sum_documents(one.change**2) * sum_documents(other.change**2))
        most = 1 - 1 / np.minimum(one.effective, other.effective)
        correlation = np.minimum(np.where(sizes > 0, together / sizes, 0.0), np.maximum(most, 0.0))
        below, above = (one.score - one.low, one.high - one.score)
        below_other, above_other = (other.score - other.low, other.high - other.score)
        down = below**2 + above_other**2 - 2 * correlation * below * above_other
        up = above**2 + below_other**2 - 2 * correlation * above * below_other
        difference = one.score - other.score
        low, high = difference - np.sqrt(np.maximum(down, 0)), difference + np.sqrt(np.maximum(up, 0))
        return np.maximum(low, -1.0), np.minimum(high, 1.0)


_SCORES = ("precision", "recall", "f1")


_COUNTS = ("tp", "fp", "fp_of_f1", "tp_of_gold", "fn", "rows")


@dataclass(frozen=True)
class DocumentTables:
    """What is summed over documents: the counts, then for each score its value and whether the document counts in it.

    `columns` is an array of documents by these, each of `labels` columns side by side. `tp_of_gold` are the mentions of
    gold that were found, `fp_of_f1` the false positives that F1 takes (see `with_fp_of_f1`), `rows` is 1 where a
    document has counts. Where macro-F1 is harmonic, the `f1` of a document is the precision that it takes.
    `averages` are those of a profile.
    """

    columns: Array
    labels: int
    averages: Mapping[str, Average]

    def scores(self, sums: Array, average: str = "") -> dict[tuple[str, str], Array]:
        """Return the scores of sums of rows: (average, score) to an array of sums by labels, NaN where undefined.

        They are those of the `average` alone, where one is named.
        """
        parts = [sums[:, i * self.labels : (i + 1) * self.labels] for i in range(len(_COUNTS) + 2 * len(_SCORES))]
        found: dict[tuple[str, str], Array] = {}
        if average != "macro":
            found = {("micro", name): value for name, value in _of_counts(parts, self.averages["micro"]).items()}
        if average == "micro":
            return found
        for place, name in enumerate(_SCORES):
            each, defined = parts[len(_COUNTS) + 2 * place : len(_COUNTS) + 2 * place + 2]
            found["macro", name] = _divide(each, defined)
        if _macro(self.averages).harmonic:
            precision, recall = found["macro", "f1"], np.nan_to_num(found["macro", "recall"])
            f1 = np.nan_to_num(_divide(2 * precision * recall, precision + recall))
            found["macro", "f1"] = np.where(np.isnan(precision), np.nan, f1)
        return found

    def weights(self, average: str, score: str) -> tuple[Array, Array]:
        """Return what a score is a share of in each document, and how much each document counts in it."""
        parts = [
            self.columns[:, i * self.labels : (i + 1) * self.labels] for i in range(len(_COUNTS) + 2 * len(_SCORES))
        ]
        named = dict(zip(_COUNTS, parts, strict=False))
        answers, gold = named["tp"] + named["fp"], named["tp_of_gold"] + named["fn"]
        both = named["tp"] + named["fp_of_f1"] + gold
        items = {"precision": answers, "recall": gold, "f1": both}[score]
        if average == "micro":
            return items, items
        precision, recall, f1 = parts[len(_COUNTS) + 1 :: 2]
        of_f1 = f1 + recall if _macro(self.averages).harmonic else f1
        weights = {"precision": precision, "recall": recall, "f1": of_f1}[score]
        # A document without anything that counts as right, or wrong, is one thing that does.
        return np.maximum(items, weights > 0), weights

    def score(self, average: str, score: str) -> Array:
        """Return a score of all documents together, one of each label."""
        found: Array = self.scores(sum_documents(self.columns)[None, :], average)[average, score][0]
        return found


def _of_counts(sums: Sequence[Array], average: Average) -> dict[str, Array]:
    """Return precision, recall and F1 of sums of `_COUNTS` as an average has them, NaN where there are no rows."""
    counts = pl.DataFrame({name: part.ravel() for name, part in zip(_COUNTS, sums, strict=False)})
    found = _score(counts, average).with_columns(
        pl.when(pl.col("rows") > 0).then(name).cast(pl.Float64).alias(name) for name in _SCORES
    )
    return {name: found[name].to_numpy().reshape(sums[0].shape) for name in _SCORES}


def _score(counts: pl.DataFrame, average: Average) -> pl.DataFrame:
    """Return the counts with precision, recall and the F1 that takes `fp_of_f1`."""
    scores = average.scores()
    f1 = counts.with_columns(fp="fp_of_f1").select(f1=scores["f1"]).to_series()
    return counts.with_columns(f1, precision=scores["precision"], recall=scores["recall"])


def _macro(averages: Mapping[str, Average]) -> Average:
    """Return how single documents are scored; a profile without macro scores has its rule for sums."""
    return averages.get("macro", averages["micro"])


def _divide(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def tables_of(
    counts: LabelledCounts, documents: CaseDocuments, labels: int = 1, averages: Mapping[str, Average] = AVERAGES
) -> DocumentTables:
    """Return the tables of these documents; `counts` has doc, the counts and, for several labels, `label`.

    F1 takes the false positives `fp_of_f1` where they have such.
    """
    rows = with_tp_of_gold(counts).join(documents.select("doc").with_row_index("unit"), on="doc")
    rows = rows.with_columns(rows=pl.lit(1), fp_of_f1="fp_of_f1" if "fp_of_f1" in rows.columns else "fp")
    macro = _macro(averages)
    f1 = macro.of_documents(rows.with_columns(fp="fp_of_f1"))["precision" if macro.harmonic else "f1"].alias("f1")
    rows = macro.of_documents(rows).with_columns(f1)
    rows = rows.with_columns(pl.col(name).is_not_null().alias(f"{name}_counts") for name in _SCORES)
    unit = rows["unit"].to_numpy()
    place = rows["label"].to_numpy() if "label" in rows.columns else np.zeros(len(rows), dtype=np.int64)

    def table(name: str) -> Array:
        cells = np.zeros((len(documents), labels))
        cells[unit, place] = rows[name].cast(pl.Float64).fill_null(0.0).to_numpy()
        return cells

    names = [*_COUNTS, *(one for name in _SCORES for one in (name, f"{name}_counts"))]
    return DocumentTables(np.concatenate([table(name) for name in names], axis=1), labels, averages)
