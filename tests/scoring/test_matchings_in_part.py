"""Matchings that count in part: partial (shared characters) and single-penalty (half an FP and half an FN)."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings

from remix.errors import UsageError
from tests.examples import FEW
from tests.scoring.conftest import evaluate
from tests.scoring.test_properties import DOCUMENTS, mentions, micro


def at(begin: int, end: int, entity: str | None = "e:A", **more: object) -> dict[str, object]:
    return {"begin": begin, "end": end, "entity": entity, **more}


def scored(gold, run, matching, task="A2KB", **more):
    rows = evaluate(gold, {"s": run}, task=[task], match=[matching], **more)
    return rows.filter(pl.col("average") == "micro", pl.col("column") == "").row(0, named=True)


def values(row, *names):
    return tuple(row[name] for name in names)


def test_partial_credit_is_the_share_of_characters_on_either_side(frames):
    # Gold 0-8 and 10-12; answered 4-8 and 10-12. First pair shares 4: all of the answer, half of gold.
    gold, run = frames([at(0, 8), at(10, 12, "e:B")]), frames([at(4, 8), at(10, 12, "e:B")])
    row = scored(gold, run, "partial")
    assert values(row, "tp", "fp", "fn", "mentions") == (2.0, 0.0, 0.5, 2.0)
    # P = 2/2, R = 1.5/2, F1 = 2 * 0.75 / 1.75.
    assert values(row, "precision", "recall") == (1.0, 0.75)
    assert row["f1"] == pytest.approx(6 / 7)


def test_partial_credit_needs_the_link_where_links_are_compared(frames):
    # 0-8 against 2-10: six of eight on both sides, but another entity.
    gold, run = frames([at(0, 8)]), frames([at(2, 10, "e:X")])
    assert values(scored(gold, run, "partial"), "tp", "fp", "fn") == (0.0, 1.0, 1.0)
    assert values(scored(gold, run, "partial", "ERec"), "tp", "fp", "fn", "f1") == (0.75, 0.25, 0.25, 0.75)


def test_an_answer_over_two_mentions_is_credited_for_the_better_one(frames):
    # 0-10 over 0-4 and 4-10 of one entity: the pair with the larger intersection over union (6 of 10) is taken.
    row = scored(frames([at(0, 4), at(4, 10)]), frames([at(0, 10)]), "partial")
    assert values(row, "tp", "fp", "fn", "recall") == (0.6, 0.4, 1.0, 0.5)


def test_partial_credit_on_a_remix_is_missing_to_all_three_precisions(frames):
    # Kept 0-4, answered 0-8: half. Dropped 10-14, answered: ignored.
    gold = frames([at(0, 4, classes=["c"]), at(10, 14, ignorable="dropped")])
    row = scored(gold, frames([at(0, 8), at(10, 14)]), "partial")
    assert values(row, "tp", "fp", "ignored", "precision", "precision_on_mention") == (0.5, 0.5, 1, 0.5, 0.5)


def test_a_mention_of_two_annotations_has_the_mean_of_their_shares(frames):
    # One option of 0-4 and 10-14, both required; answered 0-4 and 12-14: (1 + 1/2) / 2 of gold, all of the answers.
    parts = [at(0, 4, group="g", option="o"), at(10, 14, "e:B", group="g", option="o")]
    row = scored(frames(parts), frames([at(0, 4), at(12, 14, "e:B")]), "partial")
    assert values(row, "tp", "fp", "fn") == (1.0, 0.0, 0.25)


@pytest.mark.parametrize(
    ("answer", "task", "want"),
    [
        (at(0, 4), "A2KB", (1, 0, 0)),
        (at(0, 4, "e:X"), "A2KB", (0, 0.5, 0.5)),  # the label
        (at(0, 6), "A2KB", (0, 0.5, 0.5)),  # the boundary
        (at(2, 6, "e:X"), "A2KB", (0, 0.5, 0.5)),  # both
        (at(4, 6), "A2KB", (0, 1, 1)),  # beside it
        (at(0, 6), "ERec", (0, 0.5, 0.5)),
        (at(0, 4, "e:X"), "D2KB", (0, 0.5, 0.5)),
        (at(0, 6), "D2KB", (0, 0, 1)),  # no answer on gold's span, so no answer at all
    ],
)
def test_a_near_miss_is_one_error(frames, answer, task, want):
    row = scored(frames([at(0, 4)]), frames([answer]), "single-penalty", task)
    assert values(row, "tp", "fp", "fn") == want
    assert row["mentions"] == 1


def test_each_mention_excuses_one_answer(frames):
    # Two answers within one mention: one is the near miss, the other an FP: FP 1 + 1/2, FN 1/2. P = 0, R = 0.
    row = scored(frames([at(0, 9)]), frames([at(0, 3), at(4, 9)]), "single-penalty")
    assert values(row, "fp", "fn") == (1.5, 0.5)


def test_fair_scores_by_hand(frames):
    # TP 2, one near miss, one FP, one FN: P = 2 / (2 + 1.5), R = 2 / (2 + 1.5), F1 likewise; strong has 2 / 4.
    gold = frames([at(0, 2), at(3, 5), at(6, 9), at(20, 22)])
    run = frames([at(0, 2), at(3, 5), at(7, 9), at(30, 31)])
    row = scored(gold, run, "single-penalty")
    assert values(row, "precision", "recall", "f1") == pytest.approx((4 / 7, 4 / 7, 4 / 7))
    assert scored(gold, run, "strong")["f1"] == 0.5


def test_macro_averages_of_parts_are_over_documents(frames):
    # d1: half of gold found: R 1/2; d2: all: R 1. P is 1 in both.
    gold = frames([at(0, 4, document="d1"), at(0, 4, document="d2")], ("d1", "d2"))
    run = frames([at(0, 2, document="d1"), at(0, 4, document="d2")], ("d1", "d2"))
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["partial"])
    row = rows.filter(average="macro").row(0, named=True)
    assert values(row, "precision", "recall", "mentions") == (1.0, 0.75, 2.0)


@pytest.mark.parametrize("profile", ["gerbil", "bat", "euef"])
@pytest.mark.parametrize("matching", ["partial", "single-penalty"])
def test_tools_without_parts_refuse_them(frames, profile, matching):
    gold = frames([at(0, 4)])
    with pytest.raises(UsageError, match=f"matching '{matching}' counts in part"):
        scored(gold, gold, matching, profile=profile)


def test_intervals_are_left_out_where_precision_and_recall_have_tps_of_their_own(frames):
    names = [f"d{n}" for n in range(10)]
    gold = frames([at(0, 4, document=name) for name in names], names)
    run = frames([at(0, 2, document=name) for name in names], names)
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["partial", "weak"], intervals=True)
    assert rows.filter(matching="partial")["f1_low"].null_count() == 2
    weak = rows.filter(matching="weak")
    assert weak["f1_high"].to_list() == [1.0, 1.0]
    assert weak["f1_low"].max() < 1


@settings(max_examples=FEW)
@given(mentions, mentions)
def test_parts_stay_within_their_wholes(frames, gold, answers):
    single = [row | {"group": None, "option": None} for row in gold]
    run = {"s": frames([row | {"group": None, "option": None} for row in answers], DOCUMENTS)}
    every = ["strong", "weak", "partial", "single-penalty"]
    rows = micro(evaluate(frames(single, DOCUMENTS), run, task=["A2KB", "ERec"], match=every))
    for _, part in rows.group_by("task"):
        by = {row["matching"]: row for row in part.to_dicts()}
        assert len({row["mentions"] for row in by.values()}) == 1
        # Of the same pairs, partial credits some; half an error is never more than a whole one.
        assert by["partial"]["tp"] <= by["weak"]["tp"]
        assert by["partial"]["tp"] + by["partial"]["fp"] == pytest.approx(by["weak"]["tp"] + by["weak"]["fp"])
        assert by["single-penalty"]["tp"] == by["strong"]["tp"]
        less = [by["strong"][name] - by["single-penalty"][name] for name in ("fp", "fn")]
        # An answer that is ignored has no FP to halve.
        assert 0 <= less[0] <= less[1]


@pytest.mark.long
@settings(max_examples=FEW)
@given(mentions, mentions, mentions)
def test_ignorable_annotations_change_no_tp_and_no_fn_and_add_no_fp_in_part_either(frames, gold, answers, more):
    added = [row | {"ignorable": row["ignorable"] or "dropped", "group": None, "option": None} for row in more[:4]]
    run = {"s": frames([row | {"group": None, "option": None} for row in answers], DOCUMENTS)}
    chosen = {"task": ["A2KB", "ERec", "D2KB"], "match": ["partial", "single-penalty"]}
    before = micro(evaluate(frames(gold, DOCUMENTS), run, **chosen))
    after = micro(evaluate(frames(gold + added, DOCUMENTS), run, **chosen))
    for name in ("tp", "fn"):
        assert after[name].to_list() == pytest.approx(before[name].to_list())
    assert (after["fp"] <= before["fp"] + 1e-9).all()


@pytest.mark.long
@settings(max_examples=FEW)
@given(mentions)
def test_gold_as_answers_is_perfect_in_part_too(frames, gold):
    gold = list({(row["document"], row["begin"], row["end"], row["entity"]): row for row in gold}.values())
    given_gold = frames(gold, DOCUMENTS)
    rows = evaluate(given_gold, {"s": given_gold}, match=["partial", "single-penalty"])
    for score in ("precision", "recall", "f1"):
        assert rows[score].drop_nulls().to_list() == pytest.approx([1.0] * rows[score].count())
