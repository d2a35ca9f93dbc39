"""NIL-clusters: the system gets the text; which NIL mentions are of one entity is compared."""

from __future__ import annotations

import polars as pl

from remix.errors import UnknownName
from remix.expressions import fill
from remix.scoring.inputs.case_tables import NIL, Counts
from remix.scoring.matching import Case, Matching, with_detail
from remix.scoring.statistics import UNSCOPED
from remix.scoring.statistics.clusters import CLUSTER_MEASURES, cluster_counts
from remix.scoring.tasks import Task, refuse_counts

DEFAULT = "b_cubed"
BLANC = ("pairwise", "pairwise_negative")
"""The links whose scores BLANC is the mean of (Recasens and Hovy 2011)."""
_PLACE = ["doc", "begin", "end"]


def _at(measure: str) -> Task:
    if measure == "blanc":
        parts = tuple(f"NIL-clusters(measure={one})" for one in BLANC)
        return Task("NIL-clusters", "text given; mean of both kinds of pairs", refuse_counts, parts=parts)
    if measure not in CLUSTER_MEASURES:
        raise UnknownName("measure of clusters", measure, [*CLUSTER_MEASURES, "blanc"])

    def count(case: Case, matching: Matching) -> Counts:
        """Return the counts of a measure of clusters, for NIL mentions on the same span and of one system."""
        case = with_detail(case.placed, "cluster")
        # What is ignorable takes no part on either side.
        free = case.gold.filter(pl.col("ignorable").is_not_null()).select(_PLACE)
        gold = case.mentions.for_each_system(case.kept.filter(pl.col("link") == NIL))
        answers = case.answers.filter((pl.col("link") == NIL) & pl.col("inside")).join(free, on=_PLACE, how="anti")
        every = {"gold": gold, "answer": answers}
        both = pl.concat(rows.select("system", *_PLACE, "cluster", side=pl.lit(side)) for side, rows in every.items())
        # A mention that names no cluster is alone in its own.
        cluster = pl.coalesce(fill("named {}", "cluster"), fill("{} {} {}", *_PLACE))
        both = both.with_columns(cluster=cluster, item=pl.struct(_PLACE).rank("dense").cast(pl.Int64))
        columns = ["system", "doc", "item", "cluster"]
        sides = [both.filter(side=name).select(columns) for name in ("gold", "answer")]
        return cluster_counts(sides[0], sides[1], measure).with_columns(*UNSCOPED, ignored=pl.lit(0, pl.Int64))

    summary = CLUSTER_MEASURES[measure].summary
    return Task(
        "NIL-clusters", f"text given; clusters of NIL mentions compared: {summary}", count, _at, takes=("measure",)
    )


nil_clusters = _at(DEFAULT)
