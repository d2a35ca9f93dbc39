"""Sa2KB, Sc2KB and Rc2KB: rankings and thresholds, with the arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remix.errors import UnknownName, UsageError
from tests.examples import FEW
from tests.scoring.conftest import evaluate


def confident(frames, rows, documents=("d",)):
    """Frames of annotations (begin, entity, confidence[, document]) of three characters."""
    made = frames(
        [
            {"begin": row[0], "end": row[0] + 3, "entity": row[1], "document": row[3] if len(row) > 3 else "d"}
            for row in rows
        ],
        documents,
    )
    scores = pl.Series("confidence", [row[2] for row in rows], dtype=pl.Float64)
    return replace(made, annotations=made.annotations.with_columns(scores))


def scored(gold, run, task, average="micro"):
    rows = evaluate(gold, {"s": run}, task=[task], match=["strong"])
    return rows.filter(pl.col("average") == average, pl.col("column") == "").row(0, named=True)


@pytest.fixture
def pair(frames):
    # By confidence: X wrong (0.9), A right (0.8), Y wrong (0.5), B right (0.3); C is not answered.
    gold = confident(frames, [(0, "e:A", None), (4, "e:B", None), (8, "e:C", None)])
    run = confident(frames, [(0, "e:A", 0.8), (4, "e:B", 0.3), (12, "e:X", 0.9), (16, "e:Y", 0.5)])
    return gold, run


@pytest.mark.parametrize("task", ["Sa2KB", "Sc2KB", "Rc2KB"])
@pytest.mark.parametrize(
    ("measure", "precision", "recall"),
    [
        ("map", (1 / 2 + 2 / 4) / 3, None),  # right at ranks 2 and 4, three asked for
        ("mrr", 1 / 2, None),
        ("r-precision", 1 / 3, 1 / 3),  # one right among the first three
        ("p@1", 0, 0),
        ("p@2", 1 / 2, 1 / 3),
        ("p@10", 2 / 10, 2 / 3),  # ten places, though there are four answers
    ],
)
def test_rankings_by_hand(pair, task, measure, precision, recall):
    row = scored(*pair, f"{task}(measure={measure})")
    assert row["precision"] == pytest.approx(precision)
    assert row["recall"] == pytest.approx(precision if recall is None else recall)
    assert row["mentions"] == 3


def test_average_precision_is_meant_where_no_measure_is_named(pair):
    assert scored(*pair, "Sa2KB")["f1"] == scored(*pair, "Sa2KB(measure=map)")["f1"] == pytest.approx(1 / 3)


def test_means_are_over_documents_that_ask_for_something(frames):
    names = ("d1", "d2", "d3", "d4")
    gold = confident(frames, [(0, "e:A", None, "d1"), (0, "e:B", None, "d2"), (0, "e:C", None, "d3")], names)
    # d1: rank 1; d2: rank 2; d3: no answer; d4 asks for nothing. MRR = (1 + 1/2 + 0) / 3, in both averages.
    run = confident(
        frames, [(0, "e:A", 0.9, "d1"), (0, "e:B", 0.1, "d2"), (5, "e:X", 0.9, "d2"), (0, "e:Y", 0.9, "d4")], names
    )
    for average in ("micro", "macro"):
        assert scored(gold, run, "Rc2KB(measure=mrr)", average)["precision"] == pytest.approx(1 / 2)


def test_an_entity_is_as_sure_as_the_surest_of_its_mentions(frames):
    gold = confident(frames, [(0, "e:A", None)])
    run = confident(frames, [(0, "e:A", 0.2), (4, "e:A", 0.9), (8, "e:X", 0.5)])
    assert scored(gold, run, "Sc2KB(measure=mrr)")["f1"] == 1.0
    # As annotations: the second A is wrong and first, X second, the right one third.
    assert scored(gold, run, "Sa2KB(measure=mrr)")["f1"] == pytest.approx(1 / 3)


def test_answers_without_confidence_come_last_in_the_order_of_the_text(frames):
    gold = confident(frames, [(0, "e:A", None), (4, "e:B", None)])
    run = confident(frames, [(0, "e:A", None), (4, "e:B", None), (8, "e:X", 0.1)])
    # X, A, B: (1/2 + 2/3) / 2.
    assert scored(gold, run, "Sa2KB")["precision"] == pytest.approx(7 / 12)


def test_ignorable_answers_take_no_rank(frames):
    gold = confident(frames, [(0, "e:A", None), (4, "e:B", None)])
    cut = gold.annotations.with_columns(ignorable=pl.Series(["dropped", None]))
    run = confident(frames, [(0, "e:A", 0.9), (4, "e:B", 0.5)])
    for task in ("Sa2KB(measure=mrr)", "Rc2KB(measure=mrr)"):
        assert scored(replace(gold, annotations=cut), run, task)["f1"] == 1.0


@pytest.mark.parametrize(
    ("task", "want"),
    [
        ("Sa2KB(threshold=0)", (2, 2, 1)),
        # An answer counts above the threshold: the right one of 0.8 and the wrong one of 0.5 are not above.
        ("Sa2KB(threshold=0.79)", (1, 1, 2)),
        ("Sa2KB(threshold=0.8)", (0, 1, 3)),
        ("Sc2KB(threshold=0.49)", (1, 2, 2)),
        ("Sc2KB(threshold=0.5)", (1, 1, 2)),
        # Best micro-F1: all four answers, 2 * 2 / (4 + 3) = 0.57; two of them 2/5, three 2/6.
        ("Sa2KB(threshold=oracle)", (2, 2, 1)),
    ],
)
def test_thresholds_are_declared_in_the_name(pair, task, want):
    row = scored(*pair, task)
    assert (row["task"], row["tp"], row["fp"], row["fn"]) == (task, *want)


def test_the_oracle_leaves_out_what_costs_more_than_it_gives(frames):
    gold = confident(frames, [(0, "e:A", None)])
    run = confident(frames, [(0, "e:A", 0.9), (4, "e:X", 0.2), (8, "e:Y", 0.1)])
    assert scored(gold, run, "Sa2KB(threshold=oracle)")["f1"] == 1.0


@pytest.mark.parametrize(
    ("task", "error", "message"),
    [
        ("Sa2KB(measure=p@0)", UnknownName, "no measure of rankings named 'p@0'"),
        ("Sa2KB(threshold=high)", UsageError, "a threshold is a number or 'oracle', not 'high'"),
        ("Rc2KB(threshold=0.5)", UsageError, "task 'Rc2KB' takes filter and measure, not 'threshold'"),
    ],
)
def test_wrong_measures_and_thresholds_are_named(pair, task, error, message):
    with pytest.raises(error, match=message):
        scored(*pair, task)


answers = st.lists(
    st.tuples(st.integers(0, 4).map(lambda n: 4 * n), st.sampled_from(["e:A", "e:B", "e:C"]), st.floats(0, 1)),
    max_size=6,
)


@pytest.mark.long
@settings(max_examples=FEW)
@given(answers, answers)
def test_rankings_are_within_bounds_and_gold_first_is_perfect(frames, left, right):
    gold = confident(frames, list({row[:2]: row for row in left}.values()))
    run = confident(frames, right)
    for task in ("Sa2KB", "Sc2KB", "Rc2KB(measure=mrr)", "Sc2KB(measure=r-precision)"):
        found = scored(gold, run, task)["precision"]
        assert found is None if gold.annotations.is_empty() else 0 <= found <= 1
        if len(gold.annotations):
            assert scored(gold, gold, task)["f1"] == pytest.approx(1.0)
