"""Prominence of entities: PageRank and HITS over the link graph, ranks, percentiles and segments.

Both algorithms see one graph: every edge once, however often it is linked, and no edge from a node to itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse._sparsetools import coo_matvec

from remix.errors import Error
from remix.kb.prominence import SCORES, add_places, add_ranks

if TYPE_CHECKING:
    import networkx


def link_matrix(links: pl.DataFrame) -> tuple[pl.Series, sparse.csc_array]:
    """Return the nodes, sorted, and the matrix whose row is an edge's source and whose column is its target.

    `links` has the columns source and target; repeated edges count once, self-loops are dropped, but a node that
    has nothing else stays a node.
    """
    nodes = pl.concat([links["source"], links["target"].rename("source")]).drop_nulls().unique().sort()
    edges = links.filter(pl.col("source") != pl.col("target")).unique().sort("target", "source")
    places = tuple(nodes.search_sorted(edges[end]).to_numpy() for end in ("source", "target"))
    matrix = sparse.coo_array((np.ones(edges.height), places), shape=(len(nodes), len(nodes))).tocsc()
    return nodes.rename("entity"), matrix


def pagerank(
    products: LinkProducts, *, damping: float = 0.85, tolerance: float = 1e-12, iterations: int = 1000
) -> Vector:
    """Return the PageRank of each node; the ranks sum up to 1.

    The rank of nodes without outgoing edges is spread evenly over all nodes. Iteration ends when the sum of the changes
    is below the tolerance. Raises `Error` where it does not. Source: Page et al., The PageRank Citation Ranking, 1999.
    """
    count = products.nodes
    if not count:
        return np.zeros(0)
    out = products.outgoing(np.ones(count))
    dangling = out == 0
    share = np.divide(1.0, out, out=np.zeros(count), where=~dangling)

    def step(ranks: Vector) -> Vector:
        lost = ranks[dangling].sum() / count
        moved: Vector = damping * (products.incoming(ranks * share) + lost) + (1.0 - damping) / count
        return moved

    return _fixed_point(step, np.full(count, 1.0 / count), tolerance, iterations, "PageRank")


def hits(products: LinkProducts, *, tolerance: float = 1e-12, iterations: int = 10_000) -> tuple[Vector, Vector]:
    """Return the authority and the hub score of each node; each vector sums up to 1.

    The iteration starts from equal scores, which decides where the graph falls into components of equal weight. Without
    any edge all scores are 0. Raises `Error` where the scores do not settle. Source: Kleinberg,
    Authoritative Sources in a Hyperlinked Environment, 1999.
    """
    count = products.nodes
    if not products.edges:
        return np.zeros(count), np.zeros(count)

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


def compute_scores(matrix: Matrix, *, damping: float = 0.85, tolerance: float = 1e-12) -> pl.DataFrame:
    """Return in_degree, out_degree, pagerank, hits (authority) and hub of every node, the last three with ranks.

    The rows are in the order of the nodes; the row of an edge in the matrix is its source. An authority or hub below
    the tolerance is no score but null: outside the component that carries the weight of HITS all are 0, whatever
    their order. PageRank is never below (1 - damping) / nodes.
    """
    products = LinkProducts(matrix)
    del matrix  # of a large graph it would be a fifth of all memory, where the caller has not kept it
    authorities, hubs = hits(products, tolerance=tolerance)
    ranks = pagerank(products, damping=damping, tolerance=tolerance)
    every = np.ones(products.nodes)
    degrees = {"in_degree": products.incoming(every), "out_degree": products.outgoing(every)}
    # Summation in another order changes the last digits: scores that are equal in truth must tie.
    scores = pl.DataFrame(degrees).cast(pl.Int64)
    scores = scores.with_columns(
        pl.Series(name, values).round_sig_figs(12)
        for name, values in (("pagerank", ranks), ("hits", authorities), ("hub", hubs))
    )
    settled = (pl.when(pl.col(name) >= tolerance).then(pl.col(name)).alias(name) for name in ("hits", "hub"))
    scores = scores.with_columns(settled)
    for score in SCORES:
        scores = add_ranks(scores, score)
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
    scores = compute_scores(matrix, damping=damping, tolerance=tolerance)
    for score in SCORES:
        scores = add_places(scores, score)
    return pl.concat([nodes.to_frame(), scores], how="horizontal")


def _links(graph: networkx.Graph) -> pl.DataFrame:
    """Return the edges of a graph of networkx, and an edge from each node to itself, which is none but its node."""
    ends = [(str(source), str(target)) for source, target in graph.edges()]
    if not graph.is_directed():
        ends += [(target, source) for source, target in ends]
    ends += [(str(node), str(node)) for node in graph]
    return pl.DataFrame(ends, schema={"source": pl.String, "target": pl.String}, orient="row")


Vector = NDArray[np.float64]
Places = NDArray[np.int32]
Matrix = sparse.csr_array | sparse.csc_array
Result = TypeVar("Result")

BAND = 1 << 18
"""Nodes in a band: 2 MB of a vector. Of 1 << 17 to 1 << 20 the fastest for 200 million edges, and no worse for 20."""
STEP = 1 << 15
"""Edges that scipy is given at once. It multiplies with the value of each, always 1: so many ones there must be."""
LARGE = 1 << 20
"""Edges from which on threads are worth it."""


class _Edges(NamedTuple):
    """Edges that lead from some nodes to some others, both as places in pieces of vectors."""

    sources: Places
    targets: Places


class _Band(NamedTuple):
    """The edges to a band of targets, once by source, from any node, and once by target, from each band of sources."""

    by_source: _Edges
    by_target: list[_Edges]


class LinkProducts:
    """The products of a link matrix and of its transpose with a vector.

    The row of an edge in the matrix is its source and the column its target; values are not looked at. An edge takes
    16 bytes, so that the matrix itself need not be kept. Each sum is added up by one thread in an order that follows
    from the matrix: it is the same to the last bit for any number of threads.

    >>> products = LinkProducts(sparse.csc_array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]))
    >>> products.incoming(np.array([1.0, 2.0, 4.0])).tolist()
    [0.0, 1.0, 3.0]
    >>> products.outgoing(np.array([1.0, 2.0, 4.0])).tolist()
    [6.0, 4.0, 0.0]
    """

    def __init__(self, matrix: Matrix) -> None:
        columns = matrix.tocsc()
        self.nodes: int = columns.shape[0]
        self.edges: int = columns.nnz
        self._ones = np.ones(STEP)
        self._firsts = range(0, self.nodes, BAND)
        self._bands = self._each(lambda first: _band(columns, first))

    def incoming(self, values: Vector) -> Vector:
        """Return for each node the sum of the values of the nodes that link to it."""
        sums = np.zeros(self.nodes)

        def add(first: int) -> None:
            edges = self._bands[first // BAND].by_source
            self._add(sums[first : first + BAND], edges.targets, values, edges.sources)

        self._each(add)
        return sums

    def outgoing(self, values: Vector) -> Vector:
        """Return for each node the sum of the values of the nodes that it links to."""
        sums = np.zeros(self.nodes)

        def add(first: int) -> None:
            for begin, band in zip(self._firsts, self._bands, strict=True):
                edges = band.by_target[first // BAND]
                self._add(sums[first : first + BAND], edges.sources, values[begin : begin + BAND], edges.targets)

        self._each(add)
        return sums

    def _add(self, sums: Vector, places: Places, values: Vector, origins: Places) -> None:
        for first in range(0, len(places), STEP):
            to, origin = places[first : first + STEP], origins[first : first + STEP]
            # The public `@` ends here, too, but for whole rows and with a value for every edge: for 50 million edges
            # it takes a third more CPU and half as long again (`bench/prominence.py --with remix,scipy`).
            coo_matvec(len(to), to, origin, self._ones, values, sums)

    def _each(self, work: Callable[[int], Result]) -> list[Result]:
        if self.edges < LARGE:
            return [work(first) for first in self._firsts]
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # numpy and scipy let other threads run
            return list(pool.map(work, self._firsts))


def _band(columns: sparse.csc_array, first: int) -> _Band:
    """Return the edges to the targets of the band that begins with a node."""
    band = columns[:, first : first + BAND]
    by_source = _edges(band.tocsr())  # in linear time, unlike sorting the edges
    edges = _edges(band)
    bands = (edges.sources // BAND).astype(np.uint16)  # of 16 bits numpy sorts in linear time
    order = np.argsort(bands, kind="stable")
    sources, targets = edges.sources[order] % np.int32(BAND), edges.targets[order]
    sizes = np.bincount(bands, minlength=-(-columns.shape[0] // BAND))
    cuts = pairwise(np.concatenate([[0], np.cumsum(sizes)]).tolist())
    return _Band(by_source, [_Edges(sources[begin:end], targets[begin:end]) for begin, end in cuts])


def _edges(matrix: Matrix) -> _Edges:
    """Return the edges in the order of the matrix."""
    places = matrix.tocoo()
    return _Edges(*(ends.astype(np.int32, copy=False) for ends in places.coords))
