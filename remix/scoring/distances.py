"""How far an answered entity is from gold's in the hierarchy: steps up from both to what they have in common.

A step leads from an entity to one of its classes, of which only the most specific count, and from a class (or an
entity that is one, as the concepts of a terminology are) to one directly above it. Two entities of one class are two
steps apart, a concept and its parent one (path length: Rada et al., Development and application of a metric on semantic
nets, IEEE Transactions on Systems, Man, and Cybernetics 1989).
"""

from __future__ import annotations

import polars as pl

from remix.errors import UsageError
from remix.names import OWL
from remix.scoring.answers import Answers
from remix.scoring.cases import Case

__all__ = ["distances"]

ROOTS = (
    f"{OWL}Thing",
    "http://www.wikidata.org/entity/Q35120",
    "http://schema.org/Thing",
    "https://schema.org/Thing",
)
"""What everything is: to have it in common says nothing."""

SAME = r"(?i)[/#](person|organi[sz]ation|place|location)\d*$|/Q(5|43229|2221906)$"
"""Classes of all vocabularies that are no less than the coarse class they map to; others are below it."""


def distances(case: Case, pairs: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return g, a, `of_gold` and `of_answer`: the steps from each side to what is above both, fewest in all.

    `pairs` has g and a; those that are more than `most` steps apart are left out. Where a side has several entities
    the nearest count, and of several ways that are as short the one with fewer steps from gold.

    Raises `UsageError` where nothing is known of classes.
    """
    if pairs.is_empty():
        return pl.DataFrame(schema=dict.fromkeys(("g", "a", "of_gold", "of_answer"), pl.Int64))
    known = case.known
    assert known is not None
    if known.types.is_empty() and known.hierarchy is None:
        raise UsageError("no hierarchy is known: name --hierarchy FILE or --entities FILE, or use a knowledge base")
    iris = pl.DataFrame({"iri": case.mentions.entities}, schema={"iri": pl.String})
    iris = iris.with_columns(entity=pl.int_range(pl.len(), dtype=pl.Int64))
    sides = pairs.select("g", "a").unique().join(case.mentions.gold_links.select("g", asked="entity"), on="g")
    sides = sides.join(case.mentions.answer_links.select("a", answered="entity"), on="a")
    both = pl.concat([sides["asked"], sides["answered"]]).unique().to_frame("entity").join(iris, on="entity")
    above = _above(known, both["iri"], most).join(both, on="iri").select("entity", "above", "steps")
    ways = sides.join(above.rename({"entity": "asked", "steps": "of_gold"}), on="asked")
    ways = ways.join(above.rename({"entity": "answered", "steps": "of_answer"}), on=["answered", "above"])
    total = pl.col("of_gold") + pl.col("of_answer")
    ways = ways.filter(total <= most).sort("g", "a", total, "of_gold")
    return ways.unique(["g", "a"], keep="first", maintain_order=True).select("g", "a", "of_gold", "of_answer")


def _above(known: Answers, entities: pl.Series, most: int) -> pl.DataFrame:
    """Return iri, above, steps: each entity itself (no step), its classes, and what is above these, fewest steps."""
    mapped = _mapped(known)
    beside = pl.concat([mapped, _specific(known, entities, mapped)]).filter(pl.col("class") != pl.col("parent")).lazy()
    every = beside if known.hierarchy is None else pl.concat([beside, known.hierarchy.select("class", "parent")])
    reached = frontier = pl.DataFrame({"iri": entities, "above": entities}).with_columns(steps=pl.lit(0, pl.Int64))
    for count in range(1, most + 1):
        # A hierarchy may be large, and few of it are asked for.
        steps = every.filter(pl.col("class").is_in(frontier["above"].unique().implode())).collect()
        further = frontier.select("iri", **{"class": "above"}).join(steps, on="class").select("iri", above="parent")
        frontier = further.unique().join(reached, on=["iri", "above"], how="anti")
        frontier = frontier.with_columns(steps=pl.lit(count, pl.Int64))
        reached = pl.concat([reached, frontier])
    return reached.filter(~pl.col("above").is_in(ROOTS))


def _mapped(known: Answers) -> pl.DataFrame:
    """Return class and parent: the coarse class of each class of which the hierarchy itself knows nothing above."""
    from remix.measures.classes import class_mapping

    mapped = class_mapping().select("class", parent="coarse")
    if known.hierarchy is None:
        return mapped
    # It would be a short cut past what lies between.
    asked = pl.col("class").is_in(mapped["class"].implode()) & (pl.col("class") != pl.col("parent"))
    return mapped.join(known.hierarchy.filter(asked).select("class").collect(), on="class", how="anti")


def _specific(known: Answers, entities: pl.Series, mapped: pl.DataFrame) -> pl.DataFrame:
    """Return class (an entity) and parent: the classes of entities that are above no other class of theirs.

    A class that is the same as a coarse one stands for both; classes that are above each other are both kept.
    """
    types = known.types.drop_nulls("class").filter(pl.col("entity").is_in(entities.implode())).select("entity", "class")
    same, below = mapped.filter(pl.col("class").str.contains(SAME)), mapped.filter(~pl.col("class").str.contains(SAME))
    types = pl.concat([types, types.join(same, on="class").select("entity", **{"class": "parent"})]).unique()
    itself = types.select("class", reached="class").unique()
    reached = pl.concat([itself, known.reached(types["class"])])
    coarse = reached.join(below, left_on="reached", right_on="class").select("class", reached="parent")
    above = pl.concat([reached, coarse]).filter(pl.col("class") != pl.col("reached"))
    alike = above.join(same.rename({"class": "other"}), left_on="reached", right_on="parent")
    above = pl.concat([above, alike.select("class", reached="other")]).filter(pl.col("class") != pl.col("reached"))
    above = above.join(above, left_on=["class", "reached"], right_on=["reached", "class"], how="anti")
    general = types.join(above, on="class").select("entity", **{"class": "reached"}).unique()
    left = types.join(general, on=["entity", "class"], how="anti")
    return left.select(pl.col("entity").alias("class"), pl.col("class").alias("parent"))
