"""Prominence of entities: PageRank and HITS over the link graph, ranks, percentiles and segments.

Both algorithms see one graph: every edge once, however often it is linked, and no edge from a node to itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from remix.errors import Error
from remix.kb.placing import placed

if TYPE_CHECKING:
    import networkx

__all__ = ["hits", "link_matrix", "pagerank", "prominence", "scores_of"]

Vector = NDArray[np.float64]
Matrix = sparse.csr_array | sparse.csc_array
BLOCKS, LARGE = 4, 1 << 20
"""Pieces for threads of a matrix, and how many edges it must have to be worth it."""


def link_matrix(links: pl.DataFrame) -> tuple[pl.Series, sparse.csc_array]:
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
        .sort("column", "row")
        .collect()
    )
    places = (edges["row"].to_numpy(), edges["column"].to_numpy())
    matrix = sparse.coo_array((np.ones(edges.height), places), shape=(len(nodes), len(nodes))).tocsc()
    return nodes.rename("entity"), matrix


class _Products:
    """The products of a link matrix and of its transpose with a vector, both out of one copy of the edges.

    The columns are cut into blocks of equally many edges for the threads: scipy lets other threads run in a product.
    The number of blocks follows from the edges alone, so that sums are added up in the same order everywhere.
    """

    def __init__(self, matrix: Matrix) -> None:
        columns = matrix.tocsc()
        starts, count = columns.indptr, columns.shape[1]
        cuts = np.linspace(0, columns.nnz, BLOCKS + 1 if columns.nnz >= LARGE else 2)
        self._places = np.searchsorted(starts, cuts)
        self._places[0], self._places[-1] = 0, count
        self._blocks = [_rows(columns, a, b) for a, b in pairwise(self._places)]

    def incoming(self, values: Vector) -> Vector:
        """Return for each node the sum of the values of the nodes that link to it."""
        return np.concatenate(self._each(lambda number: self._blocks[number] @ values))

    def outgoing(self, values: Vector) -> Vector:
        """Return for each node the sum of the values of the nodes that it links to."""
        places = self._places
        sums = self._each(lambda number: self._blocks[number].T @ values[places[number] : places[number + 1]])
        return reduce(np.add, sums)

    def _each(self, product: Callable[[int], Vector]) -> list[Vector]:
        if len(self._blocks) == 1:
            return [product(0)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(product, range(len(self._blocks))))


def _rows(columns: sparse.csc_array, first: int, last: int) -> sparse.csr_array:
    """Return the columns from first to last as the rows of a matrix that shares their memory."""
    starts = columns.indptr[first : last + 1]
    block: sparse.csr_array = sparse.csr_array((last - first, columns.shape[0]))
    # Given to the constructor, a small part of a large array would be copied.
    block.data, block.indices = columns.data[starts[0] : starts[-1]], columns.indices[starts[0] : starts[-1]]
    block.indptr = starts - starts[0]
    return block


def pagerank(matrix: Matrix, *, damping: float = 0.85, tolerance: float = 1e-12, iterations: int = 1000) -> Vector:
    """Return the PageRank of each node; the ranks sum up to 1.

    The row of an edge in the matrix is its source; a matrix in compressed columns is not copied. The rank of nodes
    without outgoing edges is spread evenly over all nodes. Iteration ends when the sum of the changes is below the
    tolerance. Raises `Error` where it does not. Source: Page et al., The PageRank Citation Ranking, 1999.
    """
    count = matrix.shape[0]
    if not count:
        return np.zeros(0)
    products = _Products(matrix)
    out = products.outgoing(np.ones(count))
    dangling = out == 0
    share = np.divide(1.0, out, out=np.zeros(count), where=~dangling)

    def step(ranks: Vector) -> Vector:
        lost = ranks[dangling].sum() / count
        moved: Vector = damping * (products.incoming(ranks * share) + lost) + (1.0 - damping) / count
        return moved

    return _fixed_point(step, np.full(count, 1.0 / count), tolerance, iterations, "PageRank")


def hits(matrix: Matrix, *, tolerance: float = 1e-12, iterations: int = 10_000) -> tuple[Vector, Vector]:
    """Return the authority and the hub score of each node; each vector sums up to 1.

    The matrix is as for `pagerank`. The iteration starts from equal scores, which decides where the graph falls into
    components of equal weight. Without any edge all scores are 0. Raises `Error` where the scores do not settle.
    Source: Kleinberg, Authoritative Sources in a Hyperlinked Environment, 1999.
    """
    count = matrix.shape[0]
    if not matrix.nnz:
        return np.zeros(count), np.zeros(count)
    products = _Products(matrix)

    def step(authorities: Vector) -> Vector:
        return _summing_to_one(products.incoming(products.outgoing(authorities)))

    authorities = _fixed_point(step, np.full(count, 1.0 / count), tolerance, iterations, "HITS")
    return authorities, _summing_to_one(products.outgoing(authorities))


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


def scores_of(matrix: Matrix, *, damping: float = 0.85, tolerance: float = 1e-12) -> pl.DataFrame:
    """Return in_degree, out_degree, pagerank, hits (authority) and hub of every node, the last three with their places.

    The rows are in the order of the nodes; the matrix is as for `pagerank`.
    """
    authorities, hubs = hits(matrix, tolerance=tolerance)
    ranks = pagerank(matrix, damping=damping, tolerance=tolerance)
    degrees = {"in_degree": matrix.sum(axis=0), "out_degree": matrix.sum(axis=1)}
    # Summation in another order changes the last digits: scores that are equal in truth must tie.
    scores = pl.DataFrame(degrees).cast(pl.Int64)
    scores = scores.with_columns(
        pl.Series(name, values).round_sig_figs(12)
        for name, values in (("pagerank", ranks), ("hits", authorities), ("hub", hubs))
    )
    for score in ("pagerank", "hits", "hub"):
        scores = placed(scores, score)
    return scores


def prominence(
    links: pl.DataFrame | networkx.Graph, *, damping: float = 0.85, tolerance: float = 1e-12
) -> pl.DataFrame:
    """Return entity, degrees, pagerank, hits (authority) and hub of every node of the link graph, each with its place.

    The graph is a frame (source, target) or one of networkx, whose nodes are then named by `str`; an edge of an
    undirected graph leads both ways. The rows are sorted by entity.

    >>> import networkx
    >>> scores = prominence(networkx.DiGraph([("a", "b"), ("c", "b"), ("b", "a")]))
    >>> scores.select("entity", "in_degree", "pagerank_rank").rows()
    [('a', 1, 2), ('b', 2, 1), ('c', 0, 3)]
    """
    nodes, matrix = link_matrix(links if isinstance(links, pl.DataFrame) else _links(links))
    scores = scores_of(matrix, damping=damping, tolerance=tolerance)
    return pl.concat([nodes.to_frame(), scores], how="horizontal")


def _links(graph: networkx.Graph) -> pl.DataFrame:
    """Return the edges of a graph of networkx, and an edge from each node to itself, which is none but its node."""
    ends = [(str(source), str(target)) for source, target in graph.edges()]
    if not graph.is_directed():
        ends += [(target, source) for source, target in ends]
    ends += [(str(node), str(node)) for node in graph]
    return pl.DataFrame(ends, schema={"source": pl.String, "target": pl.String}, orient="row")
