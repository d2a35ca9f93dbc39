"""The counts of HIPE-scorer: each layer for itself, types of the layers of mentions, entities of those of links.

Source: hipe-eval/HIPE-scorer at 6605770, hipe_evaluation/ner_eval.py and utils.py; clef_evaluation.py.
"""

from __future__ import annotations

import re

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.formats.layers import LAYERS, NOISE, PERIOD
from remix.scoring.hipe.layers import LINKS, cut, sides
from remix.scoring.hipe.meetings import meetings
from remix.scoring.matching import Case
from remix.scoring.tasks import SCOPED

__all__ = ["MATCHINGS", "TASKS", "by_noise", "by_period", "by_type", "count"]

TASKS = (*LAYERS, *LINKS)
MATCHINGS = ("fuzzy", "strict", *(f"{regime}@{n}" for n in (1, 3, 5) for regime in ("fuzzy", "strict")))

NOISES = {"0.0-0.0": (0.0, 0.0), "0.001-0.1": (0.001, 0.1), "0.1-0.3": (0.1, 0.3), "0.3-1.1": (0.3, 1.1)}
"""The usual bounds of noise, the upper one excluded where they differ."""


def count(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts of a layer by a regime per system and document; none of links without `@n`, or types with.

    Raises `UnknownName` for another task or matching.
    """
    return _count(_events(case, task, matching), ["system", "doc"])


def by_type(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: each event of the label of gold, or of the answer that meets nothing.

    The layers of links have none.
    """
    events = _events(case, task, matching)
    return _count(events.filter(pl.lit(task in LAYERS)), ["system", "doc", "slice"])


def by_period(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: those of the documents of each ten years."""
    values = _values_of(case, PERIOD, "period").select(document="subject", slice="text")
    places = case.mentions.documents.join(values, on="document").select("doc", "slice")
    return _count(_events(case, task, matching).drop("slice").join(places, on="doc"), ["system", "doc", "slice"])


def by_noise(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts with `slice`: without the tokens of mentions of gold that are noisier, or less noisy."""
    _values_of(case, NOISE, "noise")
    parts = [
        _count(_events(case, task, matching, bounds).with_columns(slice=pl.lit(name)), ["system", "doc", "slice"])
        for name, bounds in NOISES.items()
    ]
    return pl.concat(parts)


def _values_of(case: Case, term: str, column: str) -> pl.DataFrame:
    """Return the values of gold for a term; raises `UsageError` where it has none."""
    values = case.known.gold.values.filter(pl.col("term") == term)
    if values.is_empty():
        raise UsageError(f"no annotation of gold has a value in column '{column}'")
    return values


def _count(events: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    wrong = ~pl.col("right")
    counts = events.group_by(keys, maintain_order=True).agg(
        tp=pl.col("right").sum().cast(pl.Int64),
        fp=(wrong & pl.col("a").is_not_null()).sum().cast(pl.Int64),
        fn=(wrong & pl.col("g").is_not_null()).sum().cast(pl.Int64),
        ignored=pl.lit(0, pl.Int64),
    )
    return counts.with_columns(pl.lit(None, pl.Int64).alias(name) for name in SCOPED)


def _events(case: Case, task: str, matching: str, noise: tuple[float, float] | None = None) -> pl.DataFrame:
    """Return what happens to each mention and answer: system, doc, g, a, `right`, and slice, the label it is of.

    The tokens of mentions of gold whose noise is not in the bounds are cut out before.
    """
    if task not in TASKS:
        raise UnknownName("task of this profile", task, TASKS)
    form = re.fullmatch(r"(fuzzy|strict)(?:@([1-9]\d?))?", matching)
    if form is None:
        raise UnknownName("matching of this profile", matching, MATCHINGS)
    regime, ranks = form[1], form[2] or ("1" if task in LAYERS else "0")
    gold, answers = case.once(("hipe", task), lambda own: sides(own, task))
    if (form[2] is None) != (task in LAYERS):
        gold, answers = gold.clear(), answers.clear()
    if noise is not None:
        gold, answers = (cut(rows, case, noise) for rows in (gold, answers))
    answers = answers.with_columns(pl.col("labels").list.head(int(ranks)))
    # An answer stays as long as any of its links is one.
    answers = answers.filter(pl.col("labels").list.drop_nulls().list.len() > 0)
    met: pl.DataFrame = case.once(
        ("hipe", task, ranks, form[2] is None, noise), lambda own: meetings(gold, answers, len(own.mentions.systems))
    )
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    met = met.join(gold.select("label", g=number), on="g", how="left", maintain_order="left")
    met = met.join(
        answers.select(a=number, said=pl.col("labels").list.first()), on="a", how="left", maintain_order="left"
    )
    return met.select("system", "doc", "g", "a", right=regime, slice=pl.coalesce("label", "said"))
