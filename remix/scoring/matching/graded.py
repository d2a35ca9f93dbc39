"""Graded matching: a wrong link is right in part where it is near gold's entity in the hierarchy."""

from __future__ import annotations

import math

import polars as pl

from remix.dense import look_up
from remix.errors import UsageError
from remix.expressions import sum_up
from remix.names import OWL
from remix.scoring.inputs.evidence import Evidence
from remix.scoring.matching import Case, Judged, Matching, found_in_full, spell_parameter
from remix.scoring.matching.pairs import assign_most

LEAST = 0.5
FAR = 20
"""No way of more steps is looked for."""

WHOLE = math.lcm(*range(1, FAR + 2))
"""A multiple of every 1 + steps."""

_KEYS = ["system", "doc"]


def _near(case: Case, judged: Judged, most: int) -> pl.DataFrame:
    """Return system, doc, group, option, answer and `credit` of near answers on mentions that were not found.

    They are paired one to one, for the most credit in all. A mention of several annotations that are required together
    has none.
    """

    kept = case.kept.filter(pl.len().over("option") == 1)
    wrong = judged.answers.filter(pl.col("outcome") == "fp")
    pairs = look_up(
        case.overlaps.filter("equal").select("mention", "answer"), "mention", kept, ["doc", "group", "option"]
    )
    pairs = look_up(pairs, "answer", wrong, ["system"]).join(judged.groups, on=["system", "group"], how="anti")
    ways = distances(case, pairs, most)
    near = pairs.join(ways, on=["mention", "answer"]).with_columns(
        credit=1 / (1 + pl.col("of_gold") + pl.col("of_answer"))
    )
    near = near.sort("system", "group", "answer", "credit", descending=[False, False, False, True])
    near = near.unique(["system", "group", "answer"], keep="first", maintain_order=True)
    # In whole numbers, so that the sums are exact.
    near = assign_most(
        near.with_columns(worth=(WHOLE * pl.col("credit")).round()), ["system", "group"], "answer", "worth"
    )
    return near.select(*_KEYS, "group", "option", "answer", "credit").sort("system", "doc", "group")


def _at_least(least: float, name: str = "") -> Matching:
    most = FAR if least == 0 else min(FAR, int(1 / least + 1e-9) - 1)

    def credit(case: Case, judged: Judged, on_mention_only: bool) -> pl.DataFrame:
        """Return the credit of each near miss as a part of a TP, and neither FP nor FN to that part."""
        gained = pl.col("credit").sum()
        # What is near is on a kept mention, so that it is in every precision.
        less = dict.fromkeys(("fp", "fp_in_scope", "fp_on_mention", "fn"), -gained)
        return sum_up(_near(case, judged, most), [*_KEYS], tp=gained, tp_of_gold=gained, **less)

    def shares(case: Case, judged: Judged) -> pl.DataFrame:
        """Return the mentions that were found whole, and those that were missed by little, with their credit."""
        near = _near(case, judged, most).select(*_KEYS, "group", "option", share="credit")
        return pl.concat([found_in_full(case, judged), near])

    return Matching(
        name or f"graded({spell_parameter(least)})",
        "begin and end are equal; a wrong link is right in part, by 1 / (1 + steps to gold's entity in the hierarchy), "
        f"where that is {spell_parameter(least)} or more; graded(C) for another C",
        pl.col("equal"),
        at=_at_least,
        credit=credit,
        shares=shares,
    )


graded = _at_least(LEAST, "graded")


ROOTS = (f"{OWL}Thing", "http://www.wikidata.org/entity/Q35120", "http://schema.org/Thing", "https://schema.org/Thing")
"""What everything is: to have it in common says nothing."""

SAME = r"(?i)[/#](person|organi[sz]ation|place|location)\d*$|/Q(5|43229|2221906)$"
"""Classes of all vocabularies that are no less than the coarse class they map to; others are below it."""


def distances(case: Case, pairs: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return mention, answer, `of_gold` and `of_answer`: the steps from each side to what is above both, fewest in all.

    `pairs` has mention and answer; those that are more than `most` steps apart are left out. Where a side has several
    entities the nearest count, and of several ways that are as short the one with fewer steps from gold.

    Raises `UsageError` where nothing is known of classes.
    """
    if pairs.is_empty():
        return pl.DataFrame(schema=dict.fromkeys(("mention", "answer", "of_gold", "of_answer"), pl.Int64))
    evidence = case.evidence
    if evidence.types.is_empty() and evidence.hierarchy is None:
        raise UsageError("no hierarchy is known: name --hierarchy FILE or --entities FILE, or use a knowledge base")
    if evidence.stated.is_empty():
        return _distances_by_types(case, pairs, most, evidence.types)
    placed = (
        pairs.select("mention", "answer")
        .join(case.gold.select("mention", "doc"), on="mention")
        .join(evidence.homes, on="doc", how="left")
    )
    # What one dataset says of an entity does not hold in another.
    parts = placed.partition_by("home", as_dict=True, maintain_order=True).items()
    return pl.concat(_distances_by_types(case, own, most, evidence.types_at(home or "")) for (home,), own in parts)


def _distances_by_types(case: Case, pairs: pl.DataFrame, most: int, types: pl.DataFrame) -> pl.DataFrame:
    """Return the distances of pairs in whose documents these types (entity, class) hold."""
    evidence = case.evidence
    sides = (
        pairs.select("mention", "answer")
        .unique()
        .join(case.mentions.gold_links.select("mention", asked="entity"), on="mention")
    )
    sides = sides.join(case.mentions.answer_links.select("answer", answered="entity"), on="answer")
    asked = pl.concat([sides["asked"], sides["answered"]]).unique()
    both = case.mentions.iris.filter(pl.col("entity").is_in(asked.implode()))
    above = _above(evidence, types, both["iri"], most).join(both, on="iri").select("entity", "above", "steps")
    ways = sides.join(above.rename({"entity": "asked", "steps": "of_gold"}), on="asked")
    ways = ways.join(above.rename({"entity": "answered", "steps": "of_answer"}), on=["answered", "above"])
    total = pl.col("of_gold") + pl.col("of_answer")
    ways = ways.filter(total <= most).sort("mention", "answer", total, "of_gold")
    return ways.unique(["mention", "answer"], keep="first", maintain_order=True).select(
        "mention", "answer", "of_gold", "of_answer"
    )


def _above(evidence: Evidence, types: pl.DataFrame, entities: pl.Series, most: int) -> pl.DataFrame:
    """Return iri, above, steps: each entity itself (no step), its classes, and what is above these, fewest steps."""
    mapped = _map(evidence)
    steps = pl.concat([mapped, _specific(evidence, types, entities, mapped)])
    beside = steps.filter(pl.col("class") != pl.col("parent")).lazy()
    every = beside if evidence.hierarchy is None else pl.concat([beside, evidence.hierarchy.select("class", "parent")])
    reached = frontier = pl.DataFrame({"iri": entities, "above": entities}).with_columns(steps=pl.lit(0, pl.Int64))
    for count in range(1, most + 1):
        # A hierarchy may be large, and few of it are asked for.
        steps = every.filter(pl.col("class").is_in(frontier["above"].unique().implode())).collect()
        further = frontier.select("iri", **{"class": "above"}).join(steps, on="class").select("iri", above="parent")
        frontier = further.unique().join(reached, on=["iri", "above"], how="anti")
        frontier = frontier.with_columns(steps=pl.lit(count, pl.Int64))
        reached = pl.concat([reached, frontier])
    return reached.filter(~pl.col("above").is_in(ROOTS))


def _map(evidence: Evidence) -> pl.DataFrame:
    """Return class and parent: the coarse class of each class of which the hierarchy itself knows nothing above."""
    from remix.measures.classes import class_mapping

    mapped = class_mapping().select("class", parent="coarse")
    if evidence.hierarchy is None:
        return mapped
    # It would be a short cut past what lies between.
    asked = pl.col("class").is_in(mapped["class"].implode()) & (pl.col("class") != pl.col("parent"))
    return mapped.join(evidence.hierarchy.filter(asked).select("class").collect(), on="class", how="anti")


def _specific(evidence: Evidence, types: pl.DataFrame, entities: pl.Series, mapped: pl.DataFrame) -> pl.DataFrame:
    """Return class (an entity) and parent: the classes of entities that are above no other class of theirs.

    A class that is the same as a coarse one stands for both; classes that are above each other are both kept.
    """
    types = types.drop_nulls("class").filter(pl.col("entity").is_in(entities.implode())).select("entity", "class")
    same, below = mapped.filter(pl.col("class").str.contains(SAME)), mapped.filter(~pl.col("class").str.contains(SAME))
    types = pl.concat([types, types.join(same, on="class").select("entity", **{"class": "parent"})]).unique()
    itself = types.select("class", reached="class").unique()
    reached = pl.concat([itself, evidence.reach(types["class"])])
    coarse = reached.join(below, left_on="reached", right_on="class").select("class", reached="parent")
    above = pl.concat([reached, coarse]).filter(pl.col("class") != pl.col("reached"))
    alike = above.join(same.rename({"class": "other"}), left_on="reached", right_on="parent")
    above = pl.concat([above, alike.select("class", reached="other")]).filter(pl.col("class") != pl.col("reached"))
    above = above.join(above, left_on=["class", "reached"], right_on=["reached", "class"], how="anti")
    general = types.join(above, on="class").select("entity", **{"class": "reached"}).unique()
    left = types.join(general, on=["entity", "class"], how="anti")
    return left.select(pl.col("entity").alias("class"), pl.col("class").alias("parent"))
