"""What a task holds against each other: gold mentions, answers, and the pairs of them that match."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix.scoring.inputs.dense import looked_up
from remix.scoring.inputs.mentions import NIL
from remix.scoring.matching import Matching, whole_matching_named
from remix.scoring.matching.cases import Case, fits_ignorable
from remix.scoring.tasks import SCOPED
from remix.scoring.tasks.candidates import with_candidates

__all__ = ["Elements", "count_pairs", "count_entities", "elements"]

KEYS = ["system", "doc"]


@dataclass(frozen=True)
class Elements:
    """What is compared, whoever pairs it.

    - `gold`: group, doc: what is required, a row a group;
    - `answers`: a, system, doc, `length`, `free` (does not count unless it is right: outside of the annotated regions,
      or on ignorable gold);
    - `edges`: system, doc, group, a: the pairs that match, sorted.
    """

    gold: pl.DataFrame
    answers: pl.DataFrame
    edges: pl.DataFrame


def elements(case: Case, task: str, matching: str) -> Elements:
    """Return what 'A2KB', 'D2KB', 'ERec', 'NIL' and 'candidates' compare; D2KB drops answers beside kept mentions.

    Linked or NIL mentions alone are a part of the task: which spans the system was given is told by the whole. Raises
    `UsageError` for a matching that counts in part.
    """
    how = whole_matching_named(matching)
    pairs = looked_up(how.pairs(case), "g", case.gold, ["ignorable", "group", "doc"])
    pairs = looked_up(pairs, "a", case.answers, ["system"])
    if task == "candidates":
        pairs = with_candidates(case, pairs)
    right = {"ERec": pl.lit(True), "NIL": pl.lit(True), "candidates": pl.col("held")}
    pairs = pairs.with_columns(spans=how.spans, correct=right.get(task, pl.col("link")))
    required = pairs.filter(pl.col("ignorable").is_null() & pl.col("spans"))
    edges = required.filter("correct").select(*KEYS, "group", "a").unique().sort("system", "group", "a")
    answers = case.answers
    if task == "D2KB":
        given = required["a"] if case.whole is None else _on_required(case.whole, how)
        answers = answers.filter(pl.col("a").is_in(given.unique().implode()))
    free = ~pl.col("inside") | pl.col("a").is_in(fits_ignorable(pairs).implode())
    answers = answers.select("a", *KEYS, length=pl.col("end") - pl.col("begin"), free=free)
    return Elements(case.kept().select("group", "doc").unique().sort("group"), answers, edges)


def _on_required(case: Case, how: Matching) -> pl.Series:
    """Return the answers on the spans of required mentions."""
    return looked_up(how.pairs(case).filter(how.spans), "g", case.kept(), ["doc"])["a"]


def count_pairs(case: Case, tp: pl.DataFrame, fp: pl.DataFrame, fn: pl.DataFrame) -> pl.DataFrame:
    """Return counts per system and document; the rows of the three are what is counted, fp has `free` as well."""
    wrong = fp.group_by(KEYS).agg(fp=(~pl.col("free")).sum(), ignored=pl.col("free").sum())
    parts = [tp.group_by(KEYS).agg(tp=pl.len()), wrong, fn.group_by(KEYS).agg(fn=pl.len())]
    rows = parts[0]
    for part in parts[1:]:
        rows = rows.join(part, on=KEYS, how="full", coalesce=True)
    numbers = [pl.col(name).fill_null(0).cast(pl.Int64) for name in ("tp", "fp", "fn", "ignored")]
    return rows.select(*KEYS, *numbers, *(pl.lit(None, pl.Int64).alias(name) for name in SCOPED))


def required_by(case: Case, gold: pl.DataFrame) -> pl.DataFrame:
    """Return gold once for every system."""
    systems = pl.DataFrame({"system": range(len(case.mentions.systems))}, schema={"system": pl.Int64})
    return systems.join(gold, how="cross")


def count_entities(case: Case, *, repeated: bool) -> pl.DataFrame:
    """Return the counts of C2KB: entities of documents, each as often as it is linked to (`repeated`), or once.

    Of several entities of a mention the first counts.
    """
    gold = case.kept().unique("group", keep="first", maintain_order=True)
    asked = required_by(case, _entities(gold, case.mentions.gold_links, "g", len(case.mentions.entities)))
    answers = case.answers.filter("inside")
    given = _entities(answers, case.mentions.answer_links, "a", len(case.mentions.entities))
    both = (
        asked.group_by(*KEYS, "entity")
        .agg(asked=pl.len())
        .join(given.group_by(*KEYS, "entity").agg(given=pl.len()), on=[*KEYS, "entity"], how="full", coalesce=True)
        .with_columns(pl.col("asked", "given").cast(pl.Int64).fill_null(0).clip(0, None if repeated else 1))
    )
    tp = pl.min_horizontal("asked", "given")
    rows = both.group_by(KEYS).agg(
        tp=tp.sum(), fp=(pl.col("given") - tp).sum(), fn=(pl.col("asked") - tp).sum(), ignored=pl.lit(0, pl.Int64)
    )
    return rows.with_columns(pl.lit(None, pl.Int64).alias(name) for name in SCOPED)


def _entities(rows: pl.DataFrame, links: pl.DataFrame, key: str, beyond: int) -> pl.DataFrame:
    first = links.group_by(key).agg(first=pl.col("entity").min())
    rows = rows.join(first, on=key, how="left", maintain_order="left")
    entity = pl.when((pl.col("link") == NIL) | (pl.col("link") < beyond)).then("link").otherwise("first")
    return rows.select(*(name for name in KEYS if name in rows.columns), entity=entity)
