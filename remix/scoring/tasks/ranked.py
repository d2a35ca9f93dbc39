"""Sa2KB, Sc2KB and Rc2KB: as A2KB and C2KB, answers having a confidence or a rank (Cornolti et al. 2013)."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.errors import UsageError
from remix.scoring.cases import Case
from remix.scoring.conventions.threshold import threshold_on_test
from remix.scoring.details import with_detail
from remix.scoring.matchings import Matching
from remix.scoring.ranked import MEASURES, Ranking, ranked_annotations, ranked_counts, ranked_entities, require_measure
from remix.scoring.tasks import Task
from remix.scoring.tasks.a2kb import a2kb
from remix.scoring.tasks.c2kb import c2kb

DEFAULT = "map"
ORACLE = "oracle"
"""The threshold that is best on this very gold: an upper bound, no score of a system."""


def _measured(name: str, summary: str, ranking: Ranking, base: Task | None, measure: str = DEFAULT) -> Task:
    """Return the task by a measure of rankings; with `base`, it takes a threshold, too, above which that is counted."""
    require_measure(measure)

    def count(case: Case, matching: Matching) -> pl.DataFrame:
        items, asked = ranking(case, matching)
        return ranked_counts(case, items, asked, measure)

    def at(measure: str = "", threshold: str = "") -> Task:
        if base is not None and threshold:
            return _above(name, base, threshold)
        return replace(_measured(name, summary, ranking, base, measure), takes=())

    takes = ("measure", "threshold") if base is not None else ("measure",)
    told = MEASURES["p@K" if measure.startswith("p@") else measure]
    return Task(name, f"{summary}: {told}", count, at, takes)


def _above(name: str, base: Task, threshold: str) -> Task:
    """Return the task that counts the answers whose confidence is above the threshold, and those without one."""
    above = _number(threshold) if threshold != ORACLE else 0.0

    def fixed(case: Case, matching: Matching) -> pl.DataFrame:
        kept = pl.col("confidence").is_null() | (pl.col("confidence") > above)
        answers = with_detail(case, "confidence").answers.filter(kept).select("a")
        chosen = case.answers.join(answers, on="a", how="semi", maintain_order="left")
        return base.count(replace(case, answers=chosen, _judged={}), matching)

    def best(case: Case, matching: Matching) -> pl.DataFrame:
        chosen = threshold_on_test.choose(case, base.name, matching.name, lambda one, *_: base.count(one, matching))
        return base.count(chosen, matching)

    told = f"{base.summary}; answers of a confidence above {threshold}"
    if threshold == ORACLE:
        told = f"{base.summary}; answers above the confidence that is best on this very gold"
    return Task(name, told, best if threshold == ORACLE else fixed)


def _number(threshold: str) -> float:
    try:
        return float(threshold)
    except ValueError:
        raise UsageError(f"a threshold is a number or '{ORACLE}', not '{threshold}'") from None


sa2kb = _measured("Sa2KB", "text given; annotations ranked by confidence", ranked_annotations, a2kb)
sc2kb = _measured("Sc2KB", "text given; entities of documents ranked by confidence", ranked_entities, c2kb)
rc2kb = _measured("Rc2KB", "text given; entities of documents in their rank", ranked_entities, None)
