"""Which answers are confident enough."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.scoring.conventions import Choosing, Counter
from remix.scoring.matching.cases import Case, with_detail
from remix.scoring.statistics.thresholds import best_thresholds, confident, sums_by_threshold


def _all(case: Case, task: str, matching: str, count: Counter) -> Case:
    return case


def _best_on_test(case: Case, task: str, matching: str, count: Counter) -> Case:
    """Return the case with the answers above the threshold that gives the best micro-F1 on this very gold.

    Each system has a threshold of its own in each dataset, the lowest of the best; linked and NIL mentions have that
    of the whole. Without confidence nothing changes.
    """
    places = case.mentions.documents.select("doc", "dataset")

    def best(whole: Case) -> pl.DataFrame:
        """Return the thresholds that are best for all mentions."""
        return best_thresholds(sums_by_threshold(whole, task, matching, count, places))

    chosen: pl.DataFrame = (case.whole or case).once(("thresholds", task, matching, count), best)
    if chosen.is_empty():
        return case
    case = with_detail(case, "confidence")
    answers = case.answers.join(places, on="doc", maintain_order="left")
    answers = answers.join(chosen, on=["system", "dataset"], how="left", maintain_order="left").filter(confident())
    answers = case.answers.join(answers, on="a", how="semi", maintain_order="left")
    return replace(case, answers=answers, thresholds=chosen, _judged={})


threshold_none = Choosing(aspect="threshold", name="threshold-none", words="every answer counts", choose=_all)
threshold_on_test = Choosing(
    aspect="threshold",
    name="threshold-on-test",
    words="answers count above the confidence that gives the best micro-F1 on this very gold, the lowest such one",
    choose=_best_on_test,
)
