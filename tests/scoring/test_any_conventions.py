"""Evaluate and compare give the same scores, whatever conventions a profile is put together from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remix.errors import UsageError
from remix.question import Question
from remix.reports.readable import with_f1_shown
from remix.scoring import score_inputs
from remix.scoring.choice import Choice, choose
from remix.scoring.comparison import compare_inputs
from remix.scoring.conventions import aspects
from remix.scoring.inputs import Inputs, Knowledge
from remix.scoring.profiles import CONVENTIONS, PLAIN_GOLD, PROFILES, Conventions
from tests.examples import FEW
from tests.scoring.conftest import framed
from tests.scoring.test_properties import mention, placed

E = "http://e.org/"
DOCUMENTS = [f"d{number}" for number in range(12)]
RULES = {one.name: [rule for rule in CONVENTIONS if rule.aspect == one.name] for one in fields(Conventions)}
conventions = st.builds(Conventions, **{aspect: st.sampled_from(rules) for aspect, rules in RULES.items()})
# Few documents are about anything, so that there are some with gold and answers, with one of them, and with nothing.
sides = st.lists(
    st.builds(lambda row, name: row | {"document": name}, mention, st.sampled_from(DOCUMENTS[:4])), max_size=9
).map(placed)

shown = st.sampled_from([(average, score) for average in ("macro", "micro") for score in ("f1", "precision", "recall")])
headlines = st.sampled_from([("A2KB", "strong"), ("A2KB", "weak"), ("C2KB", "strong")])

MADE = replace(PLAIN_GOLD, pairing=aspects.pair_first_unused, undefined=aspects.undefined_zero)
"""A profile put together from existing rules that none has together."""
PERFECT = replace(MADE, **{one.aspect: one for one in CONVENTIONS if one.name in ("nil-left-out", "empty-is-perfect")})


def mention_of(document: str, *classes: str, **more: Any) -> dict[str, Any]:
    return {"document": document, "begin": 0, "end": 3, "entity": "e:A", "classes": [*classes], **more}


def answers_of(rows: list[dict[str, Any]]) -> Any:
    return framed([row | {"group": None, "option": None, "ignorable": None} for row in rows], DOCUMENTS)


def outcome(work: Callable[[], dict[tuple[str, ...], float]]) -> dict[tuple[str, ...], float] | str:
    """What is returned, or the message of what is refused."""
    try:
        return work()
    except UsageError as error:
        return str(error)


def evaluated(inputs: Inputs, choice: Choice, average: str, score: str) -> dict[tuple[str, ...], float]:
    """A score by system and slice, '' being the whole, as evaluate has it."""
    rows = with_f1_shown(score_inputs(inputs, choice))[0].filter(pl.col("column").is_in(["", *choice.by]))
    rows = rows.filter(dataset="all", average=average)
    return {(row["system"], row["slice"]): row[score] for row in rows.iter_rows(named=True)}


def compared(inputs: Inputs, choice: Choice, average: str, score: str) -> dict[tuple[str, ...], float]:
    """The same as compare has it; the scores of its tests are those of its table."""
    comparison = compare_inputs([inputs], choice, average=average, score=score, samples=10)
    rows = comparison.scores.iter_rows(named=True)
    found = {(row["system"], row["part"].partition("=")[2]): row["score"] for row in rows}
    for row in comparison.pairs.iter_rows(named=True):
        for system in ("system", "other"):
            of_table = found[row[system], row["part"].partition("=")[2]]
            assert row[f"score_{system}"] == (None if of_table is None else pytest.approx(of_table))
    return found


@pytest.mark.at_hand(1)  # the whole is among its slices
@pytest.mark.parametrize("by", [("class",), ()], ids=["slices", "whole"])
@settings(max_examples=FEW)
@given(conventions, sides, sides, sides, shown, headlines)
# Both classes have an answer that is ignored in the documents of the other: the score of nothing is no 0 in a mean.
@example(
    MADE,
    [mention_of("d0", "x"), mention_of("d1", "y")],
    [mention_of("d0"), mention_of("d1")],
    [mention_of("d0")],
    ("macro", "f1"),
    ("A2KB", "strong"),
)
# x is asked of no linked mention, and all that s answers is ignored in it: recall is 1 where nothing is asked.
@example(
    PERFECT,
    [mention_of("d0", "y"), mention_of("d1", "x", entity=None)],
    [mention_of("d0")],
    [mention_of("d2")],
    ("micro", "recall"),
    ("A2KB", "strong"),
)
# C2KB asks of y no entity, and the answer of s is on no mention of it: F1 on mention is 0/0, and that of all answers 0.
@example(
    PROFILES["remix"].conventions,
    [mention_of("d0", "x"), mention_of("d1", "y", entity=None)],
    [mention_of("d2", entity="e:C")],
    [],
    ("micro", "f1"),
    ("C2KB", "strong"),
)
# s answers on no mention where nothing is asked: F1 on mention is that of nothing, which is perfect in each document.
@example(
    replace(PERFECT, macro=aspects.macro_of_all),
    [mention_of("d1", "y", ignorable="dropped") | {"begin": 6, "end": 9}, mention_of("d3", "y")],
    [mention_of("d1", entity="e:B")],
    [mention_of("d0", entity="e:C")],
    ("macro", "f1"),
    ("A2KB", "weak"),
)
# Macro P of x on mention is 1 and of all answers 1/2, R is 1: the harmonic mean takes the P of the F1 shown, and is 1.
@example(
    replace(PLAIN_GOLD, macro=next(one for one in RULES["macro"] if one.harmonic)),
    [mention_of("d0", "x"), mention_of("d1", "y")],
    [mention_of("d0"), mention_of("d0", entity="e:C") | {"begin": 6, "end": 9}],
    [mention_of("d0")],
    ("macro", "f1"),
    ("A2KB", "strong"),
)
def test_any_conventions_give_the_same_scores_in_evaluate_and_compare(by, rules, gold, first, second, of, headline):
    profile = replace(PROFILES["remix"], name="made", conventions=rules, headline=headline)
    inputs = Inputs(framed(gold, DOCUMENTS), {"s": answers_of(first), "t": answers_of(second)})
    choice = choose(Question(profile=profile, by=by), headline=True)
    found, tested = outcome(lambda: evaluated(inputs, choice, *of)), outcome(lambda: compared(inputs, choice, *of))
    if isinstance(tested, str) and tested.startswith("nothing to compare"):
        assert isinstance(found, dict)
        assert set(found.values()) <= {None}
    elif isinstance(found, str) or isinstance(tested, str):
        assert found == tested
    else:
        # A system that has nothing in a slice has no row in evaluate.
        assert {key: value for key, value in tested.items() if value is not None} == {
            key: pytest.approx(value) for key, value in found.items() if value is not None
        }


def test_mean_leaves_out_documents_where_nothing_counts_whatever_an_undefined_score_is():
    # d0 asks and has x, d1 y; in the slice x the answer of d1 is ignored, so that d1 has nothing in it: macro-F1 1.0.
    profile = replace(PROFILES["remix"], name="made", conventions=MADE)
    gold = framed([mention_of("d0", "x"), mention_of("d1", "y")], DOCUMENTS)
    inputs = Inputs(gold, {"s": answers_of([mention_of("d0"), mention_of("d1")])})
    rows = score_inputs(inputs, choose(Question(profile=profile, by=("class",)), headline=True)).filter(
        slice="x", average="macro"
    )
    assert rows.select("f1", "f1_documents", "ignored").row(0) == (1.0, 1, 1)


def test_types_of_the_knowledge_base_are_those_of_evaluate_in_compare(kb_of):
    # x is the class of d0's mention; e:B is a place, so that the wrong answer in d2 is out of the scope of x.
    names = f"surface_form\tentity\tcount\tsource\nAda\t{E}A\t1\tt\n"
    types = f"entity\tclass\tsource\n{E}A\t{E}x\tt\n{E}B\t{E}y\tt\n"
    kb = kb_of({"surface_forms.tsv": names, "types.tsv": types})
    first, second = mention_of("d0", f"{E}x", entity=f"{E}A"), mention_of("d1", f"{E}y", entity=f"{E}B")
    run = answers_of([first, second | {"document": "d2"}])
    inputs = Inputs(framed([first, second], DOCUMENTS), {"s": run}, Knowledge(kb=kb))
    choice = choose(Question(by=("class",)), headline=True)
    found = compared(inputs, choice, "micro", "f1")
    assert found == evaluated(inputs, choice, "micro", "f1")
    assert found["s", f"{E}x"] == 1.0
