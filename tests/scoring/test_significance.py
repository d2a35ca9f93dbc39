"""Tests of differences: against every way of changing sides, and by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remix.errors import UsageError
from remix.scoring.significance import between_slices, between_systems, holm

UNITS = 10
DOCUMENTS = pl.DataFrame({"doc": range(UNITS)})
count = st.integers(0, 3)
results = st.lists(st.tuples(count, count, count), min_size=UNITS, max_size=UNITS)


def counts(**systems):
    rows = [
        {"system": system, "slice": system, "doc": doc, "tp": tp, "fp": fp, "fn": fn}
        for system, documents in systems.items()
        for doc, (tp, fp, fn) in enumerate(documents)
    ]
    empty = pl.lit(None, pl.Int64)
    return pl.DataFrame(rows).with_columns(fp_in_scope=empty, fp_on_mention=empty)


def f1(rows):
    tp, fp, fn = np.sum(rows, axis=0)
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None


@settings(max_examples=15, deadline=None)
@given(results, results)
def test_randomisation_estimates_the_share_of_all_exchanges(first, second):
    observed = f1(first), f1(second)
    found = between_systems(counts(a=first, b=second), DOCUMENTS, ["a", "b"], samples=4000, seed=1).row(0, named=True)
    if None in observed:
        assert found["p"] is None
        return
    exchanges = [
        (f1([a if keep else b for keep, a, b in zip(sides, first, second, strict=True)]),
         f1([b if keep else a for keep, a, b in zip(sides, first, second, strict=True)]))
        for sides in product((True, False), repeat=UNITS)
    ]  # fmt: skip
    larger = [abs((a or 0) - (b or 0)) >= abs(observed[0] - observed[1]) - 1e-12 for a, b in exchanges if a is not None]
    # An exchange that leaves one side without anything has no F1: it is as if it had not been drawn.
    exact = sum(larger) / len(exchanges)
    assert found["p"] == pytest.approx(exact, abs=0.04)
    assert found["difference"] == pytest.approx(observed[0] - observed[1])


def test_always_right_against_always_wrong():
    right, wrong = [(1, 0, 0)] * UNITS, [(0, 1, 1)] * UNITS
    found = between_systems(counts(a=right, b=wrong), DOCUMENTS, ["a", "b"], seed=3).row(0, named=True)
    # Only if all documents change sides, or none, is the difference 1 again: 2 of 1,024 exchanges, 0.002.
    assert 0.0005 < found["p"] < 0.004
    assert (found["difference"], found["low"], found["high"]) == (1.0, 1.0, 1.0)
    assert found["effect"] is None  # every document differs by 1: there is no spread to measure it by


def test_equal_systems_differ_by_chance_alone():
    same = [(1, 1, 0)] * UNITS
    found = between_systems(counts(a=same, b=same, c=same), DOCUMENTS, ["a", "b", "c"])
    assert found["p"].to_list() == found["p_holm"].to_list() == [1.0, 1.0, 1.0]
    assert found["difference"].to_list() == [0.0, 0.0, 0.0]


def test_effect_is_the_mean_difference_over_its_deviation():
    # F1 of the documents: a has 1 nine times and 0 once, b has 0: differences 1 (9) and 0 (1),
    # mean 0.9, deviation sqrt((9 * 0.1² + 0.9²) / 9) = 0.3162.
    first = [(1, 0, 0)] * 9 + [(0, 1, 1)]
    found = between_systems(counts(a=first, b=[(0, 1, 1)] * UNITS), DOCUMENTS, ["a", "b"])
    assert found["effect"].item() == pytest.approx(0.9 / 0.31623, rel=1e-4)


def test_slices_are_compared_on_the_same_documents():
    # Each document: slice a has F1 1, slice b 2 * 1 / (2 + 1 + 1) = 0.5; so has every sample of documents.
    rows = counts(a=[(1, 0, 0)] * UNITS, b=[(1, 1, 1)] * UNITS)
    found = between_slices(rows, DOCUMENTS, ("a", "b"), samples=999)
    assert (found["difference"], found["low"], found["high"]) == (0.5, 0.5, 0.5)
    assert found["p"] == 2 * (0 + 1) / (999 + 1)
    with pytest.raises(UsageError, match="'c' has nothing"):
        between_slices(rows, DOCUMENTS, ("a", "c"))


def test_nine_documents_are_too_few():
    rows = counts(a=[(1, 0, 0)] * 9, b=[(1, 0, 0)] * 9)
    with pytest.raises(UsageError, match="at least 10"):
        between_systems(rows, DOCUMENTS.head(9), ["a", "b"])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_never_lowers_a_value(values):
    corrected = holm(pl.Series(values)).to_list()
    assert all(low <= high <= 1 for low, high in zip(values, corrected, strict=True))
    pairs = sorted(zip(values, corrected, strict=True))
    assert all(one[1] <= other[1] for one, other in zip(pairs, pairs[1:], strict=False))
    # The smallest of n is multiplied by n.
    assert corrected[values.index(min(values))] == pytest.approx(min(1.0, min(values) * len(values)))


def test_same_seed_gives_the_same_figures():
    rows = counts(a=[(1, 1, 0)] * 5 + [(2, 0, 1)] * 5, b=[(1, 0, 1)] * UNITS)
    first, second = (between_systems(rows, DOCUMENTS, ["a", "b"], samples=500, seed=7) for _ in range(2))
    assert first.equals(second)
