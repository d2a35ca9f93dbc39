"""Counts of a case, of all of it and of each slice that is asked for, by every task and matching."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import product

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.scoring.choice import Choice
from remix.scoring.inputs.columns import breakdown, values_by
from remix.scoring.matching import Case
from remix.scoring.slicing import cross, kb_cases
from remix.scoring.statistics.weights import Weights, weigh


def counts_of(whole: Case, choice: Choice, weights: Weights | None = None) -> pl.DataFrame:
    """Return the counts per document, task, matching and slice.

    With slices, `members` names what a row is of: slices of the same mentions and answers have the same.
    """
    mentions, answers = whole.mentions, whole.known
    degrees = None
    if weights is not None:
        degrees = whole.gold.select("g", "annotation").join(weights.degrees, on="annotation").select("g", "weight")
    parts = [_count(whole, choice, degrees)]
    if choice.profile.kb_rows:
        cases = kb_cases(whole, always=choice.profile.kb_rows == "always")
        parts += [_count(case, choice, degrees) for case in cases]
    for column in choice.by:
        if column in choice.profile.slices:
            parts += _sliced_by_profile(whole, choice, column, parts[0].columns)
            continue
        slicings = [values_by(answers.gold, one, *answers.tables) for one in breakdown(column)]
        cases = _keep_supported(list(cross(whole, slicings, choice.profile.rest)), column, choice.min_support)
        parts += [_count(case, choice, degrees) for case in progress.track(cases, f"slices by {column}")]
    counts = (
        pl.concat(parts, how="diagonal_relaxed").join(mentions.names, on="system").join(mentions.documents, on="doc")
    )
    return counts.drop("system", "document").rename({"name": "system"})


def _keep_supported(cases: list[Case], column: str, least: int) -> list[Case]:
    """Return the slices of enough mentions; raises `UsageError` where there are none."""
    if not cases:
        raise UsageError(f"no annotation of gold has a value in column '{column}'")
    found = [case for case in cases if not least or case.kept["group"].n_unique() >= least]
    if not found:
        raise UsageError(f"no slice by '{column}' has {least} mentions: lower --min-support")
    if left := len(cases) - len(found):
        progress.note(f"by {column}: {left} slices of fewer than {least} mentions are left out")
    return found


def _sliced_by_profile(whole: Case, choice: Choice, column: str, order: list[str]) -> list[pl.DataFrame]:
    """Return the counts of every task and matching, sliced by a column that the profile has its own rule for."""
    parts = []
    for task, matching in product(choice.tasks, choice.matchings):
        counts = choice.profile.slices[column](whole, task, matching)
        labels = {"task": task, "matching": matching, "column": column}
        counts = counts.with_columns(pl.lit(value).alias(name) for name, value in labels.items())
        parts.append(counts[[one for one in order if one in counts.columns]])
    return parts


def _count(case: Case, choice: Choice, degrees: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the counts of every task and matching of one case."""
    case = case.in_kept_documents() if choice.documents == "kept" and case.column else case
    labels = {"column": case.column, "slice": case.value}
    if choice.by:
        rows = (case.kept["g"], case.answers["a"])
        labels["members"] = sha256(b"|".join(one.to_numpy().tobytes() for one in rows)).hexdigest()
    cut = bool((case.gold["ignorable"] == "dropped").any())
    parts = []
    for task in choice.tasks:
        seen = replace(case, gold=case.kept) if task == "D2KB" and choice.spans == "kept" else case
        for matching in choice.matchings:
            counts = choice.profile.count(seen, task, matching)
            if degrees is not None:
                fuzzy = weigh(seen, task, matching, degrees)
                counts = counts.join(fuzzy, on=["system", "doc"], how="left", maintain_order="left")
            named = {"task": task, "matching": matching, **labels, "cut": cut}
            parts.append(counts.with_columns(pl.lit(value).alias(name) for name, value in named.items()))
    return pl.concat(parts, how="diagonal_relaxed")
