"""What counts neither way, mention by mention; each case small enough to count by hand."""

from __future__ import annotations

import polars as pl
import pytest

from tests.scoring.conftest import evaluate

PERSON = {"begin": 0, "end": 10, "entity": "e:Ada"}
CITY = {"begin": 20, "end": 30, "entity": "e:Rome"}


def test_answer_on_a_dropped_annotation_counts_neither_way(frames, counts):
    gold = frames([PERSON, CITY | {"ignorable": "dropped"}])
    run = frames([PERSON, CITY])
    assert counts(gold, run) == (1, 0, 0, 1)


@pytest.mark.parametrize(
    ("answer", "dropped", "optional"),
    [
        # (tp, fp, fn, ignored): a dropped annotation takes whatever overlaps it, an optional one only its like.
        ({"begin": 20, "end": 30, "entity": "e:Rome"}, (0, 0, 0, 1), (0, 0, 0, 1)),
        ({"begin": 20, "end": 30, "entity": "e:Oslo"}, (0, 0, 0, 1), (0, 1, 0, 0)),
        ({"begin": 25, "end": 35, "entity": "e:Rome"}, (0, 0, 0, 1), (0, 1, 0, 0)),
        ({"begin": 30, "end": 35, "entity": "e:Rome"}, (0, 1, 0, 0), (0, 1, 0, 0)),
    ],
)
def test_dropped_ignores_any_overlap_and_optional_only_a_full_match(frames, counts, answer, dropped, optional):
    run = frames([answer])
    assert counts(frames([CITY | {"ignorable": "dropped"}]), run) == dropped
    assert counts(frames([CITY | {"ignorable": "optional"}]), run) == optional


def test_several_answers_may_share_one_ignorable_annotation(frames, counts):
    gold = frames([CITY | {"ignorable": "dropped"}])
    run = frames([CITY, {"begin": 21, "end": 25, "entity": "e:X"}, {"begin": 26, "end": 30, "entity": "e:Y"}])
    assert counts(gold, run) == (0, 0, 0, 3)


def test_answer_that_fits_kept_and_dropped_alike_is_a_false_positive(frames, counts):
    # [8, 22) shares 2 of 22 characters with both: the tie goes to the kept one.
    gold = frames([PERSON, CITY | {"ignorable": "dropped"}])
    assert counts(gold, frames([{"begin": 8, "end": 22, "entity": "e:X"}])) == (0, 1, 1, 0)


def test_answer_with_the_link_of_a_dropped_annotation_goes_to_it_however_small_the_overlap(frames, counts):
    gold = frames([PERSON, {"begin": 8, "end": 30, "entity": "e:Rome", "ignorable": "dropped"}])
    assert counts(gold, frames([{"begin": 0, "end": 9, "entity": "e:Rome"}])) == (0, 0, 1, 1)


def test_ignorable_annotation_never_takes_a_true_positive(frames, counts):
    # The same span is kept and dropped: the answer is the kept one's.
    gold = frames([PERSON, PERSON | {"ignorable": "dropped"}])
    assert counts(gold, frames([PERSON])) == (1, 0, 0, 0)


def test_d2kb_counts_answers_on_kept_mentions_alone(frames, counts):
    gold = frames([PERSON, CITY | {"ignorable": "dropped"}])
    run = frames([PERSON | {"entity": "e:Bob"}, CITY, {"begin": 40, "end": 44, "entity": "e:X"}])
    assert counts(gold, run, "D2KB")[:3] == (0, 1, 1)


def test_d2kb_with_kept_spans_takes_dropped_spans_from_the_input(frames, counts):
    # Weakly, [8, 22) is on Ada; with all spans it belongs to the dropped [8, 24) that it fits better.
    gold = frames([PERSON, {"begin": 8, "end": 24, "entity": "e:Rome", "ignorable": "dropped"}])
    run = frames([{"begin": 8, "end": 22, "entity": "e:X"}])
    assert counts(gold, run, "D2KB", "weak", spans="all")[:3] == (0, 0, 1)
    assert counts(gold, run, "D2KB", "weak", spans="kept")[:3] == (0, 1, 1)


def test_c2kb_ignores_ignorable_entities_unless_a_kept_mention_has_them(frames, counts):
    gold = frames([PERSON, CITY | {"ignorable": "dropped"}, PERSON | {"begin": 50, "end": 53, "ignorable": "dropped"}])
    run = frames([PERSON, CITY, {"begin": 60, "end": 63, "entity": "e:X"}])
    assert counts(gold, run, "C2KB") == (1, 1, 0, 1)


def test_three_precisions_of_a_slice(frames):
    # Kept: Ada (right), Bob (answered with a city). Dropped: Rome (answered). Elsewhere: a person and a city.
    gold = frames(
        [PERSON | {"classes": ["person"]}, {"begin": 12, "end": 15, "entity": "e:Bob", "classes": ["person"]}, CITY]
    )
    run = frames(
        [
            PERSON,
            {"begin": 12, "end": 15, "entity": "e:Oslo"},
            CITY,
            {"begin": 40, "end": 44, "entity": "e:Eve"},
            {"begin": 50, "end": 54, "entity": "e:Oslo"},
        ]
    )
    types = pl.DataFrame({"entity": ["e:Ada", "e:Oslo"], "class": ["person", "city"]})
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], by=["class"], types=types)
    row = rows.filter(pl.col("slice") == "person", pl.col("average") == "micro").row(0, named=True)
    assert (row["tp"], row["fp"], row["fn"], row["ignored"]) == (1, 3, 1, 1)
    assert row["precision"] == 1 / 4
    # In scope: Ada, Oslo for Bob, since no wrong link on a kept mention is excused, and Eve, whose type is not known.
    # The other Oslo fails the condition.
    assert row["precision_in_scope"] == 1 / 3
    # On mention: Ada, and Oslo for Bob.
    assert row["precision_on_mention"] == 1 / 2
    assert row["f1_precision"] == "in scope"
    # R = 1/2: 2 TP / (2 TP + FP + FN) with 3, 2 and 1 FP.
    assert (row["f1"], row["f1_in_scope"], row["f1_on_mention"]) == (2 / 6, 2 / 5, 2 / 4)


@pytest.mark.parametrize(("task", "matching"), [("A2KB", "strong"), ("A2KB", "weak"), ("C2KB", "strong")])
def test_wrong_links_on_kept_mentions_are_in_scope_whatever_they_link_to(frames, task, matching):
    # Ten persons, of which both systems have five right; A has other persons for the rest, B places.
    persons = [{"begin": 10 * n, "end": 10 * n + 5, "entity": f"e:P{n}", "classes": ["person"]} for n in range(10)]
    place = {"begin": 200, "end": 205, "entity": "e:Rome", "classes": ["place"]}
    named = [(f"e:{p}{n}", "person" if p == "P" else "place") for p in "PQ" for n in range(20)]
    types = pl.DataFrame(named, schema=["entity", "class"], orient="row")
    wrong = {"A": "e:P1", "B": "e:Q"}
    runs = {
        name: frames([row | {"entity": row["entity"] if n < 5 else f"{other}{n}"} for n, row in enumerate(persons)])
        for name, other in wrong.items()
    }
    rows = evaluate(frames([*persons, place]), runs, task=[task], match=[matching], by=["class"], types=types).filter(
        pl.col("slice") == "person", pl.col("average") == "micro"
    )
    assert rows["precision_in_scope"].to_list() == rows["precision"].to_list() == [0.5, 0.5]


def test_task_and_gold_without_selection_show_the_kind_of_f1_that_all_rows_of_the_table_have(frames):
    # The whole has nothing dropped, so that all of its answers are in scope: both F1s are one.
    rows = [PERSON | {"classes": ["person"]}, CITY | {"classes": ["city"]}]
    answers = [PERSON, CITY | {"entity": "e:X"}, {"begin": 50, "end": 54, "entity": "e:Rome"}]
    types = pl.DataFrame({"entity": ["e:Ada", "e:Rome"], "class": ["person", "city"]})
    run = {"s": frames(answers)}
    found = evaluate(frames(rows), run, task=["A2KB", "D2KB"], match=["strong"], by=["class"], types=types)
    assert set(found["f1_precision"]) == {"in scope"}
    whole = found.filter(pl.col("column") == "", pl.col("average") == "micro")
    assert whole["f1"].to_list() == whole["f1_in_scope"].to_list()
    given = found.filter(pl.col("task") == "D2KB")
    assert given["f1"].equals(given["f1_in_scope"]) and given["f1"].equals(given["f1_on_mention"])


def test_f1_takes_the_precision_on_mention_where_no_answer_can_be_typed(frames):
    gold = frames([PERSON | {"classes": ["short"]}, CITY | {"classes": ["long"]}])
    rows = evaluate(gold, {"s": frames([PERSON])}, task=["A2KB"], match=["strong"], by=["class"])
    assert set(rows["f1_precision"]) == {"on mention"}
    assert rows["f1_in_scope"].null_count() == rows.filter(pl.col("column") == "class").height


def test_slice_and_remix_by_the_same_condition_have_the_same_figures(frames):
    rows = [PERSON | {"classes": ["person"]}, CITY | {"classes": ["city"]}, {"begin": 8, "end": 12, "entity": "e:Bob"}]
    cut = [row | {"ignorable": None if row.get("classes") == ["person"] else "dropped"} for row in rows]
    run = frames([PERSON, CITY, {"begin": 9, "end": 14, "entity": "e:Rome"}, {"begin": 40, "end": 41, "entity": "e:X"}])
    types = pl.DataFrame({"entity": ["e:Ada", "e:Rome"], "class": ["person", "city"]})
    sliced = evaluate(frames(rows), {"s": run}, by=["class"], types=types).filter(pl.col("slice") == "person")
    remix = evaluate(frames(cut), {"s": run}, types=types, scope="person").filter(pl.col("column") == "")
    same = [name for name in sliced.columns if name not in ("column", "slice", "signature", "signature_short")]
    assert sliced.select(same).equals(remix.select(same))


UNIVERSITY = {"begin": 0, "end": 20, "entity": "e:University"}
LONDON = {"begin": 14, "end": 20, "entity": "e:London"}


@pytest.mark.parametrize("task", ["A2KB", "D2KB"])
def test_wrong_link_on_the_very_span_of_a_kept_mention_is_wrong_though_a_dropped_one_has_it(frames, counts, task):
    # 'University of London' kept and linked to London, which the dropped 'London' inside it is: P = 0 / 1.
    gold = frames([UNIVERSITY, LONDON | {"ignorable": "dropped"}])
    assert counts(gold, frames([UNIVERSITY | {"entity": "e:London"}]), task) == (0, 1, 1, 0)
    # Beside a further kept mention that is right the P is 1 / 2, where it was 1.
    gold = frames([UNIVERSITY, LONDON | {"ignorable": "dropped"}, PERSON | {"begin": 40, "end": 50}])
    run = frames([UNIVERSITY | {"entity": "e:London"}, PERSON | {"begin": 40, "end": 50}])
    assert counts(gold, run, task) == (1, 1, 1, 0)


@pytest.mark.parametrize("matching", ["strong", "weak"])
def test_what_is_gold_on_the_very_span_of_a_kept_mention_is_ignored_where_it_was_dropped(frames, counts, matching):
    # Two readings of one span, one of them dropped: all of gold as answers is perfect on the remix.
    gold = frames([UNIVERSITY, UNIVERSITY | {"entity": "e:Campus", "ignorable": "dropped"}])
    run = frames([UNIVERSITY, UNIVERSITY | {"entity": "e:Campus"}])
    assert counts(gold, run, "A2KB", matching) == (1, 0, 0, 1)


@pytest.mark.parametrize("links", [("e:University", "e:London"), ("e:X", "e:Y"), ("e:Campus", "e:X"), (None, "e:Rome")])
@pytest.mark.parametrize("matching", ["strong", "weak"])
def test_recognition_is_the_same_whatever_the_links_are(frames, counts, matching, links):
    # Two answers on the span of one mention with two readings, and one that overlaps a kept and a dropped mention.
    gold = frames(
        [
            UNIVERSITY | {"group": "g", "option": "a"},
            UNIVERSITY | {"entity": "e:Campus", "group": "g", "option": "b"},
            CITY | {"begin": 30, "end": 50, "ignorable": "dropped"},
            PERSON | {"begin": 52, "end": 60},
        ]
    )
    first, second = links
    run = frames(
        [UNIVERSITY | {"entity": first}, UNIVERSITY | {"entity": second}, {"begin": 45, "end": 56, "entity": second}]
    )
    # The second answer is on the span of the first, which counts once. [45, 56) shares 5 of 26 characters with the
    # dropped
    # mention and 4 of 15 with the kept one, which it fits better: an FP under strong matching, a TP under weak.
    assert counts(gold, run, "ERec", matching) == ((1, 1, 1, 0) if matching == "strong" else (2, 0, 0, 0))


def test_further_alternative_is_ignored_by_the_matching_of_the_task(frames, counts):
    # 'New York' and 'York' are alternatives; 'New York' is found. The second answer is a part of 'York' or its like.
    long = {"begin": 0, "end": 8, "entity": "e:NewYork", "group": "g", "option": "a"}
    short = {"begin": 4, "end": 8, "entity": "e:York", "group": "g", "option": "b"}
    gold = frames([long, short])

    def found(begin, entity, task, matching):
        run = frames([{"begin": 0, "end": 8, "entity": "e:NewYork"}, {"begin": begin, "end": 8, "entity": entity}])
        return counts(gold, run, task, matching)

    assert found(4, "e:York", "A2KB", "strong") == (1, 0, 0, 1)
    assert found(5, "e:York", "A2KB", "strong") == (1, 1, 0, 0)  # not its span
    assert found(5, "e:York", "A2KB", "weak") == (1, 0, 0, 1)  # overlaps it and has its link
    assert found(5, "e:Oslo", "A2KB", "weak") == (1, 1, 0, 0)  # another link
    assert found(4, "e:Oslo", "A2KB", "strong") == (1, 1, 0, 0)
    assert found(4, "e:Oslo", "ERec", "strong") == (1, 0, 0, 1)  # its span is enough
    assert found(5, "e:Oslo", "ERec", "strong") == (1, 1, 0, 0)
    assert found(5, "e:Oslo", "ERec", "weak") == (1, 0, 0, 1)
