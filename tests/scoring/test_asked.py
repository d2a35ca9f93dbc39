"""Tasks with a matching of their own, tasks that are means of others (OKE, BLANC)."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from remix.errors import UnknownName, UsageError
from remix.formats.losses import CLUSTER
from remix.frames import Frames
from remix.names import OWL
from remix.scoring.matching import matching_named
from remix.scoring.tasks import task_named
from tests.scoring.conftest import evaluate


def at(begin: int, end: int, entity: str | None = "e:A", *classes: str) -> dict[str, object]:
    return {"begin": begin, "end": end, "entity": entity, "classes": list(classes)}


@pytest.fixture
def pair(frames):
    # Mention 0-4 answered 0-4 of another class, 6-9 answered 6-8: ERec 1/2 (weak 1), D2KB of one span, ETyping.
    gold = frames([at(0, 4, "e:A", "t:x"), at(6, 9, "e:B", "t:y")])
    run = frames([at(0, 4, "e:A", "t:z"), at(6, 8, "e:B", "t:y")])
    return gold, {"s": run}


def micro(rows, task):
    return rows.filter(pl.col("task") == task, pl.col("average") == "micro", pl.col("column") == "").row(0, named=True)


def test_a_task_may_name_its_matching(pair):
    rows = evaluate(*pair, task=["A2KB(match=weak)", "ERec(match=strong)"])
    assert rows.select("task", "matching").unique().sort("task").rows() == [("A2KB", "weak"), ("ERec", "strong")]
    assert (micro(rows, "A2KB")["tp"], micro(rows, "ERec")["tp"]) == (2, 1)


def test_tasks_that_name_none_take_the_others(pair):
    rows = evaluate(*pair, task=["A2KB(match=fuzzy(0.5))", "ERec"], match=["strong", "weak"])
    found = rows.select("task", "matching").unique(maintain_order=True).rows()
    assert found == [("A2KB", "fuzzy(0.5)"), ("ERec", "strong"), ("ERec", "weak")]


def test_a_task_asked_for_twice_has_its_rows_once(pair):
    rows = evaluate(*pair, task=["A2KB(match=weak)", "A2KB"], match=["weak"])
    assert len(rows) == 2


def test_oke_1_is_the_mean_of_its_parts(pair):
    rows = evaluate(*pair, task=["OKE-1"], match=["strong"])
    assert set(rows["task"]) == {"OKE-1"}
    row = micro(rows, "OKE-1")
    # ERec: P = R = 1/2. D2KB: one answer on gold's spans, right: P = 1, R = 1/2. ETyping: t:z for t:x: P = R = 0.
    assert row["precision"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert row["recall"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert row["f1"] == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert row["tp"] is None


def test_oke_2_compares_outermost_spans_of_classes_and_types(frames):
    # "Norwegian footballer" and within it "footballer" name classes; the entity 30-34 is typed right.
    word = f"{OWL}Class"
    gold = frames([at(0, 20, "c:NF", word), at(10, 20, "c:F", word), at(30, 34, "e:A", "t:x")])
    run = frames([at(0, 20, "c:NF", word), at(30, 34, "e:A", "t:x")])
    rows = evaluate(gold, {"s": run}, task=["OKE-2", "ERec-classes"], match=["strong"])
    assert [micro(rows, "ERec-classes")[name] for name in ("tp", "fp", "fn")] == [1, 0, 0]
    # ETyping: owl:Class of 10-20 is missed: 2 of 3. ERec-classes: 1.
    assert micro(rows, "OKE-2")["recall"] == pytest.approx((2 / 3 + 1) / 2)


def test_blanc_is_the_mean_of_coreferent_and_other_pairs(frames):
    # Gold {1 2} {3}, answered {1} {2} {3}: no pair of one cluster (P undefined, so 0), 2 of 3 others right, both found.
    mentions = frames([at(n, n + 1, None) for n in (0, 2, 4)])

    def named(names):
        values = pl.DataFrame({"subject": mentions.annotations["annotation"], "term": CLUSTER, "text": names})
        return replace(mentions, values=Frames.of(values=values).values)

    gold, run = named(["a", "a", "b"]), named(["x", "y", "z"])
    task = "NIL-clusters(measure=blanc)"
    row = micro(evaluate(gold, {"s": run}, task=[task], match=["strong"]), task)
    assert [row[name] for name in ("precision", "recall", "f1")] == pytest.approx(
        [(0 + 2 / 3) / 2, 1 / 2, (0 + 0.8) / 2]
    )
    assert micro(evaluate(gold, {"s": gold}, task=[task], match=["strong"]), task)["f1"] == 1.0
    # Where all mentions are apart, there is one kind of pair alone.
    assert micro(evaluate(run, {"s": run}, task=[task], match=["strong"]), task)["f1"] == 1.0


def test_means_of_slices_and_datasets_are_there_too(pair):
    rows = evaluate(*pair, task=["OKE-1"], match=["strong", "weak"], by=["class"])
    assert len(rows.filter(pl.col("column") == "class")) == 2 * 2 * 2  # slices, matchings, averages
    assert rows["signature"].null_count() == 0


def test_a_mean_has_no_counts_of_its_own(pair):
    with pytest.raises(UsageError, match="has no counts"):
        task_named("OKE-1").count(None, None)


def test_a_task_that_is_none_is_named(pair):
    with pytest.raises(UnknownName, match="no task named 'A2K'"):
        evaluate(*pair, task=["A2K"])


def test_two_matchings_of_one_task_are_refused(pair):
    with pytest.raises(UsageError, match="several matchings"):
        evaluate(*pair, task=["A2KB(match=weak, match=strong)"])


def test_matching_with_a_number_has_one_name_however_it_is_spelt(pair):
    rows = evaluate(*pair, task="A2KB", match=["fuzzy(0.5)", "fuzzy(0.50)", "fuzzy(.5)", "fuzzy(-0)"])
    assert rows["matching"].unique(maintain_order=True).to_list() == ["fuzzy(0.5)", "fuzzy(0)"]
    assert "|matchings:fuzzy(0.5),fuzzy(0)|" in rows["signature"][0]


@pytest.mark.parametrize("number", ["0.6666666", "0.30000000000000004", "1e-07", "1", "0"])
def test_name_of_a_matching_has_all_digits_of_its_number(number):
    for family in ("fuzzy", "fuzzy-over", "graded"):
        assert matching_named(f"{family}({number})").name == f"{family}({number})"


def test_intervals_of_what_nothing_counts_in_are_missing(frames):
    """It was a defect: gold without layers of HIPE has no mention that a task of theirs counts."""
    gold = Frames.of(documents=pl.DataFrame([{"document": f"d{n}", "dataset": "x", "text": "Ada"} for n in range(10)]))
    rows = evaluate(gold, {"s": gold}, profile="hipe", task="NE-COARSE-LIT", match="strict", intervals=True)
    assert rows.select("tp", "fp", "fn", "f1_low", "f1_high").unique().rows() == [(0, 0, 0, None, None)]
