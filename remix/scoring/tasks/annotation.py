"""Mentions compared one by one: A2KB, D2KB, ERec, NIL and accuracy by span and link, candidates by what is offered."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.dense import look_up
from remix.errors import UnknownName
from remix.expressions import sum_up
from remix.scoring.inputs.case_tables import NIL, Counts
from remix.scoring.matching import Case, Matching
from remix.scoring.statistics import UNSCOPED
from remix.scoring.tasks import Task, narrow, tally, with_candidates

a2kb = Task(
    "A2KB",
    "text given; spans and links compared",
    lambda case, matching: tally(case, "link", matching),
    by_document=True,
)
d2kb = Task(
    "D2KB",
    "text and spans given; links compared, on gold spans only",
    lambda case, matching: tally(case, "link", matching, on_mention_only=True),
    given_spans=True,
    by_document=True,
)
erec = Task(
    "ERec",
    "text given; spans compared, whatever they link to: each counts once",
    lambda case, matching: tally(case.of_spans, "span", matching),
    by_document=True,
)
nil = replace(narrow(erec, "nil"), name="NIL", summary="text given; spans of mentions without an entity compared")


ACCURACIES = {
    "own": "among right spans of the system (ELEVANT, EUEF)",
    "shared": "among the mentions whose spans all compared systems have, so that all answer the same",
}


def _accuracy(measure: str) -> Task:
    if measure not in ACCURACIES:
        raise UnknownName("measure of accuracy", measure, ACCURACIES)

    def count(case: Case, matching: Matching) -> Counts:
        """Return TP: mentions with a right span and link, FP and FN: with a right span and a wrong link."""
        keys = ["system", "doc", "group"]
        spans = case.judge("span, link first", matching).groups.select(keys).unique()
        if measure == "shared":
            spans = spans.filter(pl.len().over("doc", "group") == len(case.mentions.systems))
        links = case.judge("link", matching).groups.select(*keys, right=pl.lit(True)).unique()
        rows = spans.join(links, on=keys, how="left").with_columns(pl.col("right").fill_null(False))
        counts = rows.group_by("system", "doc").agg(tp=pl.col("right").sum(), fp=(~pl.col("right")).sum())
        counts = counts.with_columns(pl.col("tp", "fp").cast(pl.Int64), *UNSCOPED, ignored=pl.lit(0, pl.Int64))
        return counts.with_columns(fn="fp")

    summary = f"text given; right links {ACCURACIES[measure]}: P = R = F1 is the accuracy"
    return Task("accuracy", summary, count, _accuracy, takes=("measure",), by_document=measure == "own")


accuracy = _accuracy("own")


OFFERS = {
    "gold": "of all linked mentions of gold",
    "recognised": "of the linked mentions that the system recognised: the upper bound of its disambiguation",
    "mrr": "of all linked mentions of gold, each worth 1 / the rank of its entity (mean reciprocal rank)",
}


def _candidates(measure: str) -> Task:
    if measure not in OFFERS:
        raise UnknownName("measure of candidates", measure, OFFERS)

    def count(case: Case, matching: Matching) -> Counts:
        """Return how many linked mentions have their entity among the candidates (EUEF's CM), and how many have not."""
        kept = case.kept.filter(pl.col("link") != NIL)
        found = pl.when("held").then(1 / pl.col("rank") if measure == "mrr" else pl.lit(1, pl.Int64)).otherwise(0)
        pairs = look_up(look_up(matching.pairs(case), "mention", kept, ["group"]), "answer", case.answers, ["system"])
        offered = with_candidates(case, pairs.filter(matching.spans)).group_by("system", "group").agg(right=found.max())
        asked = case.mentions.for_each_system(kept.select("doc", "group").unique())
        rows = asked.join(offered, on=["system", "group"], how="left")
        if measure == "recognised":
            rows = rows.drop_nulls("right")
        right = pl.col("right").fill_null(0)
        wrong = (1 - pl.col("right")).fill_null(0)
        rows = rows.sort("system", "doc", "group")
        counts = sum_up(rows, ["system", "doc"], tp=right.sum(), fp=wrong.sum(), fn=(1 - right).sum())
        return counts.with_columns(*UNSCOPED, ignored=pl.lit(0, pl.Int64))

    summary = f"text given; gold's entity in the candidate set, {OFFERS[measure]}"
    return Task("candidates", summary, count, _candidates, takes=("measure",), by_document=True)


candidates = _candidates("gold")
