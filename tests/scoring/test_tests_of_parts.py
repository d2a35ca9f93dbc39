"""Parts of mentions held against the others, over all and within strata."""

from __future__ import annotations

import numpy as np
import pytest

from remix.scoring.statistics.effects import Verdicts
from remix.scoring.statistics.parts import compare_parts, interval_of_rate


def alone(values: list[float], each: int = 1) -> Verdicts:
    """Mentions of entities of their own, so many in each document."""
    places = np.arange(len(values))
    return Verdicts(np.array(values), places // each, places)


def test_rates_of_a_part_and_of_the_others_are_those_that_are_counted() -> None:
    # 20 mentions in the part, 5 right; 20 others, 15 right.
    outcomes = alone([1.0] * 5 + [0.0] * 15 + [1.0] * 15 + [0.0] * 5)
    found = compare_parts(outcomes, (np.arange(40) < 20)[:, None])
    assert (found.rate[0], found.other[0], found.difference[0]) == pytest.approx((0.25, 0.75, -0.5))
    assert found.low[0] < -0.5 < found.high[0] < 0
    assert found.p[0] < 0.01


def test_what_the_strata_alone_explain_is_gone_within_them() -> None:
    # Hard mentions are right in 1 of 4, easy ones in 3 of 4, in the part and out of it: nothing is left within strata.
    # The part has 40 hard and 20 easy, the others 20 hard and 40 easy: 25 of 60 against 35 of 60.
    values, part, strata = [], [], []
    for inside, hard, number in ((True, True, 40), (True, False, 20), (False, True, 20), (False, False, 40)):
        right = number // 4 if hard else 3 * number // 4
        values += [1.0] * right + [0.0] * (number - right)
        part += [inside] * number
        strata += [int(hard)] * number
    outcomes, flags = alone(values), np.array(part)[:, None]
    assert compare_parts(outcomes, flags).difference[0] == pytest.approx(-10 / 60)
    within = compare_parts(outcomes, flags, np.array(strata))
    assert within.difference[0] == pytest.approx(0.0)
    assert within.p[0] == pytest.approx(1.0)


def test_fewer_than_ten_documents_are_no_test() -> None:
    outcomes = alone([1.0, 0.0] * 20, each=4)  # ten documents
    assert np.isnan(compare_parts(outcomes, (np.arange(40) < 20)[:, None]).p[0])


def test_mentions_that_tell_the_same_count_less() -> None:
    # Forty mentions of the part, right or wrong with their entity: four entities tell less than forty.
    values = np.repeat([1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0], 10)
    documents, part = np.arange(80), (np.arange(80) < 40)[:, None]
    single = compare_parts(Verdicts(values, documents, np.arange(80)), part)
    together = compare_parts(Verdicts(values, documents, np.repeat(np.arange(8), 10)), part)
    assert single.p[0] < 0.01
    assert together.p[0] > 0.2
    assert together.low[0] < single.low[0]


def test_a_rate_has_an_interval_of_ten_documents_or_more() -> None:
    rate, low, high = interval_of_rate(alone([1.0, 0.0] * 20))
    assert rate == 0.5
    assert low < 0.5 < high
    assert np.isnan(interval_of_rate(alone([1.0] * 5))[1])
