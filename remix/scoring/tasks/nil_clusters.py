"""NIL-clusters: the system gets the text; which NIL mentions are of one entity is compared."""

from __future__ import annotations

import polars as pl

from remix.errors import UnknownName
from remix.expressions import fill
from remix.scoring.inputs.mentions import NIL
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

    def count(case: Case, matching: Matching) -> pl.DataFrame:
        """Return the counts of a measure of clusters, for NIL mentions on the same span and of one system."""
        case = with_detail(case, "cluster")
        # What is ignorable takes no part on either side.
        free = case.gold.filter(pl.col("ignorable").is_not_null()).select(_PLACE)
        gold = case.mentions.for_each_system(case.kept.filter(pl.col("link") == NIL))
        answers = case.answers.filter((pl.col("link") == NIL) & pl.col("inside")).join(free, on=_PLACE, how="anti")
        both = pl.concat(
            [
                side.select("system", *_PLACE, _cluster(), side=pl.lit(name))
                for name, side in (("gold", gold), ("answer", answers))
            ]
        )
        both = both.with_columns(item=pl.struct(_PLACE).rank("dense").cast(pl.Int64))
        columns = ["system", "doc", "item", "cluster"]
        sides = [both.filter(side=name).select(columns) for name in ("gold", "answer")]
        return cluster_counts(sides[0], sides[1], measure).with_columns(*UNSCOPED, ignored=pl.lit(0, pl.Int64))

    summary = CLUSTER_MEASURES[measure].summary
    return Task(
        "NIL-clusters", f"text given; clusters of NIL mentions compared: {summary}", count, _at, takes=("measure",)
    )


def _cluster() -> pl.Expr:
    """Return the cluster of a mention; a mention that names none is alone in its own."""
    alone = fill("{} {} {}", *_PLACE)
    return pl.coalesce(fill("named {}", "cluster"), alone).alias("cluster")


nil_clusters = _at(DEFAULT)
