"""C2KB: the system gets the text; the sets of entities per document are compared."""

from __future__ import annotations

import polars as pl

from remix.scoring.inputs.case_tables import NIL, Counts
from remix.scoring.matching import Case
from remix.scoring.statistics import KEYS
from remix.scoring.tasks import Task, complete_counts


def asked_units(case: Case) -> pl.DataFrame:
    """Return doc, group, entity: of each unit that is counted, the entities that it asks for."""
    required = _require(case)
    units = _units(required, case.mentions.gold_links)
    asked = required.join(units.select("group"), on="group", how="semi").join(case.mentions.gold_links, on="mention")
    return asked.select("doc", "group", "entity").unique()


def _require(case: Case) -> pl.DataFrame:
    # A mention that may be NIL asks for no entity; those that it may have instead are right to leave and to give.
    nil = case.gold.filter(pl.col("link") == NIL).select("group")
    required = case.kept.join(nil, on="group", how="anti")
    return required.with_columns(size=pl.col("mention").n_unique().over("group", "option"))


def _count(case: Case) -> Counts:
    required = _require(case)
    answered = _answer_sets(case)
    units = _units(required, case.mentions.gold_links)
    found = _find(required, case.mentions.gold_links, answered, units)
    gold = case.gold.join(case.mentions.gold_links, on="mention").select("doc", "entity", known=pl.lit(True)).unique()
    judged = answered.join(gold, on=["doc", "entity"], how="left")
    wrong = pl.col("known").is_null() & pl.col("inside")
    judged = judged.select(
        *KEYS,
        fp=wrong,
        ignored=~wrong,
        fp_in_scope=wrong & pl.col("in_scope"),
        fp_on_mention=wrong & pl.col("on_mention"),
    )
    counts = complete_counts(case, units["doc"], found, judged)
    # What is neither FP nor TP was ignored: ignorable entities, and further alternatives of a satisfied mention.
    return counts.with_columns(ignored=(pl.col("ignored") - pl.col("tp")).clip(0))


def _answer_sets(case: Case) -> pl.DataFrame:
    """Return the set of entities that each system answers per document.

    One is on a mention where any answer of it has the very span of a kept one, and then in scope, too.
    """
    place, case = ["doc", "begin", "end"], case.placed
    kept = case.kept.select(*place, on_mention=pl.lit(True)).unique()
    answers = case.answers.select("answer", "system", "inside", *place).join(kept, on=place, how="left")
    answers = case.scope.mark(answers.with_columns(pl.col("on_mention").fill_null(False)))
    answers = answers.join(case.mentions.answer_links, on="answer")
    return answers.group_by("system", "doc", "entity").agg(pl.col("inside", "in_scope", "on_mention").any())


def _units(required: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """Return doc and group of what is counted: of mentions that ask for the same entities one, and of a mention
    that asks for one of several entities none where another mention asks for part of them."""
    composed = (pl.col("size") > 1).any().over("group")
    asked = required.with_columns(composed=composed).join(links, on="mention")
    asked = asked.select("doc", "group", "composed", "entity").unique()
    sets = asked.group_by("doc", "group", "composed").agg(key=pl.col("entity").sort(), asked=pl.len())
    # The group's number stands for a composed one, so that it is like no other.
    own = pl.when("composed").then("group").otherwise(-1)
    units = sets.with_columns(own=own).sort("group").unique(["doc", "key", "own"], keep="first", maintain_order=True)
    plain = asked.join(units.filter(~pl.col("composed")).select("group", "asked"), on="group")
    if plain["asked"].max() in (None, 1):
        return units.select("doc", "group")
    inside = (
        plain.filter(pl.col("asked") > 1)
        .join(plain, on=["doc", "entity"], suffix="_less")
        .filter(pl.col("asked_less") < pl.col("asked"))
        .group_by("group", "group_less", "asked_less")
        .len()
        .filter(pl.col("len") == pl.col("asked_less"))
    )
    return units.join(inside.select("group"), on="group", how="anti").select("doc", "group")


def _find(required: pl.DataFrame, links: pl.DataFrame, answered: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Return system, doc and group of each unit that a system has: an option needs an entity of each annotation."""
    counted = required.join(units.select("group"), on="group", how="semi")
    hits = (
        counted.join(links, on="mention")
        .join(answered.select("system", "doc", "entity"), on=["doc", "entity"])
        .group_by("system", "doc", "group", "option", "size")
        .agg(hit=pl.col("mention").n_unique())
        .filter(pl.col("hit") == pl.col("size"))
    )
    return hits.select(*KEYS, "group").unique()


c2kb = Task(
    "C2KB",
    "text given; the set of entities of each document compared, NIL left out",
    # No span is matched.
    lambda case, matching: case.once(("C2KB",), _count),
    by_document=True,
)
