"""candidates: the system gets the text; a candidate set is right where it holds the entity of gold (EUEF's CM)."""

from __future__ import annotations

import polars as pl

from remix.errors import UnknownName
from remix.scoring.cases import Case
from remix.scoring.dense import looked_up
from remix.scoring.details import with_detail
from remix.scoring.matchings import Matching
from remix.scoring.mentions import NIL
from remix.scoring.tasks import SCOPED, Task

MEASURES = {
    "gold": "of all linked mentions of gold",
    "recognised": "of the linked mentions that the system recognised: the upper bound of its disambiguation",
}


def _at(measure: str) -> Task:
    if measure not in MEASURES:
        raise UnknownName("measure of candidates", measure, MEASURES)

    def count(case: Case, matching: Matching) -> pl.DataFrame:
        kept = case.kept().filter(pl.col("link") != NIL)
        offered = _recognised(case, kept, matching).with_columns(right=pl.col("right").any().over("system", "group"))
        offered = offered.unique(["system", "group"])
        systems = pl.DataFrame({"system": range(len(case.mentions.systems))}, schema={"system": pl.Int64})
        asked = systems.join(kept.select("doc", "group").unique(), how="cross")
        rows = asked.join(offered.select("system", "group", "right"), on=["system", "group"], how="left")
        if measure == "recognised":
            rows = rows.drop_nulls("right")
        right = pl.col("right").fill_null(False)
        wrong = pl.col("right").is_not_null() & ~right
        none = [pl.lit(None, pl.Int64).alias(name) for name in SCOPED]
        counts = rows.group_by("system", "doc").agg(tp=right.sum(), fp=wrong.sum(), fn=(~right).sum())
        return counts.with_columns(pl.col("tp", "fp", "fn").cast(pl.Int64), *none, ignored=pl.lit(0, pl.Int64))

    return Task(
        "candidates",
        f"text given; gold's entity in the candidate set, {MEASURES[measure]}",
        count,
        _at,
        takes=("measure",),
    )


def with_candidates(case: Case, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of g, a and `link` with `held`: whether the candidates of the answer hold an entity of gold.

    The answer itself is a candidate.
    """
    case = with_detail(case, "candidates")
    numbers = pl.DataFrame(
        {"candidates": case.mentions.entities, "entity": pl.int_range(len(case.mentions.entities), eager=True)},
        schema_overrides={"candidates": pl.String},
    )
    named = case.answers.select("a", "candidates").explode("candidates").drop_nulls().join(numbers, on="candidates")
    wanted = case.mentions.gold_links.select("g", "entity")
    held = pairs.select("g", "a").join(named.select("a", "entity"), on="a").join(wanted, on=["g", "entity"], how="semi")
    held = held.select("g", "a", held=pl.lit(True)).unique()
    rows = pairs.join(held, on=["g", "a"], how="left", maintain_order="left")
    return rows.with_columns(held=pl.col("link") | pl.col("held").fill_null(False))


def _recognised(case: Case, kept: pl.DataFrame, matching: Matching) -> pl.DataFrame:
    """Return system, group and `right` of each answer on a linked mention: whether its candidates hold the entity."""
    pairs = looked_up(looked_up(matching.pairs(case), "g", kept, ["group"]), "a", case.answers, ["system"])
    pairs = with_candidates(case, pairs.filter(matching.spans).select("g", "a", "system", "group", "link"))
    return pairs.select("system", "group", right="held")


candidates = _at("gold")
