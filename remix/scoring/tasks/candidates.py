"""candidates: the system gets the text; a candidate set is right where it holds the entity of gold (EUEF's CM)."""

from __future__ import annotations

import polars as pl

from remix.errors import UnknownName
from remix.scoring.inputs.dense import looked_up
from remix.scoring.inputs.mentions import NIL
from remix.scoring.matching import Matching
from remix.scoring.matching.cases import Case, with_detail
from remix.scoring.tasks import SCOPED, Task

MEASURES = {
    "gold": "of all linked mentions of gold",
    "recognised": "of the linked mentions that the system recognised: the upper bound of its disambiguation",
    "mrr": "of all linked mentions of gold, each worth 1 / the rank of its entity (mean reciprocal rank)",
}


def _at(measure: str) -> Task:
    if measure not in MEASURES:
        raise UnknownName("measure of candidates", measure, MEASURES)

    def count(case: Case, matching: Matching) -> pl.DataFrame:
        kept = case.kept().filter(pl.col("link") != NIL)
        found = pl.when("held").then(1 / pl.col("rank") if measure == "mrr" else pl.lit(1, pl.Int64)).otherwise(0)
        offered = _recognised(case, kept, matching).group_by("system", "group").agg(right=found.max())
        systems = pl.DataFrame({"system": range(len(case.mentions.systems))}, schema={"system": pl.Int64})
        asked = systems.join(kept.select("doc", "group").unique(), how="cross")
        rows = asked.join(offered.select("system", "group", "right"), on=["system", "group"], how="left")
        if measure == "recognised":
            rows = rows.drop_nulls("right")
        right = pl.col("right").fill_null(0)
        wrong = (1 - pl.col("right")).fill_null(0)
        none = [pl.lit(None, pl.Int64).alias(name) for name in SCOPED]
        rows = rows.sort("system", "doc", "group")
        counts = rows.group_by("system", "doc").agg(tp=right.sum(), fp=wrong.sum(), fn=(1 - right).sum())
        return counts.with_columns(*none, ignored=pl.lit(0, pl.Int64))

    return Task(
        "candidates",
        f"text given; gold's entity in the candidate set, {MEASURES[measure]}",
        count,
        _at,
        takes=("measure",),
    )


def with_candidates(case: Case, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of g, a and `link` with `held`, whether the candidates of the answer hold an entity of gold, and its
    `rank` among them.

    The answer itself is a candidate, and the first where it is none of those that are told.
    """
    case = with_detail(case, "candidates")
    numbers = pl.DataFrame(
        {"candidates": case.mentions.entities, "entity": pl.int_range(len(case.mentions.entities), eager=True)},
        schema_overrides={"candidates": pl.String},
    )
    told = case.answers.select("a", "candidates").explode("candidates").drop_nulls()
    told = told.with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("a"))
    named = told.join(numbers, on="candidates")
    wanted = case.mentions.gold_links.select("g", "entity")
    held = (
        pairs.select("g", "a")
        .join(named.select("a", "entity", "rank"), on="a")
        .join(wanted, on=["g", "entity"], how="semi")
    )
    held = held.group_by("g", "a").agg(pl.col("rank").min())
    rows = pairs.join(held, on=["g", "a"], how="left", maintain_order="left")
    rank = pl.coalesce("rank", pl.when("link").then(1))
    return rows.with_columns(held=pl.col("link") | pl.col("rank").is_not_null(), rank=rank)


def _recognised(case: Case, kept: pl.DataFrame, matching: Matching) -> pl.DataFrame:
    """Return system, group, `held` and `rank` (see `with_candidates`) of each answer on a linked mention."""
    pairs = looked_up(looked_up(matching.pairs(case), "g", kept, ["group"]), "a", case.answers, ["system"])
    return with_candidates(case, pairs.filter(matching.spans).select("g", "a", "system", "group", "link"))


candidates = _at("gold")
