"""Graded matching: a wrong link is right in part where it is near gold's entity in the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from remix.scoring.dense import looked_up
from remix.scoring.matchings import Matching

if TYPE_CHECKING:
    from collections.abc import Callable

    from remix.scoring.cases import Case, Judged

LEAST = 0.5
FAR = 20
"""No way of more steps is looked for."""

_KEYS = ["system", "doc"]


def _crediting(least: float) -> Callable[[Case, Judged, pl.DataFrame, bool], pl.DataFrame]:
    most = FAR if least == 0 else min(FAR, int(1 / least + 1e-9) - 1)

    def credit(case: Case, judged: Judged, counts: pl.DataFrame, on_mention_only: bool) -> pl.DataFrame:
        """Return the counts with the credit of each near miss as a part of a TP, and neither FP nor FN to that part."""
        near = _near(case, judged, most)
        inside = pl.col("in_scope").fill_null(True)
        sums = near.group_by(_KEYS, maintain_order=True).agg(
            gained=pl.col("credit").sum(), in_scope=pl.col("credit").filter(inside).sum()
        )
        rows = counts.join(sums, on=_KEYS, how="left", maintain_order="left")
        rows = rows.with_columns(pl.col("gained", "in_scope").fill_null(0.0), asked=pl.col("tp") + pl.col("fn"))
        less = {"fp": "gained", "fp_in_scope": "in_scope", "fp_on_mention": "gained", "fn": "gained"}
        changed = [(pl.col(name) - pl.col(part)).alias(name) for name, part in less.items()]
        return rows.with_columns(*changed, tp=pl.col("tp") + pl.col("gained")).drop("gained", "in_scope")

    return credit


def _near(case: Case, judged: Judged, most: int) -> pl.DataFrame:
    """Return system, doc, `in_scope` and `credit` of the nearest answer on each mention that was not found.

    A mention of several annotations that are required together has none.
    """
    from remix.scoring.distances import distances

    kept = case.kept().filter(pl.len().over("option") == 1)
    wrong = judged.answers.filter(pl.col("outcome") == "fp")
    pairs = looked_up(case.overlaps.filter("equal").select("g", "a"), "g", kept, ["doc", "group"])
    pairs = looked_up(pairs, "a", wrong, ["system", "in_scope"]).join(judged.groups, on=["system", "group"], how="anti")
    ways = distances(case, pairs, most)
    near = pairs.join(ways, on=["g", "a"]).with_columns(credit=1 / (1 + pl.col("of_gold") + pl.col("of_answer")))
    near = near.sort("credit", "group", "a", descending=[True, False, False])
    near = near.unique(["system", "group"], keep="first", maintain_order=True)
    return near.unique("a", keep="first", maintain_order=True).sort("system", "doc", "group")


def _graded(least: float, name: str = "") -> Matching:
    return Matching(
        name or f"graded({least:g})",
        "begin and end are equal; a wrong link is right in part, by 1 / (1 + steps to gold's entity in the hierarchy), "
        f"where that is {least:g} or more; graded(C) for another C",
        pl.col("equal"),
        at=_graded,
        credit=_crediting(least),
    )


graded = _graded(LEAST, "graded")
