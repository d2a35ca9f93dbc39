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
from scipy.sparse.csgraph import connected_components

from remix.errors import Error
from remix.kb.prominence import FADED, SCORES, add_places, add_ranks

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

    settled = _settle(step, np.full(count, 1.0 / count), tolerance, iterations)
    if settled is None:
        raise _unsettled_error("PageRank", iterations, tolerance)
    return settled[1]


def hits(products: LinkProducts, *, tolerance: float = 1e-12, iterations: int = 10_000) -> tuple[Vector, Vector]:
    """Return the authority and the hub score of each node; each vector sums up to 1.

    The scores are those to which the iteration from equal authorities leads. All weight is with the component that has
    the largest singular value, and elsewhere scores are 0; components are of nodes that share hubs, directly or by
    others. Where several have that value, as far as the tolerance tells, each has the share that equal authorities give
    it. Without any edge all scores are 0. Raises `Error` where the scores do not settle. Source: Kleinberg,
    Authoritative Sources in a Hyperlinked Environment, 1999.
    """
    count = products.nodes
    if not products.edges:
        return np.zeros(count), np.zeros(count)

    def step(authorities: Vector) -> Vector:
        return _summing_to_one(products.incoming(products.outgoing(authorities)))

    settled = _settle(step, np.full(count, 1.0 / count), tolerance, iterations)
    # What is left in other components dies out, however slowly: it is taken away where it is certain to.
    authorities = _largest_alone(products, *settled, tolerance) if settled else None
    if authorities is None:
        authorities = _largest_components(products, tolerance, iterations)
    return authorities, _summing_to_one(products.outgoing(authorities))


def _largest_alone(products: LinkProducts, before: Vector, after: Vector, tolerance: float) -> Vector | None:
    """Return the authorities in the component of the best node alone, None where another may have as large a value.

    `after` is a step after `before`, which is to say Mx after x, both scaled. For positive x of a component the square
    of its largest singular value is between x·Mx / x·x and the largest of (Mx)_i / x_i (Collatz and Wielandt).
    """
    alive = before > FADED
    reached = _component_of(products, int(np.argmax(after)), alive)
    if reached is None:
        return None
    inside: Vector = np.where(reached, before, 0.0)
    value = (inside @ after) / (inside @ inside)
    others = alive & ~reached
    if (after[others] / before[others]).max(initial=0.0) >= value * (1.0 - tolerance):
        return None
    return _summing_to_one(np.where(reached, after, 0.0))


def _component_of(products: LinkProducts, node: int, alive: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Return which nodes are in the component of a node that is linked to, None where that takes too many steps.

    Those alone that are alive are certain to be told.
    """
    reached = np.arange(products.nodes) == node
    for _ in range(ROUNDS):
        further = products.incoming(products.outgoing(reached.astype(np.float64))) > 0
        if not (alive & ~further).any() or np.array_equal(further, reached):
            return further
        reached = further
    return None


def _largest_components(products: LinkProducts, tolerance: float, iterations: int) -> Vector:
    """Return the authorities by iterating in each component for itself, until one is certain to be smaller, or settles.

    Equal authorities have the share Σx / Σx² in a component whose authorities x sum up to 1: their projection on it.
    """
    labels = products.components()
    authorities: Vector = (products.incoming(np.ones(products.nodes)) > 0).astype(np.float64)

    def sums(values: Vector) -> Vector:
        return np.bincount(labels, values).astype(np.float64, copy=False)

    kept = sums(authorities) > 0
    authorities /= np.maximum(sums(authorities), 1.0)[labels]
    for _ in range(iterations):
        moved = products.incoming(products.outgoing(authorities))
        least = _quotients(sums(authorities * moved), sums(authorities * authorities))
        most = np.zeros(len(kept))
        np.maximum.at(most, labels, _quotients(moved, authorities))
        largest = least.max() * (1.0 - tolerance)
        kept &= np.maximum(most, least) >= largest
        moved *= np.where(kept, _quotients(np.ones(len(kept)), sums(moved)), 0.0)[labels]
        change = sums(np.abs(moved - authorities))[kept].max()
        authorities = moved
        if change < tolerance:
            shares = _quotients((kept & (least >= largest)).astype(np.float64), sums(authorities * authorities))
            return _summing_to_one(authorities * shares[labels])
    raise _unsettled_error("HITS", iterations, tolerance)


def _quotients(numbers: Vector, divisors: Vector) -> Vector:
    """Return number / divisor, 0 where the divisor has faded away."""
    return np.divide(numbers, divisors, out=np.zeros(len(numbers)), where=divisors > FADED)


def _summing_to_one(vector: Vector) -> Vector:
    scaled: Vector = vector / vector.sum()
    return scaled


def _settle(
    step: Callable[[Vector], Vector], start: Vector, tolerance: float, iterations: int
) -> tuple[Vector, Vector] | None:
    """Return the first vector that a step changes by less than the tolerance, and it after it; None without any."""
    before = start
    for _ in range(iterations):
        after = step(before)
        if np.abs(after - before).sum() < tolerance:
            return before, after
        before = after
    return None


def _unsettled_error(name: str, iterations: int, tolerance: float) -> Error:
    return Error(f"{name} has not settled after {iterations} iterations: allow a larger tolerance than {tolerance:g}")


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
ROUNDS = 64
"""Steps within which all of a component is reached, or it is told otherwise. In link graphs ten are enough."""


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

    def components(self) -> Places:
        """Return for each node the number of its component: nodes with one hub are in one, and so on through hubs."""
        every = [band.by_source for band in self._bands]
        sources = np.concatenate([edges.sources for edges in every])
        targets = np.concatenate([edges.targets + first for edges, first in zip(every, self._firsts, strict=True)])
        size = 2 * self.nodes  # a node as a hub is another than as an authority
        both = sparse.coo_array((np.ones(self.edges, np.int8), (sources + self.nodes, targets)), shape=(size, size))
        labels: Places = connected_components(both, directed=False)[1][: self.nodes]
        return labels

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
