"""Tests that look at the same things are corrected together, and keep their level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from remix.scoring.statistics.families import correct_together
from remix.scoring.statistics.intervals import Array
from remix.scoring.statistics.parts import _Frame, correlate_contrasts


def together(p: list[list[float]], correlations: Array, weights: Array, between: Array | None = None) -> Array:
    """The corrected p of systems of nothing in common, unless it is said what."""
    return correct_together(
        np.array(p), correlations, between=np.eye(len(p)) if between is None else between, weights=weights
    )


def test_independent_tests_are_corrected_as_sidak_does_step_by_step() -> None:
    """0.001, 0.01 and 0.5 of three: 1 - 0.999³, 1 - 0.99², and 0.5; what is not tested is none of them."""
    p = together([[0.001, 0.5, float("nan"), 0.01]], np.eye(4), np.ones(4))[0]
    assert p[0] == pytest.approx(1 - 0.999**3, abs=0.002)
    assert p[3] == pytest.approx(1 - 0.99**2, abs=0.005)
    assert p[1] == pytest.approx(0.5, abs=0.02)
    assert np.isnan(p[2])


def test_what_is_said_twice_is_corrected_once() -> None:
    alike = np.ones((3, 3))
    assert together([[0.02, 0.02, 0.02]], alike, np.ones(3))[0] == pytest.approx([0.02] * 3, abs=0.005)
    # Two systems of the same answers are one, two that have nothing in common are two.
    twice = [[0.02], [0.02]]
    assert together(twice, np.eye(1), np.ones(1), np.ones((2, 2))) == pytest.approx(np.full((2, 1), 0.02), abs=0.005)
    assert together(twice, np.eye(1), np.ones(1)) == pytest.approx(np.full((2, 1), 1 - 0.98**2), abs=0.006)


def test_a_test_of_less_weight_costs_others_less_and_itself_more() -> None:
    """0.02 of weight 1 is as likely as 0.02 or 0.02 · 0.25 is; the second, 0.02 / 0.25, is compared with itself."""
    first, second = together([[0.02, 0.02]], np.eye(2), np.array([1.0, 0.25]))[0]
    assert first == pytest.approx(1 - 0.98 * (1 - 0.02 * 0.25), abs=0.005)
    assert second == first  # alone it would be 0.02, and is never less than what is before it


@pytest.mark.long
def test_nothing_is_claimed_more_often_than_the_level_where_all_nulls_are_true() -> None:
    """Of 200 families of 40 tests that overlap, 5 % may have a p of at most 0.05, and 3.5 times 1.5 % more."""
    random = np.random.default_rng(1)
    root = np.linalg.cholesky(0.6 * np.ones((40, 40)) + 0.4 * np.eye(40))
    weights = np.where(np.arange(40) < 10, 1.0, 0.2)
    draws = 2 * ndtr(-np.abs(random.standard_normal((200, 40)) @ root.T))
    claimed = np.mean(
        [
            correct_together(one[None], root @ root.T, between=np.eye(1), weights=weights, samples=400).min() <= 0.05
            for one in draws
        ]
    )
    assert claimed <= 0.05 + 3.5 * 0.0154
    assert claimed >= 0.01


def test_correlations_of_tests_are_those_of_what_mentions_weigh() -> None:
    random = np.random.default_rng(0)
    parts = random.random((60, 4)) < 0.4
    strata = random.integers(0, 3, 60)
    values, documents = (random.random(60) < 0.5).astype(float), np.arange(60) // 3
    contrasts = []
    for own in (np.zeros(60, dtype=np.int64), strata):
        frame = _Frame(values, values, own, [documents] * 3, [0.0, 0.0, 0.0])
        one, other, _ = frame.weights(parts)
        contrasts.append(one - other)
    every = np.concatenate(contrasts, axis=1)
    gram = every.T @ every
    spread = np.sqrt(np.diag(gram))
    assert correlate_contrasts(parts, [None, strata]) == pytest.approx(gram / spread / spread[:, None])
    # A part that is all of a stratum is held against nothing there.
    whole = np.zeros((60, 1), dtype=bool)
    assert correlate_contrasts(whole, [None]).tolist() == [[1.0]]
