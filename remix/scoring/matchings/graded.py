"""Graded matching: a wrong link is right in part where it is near gold's entity in the hierarchy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from remix.scoring.dense import components, looked_up
from remix.scoring.matchings import Matching, found_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from remix.scoring.cases import Case, Judged

LEAST = 0.5
FAR = 20
"""No way of more steps is looked for."""

WHOLE = math.lcm(*range(1, FAR + 2))
"""A multiple of every 1 + steps."""

_KEYS = ["system", "doc"]


def _crediting(least: float) -> Callable[[Case, Judged, pl.DataFrame, bool], pl.DataFrame]:
    def credit(case: Case, judged: Judged, counts: pl.DataFrame, on_mention_only: bool) -> pl.DataFrame:
        """Return the counts with the credit of each near miss as a part of a TP, and neither FP nor FN to that part."""
        near = _near(case, judged, _most(least))
        sums = near.group_by(_KEYS, maintain_order=True).agg(gained=pl.col("credit").sum())
        rows = counts.join(sums, on=_KEYS, how="left", maintain_order="left")
        rows = rows.with_columns(pl.col("gained").fill_null(0.0), asked=pl.col("tp") + pl.col("fn"))
        # What is near is on a kept mention, so that it is in every precision.
        less = [pl.col(name) - pl.col("gained") for name in ("fp", "fp_in_scope", "fp_on_mention", "fn")]
        return rows.with_columns(*less, tp=pl.col("tp") + pl.col("gained")).drop("gained")

    return credit


def _sharing(least: float) -> Callable[[Case, Judged], pl.DataFrame]:
    def shares(case: Case, judged: Judged) -> pl.DataFrame:
        """Return the mentions that were found whole, and those that were missed by little, with their credit."""
        near = _near(case, judged, _most(least)).select(*_KEYS, "group", "option", share="credit")
        return pl.concat([found_whole(case, judged), near])

    return shares


def _most(least: float) -> int:
    return FAR if least == 0 else min(FAR, int(1 / least + 1e-9) - 1)


def _near(case: Case, judged: Judged, most: int) -> pl.DataFrame:
    """Return system, doc, group, option, a and `credit` of near answers on mentions that were not found.

    They are paired one to one, for the most credit in all. A mention of several annotations that are required together
    has none.
    """
    from remix.scoring.distances import distances

    kept = case.kept().filter(pl.len().over("option") == 1)
    wrong = judged.answers.filter(pl.col("outcome") == "fp")
    pairs = looked_up(case.overlaps.filter("equal").select("g", "a"), "g", kept, ["doc", "group", "option"])
    pairs = looked_up(pairs, "a", wrong, ["system"]).join(judged.groups, on=["system", "group"], how="anti")
    ways = distances(case, pairs, most)
    near = pairs.join(ways, on=["g", "a"]).with_columns(credit=1 / (1 + pl.col("of_gold") + pl.col("of_answer")))
    near = near.sort("system", "group", "a", "credit", descending=[False, False, False, True])
    near = near.unique(["system", "group", "a"], keep="first", maintain_order=True)
    return _assigned(near).select(*_KEYS, "group", "option", "a", "credit").sort("system", "doc", "group")


def _assigned(near: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the assignment of answers to groups that has the most credit in all."""
    groups = near.select(pl.struct("system", "group").rank("dense").cast(pl.Int64) - 1).to_series()
    part = pl.Series(components(groups.to_numpy(), near["a"].to_numpy()))
    near = near.with_columns(part=part, number=groups)
    star = (pl.col("number").n_unique().over("part") == 1) | (pl.col("a").n_unique().over("part") == 1)
    best = near.filter(star).sort("part", "credit", descending=[False, True], maintain_order=True)
    chosen = [best.unique("part", keep="first", maintain_order=True)]
    rest = near.filter(~star)
    if len(rest):
        from scipy.optimize import linear_sum_assignment

        for own in rest.partition_by("part", maintain_order=True):
            rows, columns = (own[name].rank("dense").cast(pl.Int64).to_numpy() - 1 for name in ("number", "a"))
            worth = np.zeros((int(rows.max()) + 1, int(columns.max()) + 1))
            # Whole numbers, so that the sums are exact.
            worth[rows, columns] = (WHOLE * own["credit"]).round().to_numpy()
            taken = np.zeros_like(worth, dtype=np.bool_)
            taken[linear_sum_assignment(worth, maximize=True)] = True
            chosen.append(own.filter(taken[rows, columns]))
    return pl.concat(chosen)


def _graded(least: float, name: str = "") -> Matching:
    return Matching(
        name or f"graded({least:g})",
        "begin and end are equal; a wrong link is right in part, by 1 / (1 + steps to gold's entity in the hierarchy), "
        f"where that is {least:g} or more; graded(C) for another C",
        pl.col("equal"),
        at=_graded,
        credit=_crediting(least),
        shares=_sharing(least),
    )


graded = _graded(LEAST, "graded")
