"""Evaluations of what files and a workspace hold: by one profile, by several side by side, and once more."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix import progress
from remix.scoring.choice import Choice
from remix.scoring.evaluation import scored
from remix.scoring.inputs import Keeper, Sources, read_inputs
from remix.scoring.profiles import PROFILES
from remix.scoring.repeats import with_means

__all__ = ["evaluated", "side_by_side"]


def evaluated(keeper: Keeper, sources: Sources, choice: Choice) -> tuple[pl.DataFrame, list[str]]:
    """Return the scores, as `remix.scoring.evaluate` has them, and the names of gold's datasets.

    Repeats of a run (`NAME#1`, …) have a row of their means besides.
    """
    found, tuning = read_inputs(keeper, sources, choice), None
    if choice.threshold.startswith("tuned:"):
        other = sources.tuned_on(choice.threshold.partition(":")[2])
        tuning = read_inputs(keeper, other, replace(choice, by=(), against="", weight=""))
    rows = scored(found, choice, tuning)
    return with_means(rows), found.gold.documents["dataset"].unique().sort().to_list()


def side_by_side(
    keeper: Keeper, sources: Sources, profiles: str, *, every: bool = True
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the rows of several profiles, the score of each that is held against the others', and the differences.

    `profiles` names them, separated by commas, or is 'all'; see `remix.scoring.differences` for the last two tables.
    The rows are all of a profile's (`every`) or those of that score.
    """
    from remix.scoring.differences import Counting, differences, headlines, profile_names

    chosen = profile_names(profiles)
    found = read_inputs(keeper, sources, Choice(PROFILES[chosen[0]]))
    with progress.once():
        choices = [Choice(PROFILES[name]) for name in chosen]
        rows = [scored(found, choice if every else choice.headline()) for choice in choices]
        counting = Counting(found)
        return pl.concat(rows, how="diagonal_relaxed"), headlines(counting, chosen), differences(counting, chosen)
