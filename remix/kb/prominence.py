"""Prominence of entities: PageRank and HITS over the link graph, ranks, percentiles and segments.

Both algorithms see one graph: every edge once, however often it is linked, and no edge from a node to itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from remix.errors import Error

__all__ = ["SEGMENTS", "hits", "link_matrix", "pagerank", "placed", "prominence"]

Vector = NDArray[np.float64]
SEGMENTS: dict[str, float] = {"head": 0.10, "torso": 0.55, "tail": 1.0}
"""The segments of the remixing paper, section 2.4, by the share of the population that is strictly better."""


def link_matrix(links: pl.DataFrame) -> tuple[pl.Series, sparse.csr_array]:
    """Return the nodes, sorted, and the matrix whose row is an edge's source and whose column is its target.

    `links` has the columns source and target; repeated edges count once, self-loops are dropped, but a node that
    has nothing else stays a node.
    """
    nodes = pl.concat([links["source"], links["target"].rename("source")]).drop_nulls().unique().sort()
    index = pl.DataFrame({"node": nodes, "number": np.arange(len(nodes), dtype=np.int64)})
    edges = (
        links.lazy()
        .filter(pl.col("source") != pl.col("target"))
        .join(index.lazy().rename({"node": "source", "number": "row"}), on="source")
        .join(index.lazy().rename({"node": "target", "number": "column"}), on="target")
        .select("row", "column")
        .unique()
        .sort("row", "column")
        .collect()
    )
    places = (edges["row"].to_numpy(), edges["column"].to_numpy())
    matrix = sparse.coo_array((np.ones(edges.height), places), shape=(len(nodes), len(nodes))).tocsr()
    return nodes.rename("entity"), matrix


def pagerank(
    matrix: sparse.csr_array, *, damping: float = 0.85, tolerance: float = 1e-12, iterations: int = 1000
) -> Vector:
    """Return the PageRank of each node; the ranks sum up to 1.

    The rank of nodes without outgoing edges is spread evenly over all nodes. Iteration ends when the sum of the
    changes is below the tolerance. Source: Page et al., The PageRank Citation Ranking, 1999.
    """
    count = matrix.shape[0]
    if not count:
        return np.zeros(0)
    out = np.asarray(matrix.sum(axis=1)).ravel()
    dangling = out == 0
    share = np.divide(1.0, out, out=np.zeros(count), where=~dangling)
    incoming = matrix.T.tocsr()

    def step(ranks: Vector) -> Vector:
        lost = ranks[dangling].sum() / count
        moved: Vector = damping * (incoming @ (ranks * share) + lost) + (1.0 - damping) / count
        return moved

    return _fixed_point(step, np.full(count, 1.0 / count), tolerance, iterations, "PageRank")


def hits(matrix: sparse.csr_array, *, tolerance: float = 1e-12, iterations: int = 10_000) -> tuple[Vector, Vector]:
    """Return the authority and the hub score of each node; each vector sums up to 1.

    The iteration starts from equal scores, which decides where the graph falls into components of equal weight.
    Without any edge all scores are 0. Source: Kleinberg, Authoritative Sources in a Hyperlinked Environment, 1999.
    """
    count = matrix.shape[0]
    if not matrix.nnz:
        return np.zeros(count), np.zeros(count)
    incoming = matrix.T.tocsr()

    def step(authorities: Vector) -> Vector:
        return _summing_to_one(incoming @ (matrix @ authorities))

    authorities = _fixed_point(step, np.full(count, 1.0 / count), tolerance, iterations, "HITS")
    return authorities, _summing_to_one(matrix @ authorities)


def _summing_to_one(vector: Vector) -> Vector:
    scaled: Vector = vector / vector.sum()
    return scaled


def _fixed_point(
    step: Callable[[Vector], Vector], start: Vector, tolerance: float, iterations: int, name: str
) -> Vector:
    vector = start
    for _ in range(iterations):
        moved = step(vector)
        change = np.abs(moved - vector).sum()
        vector = moved
        if change < tolerance:
            return vector
    raise Error(f"{name} has not settled after {iterations} iterations: allow a larger tolerance than {tolerance:g}")


def placed(frame: pl.DataFrame, score: str) -> pl.DataFrame:
    """Return the frame with rank, percentile and segment of a score among all rows that have one.

    Ranks begin at 1 and ties share the better one. The percentile is 100 for the best and falls by the share of
    rows that are strictly better; ties so share the better segment, too.

    >>> for row in placed(pl.DataFrame({"s": [3.0, 1.0, 1.0, None]}), "s").rows():
    ...     print(row)
    (3.0, 1, 100.0, 'head')
    (1.0, 2, 66.6666666667, 'torso')
    (1.0, 2, 66.6666666667, 'torso')
    (None, None, None, None)
    """
    rank = pl.col(score).rank("min", descending=True).cast(pl.Int64)
    # polars divides by multiplying with the reciprocal: 213 of 2130 come out below 0.1, and would be head.
    better = ((rank - 1) / pl.col(score).count()).round(12)
    segment = (
        pl.when(better < SEGMENTS["head"])
        .then(pl.lit("head"))
        .when(better < SEGMENTS["torso"])
        .then(pl.lit("torso"))
        .when(better < SEGMENTS["tail"])
        .then(pl.lit("tail"))
    )
    return frame.with_columns(
        rank.alias(f"{score}_rank"),
        (100 * (1 - better)).round(10).alias(f"{score}_percentile"),
        segment.alias(f"{score}_segment"),
    )


def prominence(links: pl.DataFrame, *, damping: float = 0.85, tolerance: float = 1e-12) -> pl.DataFrame:
    """Return entity, pagerank, hits (authority) and hub of every node of the link graph, each with its place."""
    nodes, matrix = link_matrix(links)
    authorities, hubs = hits(matrix, tolerance=tolerance)
    ranks = pagerank(matrix, damping=damping, tolerance=tolerance)
    # Summation in another order changes the last digits: scores that are equal in truth must tie.
    scores = pl.DataFrame({"entity": nodes, "pagerank": ranks, "hits": authorities, "hub": hubs}).with_columns(
        pl.col("pagerank", "hits", "hub").round_sig_figs(12)
    )
    for score in ("pagerank", "hits", "hub"):
        scores = placed(scores, score)
    return scores
