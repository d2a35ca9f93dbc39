"""Logistic regression with its calibration, and what tells how good its probabilities are.

A row stands for `total` judgements of which `wrong` are errors, so that several systems on one annotation are one row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
_STEPS = 100
_PRECISION = 1e-9
_BINS = 10


def newton(features: Numbers, wrong: Numbers, total: Numbers, penalty: float, start: Numbers | None = None) -> Numbers:
    """Return the intercept and weights that minimise the penalised negative log-likelihood.

    The likelihood is binomial, the penalty `penalty` / 2 × the sum of the squared weights (not of the intercept).
    Newton's method (iteratively reweighted least squares) from `start`, by default 0, with halved steps where a whole
    one leads uphill.
    Hastie, Tibshirani, Friedman: The Elements of Statistical Learning, 2009, section 4.4.1.

    >>> newton(np.zeros((2, 0)), np.array([1.0, 2.0]), np.array([4.0, 4.0]), 1.0).round(4).tolist()  # log(3 / 5)
    [-0.5108]
    """
    design = np.column_stack([np.ones(len(features)), features])
    ridge = np.full(design.shape[1], penalty)
    ridge[0] = 0.0

    def loss(weights: Numbers) -> float:
        logits = design @ weights
        return float(np.sum(total * np.logaddexp(0.0, logits) - wrong * logits) + 0.5 * np.sum(ridge * weights**2))

    weights = np.zeros(design.shape[1]) if start is None else start
    best = loss(weights)
    for _ in range(_STEPS):
        chance = expit(design @ weights)
        slope = design.T @ (total * chance - wrong) + ridge * weights
        curvature = (design * (total * chance * (1 - chance))[:, None]).T @ design + np.diag(ridge + 1e-12)
        step = np.linalg.solve(curvature, slope)
        size = 1.0
        while (now := loss(weights - size * step)) > best and size > 1e-6:
            size /= 2
        weights, before, best = weights - size * step, best, now
        if np.max(np.abs(size * step)) < _PRECISION or abs(before - best) <= 1e-13 * abs(best):
            break
    return weights


@dataclass(frozen=True)
class Model:
    """A calibrated logistic regression over standardised features; a missing one counts as its mean, and is a feature.

    `mean` and `deviation` are of the features and of the indicators of `gaps`, the features that are missing somewhere;
    `weights` begin with the intercept; `platt` are intercept and slope of the calibration.
    """

    gaps: Codes
    mean: Numbers
    deviation: Numbers
    weights: Numbers
    platt: Numbers

    def probability(self, features: Numbers) -> Numbers:
        """Return the calibrated probability of an error in each row; NaN is a missing feature."""
        return np.asarray(expit(self.platt[0] + self.platt[1] * self._logits(features)), np.float64)

    def _logits(self, features: Numbers) -> Numbers:
        known = (np.column_stack([features, np.isnan(features[:, self.gaps])]) - self.mean) / self.deviation
        return np.asarray(self.weights[0] + np.nan_to_num(known) @ self.weights[1:], np.float64)


def fit_model(features: Numbers, wrong: Numbers, total: Numbers, groups: Codes, *, penalty: float) -> Model:
    """Return the model of these rows, calibrated by Platt's method on what it says of groups that it has not seen.

    `groups` are the folds of the rows; each in turn is left out to calibrate. Platt: Probabilistic outputs for
    support vector machines, 1999, with the targets of its section 2.2.
    """
    model = _fit_uncalibrated(features, wrong, total, penalty)
    logits = np.zeros(len(features))
    for fold in np.unique(groups):
        out = groups == fold
        part = _fit_uncalibrated(features[~out], wrong[~out], total[~out], penalty, model.weights)
        logits[out] = part._logits(features[out])
    errors, all_ = wrong.sum(), total.sum()
    high, low = (errors + 1) / (errors + 2), 1 / (all_ - errors + 2)
    platt = newton(logits[:, None], wrong * high + (total - wrong) * low, total, 1e-6)
    return Model(model.gaps, model.mean, model.deviation, model.weights, platt)


def _fit_uncalibrated(
    features: Numbers, wrong: Numbers, total: Numbers, penalty: float, start: Numbers | None = None
) -> Model:
    missing = np.isnan(features)
    some = missing.any(axis=0)
    gaps = np.flatnonzero(some)
    known = np.maximum((~missing).sum(axis=0), 1)
    mean = np.where(missing, 0.0, features).sum(axis=0) / known
    deviation = np.sqrt(np.where(missing, 0.0, (features - mean) ** 2).sum(axis=0) / known)
    absent = missing[:, gaps]
    mean = np.concatenate([mean, absent.mean(axis=0)])
    deviation = np.concatenate([deviation, absent.std(axis=0)])
    # A feature that never differs says nothing, and must not be divided by what is left of rounding.
    deviation = np.where(deviation > 1e-9 * (1 + np.abs(mean)), deviation, np.inf)
    model = Model(gaps, mean, deviation, np.zeros(1 + len(mean)), np.array([0.0, 1.0]))
    ready = np.nan_to_num((np.column_stack([features, absent]) - mean) / deviation)
    # Weights of nearly the same rows are nearly the same, unless other features have gaps.
    near = start if start is not None and len(start) == 1 + len(mean) else None
    return Model(gaps, mean, deviation, newton(ready, wrong, total, penalty, near), model.platt)


def folds_of(groups: Codes, folds: int, seed: int) -> Codes:
    """Return the fold of each row: rows of one group are in one fold, folds have as many groups, give or take one.

    >>> folds_of(np.array([7, 7, 3, 9]), 2, seed=0).tolist()
    [0, 0, 0, 1]
    """
    names, places = np.unique(groups, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names))
    return np.asarray(order[places] % folds, np.int64)


def area_under_curve(chance: Numbers, wrong: Numbers, total: Numbers) -> float:
    """Return the probability that an error has a higher chance than what is right; ties count half.

    >>> area_under_curve(np.array([0.1, 0.6, 0.6]), np.array([0.0, 1.0, 0.0]), np.ones(3))
    0.75
    """
    _, places = np.unique(chance, return_inverse=True)
    errors, right = np.bincount(places, wrong), np.bincount(places, total - wrong)
    below = np.cumsum(right) - right
    return float(np.sum(errors * (below + right / 2)) / (errors.sum() * right.sum()))


def brier_score(chance: Numbers, wrong: Numbers, total: Numbers) -> float:
    """Return the mean squared difference of chance and outcome, over judgements.

    >>> brier_score(np.array([0.5]), np.array([1.0]), np.array([2.0]))
    0.25
    """
    return float(np.sum(wrong * (1 - chance) ** 2 + (total - wrong) * chance**2) / total.sum())


def calibration_error(chance: Numbers, wrong: Numbers, total: Numbers) -> float:
    """Return the expected calibration error: |mean chance - share of errors|, the mean of ten equally large bins.

    Rows of one chance are in one bin.

    >>> calibration_error(np.array([0.5, 0.5]), np.array([1.0, 0.0]), np.ones(2))
    0.0
    """
    values, places = np.unique(chance, return_inverse=True)
    judged, errors = np.bincount(places, total), np.bincount(places, wrong)
    middle = (np.cumsum(judged) - judged / 2) / judged.sum()
    bins = np.minimum((middle * _BINS).astype(np.int64), _BINS - 1)
    return float(np.abs(np.bincount(bins, judged * values - errors)).sum() / judged.sum())
