"""Is a difference between two systems more than chance, by randomisation; and Holm's correction of several tests.

The unit is the document: what a system does with one says something about what it does with the next mention of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.scoring.inputs.case_tables import CaseDocuments, LabelledCounts
from remix.scoring.statistics import AVERAGES, Average
from remix.scoring.statistics.intervals import (
    LEAST_UNITS,
    Array,
    DocumentTables,
    difference_of,
    jackknife,
    tables_of,
)

_BLOCK = 4_000_000
"""How many signs are held at once."""


def between_systems(
    counts: LabelledCounts,
    documents: CaseDocuments,
    systems: Sequence[str],
    *,
    average: str = "micro",
    score: str = "f1",
    samples: int = 10_000,
    seed: int = 0,
    averages: Mapping[str, Average] = AVERAGES,
) -> pl.DataFrame:
    """Return a row for each pair of systems: is the first really better than the second?

    Columns: `system`, `other`, `score_system`, `score_other`, `difference`, `low` and `high` (the interval of the
    difference, see `difference_of`), `effect` (mean of the documents' differences over their standard deviation,
    Cohen's d for pairs; null where all are equal), `p` and `p_holm` (corrected for the number of pairs), `documents`.

    `p` comes from paired approximate randomisation: in every sample each document's two results change sides with
    probability one half, and p = (as large differences + 1) / (samples + 1), on both sides, samples in which a score
    is not defined left out. Source: Noreen, Computer
    Intensive Methods for Testing Hypotheses, 1989; Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979.

    `counts` has system, doc, tp, fp, fn and the false positives of the other precisions, as `counts_of` gives them,
    for one task, matching and slice; `documents` has doc, `averages` are those of a profile. Raises `UsageError` for
    fewer than ten documents.
    """
    if len(documents) < LEAST_UNITS:
        raise UsageError(
            f"no test over {len(documents)} documents: at least {LEAST_UNITS} are needed for one that means something"
        )
    tables = [tables_of(counts.filter(pl.col("system") == name), documents, 1, averages) for name in systems]
    estimates = [jackknife(table)[average, score] for table in tables]
    rows = []
    for one, other in combinations(range(len(systems)), 2):
        first, second = (float(tables[place].score(average, score)[0]) for place in (one, other))
        low, high = (float(bound[0]) for bound in difference_of(estimates[one], estimates[other]))
        rows.append(
            {
                "system": systems[one],
                "other": systems[other],
                "score_system": first,
                "score_other": second,
                "difference": first - second,
                "low": low,
                "high": high,
                "effect": _effect(tables[one], tables[other], score),
                # The same sides are changed for every pair: a pair's row does not depend on others.
                "p": _randomise(tables[one], tables[other], average, score, samples, seed),
                "documents": len(documents),
            }
        )
    found = pl.DataFrame(rows, schema=_PAIRS, infer_schema_length=None)
    return found.with_columns(pl.col(_NUMBERS).fill_nan(None)).with_columns(p_holm=holm_within())


_NUMBERS = ("score_system", "score_other", "difference", "low", "high", "effect", "p")
_PAIRS = (
    {"system": pl.String(), "other": pl.String()} | dict.fromkeys(_NUMBERS, pl.Float64()) | {"documents": pl.Int64()}
)


def tell_too_few(samples: int, least: int, tests: int, option: str) -> None:
    """Tell where no p can be below 0.05 once corrected for so many tests; `least` / (samples + 1) is the smallest."""
    if tests * least / (samples + 1) >= 0.05:
        progress.note(
            f"with {samples} samples no p of {tests} tests can be below 0.05 after correction: "
            f"{option} {20 * least * tests} is the least that could show a difference"
        )


def holm(values: pl.Series) -> pl.Series:
    """Return the p-values corrected for their number by Holm's step-down procedure; null is no test.

    >>> holm(pl.Series([0.01, 0.04, 0.03, None])).to_list()
    [0.03, 0.06, 0.06, None]
    """
    return values.to_frame("p").select(holm_within().alias(values.name)).to_series()


def holm_within(*within: str) -> pl.Expr:
    """Return `p` corrected within the rows of equal keys, of all rows without keys."""
    left = pl.col("p").count() - pl.col("p").rank("ordinal") + 1
    return (pl.col("p") * left).cum_max().clip(None, 1.0).over(*(within or [pl.lit(1)]), order_by="p")


def _effect(one: DocumentTables, other: DocumentTables, score: str) -> float:
    """Return the standardised mean of the differences, over the documents that count in both scores."""
    first, second = (table.scores(table.columns, "macro")["macro", score][:, 0] for table in (one, other))
    differences = (first - second)[~np.isnan(first - second)]
    spread = differences.std(ddof=1) if len(differences) > 1 else 0.0
    return float(differences.mean() / spread) if spread > 0 else float("nan")


def _randomise(one: DocumentTables, other: DocumentTables, average: str, score: str, samples: int, seed: int) -> float:
    """Return the p of paired approximate randomisation.

    With the half sum and the half difference of two documents' counts, changing sides is changing a sign. Samples in
    which a score is not defined say nothing of its difference: p is over the others.
    """
    observed = abs(float(one.score(average, score)[0] - other.score(average, score)[0]))
    if np.isnan(observed):
        return float("nan")
    middle, half = (one.columns + other.columns).sum(axis=0) / 2, (one.columns - other.columns) / 2
    as_large = defined = 0
    for signs in signs_of(len(half), samples, seed):
        moved = signs @ half
        # Both sides at once: of few documents it is the number of steps that takes time.
        both = one.scores(np.concatenate([middle + moved, middle - moved]), average)[average, score][:, 0]
        difference = both[: len(moved)] - both[len(moved) :]
        # Sums in another order differ in the last digits: what is as large must count as such.
        as_large += int((np.abs(difference) >= observed - 1e-12).sum())
        defined += int((~np.isnan(difference)).sum())
    return (as_large + 1) / (defined + 1)


def signs_of(units: int, samples: int, seed: int) -> Iterator[Array]:
    """Return the signs of each unit in each sample, 1 or -1, in blocks of samples: an array of samples by units."""
    random = np.random.default_rng(seed)
    block = max(1, _BLOCK // units)
    for first in range(0, samples, block):
        yield random.integers(0, 2, (min(block, samples - first), units), dtype=np.int8) * 2.0 - 1.0
