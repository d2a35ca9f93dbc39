"""Sa2KB, Sc2KB and Rc2KB: as A2KB and C2KB, answers having a confidence or a rank (Cornolti et al. 2013)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.expressions import sum_up
from remix.scoring.inputs.case_tables import Counts
from remix.scoring.matching import Case, Matching, with_detail
from remix.scoring.statistics import KEYS, UNSCOPED
from remix.scoring.statistics.thresholds import above, choose_best
from remix.scoring.tasks import Task
from remix.scoring.tasks.annotation import a2kb
from remix.scoring.tasks.c2kb import asked_units, c2kb

DEFAULT = "map"
ORACLE = "oracle"
"""The threshold that is best on this very gold: an upper bound, no score of a system."""


def _at_measure(name: str, summary: str, ranking: Ranking, base: Task | None, measure: str = DEFAULT) -> Task:
    """Return the task by a measure of rankings; with `base`, it takes a threshold, too, above which that is counted."""
    require_measure(measure)

    def count(case: Case, matching: Matching) -> Counts:
        items, asked = ranking(case, matching)
        return ranked_counts(case, items, asked, measure)

    def at(measure: str = "", threshold: str = "") -> Task:
        if base is not None and threshold:
            return _above(name, base, threshold)
        return replace(_at_measure(name, summary, ranking, base, measure), takes=())

    takes = ("measure", "threshold") if base is not None else ("measure",)
    told = MEASURES["p@K" if measure.startswith("p@") else measure]
    return Task(name, f"{summary}: {told}", count, at, takes)


def _above(name: str, base: Task, threshold: str) -> Task:
    """Return the task that counts the answers whose confidence is above the threshold, and those without one."""

    def best(case: Case, matching: Matching) -> pl.DataFrame:
        chosen = choose_best(case, base.name, matching.name, lambda one, *_: base.count(one, matching))
        return base.count(chosen, matching)

    if threshold == ORACLE:
        return Task(name, f"{base.summary}; answers above the confidence that is best on this very gold", best)
    try:
        number = float(threshold)
    except ValueError:
        raise UsageError(f"a threshold is a number or '{ORACLE}', not '{threshold}'") from None

    def count_fixed(case: Case, matching: Matching) -> Counts:
        systems = case.mentions.names.select("system", above=pl.lit(number))
        return base.count(above(case, systems), matching)

    return Task(name, f"{base.summary}; answers of a confidence above {threshold}", count_fixed)


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
    judged = case.judge("link", matching)
    groups = (
        judged.pairs.filter("correct")
        .join(case.gold.select("mention", "group"), on="mention")
        .select("answer", "group")
    )
    answers = with_detail(case, "confidence").answers.select("answer", "confidence")
    items = (
        judged.answers.filter(pl.col("outcome") != "ignored")
        .join(groups, on="answer", how="left")
        .join(answers, on="answer")
    )
    items = items.with_columns(right=pl.col("outcome") == "tp")
    return _rank(items, ["confidence", "answer"], last=True), case.kept.group_by("doc").agg(
        asked=pl.col("group").n_unique().cast(pl.Int64)
    )


def ranked_entities(case: Case, matching: Matching) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return system, doc, rank, right of the entities answered, and doc, asked: the entities of gold, as C2KB has them.

    An entity is as sure as the surest of its mentions. Of several that stand for one mention of gold the first counts
    and the others do not; ignorable entities do not.
    """
    units = asked_units(case)
    known = case.gold.join(case.mentions.gold_links, on="mention").select("doc", "entity").unique()
    answers = with_detail(case, "confidence").answers.join(case.mentions.answer_links, on="answer")
    items = answers.group_by(*KEYS, "entity").agg(
        pl.col("confidence").max(), pl.col("answer").min(), pl.col("inside").any()
    )
    wanted = units.group_by("doc", "entity").agg(pl.col("group").min())
    items = items.join(wanted, on=["doc", "entity"], how="left").with_columns(right=pl.col("group").is_not_null())
    free = items.join(known, on=["doc", "entity"], how="semi").filter(~pl.col("right"))
    items = items.join(free, on=[*KEYS, "entity"], how="anti").filter(pl.col("right") | pl.col("inside"))
    # Of what one answer names, what is wrong comes first.
    return _rank(items, ["confidence", "answer", "right", "entity"]), units.group_by("doc").agg(
        asked=pl.col("group").n_unique().cast(pl.Int64)
    )


def _rank(items: pl.DataFrame, order: list[str], *, last: bool = False) -> pl.DataFrame:
    """Return system, doc, rank, right: of the right items of one mention of gold the first counts, or the last."""
    descending = [name == "confidence" for name in (*KEYS, *order)]
    items = items.sort(*KEYS, *order, descending=descending, nulls_last=True)
    chosen = (pl.int_range(pl.len()) == (pl.len() - 1 if last else 0)).over("system", "group", "right")
    items = items.filter(~pl.col("right") | chosen)
    return items.select(*KEYS, "right", rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(KEYS))


def ranked_counts(case: Case, items: pl.DataFrame, asked: pl.DataFrame, measure: str) -> Counts:
    """Return the counts of a measure of rankings, for each system and document that gold has something in.

    The mean of a measure over documents is a ratio of sums: `tp` is its value in a document, `fp` what is missing
    to 1. P@K and R-precision count answers.
    """
    require_measure(measure)
    rows = case.mentions.for_each_system(asked.filter(pl.col("asked") > 0))
    items = items.join(asked, on="doc")
    if measure in _VALUES:
        found = sum_up(items.filter("right"), [*KEYS], value=_VALUES[measure])
        rows = rows.join(found, on=KEYS, how="left", maintain_order="left").with_columns(pl.col("value").fill_null(0.0))
        counts = {"tp": pl.col("value"), "fp": 1 - pl.col("value"), "fn": 1 - pl.col("value")}
    else:
        size = pl.col("asked") if measure == "r-precision" else pl.lit(int(measure[2:]), pl.Int64)
        found = items.filter("right", pl.col("rank") <= size).group_by(KEYS).agg(right=pl.len().cast(pl.Int64))
        rows = rows.join(found, on=KEYS, how="left", maintain_order="left").with_columns(pl.col("right").fill_null(0))
        counts = {"tp": pl.col("right"), "fp": size - pl.col("right"), "fn": pl.col("asked") - pl.col("right")}
    return rows.select(*KEYS, *UNSCOPED, "asked", ignored=pl.lit(0, pl.Int64), **counts)


_VALUES: Mapping[str, pl.Expr] = {
    "mrr": 1 / pl.col("rank").min(),
    "map": ((pl.col("rank").rank("ordinal") / pl.col("rank")).sum() / pl.col("asked").first()),
}

Ranking = Callable[[Case, Matching], tuple[pl.DataFrame, pl.DataFrame]]
"""What makes a ranking of a case: items and what is asked for."""


sa2kb = _at_measure("Sa2KB", "text given; annotations ranked by confidence", ranked_annotations, a2kb)
sc2kb = _at_measure("Sc2KB", "text given; entities of documents ranked by confidence", ranked_entities, c2kb)
rc2kb = _at_measure("Rc2KB", "text given; entities of documents in their rank", ranked_entities, None)
