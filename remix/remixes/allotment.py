"""Allotments: how many mentions of each kind a selection takes so that it is even and as large as it can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, milp

Counts = NDArray[np.int64]

NODES = 20_000
"""Nodes that the search may visit. A limit of time would make what comes out depend on the machine."""


_INFEASIBLE = 2
"""What scipy says of a program without a solution."""


@dataclass(frozen=True)
class EvenPart:
    """A part that is to be even with the others of its `column`, and the kinds of mentions that are in it.

    `share` says how many times as many it has to have as a part of share 1.
    """

    column: int
    share: int
    kinds: Sequence[int]


@dataclass(frozen=True)
class Allotment:
    """How many mentions of each kind are taken, and how many more it could be at most where the search ended early."""

    taken: Sequence[int]
    short_of: int = 0


def allot(available: Sequence[int], parts: Sequence[EvenPart], *, tolerance: int = 0, nodes: int = NODES) -> Allotment:
    """Return the largest selection of `available` mentions of each kind that is even in every column.

    The parts of a column have as many mentions as their shares say, but for at most `tolerance` more of some. A kind
    may be in several parts of a column, and counts in each of them. Of several largest selections it is one whose
    numbers by kind differ least, in their sum, from those of columns that are even and independent of each other, so
    that one column does not stand for another.

    It is an integer program: x mentions of each kind, t for each column, and for each part of share s
    s·t ≤ Σ x ≤ s·t + tolerance; Σ x is as large as can be, t at least 1. Where there is no such selection nothing is
    taken.

    >>> allot([5, 3, 9], [EvenPart(0, 1, [0]), EvenPart(0, 1, [1]), EvenPart(0, 1, [2])])
    Allotment(taken=(3, 3, 3), short_of=0)
    >>> allot([5, 3, 9], [EvenPart(0, 1, [0]), EvenPart(0, 1, [1]), EvenPart(0, 2, [2])], tolerance=1).taken
    (4, 3, 7)
    """
    limits = np.asarray(available, dtype=np.int64)
    columns = 1 + max(part.column for part in parts)
    first = _Program(limits, parts, columns, tolerance)
    found = first.solve(np.concatenate([-np.ones(len(limits)), np.zeros(columns)]), nodes)
    if found.x is None:
        if found.status == _INFEASIBLE:
            return Allotment((0,) * len(limits))
        bound = found.mip_dual_bound
        most = int(limits.sum()) if bound is None or not np.isfinite(bound) else int(-bound + 1e-6)
        return Allotment((0,) * len(limits), most)
    taken = first.whole(found)
    size = int(taken.sum())
    short_of = 0 if found.status == 0 else max(0, int(np.floor(-found.mip_dual_bound + 1e-6)) - size)
    if columns > 1 and size:
        taken = first.spread(taken, nodes)
    return Allotment(tuple(taken.tolist()), short_of)


class _Program:
    """The integer program of kinds and columns."""

    def __init__(self, limits: Counts, parts: Sequence[EvenPart], columns: int, tolerance: int) -> None:
        self.limits, self.parts, self.columns, self.tolerance = limits, parts, columns, tolerance
        rows = np.repeat(np.arange(len(parts)), [len(part.kinds) for part in parts])
        kinds = np.asarray([kind for part in parts for kind in part.kinds], dtype=np.int64)
        shape = (len(parts), len(limits))
        self.within = sparse.csr_array((np.ones(len(kinds)), (rows, kinds)), shape=shape)
        self.shares = np.asarray([part.share for part in parts], dtype=np.int64)
        of_columns = np.asarray([part.column for part in parts], dtype=np.int64)
        levels = (-self.shares.astype(float), (np.arange(len(parts)), of_columns))
        self.even = sparse.hstack([self.within, sparse.csr_array(levels, shape=(len(parts), columns))], format="csr")

    def solve(self, cost: NDArray[np.float64], nodes: int, *, size: int | None = None) -> OptimizeResult:
        """Return what scipy finds; with a `size` for so many mentions, and further variables that are ≥ |x - u|."""
        kinds, own = len(self.limits), len(self.limits) + self.columns
        top = np.concatenate([self.limits, np.full(self.columns, self.limits.sum())]).astype(float)
        low = np.concatenate([np.zeros(kinds), np.ones(self.columns)])
        rules = [LinearConstraint(self.even, 0, self.tolerance)]
        integrality = np.ones(own, dtype=np.int64)
        if size is not None:
            wanted, one = self._independent(size), sparse.eye_array(kinds, format="csr")
            none = sparse.csr_array((kinds, self.columns))
            nothing = sparse.csr_array((len(self.parts), kinds))
            total = sparse.csr_array(np.concatenate([np.ones(kinds), np.zeros(own)])[None, :])
            rules = [
                LinearConstraint(sparse.hstack([self.even, nothing], format="csr"), 0, self.tolerance),
                LinearConstraint(sparse.hstack([one, none, -one], format="csr"), -np.inf, wanted),
                LinearConstraint(sparse.hstack([one, none, one], format="csr"), wanted, np.inf),
                LinearConstraint(total, size, size),
            ]
            low = np.concatenate([low, np.zeros(kinds)])
            top = np.concatenate([top, np.full(kinds, np.inf)])
            integrality = np.concatenate([integrality, np.zeros(kinds, dtype=np.int64)])
        return milp(
            cost,
            integrality=integrality,
            bounds=Bounds(low, top),
            constraints=rules,
            options={"node_limit": nodes, "mip_rel_gap": 0.0},
        )

    def whole(self, found: OptimizeResult) -> Counts:
        """Return the numbers that were found, as whole ones that are even; raises `ArithmeticError` where they are not.

        The solver's numbers are whole to a millionth.
        """
        taken: Counts = np.rint(found.x[: len(self.limits)]).astype(np.int64)
        if not self._is_even(taken):
            raise ArithmeticError("the solution of the integer program is not even once its numbers are rounded")
        return taken

    def spread(self, taken: Counts, nodes: int) -> Counts:
        """Return as many, as near to what independent columns would have as can be found, else these."""
        cost = np.concatenate([np.zeros(len(self.limits) + self.columns), np.ones(len(self.limits))])
        found = self.solve(cost, nodes, size=int(taken.sum()))
        return taken if found.x is None else self.whole(found)

    def _is_even(self, taken: Counts) -> bool:
        if (taken < 0).any() or (taken > self.limits).any():
            return False
        numbers = np.rint(self.within @ taken).astype(np.int64)
        for column in range(self.columns):
            own = [n for n, part in enumerate(self.parts) if part.column == column]
            # The level of the column is as low as the part that has fewest for its share.
            level = min(int(numbers[n]) // int(self.shares[n]) for n in own)
            if level < 1 or any(int(numbers[n]) > level * int(self.shares[n]) + self.tolerance for n in own):
                return False
        return True

    def _independent(self, size: int) -> NDArray[np.float64]:
        """Return how many of each kind there were, were the columns even and independent; several parts share one."""
        whole = np.bincount([part.column for part in self.parts], weights=self.shares, minlength=self.columns)
        number, weight = np.zeros((self.columns, len(self.limits))), np.zeros((self.columns, len(self.limits)))
        for part in self.parts:
            own = np.asarray(part.kinds, dtype=np.int64)
            weight[part.column, own] += part.share / whole[part.column]
            number[part.column, own] += 1
        wanted: NDArray[np.float64] = size * (weight / np.maximum(number, 1)).prod(axis=0)
        return wanted
