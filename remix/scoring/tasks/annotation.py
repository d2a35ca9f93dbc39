"""A2KB, D2KB, ERec, NIL and accuracy: mentions are compared one by one, by span and link or by span alone."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.errors import UnknownName
from remix.scoring.matching import Case, Matching
from remix.scoring.statistics import UNSCOPED
from remix.scoring.tasks import Task, narrow, tally


def _links(case: Case, matching: Matching) -> pl.DataFrame:
    return tally(case, "link", matching)


def _links_on_mentions(case: Case, matching: Matching) -> pl.DataFrame:
    return tally(case, "link", matching, on_mention_only=True)


def _spans(case: Case, matching: Matching) -> pl.DataFrame:
    return tally(case, "span", matching)


a2kb = Task("A2KB", "text given; spans and links compared", _links)
d2kb = Task("D2KB", "text and spans given; links compared, on gold spans only", _links_on_mentions, given_spans=True)
erec = Task("ERec", "text given; spans compared, whatever they link to", _spans)
nil = replace(narrow(erec, "nil"), name="NIL", summary="text given; spans of mentions without an entity compared")


MEASURES = {
    "own": "among right spans of the system (ELEVANT, EUEF)",
    "shared": "among the mentions whose spans all compared systems have, so that all answer the same",
}


def _at(measure: str) -> Task:
    if measure not in MEASURES:
        raise UnknownName("measure of accuracy", measure, MEASURES)

    def count(case: Case, matching: Matching) -> pl.DataFrame:
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

    summary = f"text given; right links {MEASURES[measure]}: P = R = F1 is the accuracy"
    return Task("accuracy", summary, count, _at, takes=("measure",))


accuracy = _at("own")
