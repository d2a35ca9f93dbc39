"""Thresholds of confidence: none, fixed, tuned, oracle, and the curve over all of them."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remix import progress
from remix.errors import UsageError
from remix.question import Question
from remix.scoring import PROFILES
from remix.scoring.choice import Choice, case_of, choose
from remix.scoring.comparison import draw
from remix.scoring.inputs import Inputs
from tests.examples import FEW
from tests.scoring import test_together as together
from tests.scoring.conftest import evaluate, framed


def frames(rows, documents=("d", "e")):
    """Mentions of (document, place, entity, confidence)."""
    found = framed(
        [{"document": d, "begin": 10 * n, "end": 10 * n + 3, "entity": entity} for d, n, entity, _ in rows], documents
    )
    confidence = pl.Series([score for *_, score in rows], dtype=pl.Float64)
    return replace(found, annotations=found.annotations.with_columns(confidence=confidence))


GOLD = frames([("d", 0, "e:A", None), ("d", 1, "e:B", None), ("e", 0, "e:C", None), ("e", 1, "e:D", None)])
# Right with 0.9 and 0.6, wrong with 0.5 and 0.2; the second document has gold that nothing answers.
RUN = frames([("d", 0, "e:A", 0.9), ("d", 1, "e:B", 0.6), ("d", 2, "e:X", 0.5), ("d", 3, "e:Y", 0.2)])


def scored(threshold, run=RUN, **options):
    rows = evaluate(GOLD, {"s": run}, task=["A2KB"], match=["strong"], threshold=threshold, **options)
    row = rows.filter(average="micro", dataset="all", column="").row(0, named=True)
    return tuple(row[name] for name in ("tp", "fp", "fn", "threshold_by", "threshold"))


def test_answers_above_the_threshold_count_and_rows_declare_it():
    assert scored("none") == (2, 2, 2, "none", None)
    assert scored("0.5") == (2, 0, 2, "fixed", 0.5)
    assert scored("0.6") == (1, 0, 3, "fixed", 0.6)
    # F1 is 1/2 without, 4/7 above 0.2, 2/3 above 0.5, 2/5 above 0.6: the best is 0.5.
    assert scored("oracle") == (2, 0, 2, "oracle", 0.5)


def test_answers_without_confidence_always_count():
    run = frames([("d", 0, "e:A", None), ("d", 2, "e:X", 0.1)])
    assert scored("0.5", run) == (1, 0, 3, "fixed", 0.5)
    assert scored("oracle", frames([("d", 0, "e:A", None)])) == (1, 0, 3, "oracle", None)


def test_tuned_is_the_best_elsewhere():
    # On the other gold the answer of 0.9 alone is right: the best threshold there is 0.6.
    other = frames([("d", 0, "e:A", None)])
    assert scored("tuned:other", tuning=(other, {"s": RUN})) == (1, 0, 3, "tuned", 0.6)


@pytest.mark.long
def test_thresholds_are_in_the_signature_and_none_changes_nothing():
    def signature(threshold, **options):
        return evaluate(GOLD, {"s": RUN}, threshold=threshold, **options)["signature"][0]

    assert signature("none") == evaluate(GOLD, {"s": RUN})["signature"][0]
    assert "|threshold:0.5|" in signature("0.50") == signature("0.5")
    assert "|threshold:oracle|" in signature("oracle")
    first, second = (signature("tuned:x", tuning=(gold, {"s": RUN})) for gold in (GOLD, frames([])))
    assert first != second


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        ("orcale", "did you mean 'oracle'"),
        ("tuned", "tuned:DATASET"),
        ("nan", "no threshold"),
        ("tuned:x", "not given"),
    ],
)
def test_other_thresholds_are_refused(threshold, message):
    with pytest.raises(UsageError, match=message):
        scored(threshold)


def test_profiles_with_a_threshold_of_their_own_keep_it_and_tell_it():
    # Of RUN's answers those above 0.5 are best; the profile chooses for each task and matching.
    rows = evaluate(GOLD, {"s": RUN}, profile="gerbil", task=["A2KB"], match=["strong"])
    assert set(rows["threshold_by"]) == {"oracle"}
    best = evaluate(GOLD, {"s": RUN}, threshold="oracle", task=["A2KB"], match=["strong"])
    assert set(rows["threshold"]) == set(best["threshold"]) != {None}
    assert rows.filter(average="micro", column="")["tp"].to_list() == best.filter(average="micro")["tp"].to_list()


@pytest.mark.parametrize("threshold", ["none", "0.3"])
def test_threshold_that_is_asked_for_goes_before_the_profiles_own(threshold):
    given = {"task": ["A2KB"], "match": ["strong"], "threshold": threshold}
    rows = evaluate(GOLD, {"s": RUN}, profile="gerbil", **given).filter(average="micro", column="")
    plain = evaluate(GOLD, {"s": RUN}, **given).filter(average="micro")
    same = ["tp", "fp", "fn", "threshold_by", "threshold"]
    assert rows.select(same).equals(plain.select(same))
    assert f"|threshold:{threshold}|" in rows["signature"][0]
    assert "|threshold:" not in evaluate(GOLD, {"s": RUN}, profile="gerbil")["signature"][0]


def test_threshold_tuned_on_what_is_scored_is_an_oracle_and_is_called_one(capsys):
    with progress.enable():
        assert scored("tuned:x", tuning=(GOLD, {"s": RUN}))[3] == "oracle"
    assert "it is an oracle" in capsys.readouterr().err
    signature = evaluate(GOLD, {"s": RUN}, threshold="tuned:x", tuning=(GOLD, {"s": RUN}))["signature"][0]
    assert "|threshold:oracle," in signature


entities, scores = st.sampled_from(["e:A", "e:B", "e:C"]), st.sampled_from([0.1, 0.4, 0.8])
answers = st.lists(
    st.tuples(st.sampled_from("de"), st.integers(0, 3), entities, scores),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[:2],
)


@pytest.mark.long
@settings(max_examples=FEW)
@given(answers)
def test_the_curve_has_the_counts_of_each_fixed_threshold(rows):
    run, profile = frames(rows), PROFILES["remix"]
    choice = Choice(profile=profile, task=("A2KB",), match=("strong",))
    curve = draw(case_of(Inputs(GOLD, {"s": run}), choice), choice, "threshold")
    for row in curve.to_dicts():
        fixed = "none" if row["threshold"] is None else str(row["threshold"])
        assert (row["tp"], row["fp"], row["fn"]) == scored(fixed, run)[:3]
    (best,) = curve.filter("best").to_dicts()
    assert best["f1"] == curve["f1"].max()
    assert scored("oracle", run)[4] == best["threshold"]


def told_of(gold, **runs):
    """Told as `together.inputs_of` takes it: mentions of (document, begin, length, confidence, class)."""

    def rows(mentions):
        return [
            {"document": d, "begin": begin, "length": length, "entities": [], "confidence": sure, "classes": [class_]}
            for d, begin, length, sure, class_ in mentions
        ]

    named = {name: {"rows": rows(one), "failed": False} for name, one in runs.items()}
    return {"gold": rows(gold), "runs": named, "unrevised": False}


# In 'the second document' the first answer grows to the words of gold; in the text of another document it would not.
# F1 is 2 / (2 + 3) of all four answers, and 2 / (2 + 2) above 0.2.
@pytest.mark.long
@example(
    told_of(
        [("d2", 3, 3, None, "c:x")],
        b=[("d2", 3, 4, 0.9, "c:x"), ("d1", 1, 5, 0.9, "c:x"), ("d1", 4, 1, 0.9, "c:x"), ("d1", 6, 2, 0.2, "c:x")],
    ),
    "ERec",
    "expanded",
)
# Nothing is asked, and above 0.9 nothing is answered: GERBIL calls that perfect.
@example(told_of([], b=[("d1", 0, 3, 0.9, "c:x")]), "A2KB", "strong")
@settings(max_examples=FEW)
@given(together.dataset, st.sampled_from(together.OF_GERBIL), st.sampled_from(together.MATCHINGS))
def test_own_rule_of_a_profile_gives_the_best_micro_f1_of_all_thresholds(told, task, match):
    """Also where a matching reads texts, where gold is empty, and where a system is not the first that is scored."""
    own = together.inputs_of("x", {**told, "spans": {}})
    question = Question(profile="gerbil", task=(task,), match=(match,))

    def f1(threshold):
        rows = together.alone(own, choose(replace(question, threshold=threshold)))
        if rows is None:
            return {}
        rows = rows.filter(average="micro", column="", dataset="all", task=task)
        return dict(rows.select("system", pl.col("f1").fill_null(0.0)).iter_rows())

    confidences = {str(one["confidence"]) for run in told["runs"].values() for one in run["rows"] if one["confidence"]}
    fixed = [f1(threshold) for threshold in ("none", *sorted(confidences))]
    for threshold in ("", "oracle"):
        for system, found in f1(threshold).items():
            assert found == max(scores[system] for scores in fixed)
