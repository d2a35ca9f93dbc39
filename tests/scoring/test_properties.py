"""What holds of every gold and every run."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import FEW
from tests.scoring.conftest import evaluate

DOCUMENTS = ("d1", "d2")

mention = st.fixed_dictionaries(
    {
        "document": st.sampled_from(DOCUMENTS),
        "begin": st.integers(0, 8),
        "length": st.integers(1, 5),
        "entity": st.sampled_from(["e:A", "e:B", "e:C", None]),
        "classes": st.sampled_from([[], ["x"], ["y"], ["x", "y"]]),
        "ignorable": st.sampled_from([None, None, "dropped", "optional"]),
        "group": st.sampled_from([None, None, "1", "2"]),
        "option": st.sampled_from(["1", "2"]),
    }
)


def placed(rows):
    """Rows with an end, groups of their document, options only where there is a group."""
    return [
        row
        | {
            "end": row["begin"] + row["length"],
            "group": f"{row['document']}-{row['ignorable']}-{row['group']}" if row["group"] else None,
            "option": row["option"] if row["group"] else None,
        }
        for row in rows
    ]


mentions = st.lists(mention, max_size=7).map(placed)
KEYS = ["task", "matching", "column", "slice", "average", "dataset"]


def micro(rows):
    return rows.filter(pl.col("average") == "micro", pl.col("column") == "").sort("task", "matching")


@settings(max_examples=FEW)
@given(mentions, mentions, st.lists(mention, max_size=4).map(placed))
def test_adding_ignorable_annotations_changes_no_tp_and_no_fn_and_adds_no_fp(frames, gold, answers, more):
    added = [row | {"ignorable": row["ignorable"] or "dropped", "group": None, "option": None} for row in more]
    run = {"s": frames([row | {"group": None, "option": None} for row in answers], DOCUMENTS)}
    before = micro(evaluate(frames(gold, DOCUMENTS), run))
    after = micro(evaluate(frames(gold + added, DOCUMENTS), run))
    assert before.select("tp", "fn").equals(after.select("tp", "fn"))
    assert (after["fp"] <= before["fp"]).all()


@settings(max_examples=FEW)
@given(mentions)
def test_gold_as_answers_is_perfect_on_every_slice(frames, gold):
    # Written twice, one annotation cannot satisfy two groups: each span and entity once.
    gold = list({(row["document"], row["begin"], row["end"], row["entity"]): row for row in gold}.values())
    given_gold = frames(gold, DOCUMENTS)
    by = ["class"] if not given_gold.classes.is_empty() else []
    rows = evaluate(given_gold, {"s": given_gold}, by=by)
    for score in ("precision", "recall", "f1"):
        assert set(rows[score].drop_nulls()) <= {1.0}
    assert rows["fp"].sum() == rows["fn"].sum() == 0


@pytest.mark.long
@settings(max_examples=FEW)
@given(mentions, mentions, st.integers(0, 99))
def test_nothing_depends_on_order(frames, gold, answers, seed):
    left, right = frames(gold, DOCUMENTS), frames([r | {"group": None, "option": None} for r in answers], DOCUMENTS)

    def shuffled(one):
        return replace(
            one, annotations=one.annotations.sample(fraction=1, shuffle=True, seed=seed), links=one.links.reverse()
        )

    expected = evaluate(left, {"s": right})
    assert evaluate(shuffled(left), {"s": shuffled(right)}).equals(expected)


@pytest.mark.long
@given(mentions, mentions)
def test_strong_finds_no_more_than_weak(frames, gold, answers):
    right = frames([r | {"group": None, "option": None} for r in answers], DOCUMENTS)
    rows = micro(evaluate(frames(gold, DOCUMENTS), {"s": right}, task=["A2KB", "D2KB", "ERec"]))
    found = rows.pivot("matching", index="task", values="tp")
    assert (found["strong"] <= found["weak"]).all()


@settings(max_examples=FEW)
@given(mentions, mentions)
def test_every_gold_group_and_every_answer_is_counted_once(frames, gold, answers):
    single = [r | {"group": None, "option": None} for r in gold]
    right = frames([r | {"group": None, "option": None} for r in answers], DOCUMENTS)
    # ERec compares spans, so that a span counts once whatever it links to.
    for task, fields in (("A2KB", ("document", "begin", "end", "entity")), ("ERec", ("document", "begin", "end"))):
        rows = micro(evaluate(frames(single, DOCUMENTS), {"s": right}, task=[task]))
        distinct = {tuple(r[field] for field in fields) for r in answers}
        kept = {tuple(r[field] for field in fields) for r in gold if r["ignorable"] is None}
        assert set(rows["tp"] + rows["fp"] + rows["ignored"]) == {len(distinct)}
        assert set(rows["mentions"]) == set(rows["tp"] + rows["fn"]) == {len(kept)}
