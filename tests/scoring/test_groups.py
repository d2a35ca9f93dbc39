"""Alternatives, options of several annotations, regions, NIL and repeated annotations."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from tests.scoring.conftest import evaluate

WHOLE = {"begin": 0, "end": 19, "entity": "e:Chatham", "group": "c", "option": "1"}
TOWN = {"begin": 0, "end": 7, "entity": "e:Chatham", "group": "c", "option": "2"}
STATE = {"begin": 9, "end": 19, "entity": "e:New_Jersey", "group": "c", "option": "2"}


def test_group_is_satisfied_by_either_option(frames, counts):
    gold = frames([WHOLE, TOWN, STATE])
    assert counts(gold, frames([WHOLE])) == (1, 0, 0, 0)
    # The second answer of a satisfied option is neither a TP nor an FP.
    assert counts(gold, frames([TOWN, STATE]))[:3] == (1, 0, 0)


def test_alternatives_of_gold_as_answers_are_no_false_positives(frames, counts):
    # One group is one TP; the answers that are its other option have nothing to be wrong about, one beside it has.
    gold = frames([WHOLE, TOWN, STATE])
    for task in ("A2KB", "ERec", "D2KB"):
        assert counts(gold, gold, task)[:3] == (1, 0, 0)
    alone = [row | {"group": None, "option": None} for row in (WHOLE, TOWN, STATE, STATE | {"entity": "e:X"})]
    assert counts(gold, frames(alone))[:3] == (1, 1, 0)


def test_option_needs_all_of_its_annotations(frames, counts):
    assert counts(frames([WHOLE, TOWN, STATE]), frames([TOWN])) == (0, 1, 1, 0)


def test_errors_of_an_option_of_two_annotations_are_those_of_the_one_that_is_wrong(frames):
    def count(*answers: dict[str, object]) -> dict[str, tuple[int, int]]:
        """Return the errors and how many there could be, of each class that could be."""
        alone = [row | {"group": None, "option": None} for row in answers]
        rows = evaluate(frames([WHOLE, TOWN, STATE]), {"s": frames(alone)}, match=["strong"], errors=["neleval"])
        rows = rows.filter(pl.col("column") == "error_class", pl.col("total") > 0)
        return {name: (errors, total) for name, errors, total in rows.select("slice", "errors", "total").rows()}

    # Both annotations of the option have an answer, and neither answer is extra; else both are wrong, each in its way.
    assert count(TOWN, STATE) == {"wrong_link": (0, 1), "link_as_nil": (0, 1), "missing": (0, 1), "extra": (0, 2)}
    for wrong in ([TOWN, STATE | {"entity": "e:X"}], [TOWN | {"entity": "e:X"}, STATE]):
        assert count(*wrong) == {"wrong_link": (1, 1), "link_as_nil": (0, 1), "missing": (0, 1), "extra": (1, 2)}
    # One of the two alone is on no mention that gold asks for.
    assert count(TOWN) == {"missing": (1, 1), "extra": (1, 1)}


def test_further_alternative_of_a_satisfied_group_is_a_false_positive_in_a2kb_and_ignored_in_c2kb(frames, counts):
    gold = frames([{"begin": 0, "end": 5, "entities": ["e:A", "e:B"]}])
    run = frames([{"begin": 0, "end": 5, "entity": "e:A"}, {"begin": 0, "end": 5, "entity": "e:B"}])
    assert counts(gold, run) == (1, 1, 0, 0)
    assert counts(gold, run, "C2KB") == (1, 0, 0, 1)


def test_c2kb_counts_an_entity_once_and_asks_for_no_more_than_the_narrowest_mention(frames, counts):
    # 'they' may be A or B; A is asked for anyway, so A alone answers everything.
    gold = frames(
        [{"begin": 0, "end": 1, "entity": "e:A"}, {"begin": 3, "end": 4, "entity": "e:A"}]
        + [{"begin": 6, "end": 10, "entities": ["e:A", "e:B"]}]
    )
    assert counts(gold, frames([{"begin": 0, "end": 1, "entity": "e:A"}]), "C2KB") == (1, 0, 0, 0)


def test_answers_outside_the_annotated_region_are_ignored(frames, counts):
    gold = frames([{"begin": 0, "end": 5, "entity": "e:A"}])
    gold = replace(gold, regions=pl.DataFrame({"document": ["d"], "begin": [0], "end": [20]}))
    run = frames([{"begin": 10, "end": 15, "entity": "e:X"}, {"begin": 18, "end": 25, "entity": "e:Y"}])
    assert counts(gold, run) == (0, 1, 1, 1)
    assert counts(gold, run, "C2KB") == (0, 1, 1, 1)


def test_nil_equals_nil_and_is_left_out_of_c2kb(frames, counts):
    gold = frames([{"begin": 0, "end": 5}, {"begin": 6, "end": 9, "entity": "e:A"}])
    run = frames([{"begin": 0, "end": 5}, {"begin": 6, "end": 9}])
    assert counts(gold, run) == (1, 1, 1, 0)
    assert counts(gold, run, "C2KB") == (0, 0, 1, 0)


def test_inkb_and_ee_take_the_other_kind_from_both_sides_and_gsinkb_drops_nil_gold(frames):
    # Gold: A, NIL. Run: A right, an entity for the NIL, a NIL where no gold is.
    gold = frames([{"begin": 0, "end": 5, "entity": "e:A"}, {"begin": 10, "end": 15}])
    run = frames(
        [{"begin": 0, "end": 5, "entity": "e:A"}, {"begin": 10, "end": 15, "entity": "e:B"}, {"begin": 20, "end": 22}]
    )
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"]).filter(pl.col("average") == "micro")
    found = {row["slice"]: (row["tp"], row["fp"], row["fn"], row["ignored"]) for row in rows.to_dicts()}
    assert found == {"": (1, 2, 1, 0), "InKB": (1, 1, 0, 0), "EE": (0, 1, 1, 0), "GSInKB": (1, 1, 0, 1)}


def test_repeated_annotations_count_once(frames, counts):
    twice = [{"begin": 0, "end": 5, "entity": "e:A"}] * 2
    assert counts(frames(twice), frames(twice)) == (1, 0, 0, 0)


def test_weak_matching_gives_each_answer_to_one_mention(frames, counts):
    # One long answer over two mentions is one TP; two short ones in one mention are one TP and one FP.
    gold = frames([{"begin": 0, "end": 5, "entity": "e:A"}, {"begin": 6, "end": 9, "entity": "e:A"}])
    assert counts(gold, frames([{"begin": 0, "end": 9, "entity": "e:A"}]), "A2KB", "weak") == (1, 0, 1, 0)
    halves = frames([{"begin": 0, "end": 2, "entity": "e:A"}, {"begin": 3, "end": 5, "entity": "e:A"}])
    assert counts(gold, halves, "A2KB", "weak") == (1, 1, 1, 0)


def test_erec_compares_spans_whatever_they_link_to(frames, counts):
    gold = frames([{"begin": 0, "end": 5, "entity": "e:A"}, {"begin": 6, "end": 9}])
    run = frames([{"begin": 0, "end": 5, "entity": "e:X"}, {"begin": 6, "end": 8, "entity": "e:Y"}])
    assert counts(gold, run, "ERec", "strong") == (1, 1, 1, 0)
    assert counts(gold, run, "ERec", "weak") == (2, 0, 0, 0)
