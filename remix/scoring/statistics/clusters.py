"""Clusters of mentions against clusters of mentions: MUC, B³, CEAF, pairs.

Each measure is a share of each cell of the table of gold clusters by answered clusters, and a whole of each cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from remix.expressions import sum_up
from remix.scoring.matching.pairs import assign_most


@dataclass(frozen=True)
class ClusterMeasure:
    """What clusters have in common.

    `gold` and `answered` are expressions over cells: what a cell adds to recall and to precision, of `shared` items,
    clusters of `gold_size` and `answered_size`, `gold_shared` and `answered_shared` (items of the cluster that the
    other side has at all), `all_shared`. `whole` is an expression over clusters: of `size` and `total` (items).
    `assigned`: only the cells of the best one-to-one assignment of clusters count.

    An item in several clusters of one side has its home in one of them. `at_home` are the items of a cell that have it
    in both its clusters, or of a cluster, `met_gold` and `met_answered` those of the gold cluster, or of the answered
    one, that have it in the other. With `homes` items are in the cluster of their home alone.
    """

    summary: str
    gold: pl.Expr
    answered: pl.Expr
    whole: pl.Expr
    assigned: bool = False
    homes: bool = True


_shared, _size = pl.col("shared"), pl.col("size")
_dice = _shared / (pl.col("gold_size") + pl.col("answered_size"))
_pairs = _shared * (_shared - 1) / 2
_apart = _shared * (pl.col("all_shared") - pl.col("gold_shared") - pl.col("answered_shared") + _shared) / 2

CLUSTER_MEASURES: Mapping[str, ClusterMeasure] = {
    "muc": ClusterMeasure(
        "links needed to join clusters (Vilain et al. 1995)",
        (pl.col("met_gold") - 1).clip(0),
        (pl.col("met_answered") - 1).clip(0),
        _size - 1,
        homes=False,
    ),
    "b_cubed": ClusterMeasure(
        "share of a mention's cluster, summed over mentions (Bagga and Baldwin 1998)",
        pl.col("at_home") * _shared / pl.col("gold_size"),
        pl.col("at_home") * _shared / pl.col("answered_size"),
        pl.col("at_home"),
        homes=False,
    ),
    "mention_ceaf": ClusterMeasure(
        "shared mentions of assigned clusters (Luo 2005, φ3)", _shared, _shared, _size, assigned=True
    ),
    "entity_ceaf": ClusterMeasure(
        "half of the Dice coefficient of assigned clusters (Luo 2005, φ4)", _dice, _dice, pl.lit(0.5), assigned=True
    ),
    "pairwise": ClusterMeasure(
        "pairs of mentions in one cluster (BLANC's coreference links)",
        _pairs,
        _pairs,
        _size * (_size - 1) / 2,
        homes=False,
    ),
    "pairwise_negative": ClusterMeasure(
        "pairs of mentions in different clusters (BLANC's non-coreference links)",
        _apart,
        _apart,
        _size * (pl.col("total") - _size) / 2,
    ),
}


def cluster_counts(gold: pl.DataFrame, answers: pl.DataFrame, measure: str) -> pl.DataFrame:
    """Return system, doc, tp, fp, tp_of_gold, fn of the clusters of each system; `doc` is a cluster's first.

    Both tables have `system`, `doc`, `item` (what is clustered, one number for the same item of both sides) and
    `cluster`. Of several clusters of one side an item has its home in the one that begins last.

    >>> whole = pl.DataFrame({"system": [0] * 3, "doc": [0] * 3, "item": [1, 2, 3], "cluster": ["a"] * 3})
    >>> parts = whole.with_columns(cluster=pl.Series(["x", "x", "y"]))
    >>> cluster_counts(whole, parts, "muc").select("tp", "fp", "tp_of_gold", "fn").rows()  # one of two links
    [(1.0, 0.0, 1.0, 1.0)]
    """
    how = CLUSTER_MEASURES[measure]
    left, right = _number(gold, "gold", how), _number(answers, "answered", how)
    at_gold, at_answered = pl.col("home"), pl.col("home_right")
    told = {"met_gold": at_answered.sum(), "met_answered": at_gold.sum(), "at_home": (at_gold & at_answered).sum()}
    both = left.join(right, on=["system", "item"])
    cells = both.group_by("system", "gold", "answered").agg(shared=pl.len(), **told)
    sizes = [_sizes(left, "gold", how), _sizes(right, "answered", how)]
    cells = cells.with_columns(
        pl.col("shared", *told).cast(pl.Float64),
        all_shared=pl.col("shared").sum().over("system").cast(pl.Float64),
        gold_shared=pl.col("shared").sum().over("system", "gold").cast(pl.Float64),
        answered_shared=pl.col("shared").sum().over("system", "answered").cast(pl.Float64),
    )
    for name, table in zip(("gold", "answered"), sizes, strict=True):
        table = table.select("system", name, pl.col("size").alias(f"{name}_size"))
        cells = cells.join(table, on=["system", name])
    cells = cells.with_columns(of_gold=how.gold.cast(pl.Float64), of_answered=how.answered.cast(pl.Float64))
    cells = cells.sort("system", "gold", "answered")  # sums of floats depend on their order
    if how.assigned:
        cells = assign_most(cells.sort("gold", "answered"), ["gold"], "answered", "of_gold")
    found = _against(sizes[0], cells, "gold").rename({"found": "tp_of_gold", "missed": "fn"})
    right_counts = _against(sizes[1], cells, "answered").rename({"found": "tp", "missed": "fp"})
    both = right_counts.join(found, on=["system", "doc"], how="full", coalesce=True)
    return both.select("system", "doc", pl.col("tp", "fp", "tp_of_gold", "fn").fill_null(0.0)).sort("system", "doc")


def _number(rows: pl.DataFrame, name: str, how: ClusterMeasure) -> pl.DataFrame:
    """Return system, doc, item, the number of its cluster under a name, and `home`, whether its home is there."""
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    rows = rows.with_columns(place=place).with_columns(begins=pl.col("place").min().over("system", "cluster"))
    rows = rows.unique(["system", "item", "cluster"], keep="first", maintain_order=True)
    number = pl.struct("system", "cluster").rank("dense").cast(pl.Int64).alias(name)
    home = pl.col("begins") == pl.col("begins").max().over("system", "item")
    numbered = rows.select("system", "doc", "item", number, home=home)
    return numbered.filter("home") if how.homes else numbered


def _sizes(rows: pl.DataFrame, name: str, how: ClusterMeasure) -> pl.DataFrame:
    """Return system, the cluster, its first document, its `size` and its `whole`."""
    told = {"size": pl.len().cast(pl.Float64), "at_home": pl.col("home").sum().cast(pl.Float64)}
    sizes = rows.group_by("system", name).agg(doc=pl.col("doc").min(), **told)
    sizes = sizes.with_columns(total=pl.col("size").sum().over("system"))
    return sizes.with_columns(whole=how.whole.cast(pl.Float64)).drop("total", "at_home")


def _against(sizes: pl.DataFrame, cells: pl.DataFrame, name: str) -> pl.DataFrame:
    shares = sum_up(cells, ["system", name], found=pl.col(f"of_{name}").sum())
    rows = sizes.join(shares, on=["system", name], how="left").with_columns(pl.col("found").fill_null(0.0))
    rows = rows.sort("system", "doc", name)
    found = pl.col("found")
    return sum_up(rows, ["system", "doc"], found.sum(), missed=(pl.col("whole") - found).sum())
