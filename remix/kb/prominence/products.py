"""The products of a link matrix and of its transpose with a vector, which are all that PageRank and HITS iterate.

An edge costs a read and a write at places that may be anywhere in two vectors. Where these are larger than the caches
of a processor, each edge waits for the memory, and ten times the edges take twenty times as long. So the edges lie in
bands: what a band adds to is a piece of a vector that stays in the cache, what it adds is read from front to back.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse._sparsetools import coo_matvec

__all__ = ["LinkProducts", "Matrix", "Vector"]

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
    by_source = _edges(band.tocsr())  # in linear time; to sort them takes half as long again
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
