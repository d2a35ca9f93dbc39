"""Many tests that look at the same mentions, corrected together: of what they say again, nothing is taken twice.

Holm's procedure takes tests for as many as they are. Here tests overlap: a part and its crossings have mentions in
common, a part within the parts of another column is nearly the same test again, and systems agree. So it is asked how
small the smallest p of all of them would be by chance, where normal variables go together as the tests do (Westfall and
Young's step-down procedure of the smallest p). Tests have weights: p is divided by its weight before it is compared, so
that a follow-up costs less than what it follows. The probability of any false claim stays what it was, whichever nulls
are true.

Sources: Westfall and Young, Resampling-Based Multiple Testing, 1993; Hothorn, Bretz and Westfall, Simultaneous
Inference in General Parametric Models, 2008, for correlations that are reckoned; Westfall, Kropf and Finos, Weighted
FWE-Controlling Methods in High-Dimensional Situations, 2004. How often it claims what is not so: docs/statistics.md.
"""

from __future__ import annotations

import numpy as np

from remix.scoring.statistics.intervals import Array

SAMPLES = 5_000
_LEAST = 1_000
_WORK = 2e11
"""How much may be multiplied before fewer samples are drawn."""
_BLOCK = 4_000_000
_LEFT = 1e-3
"""What of the variance of a test may be left, of which most follow from others."""


def correct_together(
    p: Array, correlations: Array, *, between: Array, weights: Array, samples: int = SAMPLES, seed: int = 0
) -> Array:
    """Return p (systems by tests) corrected for all tests of all systems; NaN is no test.

    `correlations` are those of the tests of one system, `between` those of systems: two tests of two systems go
    together by the product. `weights` are of tests. Of very many tests fewer `samples` are drawn; the least that comes
    out is 1 / (samples + 1).

    >>> two = correct_together(np.array([[0.01, 0.01]]), np.ones((2, 2)), between=np.eye(1), weights=np.ones(2))
    >>> [round(float(one), 2) for one in two[0]]  # the same test twice is one
    [0.01, 0.01]
    >>> two = correct_together(np.array([[0.01, 0.01]]), np.eye(2), between=np.eye(1), weights=np.ones(2))
    >>> [round(float(one), 2) for one in two[0]]
    [0.02, 0.02]
    """
    from scipy.special import ndtr
    from threadpoolctl import threadpool_limits

    systems, tests = p.shape
    found = np.full(p.size, np.nan)
    with np.errstate(invalid="ignore"):
        asked = (p / weights).ravel()
    places = np.flatnonzero(~np.isnan(asked))
    if not len(places):
        return found.reshape(p.shape)
    # From the largest to the smallest: what is left to be compared with grows.
    order = places[np.argsort(-asked[places], kind="stable")]
    each, every = asked[order], np.tile(weights, systems)[order]
    with threadpool_limits(1, user_api="blas"):  # the same on any number of processors
        of_systems, of_tests = _root(between), _root(correlations)
    samples = int(min(samples, max(_LEAST, _WORK / (2 * systems * tests**2))))
    random, as_small = np.random.default_rng(seed), np.zeros(len(order), dtype=np.int64)
    size = max(1, _BLOCK // p.size)
    for first in range(0, samples, size):
        number = min(size, samples - first)
        drawn = random.standard_normal((number, of_systems.shape[1], of_tests.shape[1]))
        with threadpool_limits(1, user_api="blas"):
            drawn = np.matmul(np.matmul(of_systems, drawn), of_tests.T).reshape(number, -1)[:, order]
        smallest = np.minimum.accumulate(2 * ndtr(-np.abs(drawn)) / every, axis=1)
        as_small += (smallest <= each * (1 + 1e-9)).sum(axis=0)
    corrected = (as_small + 1) / (samples + 1)
    # No test is claimed before one of a smaller p.
    found[order] = np.maximum.accumulate(corrected[::-1])[::-1]
    return found.reshape(p.shape)


def _root(correlations: Array) -> Array:
    """Return what makes independent variables go together so: as few of them as there are that others follow from."""
    from scipy.linalg.lapack import dpstrf

    factor, pivots, rank, _ = dpstrf(correlations, tol=_LEFT, lower=1)
    root = np.zeros((len(correlations), rank))
    root[pivots - 1] = np.tril(factor)[:, :rank]
    found: Array = root / np.sqrt((root**2).sum(axis=1))[:, None]
    return found
