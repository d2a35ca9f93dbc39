"""How far the confidence of answers says how often they are right: calibration, reliability, risk by coverage.

An answer is right where it is a true positive under a task and matching; ignored answers and answers without confidence
are left out. Only confidences from 0 to 1 can be read as probabilities; risk and coverage need their order alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.scoring.matching import matching_named
from remix.scoring.matching.cases import Case, with_detail
from remix.scoring.statistics.weights import CRITERIA

__all__ = ["BINS", "calibration", "judged_answers", "reliability", "risk_by_coverage"]

BINS = 10
"""Bins of equal width: [0, 0.1], (0.1, 0.2], …, (0.9, 1]."""

_KEYS = ["system", "task", "matching"]


def calibration(answers: pl.DataFrame) -> pl.DataFrame:
    """Return system, task, matching, `answers`, `calibration_error` and `brier` of answers with confidence.

    The expected calibration error is Σ n_b / n · |share right − mean confidence| over the bins; the Brier score is the
    mean of (confidence − right)². Sources: Guo et al., On Calibration of Modern Neural Networks (ICML 2017); Brier,
    Verification of Forecasts Expressed in Terms of Probability (1950).

    >>> rows = pl.DataFrame({"confidence": [0.9, 0.8, 0.3], "right": [True, False, False]})
    >>> labels = {name: pl.lit("x") for name in ("system", "task", "matching")}
    >>> found = calibration(rows.with_columns(**labels))
    >>> found.select("answers", pl.col("calibration_error", "brier").round(4)).row(0)  # 0.1, 0.8, 0.3 over 3
    (3, 0.4, 0.2467)
    """
    bins = reliability(answers)
    gap = (pl.col("accuracy") - pl.col("confidence")).abs()
    errors = bins.group_by(_KEYS, maintain_order=True).agg(
        pl.col("answers").sum(), calibration_error=(pl.col("answers") * gap).sum() / pl.col("answers").sum()
    )
    squared = (pl.col("confidence") - pl.col("right").cast(pl.Float64)) ** 2
    briers = _probable(answers).group_by(_KEYS).agg(brier=squared.mean())
    return errors.join(briers, on=_KEYS, how="left", maintain_order="left")


def reliability(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the bins: system, task, matching, `bin`, `answers`, mean `confidence`, and `accuracy`, the share right."""
    number = (pl.col("confidence") * BINS).ceil().clip(1, BINS).cast(pl.Int64)
    means = {"confidence": pl.col("confidence").mean(), "accuracy": pl.col("right").mean()}
    counted = _probable(answers).group_by(*_KEYS, bin=number).agg(answers=pl.len().cast(pl.Int64), **means)
    return counted.sort(*_KEYS, "bin")


def risk_by_coverage(answers: pl.DataFrame) -> pl.DataFrame:
    """Return system, task, matching, `threshold`, `coverage` and `risk`: the share wrong among the surest answers.

    A row for each confidence; equal ones are answered together.

    >>> rows = pl.DataFrame({"confidence": [0.9, 0.5, 0.5], "right": [True, False, True]})
    >>> labels = {name: pl.lit("x") for name in ("system", "task", "matching")}
    >>> risk_by_coverage(rows.with_columns(**labels)).select(pl.col("coverage", "risk").round(2)).rows()
    [(0.33, 0.0), (1.0, 0.33)]
    """
    wrong = (~pl.col("right")).sum().cast(pl.Int64)
    levels = answers.group_by(*_KEYS, threshold="confidence").agg(n=pl.len().cast(pl.Int64), wrong=wrong)
    levels = levels.sort(*_KEYS, "threshold", descending=[False, False, False, True])
    sums = levels.with_columns(pl.col("n", "wrong").cum_sum().over(_KEYS), whole=pl.col("n").sum().over(_KEYS))
    return sums.select(*_KEYS, "threshold", coverage=pl.col("n") / pl.col("whole"), risk=pl.col("wrong") / pl.col("n"))


def judged_answers(case: Case, pairings: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """Return system, task, matching, `confidence` and `right` of each answer that has a confidence.

    Raises `UsageError` where none has.
    """
    sure = with_detail(case, "confidence").answers.select("a", "confidence").drop_nulls()
    names = pl.DataFrame({"system": range(len(case.mentions.systems)), "name": list(case.mentions.systems)})
    names = names.with_columns(pl.col("system").cast(pl.Int64))
    parts = []
    for task, matching in pairings:
        outcomes = case.judged(CRITERIA[task], matching_named(matching)).answers.filter(pl.col("outcome") != "ignored")
        rows = outcomes.join(sure, on="a", maintain_order="left").join(names, on="system", maintain_order="left")
        labels = {"task": pl.lit(task), "matching": pl.lit(matching)}
        parts.append(rows.select("confidence", right=pl.col("outcome") == "tp", system="name", **labels))
    found = pl.concat(parts)
    if found.is_empty():
        raise UsageError("no run has an answer with a confidence: there is nothing to calibrate")
    return found


def _probable(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the answers whose confidence may be a probability; the others are told."""
    fine = answers.filter(pl.col("confidence").is_between(0, 1))
    for system in answers.filter(~pl.col("confidence").is_between(0, 1))["system"].unique().sort():
        progress.note(
            f"run '{system}' has confidences outside [0, 1], which are no probabilities: left out of calibration"
        )
    return fine
