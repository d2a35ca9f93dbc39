"""Percentile bootstrap intervals over documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from remix.errors import UsageError

__all__ = ["LEAST_UNITS", "Array", "Tables", "intervals", "resampled", "tables_of"]

LEAST_UNITS = 10
"""Fewer documents than these say nothing about others; a bootstrap over them is refused."""

_BLOCK = 4_000_000
"""How many draws are held at once."""

Array = npt.NDArray[Any]


def intervals(
    counts: pl.DataFrame, keys: list[str], documents: pl.DataFrame, *, samples: int, seed: int, level: float = 0.95
) -> pl.DataFrame:
    """Return keys, `average` and, for precision, recall and f1, `<score>_low` and `<score>_high`.

    Documents are drawn with replacement, `samples` times, the same draws for all rows; bounds are the percentiles of
    the scores of the draws in which the score is defined. `documents` (doc, dataset) are all that can be drawn, those
    without annotations too; rows of one dataset draw from its documents, those of dataset 'all' from all. A dataset
    of fewer than ten documents has no intervals.

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
            parts.append(_bounds(rows, keys, units, samples, seed, level))
    return pl.concat(parts)


def _bounds(
    counts: pl.DataFrame, keys: list[str], units: pl.DataFrame, samples: int, seed: int, level: float
) -> pl.DataFrame:
    labels = counts.select(keys).unique(maintain_order=True).with_row_index("label")
    drawn = resampled(tables_of(counts.join(labels, on=keys), units, len(labels)), samples, seed)
    tail = (1 - level) / 2
    found = []
    for average in ("micro", "macro"):
        bounds = {"average": pl.Series([average] * len(labels), dtype=pl.String)}
        for name in _SCORES:
            low, high = _quantiles(drawn[average, name], (tail, 1 - tail))
            bounds[f"{name}_low"] = pl.Series(low, nan_to_null=True)
            bounds[f"{name}_high"] = pl.Series(high, nan_to_null=True)
        found.append(labels.drop("label").with_columns(**bounds))
    return pl.concat(found)


_SCORES = ("precision", "recall", "f1")


_COUNTS = ("tp", "fp", "chosen", "found", "fn")


@dataclass(frozen=True)
class Tables:
    """What is summed over documents: the counts, then for each score its value and whether it is defined.

    `columns` is an array of documents by these, each of `labels` columns side by side. `found` are the mentions of
    gold that were found, `chosen` the false positives that F1 takes.
    """

    columns: Array
    labels: int

    def scores(self, sums: Array) -> dict[tuple[str, str], Array]:
        """Return the scores of sums of rows: (average, score) to an array of sums by labels, NaN where undefined."""
        parts = [sums[:, i * self.labels : (i + 1) * self.labels] for i in range(len(_COUNTS) + 2 * len(_SCORES))]
        found = {
            ("micro", name): value for name, value in zip(_SCORES, _of_counts(*parts[: len(_COUNTS)]), strict=True)
        }
        for place, name in enumerate(_SCORES):
            each, defined = parts[len(_COUNTS) + 2 * place : len(_COUNTS) + 2 * place + 2]
            found["macro", name] = _divided(each, defined)
        return found


def _of_counts(tp: Array, fp: Array, chosen: Array, found: Array, fn: Array) -> tuple[Array, Array, Array]:
    """Return precision, recall and F1 as `averages.scores` has them."""
    asked, answered = found + fn, tp + chosen
    f1 = _divided(2 * tp, answered + asked)
    if not np.array_equal(tp, found):
        harmonic = _divided(2 * tp * found, tp * asked + found * answered)
        f1 = np.where(tp == found, f1, harmonic)
    return _divided(tp, tp + fp), _divided(found, asked), f1


def _divided(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def tables_of(counts: pl.DataFrame, documents: pl.DataFrame, labels: int = 1) -> Tables:
    """Return the tables of these documents; `counts` has doc, the counts and, for several labels, `label`."""
    rows = counts.join(documents.select("doc").with_row_index("unit"), on="doc")
    chosen = pl.coalesce("fp_in_scope", "fp_on_mention", "fp")
    label = pl.col("label") if "label" in rows.columns else pl.lit(0)
    found = pl.coalesce("tp_of_gold", "tp") if "tp_of_gold" in rows.columns else pl.col("tp")
    rows = rows.select("unit", "tp", "fp", "fn", label=label, chosen=chosen, found=found)
    unit, place = rows["unit"].to_numpy(), rows["label"].to_numpy()

    def table(name: str) -> Array:
        cells = np.zeros((len(documents), labels))
        cells[unit, place] = rows[name].fill_null(0).to_numpy()
        return cells

    columns = [table(name) for name in _COUNTS]
    for value in _of_counts(*columns[: len(_COUNTS)]):
        columns += [np.nan_to_num(value), (~np.isnan(value)).astype(float)]
    return Tables(np.concatenate(columns, axis=1), labels)


def resampled(tables: Tables, samples: int, seed: int) -> dict[tuple[str, str], Array]:
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


def _quantiles(values: Array, at: tuple[float, float]) -> Array:
    """Return the quantiles of each column over the samples where it is a number."""
    if not np.isnan(values).any():
        return np.asarray(np.quantile(values, at, axis=0))
    found = np.full((len(at), values.shape[1]), np.nan)
    for column in range(values.shape[1]):
        numbers = values[:, column][~np.isnan(values[:, column])]
        if len(numbers):
            found[:, column] = np.quantile(numbers, at)
    return found
