"""Curves: scores over a choice that has no one right value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.expressions import fill, sum_up
from remix.names import EL
from remix.scoring.matching import Case, Counter, matching_named, with_detail
from remix.scoring.statistics import ratio
from remix.scoring.statistics.thresholds import best_thresholds, sums_by_threshold, together
from remix.scoring.statistics.weights import CRITERIA, fuzzy_scores, strict_annotations, weigh

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
    number = pl.col("answers").sum()
    errors = sum_up(bins, [*_KEYS], number, calibration_error=(pl.col("answers") * gap).sum() / number)
    squared = (pl.col("confidence") - pl.col("right").cast(pl.Float64)) ** 2
    briers = sum_up(_probable(answers), [*_KEYS], brier=squared.mean())
    return errors.join(briers, on=_KEYS, how="left", maintain_order="left")


def reliability(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the bins: system, task, matching, `bin`, `answers`, mean `confidence`, and `accuracy`, the share right."""
    number = (pl.col("confidence") * BINS).ceil().clip(1, BINS).cast(pl.Int64)
    means = {"confidence": pl.col("confidence").mean(), "accuracy": pl.col("right").mean()}
    binned = _probable(answers).with_columns(bin=number)
    counted = sum_up(binned, [*_KEYS, "bin"], answers=pl.len().cast(pl.Int64), **means)
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
    levels = answers.group_by(*_KEYS, threshold="confidence").agg(answers=pl.len().cast(pl.Int64), wrong=wrong)
    levels = levels.sort(*_KEYS, "threshold", descending=[False, False, False, True])
    sums = levels.with_columns(
        pl.col("answers", "wrong").cum_sum().over(_KEYS), whole=pl.col("answers").sum().over(_KEYS)
    )
    return sums.select(
        *_KEYS, "threshold", coverage=pl.col("answers") / pl.col("whole"), risk=pl.col("wrong") / pl.col("answers")
    )


def judged_answers(case: Case, pairings: Pairings) -> pl.DataFrame:
    """Return system, task, matching, `confidence` and `right` of each answer that has a confidence.

    Raises `UsageError` where none has.
    """
    sure = with_detail(case, "confidence").answers.select("answer", "confidence").drop_nulls()

    def judge(task: str, matching: str) -> pl.DataFrame:
        """Return the outcomes of answers that count."""
        outcomes = case.judge(CRITERIA[task], matching_named(matching)).answers.filter(pl.col("outcome") != "ignored")
        return outcomes.join(sure, on="answer", maintain_order="left").with_columns(right=pl.col("outcome") == "tp")

    found = _each(case, pairings, judge, "confidence", "right")
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


STEPS = 20

Pairings = list[tuple[str, str]]
"""Tasks, each with a matching."""


def alpha_curve(case: Case, pairings: Pairings, count: Counter) -> pl.DataFrame:
    """Return system, task, matching, `alpha` (0 to 1), and micro `fuzzy_recall` and `fuzzy_f1` under `relaxed:alpha`.

    Source: Rosales-Méndez et al., EMNLP 2019, Figure 5. Raises `UsageError` where gold has no fine-grained categories.
    """
    kept = case.gold.select("mention", "annotation").join(strict_annotations(case.evidence.gold), on="annotation")

    def draw(task: str, matching: str) -> pl.DataFrame:
        """Return F1* and fuzzy recall of each weight."""
        counts, parts = count(case, task, matching), []
        for alpha in (step / STEPS for step in range(STEPS + 1)):
            degree = pl.when("strict").then(1.0).otherwise(alpha)
            fuzzy = weigh(case, task, matching, kept.select("mention", weight=degree))
            rows = counts.join(fuzzy, on=["system", "doc"], how="left").sort("system", "doc")
            scored = fuzzy_scores(rows, ["system"]).filter(average="micro")
            parts.append(scored.with_columns(alpha=pl.lit(alpha)))
        return pl.concat(parts)

    return _each(case, pairings, draw, "alpha", "fuzzy_recall", "fuzzy_f1")


def progression(case: Case, pairings: Pairings, count: Counter) -> pl.DataFrame:
    """Return the scores of each system on its best combination of classes, its two best, and so on to all of gold.

    Columns: system, task, matching, `rank`, `combination`, `mentions` (of it), and of all combinations up to it
    `mentions_so_far`, `precision`, `recall`, `f1`. The best has the highest F1, then the most mentions. Only answers
    on kept mentions count, each for the combination of its mention (of the one matched, where a mention has several).
    Fine-grained categories (`el:`) are combined where gold has them, else all classes.

    Source: Rosales-Méndez et al., EMNLP 2019, Figure 4.
    """
    named = _combinations(case)

    def draw(task: str, matching: str) -> pl.DataFrame:
        """Return combinations, best first."""
        counts = _by_combination(case, CRITERIA[task], matching, named)
        best = counts.with_columns(mentions=pl.col("tp") + pl.col("fn"), own=_scores()["f1"]).sort(
            "system", "own", "mentions", "combination", descending=[False, True, True, False], nulls_last=True
        )
        sums = [pl.col(name).cum_sum().over("system") for name in ("tp", "fp", "fn")]
        rows = best.with_columns(*sums, rank=pl.int_range(1, pl.len() + 1).over("system"))
        return rows.with_columns(mentions_so_far=pl.col("tp") + pl.col("fn"), **_scores())

    columns = ("rank", "combination", "mentions", "mentions_so_far", "precision", "recall", "f1")
    return _each(case, pairings, draw, *columns)


def threshold_curve(case: Case, pairings: Pairings, count: Counter) -> pl.DataFrame:
    """Return the scores of each system at every threshold of confidence that changes anything.

    Columns: system, task, matching, `threshold` (null is none), tp, fp, fn, `precision`, `recall`, `f1`, and `best`:
    whether it is the lowest threshold of the best micro-F1. Raises `UsageError` where no answer has a confidence.
    """

    def draw(task: str, matching: str) -> pl.DataFrame:
        """Return the scores of each threshold."""
        sums = sums_by_threshold(case, task, matching, count, together(case))
        best = best_thresholds(sums).select("system", "above", best=pl.lit(True))
        rows = sums.join(best, on=["system", "above"], how="left", nulls_equal=True, maintain_order="left")
        return rows.with_columns(**_scores(), best=pl.col("best").fill_null(False), threshold="above")

    rows = _each(case, pairings, draw, "threshold", "tp", "fp", "fn", "precision", "recall", "f1", "best")
    if rows.is_empty():
        raise UsageError("no run has an answer with a confidence: there is no threshold to choose")
    return rows


def calibration_curve(case: Case, pairings: Pairings, count: Counter) -> pl.DataFrame:
    """Return the bins of reliability and the steps of risk by coverage of each system, one below the other.

    Columns: system (with the calibration error and Brier score beside its name), task, matching, `confidence`,
    `accuracy` and `answers` of bins, `coverage` and `risk` of steps; see `remix.scoring.statistics.curves`. Raises
    `UsageError` where no answer has a confidence.
    """
    answers = judged_answers(case, pairings)
    rows = pl.concat([reliability(answers), risk_by_coverage(answers)], how="diagonal_relaxed")
    means = sum_up(calibration(answers), "system", pl.col("calibration_error", "brier").mean().round(3))
    named = fill("{} (ECE {}, Brier {})", "system", "calibration_error", "brier")
    rows = rows.join(means, on="system", how="left", maintain_order="left")
    rows = rows.with_columns(system=pl.coalesce(named, "system"))
    return rows.select(*_KEYS, "confidence", "accuracy", "answers", "threshold", "coverage", "risk")


def _each(case: Case, pairings: Pairings, draw: Callable[[str, str], pl.DataFrame], *columns: str) -> pl.DataFrame:
    """Return the columns of what is drawn of each task and matching, with the names of systems."""
    parts = [
        draw(task, matching).with_columns(task=pl.lit(task), matching=pl.lit(matching)) for task, matching in pairings
    ]
    rows = pl.concat(parts).join(case.mentions.names, on="system", maintain_order="left")
    return rows.select("task", "matching", *columns, system="name").select(*_KEYS, *columns)


def _scores() -> dict[str, pl.Expr]:
    tp, fp, fn = pl.col("tp"), pl.col("fp"), pl.col("fn")
    return {"precision": ratio(tp, tp + fp), "recall": ratio(tp, tp + fn), "f1": ratio(2 * tp, 2 * tp + fp + fn)}


def _combinations(case: Case) -> pl.DataFrame:
    """Return mention and `combination`, the classes of each annotation in order."""
    classes = case.evidence.gold.classes
    fine = classes.filter(pl.col("class").str.starts_with(EL))
    chosen = classes if fine.is_empty() else fine
    if chosen.is_empty():
        raise UsageError("gold has no classes that could be combined")
    local = pl.col("class").str.extract(r"([^/#]+)$").sort()
    joined = chosen.group_by("annotation").agg(combination=local.str.join(" "))
    rows = case.kept.select("mention", "group", "annotation").join(joined, on="annotation", how="left")
    return rows.sort("mention").select("mention", "group", pl.col("combination").fill_null("no class"))


def _by_combination(case: Case, criterion: str, matching: str, named: pl.DataFrame) -> pl.DataFrame:
    """Return system, combination, tp, fp and fn; what a system has not found counts for a mention's first reading."""
    judged = case.judge(criterion, matching_named(matching))
    keys = ["system", "combination"]
    pairs = judged.pairs.join(named, on="mention").sort("system", "mention")
    matched = pairs.filter("correct").join(judged.groups, on=["system", "group"], how="semi")
    matched = matched.unique(["system", "group"], keep="first", maintain_order=True)
    every = case.mentions.for_each_system(named.unique("group", keep="first", maintain_order=True))
    missed = every.join(matched, on=["system", "group"], how="anti")
    outcomes = judged.answers.filter(pl.col("outcome") == "fp", "on_mention").select("answer")
    wrong = outcomes.join(pairs.unique("answer", keep="first", maintain_order=True), on="answer")
    parts = {"tp": matched, "fp": wrong, "fn": missed}
    table = pl.concat([rows.select(*keys, kind=pl.lit(name)) for name, rows in parts.items()])
    counted = [(pl.col("kind") == name).sum().cast(pl.Int64).alias(name) for name in parts]
    return table.group_by(keys).agg(counted)


def pairings_of(tasks: Iterable[str], matchings: Iterable[str]) -> Pairings:
    """Return the pairs of task and matching that have curves; raises `UsageError` where there are none."""
    tasks, matchings = [*tasks], [*matchings]
    found = [(task, matching) for task in tasks if task in CRITERIA for matching in matchings]
    if not found:
        raise UsageError(f"no curve of {', '.join(tasks)}: name a task that has one, --task {' or '.join(CRITERIA)}")
    return found


CURVES: Mapping[str, Callable[[Case, Pairings, Counter], pl.DataFrame]] = {
    "alpha": alpha_curve,
    "progression": progression,
    "threshold": threshold_curve,
    "calibration": calibration_curve,
}
"""What `curve` draws, by name."""

OF_PAIRS = ("alpha", "progression")
"""The curves that ask which annotation of gold an answer stands for, which not all profiles tell."""
