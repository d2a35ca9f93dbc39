"""Tests of differences: against every way of changing sides, and by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix import progress
from remix.errors import UsageError
from remix.scoring.comparison import ComparedPart, compare_systems
from remix.scoring.statistics.intervals import sum_documents, tables_of
from remix.scoring.statistics.significance import between_systems, holm

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


@given(st.integers(1, 300), st.integers(0, 1000))
def test_the_last_digit_of_a_sum_is_that_of_the_sum_alone(documents, seed):
    """Sums of floats depend on their order, which numpy chooses by how many columns there are."""
    values = np.random.default_rng(seed).random((documents, 5))
    together = sum_documents(values)
    assert together.tolist() == [sum_documents(values[:, [nth]]).item() for nth in range(5)]
    assert np.allclose(together, values.sum(axis=0))


@pytest.mark.long
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
    # An exchange that leaves one side without anything has no F1: it is as if it had not been drawn.
    defined = [(a, b) for a, b in exchanges if a is not None and b is not None]
    exact = sum(abs(a - b) >= abs(observed[0] - observed[1]) - 1e-12 for a, b in defined) / len(defined)
    assert found["p"] == pytest.approx(exact, abs=0.04)
    assert found["difference"] == pytest.approx(observed[0] - observed[1])


def test_always_right_against_always_wrong():
    right, wrong = [(1, 0, 0)] * UNITS, [(0, 1, 1)] * UNITS
    found = between_systems(counts(a=right, b=wrong), DOCUMENTS, ["a", "b"], seed=3).row(0, named=True)
    # Only if all documents change sides, or none, is the difference 1 again: 2 of 1,024 exchanges, 0.002.
    assert 0.0005 < found["p"] < 0.004
    # All right and all wrong are never an interval of width 0.
    assert found["difference"] == found["high"] == 1.0
    assert 0 < found["low"] < 1
    assert found["effect"] is None  # every document differs by 1: there is no spread to measure it by


def test_equal_systems_differ_by_chance_alone():
    same = [(1, 1, 0)] * UNITS
    found = between_systems(counts(a=same, b=same, c=same), DOCUMENTS, ["a", "b", "c"])
    assert found["p"].to_list() == found["p_holm"].to_list() == [1.0, 1.0, 1.0]
    assert found["difference"].to_list() == [0.0, 0.0, 0.0]


def test_samples_without_a_score_say_nothing_of_the_difference():
    # One answer each, both wrong, in different documents: P is 0 on both sides. In half of the exchanges one side has
    # both answers and the other none, whose P is not defined; in all others the difference is 0 again.
    first, second = [(0, 1, 0)] + [(0, 0, 1)] * 9, [(0, 0, 1)] + [(0, 1, 0)] + [(0, 0, 1)] * 8
    found = between_systems(counts(a=first, b=second), DOCUMENTS, ["a", "b"], score="precision", samples=999)
    assert found.select("difference", "p").row(0) == (0.0, 1.0)


def test_too_few_samples_for_any_difference_are_told(capsys):
    rows = counts(a=[(1, 0, 0)] * UNITS, b=[(0, 1, 1)] * UNITS, c=[(0, 1, 1)] * UNITS)
    parts = {"all": ComparedPart(rows, DOCUMENTS), "again": ComparedPart(rows, DOCUMENTS)}
    with progress.enable():
        # Six tests: 6 / (100 + 1) is above 0.05, 6 / (120 + 1) below.
        compare_systems(parts, ["a", "b", "c"], samples=100)
        assert "no p of 6 tests can be below 0.05 after correction: --samples 120" in capsys.readouterr().err
        compare_systems(parts, ["a", "b", "c"], samples=120)
        assert "after correction" not in capsys.readouterr().err


def test_parts_of_the_same_mentions_are_compared_once(capsys):
    rows = counts(a=[(1, 0, 0)] * UNITS, b=[(0, 1, 1)] * UNITS)
    names = {"all": "1", "class=Person": "2", "class=Q215627": "2", "class=Thing": "1"}
    with progress.enable():
        found = compare_systems(
            {name: ComparedPart(rows, DOCUMENTS, members) for name, members in names.items()}, ["a", "b"]
        )
    assert found.pairs["part"].to_list() == ["all", "class=Person"]
    assert found.pairs["p_holm"].to_list() == [2 * p for p in found.pairs["p"]]
    assert "tested as one: class=Q215627 is class=Person" in capsys.readouterr().err


def test_effect_is_the_mean_difference_over_its_deviation():
    # F1 of the documents: a has 1 nine times and 0 once, b has 0: differences 1 (9) and 0 (1),
    # mean 0.9, deviation sqrt((9 * 0.1² + 0.9²) / 9) = 0.3162.
    first = [(1, 0, 0)] * 9 + [(0, 1, 1)]
    found = between_systems(counts(a=first, b=[(0, 1, 1)] * UNITS), DOCUMENTS, ["a", "b"])
    assert found["effect"].item() == pytest.approx(0.9 / 0.31623, rel=1e-4)


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


def test_gold_that_is_found_in_part_has_a_recall_of_its_own():
    # Answers: 2 right of 4; gold: 3 found of 4. P 1/2, R 3/4, F1 2 * 3/8 / (5/4) = 3/5, in every document and sample.
    rows = counts(s=[(2, 2, 1)] * UNITS).with_columns(tp_of_gold=3)
    table = tables_of(rows, DOCUMENTS)
    scores = table.scores(table.columns.sum(axis=0)[None, :])
    assert {key: value.item() for key, value in scores.items()} == pytest.approx(
        {(average, name): value for average in ("micro", "macro") for name, value in
         (("precision", 1 / 2), ("recall", 3 / 4), ("f1", 3 / 5))}
    )  # fmt: skip
