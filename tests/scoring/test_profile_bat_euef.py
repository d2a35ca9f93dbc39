"""The conventions of BAT and EUEF, on cases made by hand."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from remix import progress
from remix.frames import Frames
from remix.scoring import PROFILES
from tests.scoring.conftest import evaluate

NAMES = ("d1", "d2", "d3", "d4")


def at(begin: int, end: int, entity: str | None = "e:A", **more: object) -> dict[str, object]:
    return {"begin": begin, "end": end, "entity": entity, **more}


def row(gold, run, profile, matching, task="A2KB", average="micro"):
    rows = evaluate(gold, {"s": run}, task=[task], match=[matching], profile=profile)
    return rows.filter(pl.col("average") == average).row(0, named=True)


def counts(*arguments, **more):
    found = row(*arguments, **more)
    return found["tp"], found["fp"], found["fn"]


def test_one_answer_of_bat_serves_all_mentions_that_it_matches(frames):
    # Weakly, 0-10 of one entity overlaps both mentions: one TP, no FN. The default profile misses one.
    gold = frames([at(0, 4), at(6, 10)])
    run = frames([at(0, 10)])
    assert counts(gold, run, "bat", "weak") == (1, 0, 0)
    assert counts(gold, run, "remix", "weak") == (1, 0, 1)


def test_overlapping_answers_of_bat_lose_to_the_longest_before_they_are_compared(frames):
    # 0-3 and 2-8 overlap: the longer stays, so that two parts of one mention are no two TPs.
    assert counts(frames([at(0, 8)]), frames([at(0, 3), at(2, 8)]), "bat", "weak") == (1, 0, 0)
    # Strong matching compares all of them.
    assert counts(frames([at(0, 3)]), frames([at(0, 3), at(2, 8)]), "bat", "strong") == (1, 1, 0)


def test_a_chain_of_overlaps_in_bat_is_followed_from_the_left(frames):
    # 0-4, 3-9, 8-10: 3-9 replaces 0-4, then 8-10 is shorter and goes; 20-21 begins anew.
    gold = frames([at(3, 9), at(8, 10), at(20, 21)])
    run = frames([at(0, 4), at(3, 9), at(8, 10), at(20, 21)])
    assert counts(gold, run, "bat", "weak") == (2, 0, 0)


def test_a_second_match_of_a_mention_counts_neither_way_in_bat(frames):
    # Two parts of one mention that do not overlap: the first is the TP, the second is no FP either.
    assert counts(frames([at(0, 9)]), frames([at(0, 3), at(5, 9)]), "bat", "weak") == (1, 0, 0)


def test_candidates_of_bat_are_right_where_spans_are_equal_and_one_of_them_is_golds(frames):
    # MultiEntityMatch: Ada is answered X, with gold's A among the candidates; Bob's candidates miss, Cy is cut short.
    gold = frames([at(0, 3), at(8, 11, "e:B"), at(16, 18, "e:C")])
    run = frames([at(0, 3, "e:X"), at(8, 11, "e:X"), at(16, 17, "e:C")])
    sets = pl.DataFrame({"annotation": ["d#0", "d#0", "d#1"], "entity": ["e:X", "e:A", "e:X"], "score": [0.6, 0.4, 1]})
    run = replace(run, candidates=Frames.of(candidates=sets).candidates)
    for matching in ("strong", "weak"):
        assert counts(gold, run, "bat", matching, "candidates") == (1, 2, 2)
    assert counts(gold, run, "bat", "weak", "A2KB") == (1, 2, 2)  # Cy alone


def test_mentions_of_bat_are_spans_each_of_which_counts_once(frames):
    # MentionMatch holds sets of spans: two entities on one span are one mention and one answer.
    twice = frames([at(0, 3, "e:A"), at(0, 3, "e:B"), at(5, 8)])
    assert counts(twice, frames([at(0, 3, "e:X"), at(0, 3, "e:Y")]), "bat", "strong", "ERec") == (1, 0, 1)
    assert counts(twice, frames([at(9, 12, "e:X"), at(9, 12, "e:Y")]), "bat", "strong", "ERec") == (0, 1, 2)


def test_spans_are_equal_in_d2kb_of_bat_whatever_the_matching(frames):
    # RunExperiments: D2W is by StrongAnnotationMatch, on what has the span of a mention. 0-3 is right, 5-9 on no span.
    gold, run = frames([at(0, 3), at(5, 8)]), frames([at(0, 3), at(5, 9)])
    for matching in ("strong", "weak"):
        assert counts(gold, run, "bat", matching, "D2KB") == (1, 0, 1)
    assert counts(gold, run, "bat", "weak", "A2KB") == (2, 0, 0)


@pytest.mark.parametrize(("profile", "matching"), [("bat", "strong"), ("euef", "fuzzy-over(0.85)")])
def test_precision_is_one_without_answers_and_recall_is_one_without_gold(frames, profile, matching):
    # d1 right; d2 gold only: P 1, R 0; d3 answers only: P 0, R 1; d4 nothing: P = R = F1 = 1. NIL takes no part.
    nil = [at(9, 12, None, document=name) for name in ("d3", "d4")]
    gold = frames([at(0, 3, document="d1"), at(0, 3, document="d2"), *nil], NAMES)
    run = frames([at(0, 3, document="d1"), at(0, 3, document="d3")], NAMES)
    found = row(gold, run, profile, matching, average="macro")
    assert (found["precision"], found["recall"]) == (0.75, 0.75)
    # BAT: mean of 1, 0, 0, 1. EUEF: harmonic mean of 0.75 and 0.75.
    assert found["f1"] == (0.5 if profile == "bat" else 0.75)


@pytest.mark.parametrize("profile", ["bat", "euef"])
def test_nil_takes_no_part_in_links(frames, profile):
    matching = PROFILES[profile].matchings[0]
    gold = frames([at(0, 3), at(5, 8, None)])
    run = frames([at(0, 3), at(5, 8, None), at(10, 12, None)])
    assert counts(gold, run, profile, matching) == (1, 0, 0)


def texted(frames, rows, text):
    made = frames(rows)
    return replace(made, documents=made.documents.with_columns(text=pl.lit(text)))


def test_spans_of_euef_match_where_their_texts_are_alike_enough(frames):
    text = "the University of Oxford"
    gold = texted(frames, [at(0, 24)], text)
    # 'University of Oxford' has 20 of 24 characters: similarity 0.83; 'e University of Oxford' 22/24 = 0.92.
    assert counts(gold, texted(frames, [at(4, 24)], text), "euef", "fuzzy-over(0.85)") == (0, 1, 1)
    assert counts(gold, texted(frames, [at(2, 24)], text), "euef", "fuzzy-over(0.85)") == (1, 0, 0)


def test_the_paper_of_euef_takes_any_overlap(frames):
    # Its figures have t = 0, the released code 0.85: 'Oxford' has 6 of 24 characters.
    assert PROFILES["euef"].headline == ("A2KB", "fuzzy-over(0)")
    text = "the University of Oxford"
    gold, run = texted(frames, [at(0, 24)], text), texted(frames, [at(18, 24)], text)
    assert counts(gold, run, "euef", "fuzzy-over(0)") == (1, 0, 0)
    assert counts(gold, run, "euef", "fuzzy-over(0.85)") == (0, 1, 1)


@pytest.mark.parametrize(("profile", "matching"), [("euef", "fuzzy-over(0.85)"), ("remix", "fuzzy(0.85)")])
def test_forms_that_a_run_does_not_tell_are_cut_from_golds_text(frames, profile, matching):
    # 22 of 24 characters; the run has neither surface forms nor texts.
    gold = texted(frames, [at(0, 24)], "the University of Oxford")
    assert counts(gold, frames([at(2, 24)]), profile, matching) == (1, 0, 0)
    assert counts(gold, frames([at(18, 24)]), profile, matching) == (0, 1, 1)


def test_spans_whose_words_nobody_knows_match_where_they_are_equal_and_it_is_said(frames, capsys):
    with progress.enable():
        found = counts(frames([at(0, 4), at(6, 10)]), frames([at(0, 4), at(6, 9)]), "remix", "fuzzy(0)")
    assert found == (1, 1, 1)
    assert "1 overlapping spans match nothing because" in capsys.readouterr().err


def test_at_a_threshold_of_one_nothing_matches_in_euef_and_equal_spans_do_by_default(frames):
    text = "Oxford"
    gold = texted(frames, [at(0, 6)], text)
    assert counts(gold, gold, "euef", "fuzzy-over(1)") == (0, 1, 1)
    assert counts(gold, gold, "remix", "fuzzy(1)") == (1, 0, 0)


def test_embedded_mentions_of_one_side_go_in_euef(frames):
    # 'New York' within 'New York.' is alike (8/9): the longer stays, on both sides.
    text = "New York. Then"
    both = texted(frames, [at(0, 8), at(0, 9)], text)
    assert counts(both, both, "euef", "fuzzy-over(0.85)") == (1, 0, 0)


def test_overlapping_answers_of_one_length_both_stay_in_euef(frames):
    # Each gives way to the other (Filter.coreference). Beside gold both are wrong; on one span one of them is right.
    assert counts(frames([at(0, 4)]), frames([at(6, 8), at(7, 9)]), "euef", "weak") == (0, 2, 1)
    both = frames([at(0, 4, "e:A"), at(0, 4, "e:B")])
    assert counts(frames([at(0, 4, "e:B")]), both, "euef", "weak") == (1, 1, 0)
    assert counts(frames([at(6, 8)]), both, "euef", "weak", task="ERec") == (0, 1, 1)  # a set of mentions has it once


def test_a_chain_of_overlaps_in_euef_is_followed_to_its_end(frames):
    # 0-2 gives way to 1-4, and this to 3-7, which alone is wrong.
    assert counts(frames([]), frames([at(0, 2), at(1, 4), at(3, 7)]), "euef", "weak") == (0, 1, 0)


def test_of_several_answers_on_a_mention_the_longest_stays_in_euef(frames):
    # Apart from each other, alike at 0 only: both overlap gold; the shorter is taken out and is no FP.
    text = "Washington D.C."
    gold = texted(frames, [at(0, 15)], text)
    run = texted(frames, [at(0, 10), at(11, 15)], text)
    assert counts(gold, run, "euef", "fuzzy-over(0.1)") == (1, 0, 0)


def test_candidates_and_nil_are_tasks_of_euef(frames):
    # Gold: Ada linked, Bob and Cy NIL. Answers: Ada with another entity, but gold's among the candidates; Bob NIL;
    # Cy linked; Dan NIL beside gold.
    text = "Ada saw Bob and Cy and Dan"
    gold = texted(frames, [at(0, 3), at(8, 11, None), at(16, 18, None)], text)
    run = texted(frames, [at(0, 3, "e:X"), at(8, 11, None), at(16, 18, "e:Y"), at(23, 26, None)], text)
    sets = pl.DataFrame({"annotation": ["d#0", "d#0"], "entity": ["e:X", "e:A"], "score": [0.6, 0.4]})
    run = replace(run, candidates=Frames.of(candidates=sets).candidates)
    rows = evaluate(gold, {"s": run}, profile="euef").filter(pl.col("average") == "micro")
    assert rows.select("task", "tp", "fp", "fn").rows() == [
        ("A2KB", 0, 2, 1),
        ("ERec", 3, 1, 0),  # Ada, Bob, Cy, whatever they are linked to; Dan
        ("candidates", 2, 2, 1),  # Ada, and Bob, where both have NIL alone; Cy and Dan; Cy
        ("candidates(measure=recognised)", 2, 1, 1),  # Ada, Bob; Cy
        ("accuracy", 0, 3, 3),  # all three are recognised, and none is linked right
        ("NIL", 1, 1, 1),  # Bob; Dan; Cy
    ]


def test_answer_that_chose_none_of_its_candidates_has_them_in_euef(frames):
    # Ada was recognised with gold's entity among the candidates, and linked to none of them; Bob has NIL alone, which
    # is among the candidates compared, and wrong.
    text = "Ada saw Bob"
    gold = texted(frames, [at(0, 3), at(8, 11, "e:B")], text)
    run = texted(frames, [at(0, 3, None), at(8, 11, None)], text)
    sets = pl.DataFrame({"annotation": ["d#0", "d#0"], "entity": ["e:X", "e:A"], "score": [0.6, 0.4]})
    run = replace(run, candidates=Frames.of(candidates=sets).candidates)
    rows = evaluate(gold, {"s": run}, task=["candidates", "A2KB"], profile="euef").filter(average="micro", column="")
    assert rows.select("task", "tp", "fp", "fn").rows() == [("candidates", 1, 1, 1), ("A2KB", 0, 0, 2)]


def test_mentions_of_euef_are_linked_and_nil_ones_so_that_shares_of_them_are(frames):
    # As in the paper, where MSNBC has 658 linked mentions and 97 NIL, and TP + FN of MM and of CM are 745, as ten are
    # embedded. Here Ada is linked, Bob NIL; both are recognised, Ada is linked right: accuracy 1/2.
    text = "Ada saw Bob"
    gold = texted(frames, [at(0, 3), at(8, 11, None)], text)
    run = texted(frames, [at(0, 3), at(8, 11, "e:X")], text)
    assert counts(gold, run, "euef", "fuzzy-over(0)", "ERec") == (2, 0, 0)
    assert counts(gold, run, "euef", "fuzzy-over(0)", "candidates") == (1, 1, 1)
    assert counts(gold, run, "euef", "fuzzy-over(0)", "accuracy") == (1, 1, 1)
    assert counts(gold, run, "euef", "fuzzy-over(0)", "A2KB") == (1, 1, 0)


def test_longer_nil_mention_of_euef_takes_the_place_of_one_that_it_holds_among_mentions_alone(frames):
    # 'Bank of Ada' is NIL and goes before 'Ada' where mentions are compared; links are compared without it.
    text = "Bank of Ada"
    gold = texted(frames, [at(0, 11, None), at(8, 11)], text)
    run = texted(frames, [at(8, 11)], text)
    assert counts(gold, run, "euef", "fuzzy-over(0)", "ERec") == (1, 0, 0)
    assert counts(gold, run, "euef", "fuzzy-over(0)", "A2KB") == (1, 0, 0)
    assert counts(gold, run, "euef", "fuzzy-over(0)", "NIL") == (0, 0, 1)


def test_accuracy_and_recall_of_candidates_of_euef_are_shares_of_the_recognised_mentions(frames):
    # Gold: Ada, Bob, Cy, Dan, Eve. Recognised are Ada, Bob, Cy (beside them is one answer on no mention); Ada is right,
    # Bob's entity is among the candidates, Cy's is not. Accuracy: 1 of 3 (M_s / M_g); R_m: 2 of 3; R_g: 2 of 5.
    names = ("Ada", "Bob", "Cy", "Dan", "Eve", "Fay")
    text = " ".join(names)
    spans = [(text.index(name), text.index(name) + len(name), f"e:{name}") for name in names]
    gold = texted(frames, [at(*span) for span in spans[:5]], text)
    answers = [at(*spans[0]), at(*spans[1][:2], "e:X"), at(*spans[2][:2], "e:X"), at(*spans[5])]
    run = texted(frames, answers, text)
    sets = pl.DataFrame(
        {"annotation": ["d#1", "d#1", "d#2"], "entity": ["e:X", "e:Bob", "e:X"], "score": [0.6, 0.4, 1]}
    )
    run = replace(run, candidates=Frames.of(candidates=sets).candidates)
    rows = evaluate(gold, {"s": run}, profile="euef").filter(pl.col("average") == "micro")
    found = {row["task"]: (row["tp"], row["fp"], row["fn"], row["recall"]) for row in rows.to_dicts()}
    assert found["accuracy"] == (1, 2, 2, 1 / 3)
    assert found["candidates(measure=recognised)"] == (2, 1, 1, 2 / 3)
    assert found["candidates"] == (2, 2, 3, 2 / 5)


def test_systems_are_reduced_apart_from_each_other(frames):
    text = "New York. Then"
    gold = texted(frames, [at(0, 9)], text)
    runs = {"a": texted(frames, [at(0, 8)], text), "b": gold}
    rows = evaluate(gold, runs, profile="euef", task=["A2KB"]).filter(pl.col("average") == "micro")
    assert rows["tp"].to_list() == [1, 1]


@pytest.mark.parametrize("name", ["remix", "gerbil", "bat", "neleval", "euef", "emnlp2019"])
def test_every_profile_tells_its_conventions(name):
    profile = PROFILES[name]
    assert all(profile.rules()[rule.aspect].startswith(rule.words) for rule in profile.conventions)
