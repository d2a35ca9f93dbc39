"""Tasks: what is compared, and how a case becomes counts. One file a task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from remix.registry import Registry
from remix.scoring.cases import Case, Judged
from remix.scoring.matchings import Matching

__all__ = ["SCOPED", "TASKS", "Task", "completed", "tally", "task_named"]

SCOPED = ("fp_in_scope", "fp_on_mention")
"""The false positives behind the second and third precision."""


@dataclass(frozen=True)
class Task:
    """What is compared.

    `count(case, matching)` returns one row per system and document that has anything: `system` (number), `doc`,
    `tp`, `fp`, `fn`, `ignored`, `fp_in_scope` and `fp_on_mention`; the last two are null where the precision that
    they serve means nothing for the task or the case.
    """

    name: str
    summary: str
    count: Callable[[Case, Matching], pl.DataFrame]


TASKS: Registry[Task] = Registry("task", "remix.scoring.tasks", Task)


def task_named(name: str) -> Task:
    """Return the task of a name; raises `UnknownName` for a name that no task has."""
    return TASKS[name]


def tally(case: Case, judged: Judged, *, on_mention_only: bool = False) -> pl.DataFrame:
    """Return the counts of a task that compares mention by mention.

    A group of gold gives one TP or one FN. With `on_mention_only`, answers where gold has no kept mention are not
    counted at all.
    """
    wrong = pl.col("outcome") == "fp"
    cut = case.is_cut() and not on_mention_only
    counts = {
        "fp": wrong & pl.col("on_mention") if on_mention_only else wrong,
        "ignored": pl.col("outcome") == "ignored",
    }
    if cut and case.scope is not None:
        counts["fp_in_scope"] = wrong & pl.col("in_scope")
    if cut:
        counts["fp_on_mention"] = wrong & pl.col("on_mention")
    counted = judged.answers.group_by("system", "doc").agg(
        what.sum().cast(pl.Int64).alias(name) for name, what in counts.items()
    )
    found = judged.groups.group_by("system", "doc").agg(tp=pl.len().cast(pl.Int64))
    return completed(case, case.kept().group_by("doc").agg(gold=pl.col("group").n_unique()), found, counted)


def completed(case: Case, gold: pl.DataFrame, found: pl.DataFrame, counted: pl.DataFrame) -> pl.DataFrame:
    """Return counts with their FN, for every system and document that gold or the system has something in.

    `gold` has doc and `gold`, `found` system, doc and `tp`, `counted` system, doc, `fp`, `ignored` and those of
    `fp_in_scope` and `fp_on_mention` that mean something; the others become null.
    """
    systems = pl.DataFrame({"system": range(len(case.mentions.systems))}, schema={"system": pl.Int64})
    keys = ["system", "doc"]
    rows = systems.join(gold, how="cross").join(counted, on=keys, how="full", coalesce=True)
    rows = rows.join(found, on=keys, how="left").with_columns(pl.exclude(keys).fill_null(0).cast(pl.Int64))
    return rows.select(
        *keys,
        "tp",
        "fp",
        "ignored",
        *(name if name in rows.columns else pl.lit(None, pl.Int64).alias(name) for name in SCOPED),
        fn=pl.col("gold") - pl.col("tp"),
    )
