"""Is a difference more than chance: between two systems by randomisation, between two slices by bootstrap.

The unit is the document: what a system does with one says something about what it does with the next mention of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.scoring.statistics import AVERAGES, Average
from remix.scoring.statistics.intervals import LEAST_UNITS, Array, DocumentTables, bounds_of, resample, tables_of

_BLOCK = 4_000_000
"""How many signs are held at once."""


def between_systems(
    counts: pl.DataFrame,
    documents: pl.DataFrame,
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
    difference, from a paired bootstrap), `effect` (mean of the documents' differences over their standard deviation,
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
    # The same documents are drawn, and the same sides changed, for every pair: a pair's row does not depend on others.
    drawn = [resample(table, samples, seed)[average, score][:, 0] for table in tables]
    rows = []
    for one, other in combinations(range(len(systems)), 2):
        first, second = (float(tables[place].score(average, score)[0]) for place in (one, other))
        low, high = bounds_of(drawn[one] - drawn[other])
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
                "p": _randomise(tables[one], tables[other], average, score, samples, seed),
                "documents": len(documents),
            }
        )
    found = pl.DataFrame(rows, schema=_PAIRS, infer_schema_length=None)
    return found.with_columns(pl.col(_NUMBERS).fill_nan(None)).with_columns(p_holm=_holm())


_NUMBERS = ("score_system", "score_other", "difference", "low", "high", "effect", "p")
_PAIRS = (
    {"system": pl.String(), "other": pl.String()} | dict.fromkeys(_NUMBERS, pl.Float64()) | {"documents": pl.Int64()}
)


def differences_of_slices(
    counts: pl.DataFrame,
    keys: list[str],
    documents: pl.DataFrame,
    *,
    against: str = "",
    samples: int = 10_000,
    seed: int = 0,
    averages: Mapping[str, Average] = AVERAGES,
) -> pl.DataFrame:
    """Return for each slice whether the system's micro-F1 on it differs from that on the whole, or on another slice.

    Rows have the keys, `difference`, `difference_low`, `difference_high`, `p`, and `p_holm`, corrected for the slices
    of a column. Slices hold different gold, so that nothing can be exchanged between them: documents are drawn once for
    both, and p is twice the smaller share of samples on the other side of zero, counted with (c + 1) / (n + 1). Slices
    of equal `members` (see `counts_of`) are tested once, those of the members of what they are held against not at all:
    they have no rows, which is said. `keys` hold `dataset`, `column` and `slice`, empty for the whole; `against` is a
    slice of each column, by default the whole. A dataset of fewer than ten documents has no rows.
    """
    parts = []
    for (dataset,), own in counts.group_by("dataset", maintain_order=True):
        units = documents if dataset == "all" else documents.filter(pl.col("dataset") == dataset)
        if len(units) < LEAST_UNITS:
            continue
        named = pl.col("members") if "members" in own.columns else pl.lit(None, pl.String).alias("members")
        labels = own.select(*keys, named).unique(keys, maintain_order=True).with_row_index("label")
        other = labels.filter(pl.col("slice") == against).rename({"label": "other", "members": "members_other"})
        same = [key for key in keys if key != "slice" and (against or key != "column")]
        pairs = labels.filter(pl.col("column") != "", pl.col("slice") != against).join(
            other.select(*same, "other", "members_other"), on=same, maintain_order="left"
        )
        pairs = _each_once(pairs, [key for key in keys if key != "slice"])
        tables = tables_of(own.join(labels.drop("members"), on=keys), units, len(labels), averages)
        drawn = resample(tables, samples, seed)["micro", "f1"]
        whole = tables.score("micro", "f1")
        one, two = pairs["label"].to_numpy(), pairs["other"].to_numpy()
        tested = [_test(drawn[:, a] - drawn[:, b]) for a, b in zip(one, two, strict=True)]
        names = ("difference_low", "difference_high", "p")
        found = pl.DataFrame(tested, schema=dict.fromkeys(names, pl.Float64()), orient="row")
        found = pairs.select(keys).with_columns(found.with_columns(difference=pl.Series(whole[one] - whole[two])))
        parts.append(found.with_columns(pl.col("difference", *names).fill_nan(None)))
    if not parts:
        return counts.select(keys).clear().with_columns(pl.lit(None, pl.Float64).alias(name) for name in DIFFERENCES)
    found = pl.concat(parts)
    columns = [key for key in keys if key != "slice"]
    tell_too_few(samples, 2, found.group_by(columns).len()["len"].max() or 0, "--bootstrap")  # type: ignore[arg-type]
    return found.with_columns(p_holm=_holm(*columns)).select(*keys, *DIFFERENCES)


def _each_once(pairs: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the pairs of slices without those of the mentions of their other, and each set of mentions once."""
    told = pl.col("members").is_not_null()
    first = ~told | pl.struct(*keys, "members").is_first_distinct()
    kept = pairs.filter(first & (pl.col("members") != pl.col("members_other")).fill_null(True))
    left = pairs.join(kept, on="label", how="anti")["slice"].unique().sort()
    if len(left):
        progress.note(f"slices of the same mentions are tested as one; not for themselves: {', '.join(left)}")
    return kept


def tell_too_few(samples: int, least: int, tests: int, option: str) -> None:
    """Tell where no p can be below 0.05 once corrected for so many tests; `least` / (samples + 1) is the smallest."""
    if tests * least / (samples + 1) >= 0.05:
        progress.note(
            f"with {samples} samples no p of {tests} tests can be below 0.05 after correction: "
            f"{option} {20 * least * tests} is the least that could show a difference"
        )


DIFFERENCES = ("difference", "difference_low", "difference_high", "p", "p_holm")


def _test(differences: Array) -> tuple[float, float, float]:
    """Return the bounds and p of differences that were drawn, NaN where none is defined."""
    known = differences[~np.isnan(differences)]
    if not len(known):
        return float("nan"), float("nan"), float("nan")
    sides = min((known <= 0).sum(), (known >= 0).sum())
    return (*bounds_of(known), min(1.0, 2 * float(sides + 1) / (len(known) + 1)))


def holm(values: pl.Series) -> pl.Series:
    """Return the p-values corrected for their number by Holm's step-down procedure; null is no test.

    >>> holm(pl.Series([0.01, 0.04, 0.03, None])).to_list()
    [0.03, 0.06, 0.06, None]
    """
    return values.to_frame("p").select(_holm().alias(values.name)).to_series()


def _holm(*within: str) -> pl.Expr:
    """Return `p` corrected within the rows of equal keys, of all rows without keys."""
    left = pl.col("p").count() - pl.col("p").rank("ordinal") + 1
    return (pl.col("p") * left).cum_max().clip(None, 1.0).over(*(within or [pl.lit(1)]), order_by="p")


def _effect(one: DocumentTables, other: DocumentTables, score: str) -> float:
    """Return the standardised mean of the differences, over the documents that count in both scores."""
    first, second = (table.scores(table.columns)["macro", score][:, 0] for table in (one, other))
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
    random = np.random.default_rng(seed)
    units = len(half)
    block = max(1, _BLOCK // units)
    as_large = defined = 0
    for first in range(0, samples, block):
        signs = random.integers(0, 2, (min(block, samples - first), units), dtype=np.int8) * 2.0 - 1.0
        moved = signs @ half
        difference = one.scores(middle + moved)[average, score] - one.scores(middle - moved)[average, score]
        # Sums in another order differ in the last digits: what is as large must count as such.
        as_large += int((np.abs(difference[:, 0]) >= observed - 1e-12).sum())
        defined += int((~np.isnan(difference[:, 0])).sum())
    return (as_large + 1) / (defined + 1)
