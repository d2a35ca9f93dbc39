"""How many documents does it take to find a difference between two systems?

A paired test over documents knows a difference of two scores by how far it moves when a document is left out: that
gives the spread of a single document's difference, and so the power of any number of documents like these. Power is
that of a two-sided t test of pairs, by the non-central t; of a thousand documents and more by the normal variable, from
which it differs by less than one in a hundred there. Sources: Cohen, Statistical Power Analysis for the Behavioral
Sciences, 1988; Tukey, Bias and Confidence in Not Quite Large Samples, 1958; on tests of language technology, Card,
Henderson, Khandelwal, Jia, Mahowald and Jurafsky, With Little Power Comes Great Responsibility, EMNLP 2020.
"""

from __future__ import annotations

import math

import numpy as np

from remix.scoring.statistics.intervals import Array, Estimates

POWER = 0.8
"""How often a difference is to be found."""
ALPHA = 0.05
_MANY = 1000
"""From so many documents on a t is taken for normal."""


def spread_of_difference(one: Estimates, other: Estimates) -> Array:
    """Return the standard deviation of the difference that a single document makes, as leaving it out tells."""
    number = np.maximum(one.documents, other.documents)
    spread: Array = np.sqrt(((one.change - other.change) ** 2).sum(axis=0) * np.maximum(number - 1, 0))
    return spread


def power_of(spread: float, difference: float, documents: int, *, alpha: float = ALPHA) -> float:
    """Return how often a test over so many documents finds a difference.

    >>> round(power_of(1.0, 0.5, 34), 3)
    0.808
    """
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    away = abs(difference) / spread * math.sqrt(documents)
    if documents >= _MANY:
        normal = ndtri(1 - alpha / 2)
        return float(ndtr(away - normal) + ndtr(-away - normal))
    edge = stdtrit(documents - 1, 1 - alpha / 2)
    # The wrong side of a large difference is too small for it to be reckoned.
    wrong = np.nan_to_num(nctdtr(documents - 1, away, -edge))
    return float(1 - nctdtr(documents - 1, away, edge) + wrong)


def documents_needed(spread: float, difference: float, *, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """Return the fewest documents that find a difference so often; None where documents differ in nothing.

    >>> [documents_needed(1.0, difference) for difference in (0.2, 0.5, 0.8)]  # as tables of paired t tests have it
    [199, 34, 15]
    """
    from scipy.special import ndtri

    if not spread > 0 or not difference:
        return None
    # A t needs more than a normal variable, and few more: never more than ten.
    normal = ((ndtri(1 - alpha / 2) + ndtri(power)) * spread / difference) ** 2
    low, high = max(2, math.floor(normal)), max(2, math.ceil(normal)) + 10
    while low < high:
        middle = (low + high) // 2
        enough = power_of(spread, difference, middle, alpha=alpha) >= power
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def times_needed(tests: int, *, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return how many times as many documents a difference takes that is one of so many tests, each at alpha / tests.

    That is Bonferroni's correction, which no other takes more than, and of many documents.

    >>> times_needed(1), round(times_needed(100), 2)  # ((3.481 + 0.842) / (1.960 + 0.842))²
    (1.0, 2.38)
    """
    from scipy.special import ndtri

    corrected, alone = (float(ndtri(1 - level / 2) + ndtri(power)) for level in (alpha / tests, alpha))
    return (corrected / alone) ** 2


def difference_found(spread: float, documents: int, *, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """Return the smallest difference that so many documents find so often; None where documents differ in nothing.

    >>> round(difference_found(1.0, 34), 2)
    0.5
    """
    if not spread > 0 or documents < 2:
        return None
    low, high = 0.0, spread
    while power_of(spread, high, documents, alpha=alpha) < power:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        enough = power_of(spread, middle, documents, alpha=alpha) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high
