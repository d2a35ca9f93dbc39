"""Percentile bootstrap intervals over documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from remix.errors import UsageError
from remix.scoring.statistics import AVERAGES, Average, with_tp_of_gold

LEAST_UNITS = 10
"""Fewer documents than these say nothing about others; a bootstrap over them is refused."""

LEVEL = 0.95
TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
"""Intervals are of 95 %: between which quantiles of the samples."""

_BLOCK = 4_000_000
"""How many draws are held at once."""

Array = npt.NDArray[Any]


def intervals(
    counts: pl.DataFrame,
    keys: list[str],
    documents: pl.DataFrame,
    *,
    samples: int,
    seed: int,
    averages: Mapping[str, Average] = AVERAGES,
) -> pl.DataFrame:
    """Return keys, `average` and, for precision, recall and f1, `<score>_low` and `<score>_high`.

    Documents are drawn with replacement, `samples` times, the same draws for all rows; bounds are the percentiles of
    the scores of the draws in which the score is defined. `documents` (doc, dataset) are all that can be drawn, those
    without annotations too; rows of one dataset draw from its documents, those of dataset 'all' from all. A dataset
    of fewer than ten documents has no intervals. Samples are scored by the `averages` of a profile.

    Raises `UsageError` where there are fewer than ten documents in all.
    """
    if len(documents) < LEAST_UNITS:
        raise UsageError(
            f"no bootstrap over {len(documents)} documents: at least {LEAST_UNITS} are needed for an interval that "
            "means something; evaluate without --bootstrap, or give more documents"
        )
    parts = []
    for dataset in counts["dataset"].unique().sort():
        units = documents if dataset == "all" else documents.filter(pl.col("dataset") == dataset)
        if len(units) >= LEAST_UNITS:
            rows = counts.filter(pl.col("dataset") == dataset)
            labels = rows.select(keys).unique(maintain_order=True).with_row_index("label")
            tables = tables_of(rows.join(labels, on=keys), units, len(labels), averages)
            parts.append(_bounds(resample(tables, samples, seed), labels.drop("label")))
    return pl.concat(parts)


def _bounds(drawn: Mapping[tuple[str, str], Array], labels: pl.DataFrame) -> pl.DataFrame:
    found = []
    for average in ("micro", "macro"):
        bounds = {"average": pl.Series([average] * len(labels), dtype=pl.String)}
        for name in _SCORES:
            low, high = _quantiles(drawn[average, name])
            bounds[f"{name}_low"] = pl.Series(low, nan_to_null=True)
            bounds[f"{name}_high"] = pl.Series(high, nan_to_null=True)
        found.append(labels.with_columns(**bounds))
    return pl.concat(found)


_SCORES = ("precision", "recall", "f1")


_COUNTS = ("tp", "fp", "fp_of_f1", "tp_of_gold", "fn", "rows")


@dataclass(frozen=True)
class DocumentTables:
    """What is summed over documents: the counts, then for each score its value and whether the document counts in it.

    `columns` is an array of documents by these, each of `labels` columns side by side. `tp_of_gold` are the mentions of
    gold that were found, `fp_of_f1` the false positives that F1 takes (see `taking`), `rows` is 1 where a document has
    counts.
    `averages` are those of a profile.
    """

    columns: Array
    labels: int
    averages: Mapping[str, Average]

    def scores(self, sums: Array) -> dict[tuple[str, str], Array]:
        """Return the scores of sums of rows: (average, score) to an array of sums by labels, NaN where undefined."""
        parts = [sums[:, i * self.labels : (i + 1) * self.labels] for i in range(len(_COUNTS) + 2 * len(_SCORES))]
        found = {("micro", name): value for name, value in _of_counts(parts, self.averages["micro"]).items()}
        for place, name in enumerate(_SCORES):
            each, defined = parts[len(_COUNTS) + 2 * place : len(_COUNTS) + 2 * place + 2]
            found["macro", name] = _divide(each, defined)
        if _macro(self.averages).harmonic:
            precision, recall = found["macro", "precision"], np.nan_to_num(found["macro", "recall"])
            f1 = np.nan_to_num(_divide(2 * precision * recall, precision + recall))
            found["macro", "f1"] = np.where(np.isnan(precision), np.nan, f1)
        return found

    def score(self, average: str, score: str) -> Array:
        """Return a score of all documents together, one of each label."""
        found: Array = self.scores(self.columns.sum(axis=0)[None, :])[average, score][0]
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
    counts: pl.DataFrame, documents: pl.DataFrame, labels: int = 1, averages: Mapping[str, Average] = AVERAGES
) -> DocumentTables:
    """Return the tables of these documents; `counts` has doc, the counts and, for several labels, `label`.

    F1 takes the false positives `fp_of_f1` where they have such.
    """
    rows = with_tp_of_gold(counts).join(documents.select("doc").with_row_index("unit"), on="doc")
    rows = rows.with_columns(rows=pl.lit(1), fp_of_f1="fp_of_f1" if "fp_of_f1" in rows.columns else "fp")
    macro = _macro(averages)
    each = {name: pl.when(macro.counting()).then(name) for name in _SCORES}
    defined = {f"{name}_counts": score.is_not_null() for name, score in each.items()}
    rows = _score(rows, macro).with_columns(**each, **defined)
    unit = rows["unit"].to_numpy()
    place = rows["label"].to_numpy() if "label" in rows.columns else np.zeros(len(rows), dtype=np.int64)

    def table(name: str) -> Array:
        cells = np.zeros((len(documents), labels))
        cells[unit, place] = rows[name].cast(pl.Float64).fill_null(0.0).to_numpy()
        return cells

    names = [*_COUNTS, *(one for name in _SCORES for one in (name, f"{name}_counts"))]
    return DocumentTables(np.concatenate([table(name) for name in names], axis=1), labels, averages)


def resample(tables: DocumentTables, samples: int, seed: int) -> dict[tuple[str, str], Array]:
    """Return the scores of every sample of documents with replacement: (average, score) to samples by labels."""
    random = np.random.default_rng(seed)
    units = len(tables.columns)
    sums = np.empty((samples, tables.columns.shape[1]))
    block = max(1, _BLOCK // units)
    for first in range(0, samples, block):
        size = min(block, samples - first)
        draws = random.integers(0, units, (size, units), dtype=np.int64) + np.arange(size)[:, None] * units
        times = np.bincount(draws.ravel(), minlength=size * units).reshape(size, units)
        sums[first : first + size] = times.astype(np.float64) @ tables.columns
    return tables.scores(sums)


def _quantiles(values: Array) -> Array:
    """Return the bounds of each column over the samples where it is a number."""
    if not np.isnan(values).any():
        return np.asarray(np.quantile(values, TAILS, axis=0))
    return np.array([bounds_of(values[:, column]) for column in range(values.shape[1])]).T


def bounds_of(values: Array) -> tuple[float, float]:
    """Return the bounds of what was drawn, where it is a number; NaN where it never is."""
    known = values[~np.isnan(values)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.quantile(known, TAILS)
    return float(low), float(high)
