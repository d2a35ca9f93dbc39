"""Answers as a ranking: right ones and wrong ones by falling confidence, and what rankings are scored by."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import polars as pl

from remix.errors import UnknownName
from remix.scoring.cases import Case
from remix.scoring.details import with_detail
from remix.scoring.matchings import Matching
from remix.scoring.tasks import SCOPED
from remix.scoring.tasks.c2kb import asked_units

__all__ = ["MEASURES", "ranked_annotations", "ranked_counts", "ranked_entities", "require_measure"]

_KEYS = ["system", "doc"]

MEASURES: Mapping[str, str] = {
    "map": "mean over documents of the precision at each right answer, those missing counting 0",
    "mrr": "mean over documents of 1 / the rank of the first right answer",
    "r-precision": "precision of as many answers as gold has",
    "p@K": "precision and recall of the first K answers, P being of K also where there are fewer",
}
"""Measures of rankings; K is a number."""


def require_measure(measure: str) -> None:
    """Raise `UnknownName` for a name that is none of `MEASURES`."""
    if measure not in ("map", "mrr", "r-precision") and not re.fullmatch(r"p@[1-9]\d*", measure):
        raise UnknownName("measure of rankings", measure, MEASURES)


def ranked_annotations(case: Case, matching: Matching) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return system, doc, rank, right of the answers that count, and doc, asked: the mentions of gold.

    A mention of several annotations is found with the last of its answers. Answers without confidence come last,
    equals in the order of their offsets.
    """
    judged = case.judged("link", matching)
    groups = judged.pairs.filter("correct").join(case.gold.select("g", "group"), on="g").select("a", "group")
    answers = with_detail(case, "confidence").answers.select("a", "confidence")
    items = judged.answers.filter(pl.col("outcome") != "ignored").join(groups, on="a", how="left").join(answers, on="a")
    right = pl.col("outcome") == "tp"
    items = items.select(*_KEYS, "a", "group", "confidence", right=right).sort(
        *_KEYS, "confidence", "a", descending=[False, False, True, False], nulls_last=True
    )
    last = items.filter("right").unique(["system", "group"], keep="last", maintain_order=True)
    items = pl.concat([items.filter(~pl.col("right")), last])
    return _ranked(items), case.kept().group_by("doc").agg(asked=pl.col("group").n_unique().cast(pl.Int64))


def ranked_entities(case: Case, matching: Matching) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return system, doc, rank, right of the entities answered, and doc, asked: the entities of gold, as C2KB has them.

    An entity is as sure as the surest of its mentions. Of several that stand for one mention of gold the first counts
    and the others do not; ignorable entities do not.
    """
    units = asked_units(case)
    known = case.gold.join(case.mentions.gold_links, on="g").select("doc", "entity").unique()
    answers = with_detail(case, "confidence").answers.join(case.mentions.answer_links, on="a")
    items = answers.group_by(*_KEYS, "entity").agg(
        pl.col("confidence").max(), pl.col("a").min(), pl.col("inside").any()
    )
    wanted = units.group_by("doc", "entity").agg(pl.col("group").min())
    items = items.join(wanted, on=["doc", "entity"], how="left").with_columns(right=pl.col("group").is_not_null())
    free = items.join(known, on=["doc", "entity"], how="semi").filter(~pl.col("right"))
    items = items.join(free, on=[*_KEYS, "entity"], how="anti").filter(pl.col("right") | pl.col("inside"))
    items = items.sort(
        *_KEYS, "confidence", "a", "entity", descending=[False, False, True, False, False], nulls_last=True
    )
    first = items.filter("right").unique(["system", "group"], keep="first", maintain_order=True)
    items = pl.concat([items.filter(~pl.col("right")), first])
    return _ranked(items), units.group_by("doc").agg(asked=pl.col("group").n_unique().cast(pl.Int64))


def _ranked(items: pl.DataFrame) -> pl.DataFrame:
    order = [*_KEYS, "confidence", "a"]
    items = items.sort(order, descending=[False, False, True, False], nulls_last=True, maintain_order=True)
    return items.select(*_KEYS, "right", rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(_KEYS))


def ranked_counts(case: Case, items: pl.DataFrame, asked: pl.DataFrame, measure: str) -> pl.DataFrame:
    """Return the counts of a measure of rankings, for each system and document that gold has something in.

    The mean of a measure over documents is a ratio of sums: `tp` is its value in a document, `fp` what is missing
    to 1. P@K and R-precision count answers.
    """
    require_measure(measure)
    systems = pl.DataFrame({"system": range(len(case.mentions.systems))}, schema={"system": pl.Int64})
    rows = systems.join(asked.filter(pl.col("asked") > 0), how="cross")
    items = items.join(asked, on="doc")
    if measure in _VALUES:
        found = items.filter("right").group_by(_KEYS, maintain_order=True).agg(value=_VALUES[measure])
        rows = rows.join(found, on=_KEYS, how="left", maintain_order="left").with_columns(
            pl.col("value").fill_null(0.0)
        )
        counts = {"tp": pl.col("value"), "fp": 1 - pl.col("value"), "fn": 1 - pl.col("value")}
    else:
        size = pl.col("asked") if measure == "r-precision" else pl.lit(int(measure[2:]), pl.Int64)
        found = (
            items.filter(pl.col("right") & (pl.col("rank") <= size)).group_by(_KEYS).agg(right=pl.len().cast(pl.Int64))
        )
        rows = rows.join(found, on=_KEYS, how="left", maintain_order="left").with_columns(pl.col("right").fill_null(0))
        counts = {"tp": pl.col("right"), "fp": size - pl.col("right"), "fn": pl.col("asked") - pl.col("right")}
    none = [pl.lit(None, pl.Int64).alias(name) for name in SCOPED]
    return rows.select(*_KEYS, *none, "asked", ignored=pl.lit(0, pl.Int64), **counts)


_VALUES: Mapping[str, pl.Expr] = {
    "mrr": 1 / pl.col("rank").min(),
    "map": ((pl.col("rank").rank("ordinal") / pl.col("rank")).sum() / pl.col("asked").first()),
}

Ranking = Callable[[Case, Matching], tuple[pl.DataFrame, pl.DataFrame]]
"""What makes a ranking of a case: items and what is asked for."""
