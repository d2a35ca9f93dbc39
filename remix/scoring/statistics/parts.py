"""How much less often are the mentions of a part found than the others, over all, or within strata?

`effects` draws outcomes anew, as many tests as samples allow; here variances are reckoned, so that thousands of tests
take seconds, each has an interval, and p may be as small as a family asks for. Documents and entities are crossed
random effects in both: mentions that share a document, an entity, or both go together by correlations that all mentions
tell, and so a part counts as fewer mentions than it has. Of so many, p is that of a binomial variable, which keeps its
level where few mistakes are; the interval is Wilson's of either rate, put together as Zou and Donner do.

Within strata, the part is held against the others of each stratum, and the differences are averaged by how much each
tells, as Cochran, Mantel and Haenszel do: what two parts differ in by the strata alone is gone. Sources: Cochran, Some
Methods for Strengthening the Common χ² Tests, 1954; Mantel and Haenszel, Statistical Aspects of the Analysis of Data
from Retrospective Studies of Disease, 1959; Wilson, Probable Inference, 1927; Zou and Donner, Construction of
Confidence Limits about Effect Measures, 2008. How often tests and intervals are wrong: `bench/planted.py` and
docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from remix.scoring.statistics.effects import Numbers, Verdicts, _correlation, _number
from remix.scoring.statistics.intervals import LEAST_UNITS, LEVEL, Array

Flags = npt.NDArray[np.bool_]

_BLOCK = 8_000_000
"""How many mentions by tests are reckoned at once."""


@dataclass(frozen=True)
class Rates:
    """What was found of parts and of the others, arrays by tests; all is NaN where a test has no answer.

    `rate` and `other` are the shares that are right, of the mentions of strata that have both; `difference` is the one
    less the other, between `low` and `high` by 95 %; `p` is two-sided.
    """

    rate: Array
    other: Array
    difference: Array
    low: Array
    high: Array
    p: Array


def compare_parts(outcomes: Verdicts, parts: Flags, strata: Numbers | None = None) -> Rates:
    """Return how often the mentions of each part are right, and the others, in all or within strata.

    `parts` is of mentions by tests, true where a mention is in the part; `strata` has the number of each mention's
    stratum. A test needs ten documents that hold the part, and ten that hold the others, in strata that have both.

    >>> values, documents = np.array([1.0, 0.0] * 10), np.arange(20) // 2
    >>> first = np.arange(20)[:, None] % 2 == 0  # the first of each document is right, the second wrong
    >>> found = compare_parts(Verdicts(values, documents, np.arange(20)), first)
    >>> float(found.difference[0]), bool(found.low[0] > 0.5)
    (1.0, True)
    """
    keys = [_number(outcomes.documents), _number(outcomes.entities)]
    keys.append(_number(keys[0] * (keys[1].max(initial=0) + 1) + keys[1]))
    own = np.zeros(len(outcomes.values), dtype=np.int64) if strata is None else _number(strata)
    means = (np.bincount(own, outcomes.values) / np.bincount(own))[own]
    frame = _Frame(outcomes.values, means, own, keys, _correlations(outcomes.values - means, keys))
    size = max(1, _BLOCK // max(len(own), 1))
    blocks = [frame.compare(parts[:, first : first + size]) for first in range(0, parts.shape[1], size)]
    if not blocks:
        return Rates(*(np.zeros(0) for _ in range(6)))
    return Rates(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def correlate_contrasts(parts: Flags, strata: Sequence[Numbers | None]) -> Array:
    """Return how far the tests of `compare_parts` go together: of the parts in all, then within each of the strata.

    That is of mentions which each tell the same. A test in which nothing counts goes together with none.

    >>> first = np.arange(8)[:, None] < 4  # a part, and the half of it
    >>> parts = np.concatenate([first, np.arange(8)[:, None] < 2], axis=1)
    >>> correlate_contrasts(parts, [None]).round(3).tolist()  # (2/8 of 1/2 and 2/8 of -1/6) / sqrt(1/2 · 2/3)
    [[1.0, 0.577], [0.577, 1.0]]
    """
    from threadpoolctl import threadpool_limits

    mentions, number = parts.shape
    tests = number * len(strata)
    numbers = [np.zeros(mentions, dtype=np.int64) if one is None else _number(one) for one in strata]
    shares = [_shares_of_strata(own, parts) for own in numbers]
    found = np.zeros((tests, tests))
    size = max(1, _BLOCK // max(tests, 1))
    for first in range(0, mentions, size):
        rows = slice(first, first + size)
        contrasts = np.concatenate(
            [
                np.where(parts[rows], each[own[rows]], -each_other[own[rows]])
                for own, (each, each_other, _) in zip(numbers, shares, strict=True)
            ],
            axis=1,
        )
        with threadpool_limits(1, user_api="blas"):  # the same on any number of processors
            found += contrasts.T @ contrasts
    spread = np.sqrt(np.diag(found))
    with np.errstate(all="ignore"):
        correlations: Array = np.nan_to_num(found / spread / spread[:, None])
    np.fill_diagonal(correlations, 1.0)
    return correlations


def _shares_of_strata(strata: Numbers, parts: Flags) -> tuple[Array, Array, Flags]:
    """Return what each mention of a stratum counts in the rate of a part, and of the others, and whether any counts.

    The first two are of strata by tests.
    """
    number = int(strata.max(initial=0)) + 1
    within = np.array([np.bincount(strata, column, minlength=number) for column in parts.T]).reshape(-1, number).T
    beside = np.bincount(strata, minlength=number)[:, None] - within
    with np.errstate(all="ignore"):
        shared = np.nan_to_num(within * beside / (within + beside))
        shares = np.nan_to_num(shared / shared.sum(axis=0))
        each = np.where(within > 0, shares / within, 0.0)
        each_other = np.where(beside > 0, shares / beside, 0.0)
    return each, each_other, shared.sum(axis=0) > 0


def interval_of_rate(outcomes: Verdicts) -> tuple[float, float, float]:
    """Return the share of mentions that are right with its interval of 95 %; NaN for bounds of under ten documents."""
    keys = [_number(outcomes.documents), _number(outcomes.entities)]
    keys.append(_number(keys[0] * (keys[1].max(initial=0) + 1) + keys[1]))
    values = outcomes.values
    rate = float(values.mean()) if len(values) else float("nan")
    documents = len(np.unique(outcomes.documents))
    if documents < LEAST_UNITS:
        return rate, float("nan"), float("nan")
    same = _Same(keys, _correlations(values - rate, keys))
    share = np.full((len(values), 1), 1 / len(values))
    low, high = _wilson(np.array([rate]), 1 / same.products(share, share), np.array([documents]))
    return rate, float(low[0]), float(high[0])


def _correlations(residuals: Array, keys: list[Numbers]) -> list[float]:
    """Return how far mentions go together that share document alone, entity alone, or both; see `effects`."""
    documents, entities, blocks = keys
    pairs = ((documents, blocks), (entities, blocks), (blocks, np.arange(len(residuals))))
    found = [0.0, 0.0, 0.0]
    for _ in range(5):
        found = [_correlation(*pair, residuals, known) for pair, known in zip(pairs, found, strict=True)]
    return found


class _Same:
    """Sums over pairs of mentions, each weighted by how far the two go together."""

    def __init__(self, keys: list[Numbers], correlations: list[float]) -> None:
        self.correlations = correlations
        self.orders = [np.argsort(key, kind="stable") for key in keys]
        self.begins = [
            np.flatnonzero(np.diff(key[order], prepend=-1)) for key, order in zip(keys, self.orders, strict=True)
        ]

    def sums(self, weights: Array) -> list[Array]:
        """Return the sums of weights (mentions by tests) of each document, each entity, and each of both."""
        return [np.add.reduceat(weights[order], begin) for order, begin in zip(self.orders, self.begins, strict=True)]

    def products(self, one: Array, other: Array) -> Array:
        """Return Σ over pairs of mentions of the weight in the one, that in the other, and their correlation."""
        sums = self.sums(one)
        of_other = sums if other is one else self.sums(other)
        document, entity, block = (
            np.einsum("ij,ij->j", first, second) for first, second in zip(sums, of_other, strict=True)
        )
        alone = np.einsum("ij,ij->j", one, other)
        first, second, both = self.correlations
        found: Array = alone + first * (document - block) + second * (entity - block) + both * (block - alone)
        return found


class _Frame:
    """Mentions with what is expected of them in their stratum, of which parts are asked."""

    def __init__(
        self, values: Array, means: Array, strata: Numbers, keys: list[Numbers], correlations: list[float]
    ) -> None:
        self.values, self.means, self.strata, self.documents = values, means, strata, keys[0]
        self.spread = np.sqrt(means * (1 - means))[:, None]
        self.same = _Same(keys, correlations)

    def compare(self, parts: Flags) -> tuple[Array, ...]:
        """Return the columns of `Rates` of some tests."""
        own, other, told = self.weights(parts)
        with np.errstate(all="ignore"):
            rate, others = self.values @ own, self.values @ other
            difference = rate - others
            # Each side by itself: how many mentions, which have nothing to do with each other, would tell as much.
            of_own, of_other = self.same.products(own, own), self.same.products(other, other)
            between = self.same.products(own, other) / np.sqrt(of_own * of_other)
            counts = np.array([self.count_documents(own), self.count_documents(other)])
            low, high = _wilson(rate, 1 / of_own, counts[0])
            low_other, high_other = _wilson(others, 1 / of_other, counts[1])
            down = _apart(rate - low, high_other - others, between)
            up = _apart(high - rate, others - low_other, between)
            contrast = (own - other) * self.spread
            p = self._p(own, other, difference, self.same.products(contrast, contrast), of_own / (of_own + of_other))
            tested = told & (counts.min(axis=0) >= LEAST_UNITS)
        columns = (rate, others, difference, np.maximum(difference - down, -1.0), np.minimum(difference + up, 1.0), p)
        return tuple(np.where(tested, column, np.nan) for column in columns)

    def weights(self, parts: Flags) -> tuple[Array, Array, Flags]:
        """Return what each mention counts in the rate of the part, and of the others, and whether any counts."""
        each, each_other, told = _shares_of_strata(self.strata, parts)
        own, other = each[self.strata], each_other[self.strata]
        return np.where(parts, own, 0.0), np.where(parts, 0.0, other), told

    def count_documents(self, weights: Array) -> Array:
        """Return how many documents hold what counts."""
        found: Array = (self.same.sums((weights > 0).astype(np.float64))[0] > 0).sum(axis=0)
        return found

    def _p(self, own: Array, other: Array, difference: Array, variance: Array, share: Array) -> Array:
        """Return p of the differences, by the tails of a binomial variable with the variance of the null.

        `share` is that of the part in the variance. What is asked is how far the side that fewer mentions tell of is
        from the mean of both, as the skewness is of that one.
        """
        from scipy.special import betainc

        of_part = share >= 0.5
        moves = np.where(of_part, share, 1 - share)
        expected = np.where(of_part, self.means @ own, self.means @ other)
        moved = np.where(of_part, difference, -difference) * moves
        number = expected * (1 - expected) / (variance * moves**2)
        right = np.clip((expected + moved) * number, 0, number)
        below = np.where(right < number, betainc(number - right, right + 1, 1 - expected), 1.0)
        above = np.where(right > 0, betainc(right, number - right + 1, expected), 1.0)
        p = np.minimum(2 * np.minimum(below, above), 1.0)
        found: Array = np.where((expected > 0) & (expected < 1) & (variance > 0), p, 1.0)
        return found


def _wilson(rate: Array, number: Array, documents: Array) -> tuple[Array, Array]:
    """Return Wilson's interval of rates of so many mentions, which need not be whole; t for so many documents."""
    from scipy.special import stdtrit

    quantile = stdtrit(np.maximum(documents - 1, 1), (1 + LEVEL) / 2)
    share = quantile**2 / number
    middle = (rate + share / 2) / (1 + share)
    half = quantile / (1 + share) * np.sqrt(rate * (1 - rate) / number + share / (4 * number))
    return np.minimum(middle - half, rate), np.maximum(middle + half, rate)


def _apart(one: Array, other: Array, correlation: Array) -> Array:
    """Return how far a difference goes to one side, where its two values go so far and are so correlated."""
    found: Array = np.sqrt(np.maximum(one**2 + other**2 - 2 * np.clip(correlation, 0, 0.99) * one * other, 0))
    return found
