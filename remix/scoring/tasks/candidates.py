"""candidates: the system gets the text; a candidate set is right where it holds the entity of gold (EUEF's CM)."""

from __future__ import annotations

import polars as pl

from remix.dense import look_up
from remix.errors import UnknownName
from remix.scoring.inputs.mentions import NIL
from remix.scoring.matching import Case, Matching
from remix.scoring.statistics import UNSCOPED
from remix.scoring.tasks import Task, with_candidates

MEASURES = {
    "gold": "of all linked mentions of gold",
    "recognised": "of the linked mentions that the system recognised: the upper bound of its disambiguation",
    "mrr": "of all linked mentions of gold, each worth 1 / the rank of its entity (mean reciprocal rank)",
}


def _at(measure: str) -> Task:
    if measure not in MEASURES:
        raise UnknownName("measure of candidates", measure, MEASURES)

    def count(case: Case, matching: Matching) -> pl.DataFrame:
        """Return how many linked mentions have their entity among the candidates, and how many have not."""
        kept = case.kept.filter(pl.col("link") != NIL)
        found = pl.when("held").then(1 / pl.col("rank") if measure == "mrr" else pl.lit(1, pl.Int64)).otherwise(0)
        offered = _recognise(case, kept, matching).group_by("system", "group").agg(right=found.max())
        asked = case.mentions.for_each_system(kept.select("doc", "group").unique())
        rows = asked.join(offered.select("system", "group", "right"), on=["system", "group"], how="left")
        if measure == "recognised":
            rows = rows.drop_nulls("right")
        right = pl.col("right").fill_null(0)
        wrong = (1 - pl.col("right")).fill_null(0)
        rows = rows.sort("system", "doc", "group")
        counts = rows.group_by("system", "doc").agg(tp=right.sum(), fp=wrong.sum(), fn=(1 - right).sum())
        return counts.with_columns(*UNSCOPED, ignored=pl.lit(0, pl.Int64))

    return Task(
        "candidates",
        f"text given; gold's entity in the candidate set, {MEASURES[measure]}",
        count,
        _at,
        takes=("measure",),
    )


def _recognise(case: Case, kept: pl.DataFrame, matching: Matching) -> pl.DataFrame:
    """Return system, group, `held` and `rank` (see `with_candidates`) of each answer on a linked mention."""
    pairs = look_up(look_up(matching.pairs(case), "g", kept, ["group"]), "a", case.answers, ["system"])
    return with_candidates(case, pairs.filter(matching.spans).select("g", "a", "system", "group", "link"))


candidates = _at("gold")
