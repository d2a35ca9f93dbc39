"""Counts of outcomes: of the whole, by mention type and by type of entity (evaluator.py)."""

from __future__ import annotations

import polars as pl

from remix.errors import UsageError
from remix.names import EL, RMX
from remix.scoring.cases import Case
from remix.scoring.elevant.outcomes import MODES, labelled, outcomes
from remix.scoring.tasks import SCOPED

__all__ = ["by_mention_type", "by_type", "count", "entity_types"]

_OUTCOMES = {"A2KB": ("tp", "fp", "fn"), "ERec": ("found", "false", "missed")}
OTHER = f"{RMX}OTHER"
"""The type of what has no type that ELEVANT lists, and of dates and quantities."""


def count(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts per system and document of A2KB or ERec in one mode, `IGNORED` or `REQUIRED`.

    Nested labels give one TP or one FN with their root, and an FP each where they count. ERec leaves coreference out.
    Raises `UsageError` for another task or matching.
    """
    sums = _summed(_rows(case, task, matching), ["system", "doc"])
    # Rows of zeros, so that a score of nothing at all is the tool's 0.
    systems = pl.DataFrame({"system": range(len(case.mentions.systems))}, schema={"system": pl.Int64})
    every = systems.join(case.mentions.documents.select("doc"), how="cross").join(
        sums, on=["system", "doc"], how="left"
    )
    return every.with_columns(pl.col("tp", "fp", "ignored", "fn").fill_null(0))


def by_mention_type(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: each mention type, `entity` and `coref`.

    A TP and an FN are of the gold label's mention type, an FP of the label's that it is wrong on, else of the answer's.
    """
    rows = _rows(case, task, matching)
    family = pl.col("kind").str.extract("^([a-z]+)_")
    sliced = pl.concat([rows.with_columns(slice="kind"), rows.with_columns(slice=family)])
    return _summed(sliced, ["system", "doc", "slice"])


def by_type(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: the class of an entity, `rmx:OTHER` without one; coreference is left out.

    A TP and an FN count for every type of the gold entity, an FP for every type of the answer's.
    """
    rows = _rows(case, task, matching).filter(~pl.col("coreference"))
    of_gold, of_answers = entity_types(case)
    gold = rows.filter(pl.col("tp") | pl.col("fn")).join(of_gold, on="label", how="left")
    wrong = rows.filter("fp").join(of_answers, on="a", how="left")
    no = pl.lit(False)
    parts = [gold.with_columns(fp=no), wrong.with_columns(tp=no, fn=no)]
    sliced = pl.concat(parts, how="diagonal").with_columns(slice=pl.col("class").fill_null(OTHER))
    return _summed(sliced, ["system", "doc", "slice"])


def entity_types(case: Case) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return label and class of gold's entities, a and class of the answers'; no row without a class."""
    assert case.known is not None
    fine = pl.col("class").str.starts_with(EL) | pl.col("class").str.starts_with(RMX)
    numbers = labelled(case).numbers.join(case.gold.select("g", "annotation"), on="g")
    stated = case.known.gold.classes.filter(~fine).join(numbers, on="annotation").select("label", "class").unique()
    entities = pl.DataFrame(
        {"number": pl.int_range(len(case.mentions.entities), eager=True), "entity": case.mentions.entities},
        schema_overrides={"entity": pl.String},
    )
    types = case.known.types.drop_nulls("class").filter(~fine).join(entities, on="entity")
    links = case.mentions.answer_links.rename({"entity": "number"})
    return stated, links.join(types, on="number").select("a", "class").unique()


def _rows(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the outcomes of one task as `tp`, `fp` and `fn`, each where it is counted."""
    if task not in _OUTCOMES:
        raise UsageError(f"the profile elevant has the tasks {', '.join(_OUTCOMES)}, not '{task}'")
    if matching not in MODES:
        raise UsageError(
            f"the profile elevant has the modes {', '.join(MODES)} in place of matchings, not '{matching}'"
        )
    rows = outcomes(case).filter(pl.col("mode") == matching)
    if task == "ERec":
        rows = rows.filter(~pl.col("coreference"))
    right, wrong, missed = (pl.col(name) for name in _OUTCOMES[task])
    return rows.with_columns(tp=right & pl.col("root"), fp=wrong & pl.col("counts"), fn=missed & pl.col("root"))


def _summed(rows: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    neither = pl.col("a").is_not_null() & pl.col("counts") & ~pl.any_horizontal("tp", "fp", "fn")
    rows = rows.with_columns(ignored=neither)
    sums = rows.group_by(keys).agg(pl.col("tp", "fp", "ignored", "fn").sum().cast(pl.Int64))
    undefined = [pl.lit(None, pl.Int64).alias(name) for name in SCOPED]
    return sums.select(*keys, "tp", "fp", "ignored", *undefined, "fn")
