"""GERBIL's own test cases of matching and averaging, restated, and hand-made ones for its other conventions."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest

from remix.formats import read
from remix.scoring.conventions.aspects import first_unused
from remix.workspace import Workspace
from tests.scoring.conftest import evaluate

DBR = "http://dbpedia.org/resource/"


def mentions(*rows: tuple[int, int, str] | tuple[int, int]) -> list[dict[str, object]]:
    """Annotations as GERBIL's tests write them: begin, length, entity of a knowledge base (none for a span alone)."""
    return [
        {"begin": row[0], "end": row[0] + row[1], "entity": f"{DBR}{row[2]}" if len(row) > 2 else None} for row in rows
    ]


def row(gold, run, task, matching, average="micro", piece=""):
    rows = evaluate(gold, {"s": run}, task=[task], match=[matching], profile="gerbil")
    return rows.filter(pl.col("average") == average, pl.col("slice") == piece).row(0, named=True)


WEAK = [
    # gold, answers, (tp, fn, fp); src/test/java/org/aksw/gerbil/matching/impl/WeakSpanMatchingTest.java
    ([], [], (0, 0, 0)),
    ([(0, 10)], [], (0, 1, 0)),
    ([], [(0, 10)], (0, 0, 1)),
    ([(1, 10)], [(1, 10)], (1, 0, 0)),
    ([(0, 10), (20, 10)], [(0, 10), (20, 10)], (2, 0, 0)),
    ([(60, 10), (20, 10)], [(0, 10), (20, 10)], (1, 1, 1)),
    ([(0, 10), (20, 10), (40, 10), (62, 3)], [(2, 10), (16, 10), (42, 4), (60, 10)], (4, 0, 0)),
    ([(0, 10), (6, 10)], [(2, 10)], (1, 1, 0)),
]


@pytest.mark.parametrize(("gold", "answers", "counts"), WEAK)
def test_weak_spans_match_as_in_gerbils_own_cases(frames, gold, answers, counts):
    found = row(frames(mentions(*gold)), frames(mentions(*answers)), "ERec", "weak")
    assert (found["tp"], found["fn"], found["fp"]) == counts


STRONG = [
    # src/test/java/org/aksw/gerbil/matching/impl/CompoundMatchingsCounterTest.java
    ([], [], (0, 0, 0)),
    ([(0, 10, "1")], [], (0, 1, 0)),
    ([], [(0, 10, "1")], (0, 0, 1)),
    ([(1, 10, "1")], [(1, 10, "1")], (1, 0, 0)),
    ([(60, 10, "1"), (20, 10, "2")], [(0, 10, "1"), (20, 10, "2")], (1, 1, 1)),
    ([(0, 10, "1"), (20, 10, "2")], [(0, 10, "999"), (20, 10, "2")], (1, 1, 1)),
    (
        [(0, 10, "1"), (20, 10, "1"), (40, 10, "1"), (62, 3, "1")],
        [(2, 10, "1"), (16, 10, "1"), (42, 4, "1"), (60, 10, "1")],
        (0, 4, 4),
    ),
    ([(0, 10, "1"), (6, 10, "1")], [(2, 10, "1")], (0, 2, 1)),
    (
        [(0, 10, "1"), (20, 10, "2"), (40, 10, "3")],
        [(20, 10, "2"), (40, 10, "3"), (0, 10, "1")],
        (3, 0, 0),
    ),
    ([(0, 10, "1"), (0, 10, "2"), (0, 10, "3")], [(0, 10, "2")], (1, 2, 0)),
    (
        [(0, 10, "1"), (20, 10, "2"), (40, 10, "3")],
        [(0, 10, "2"), (20, 10, "3"), (40, 10, "1")],
        (0, 3, 3),
    ),
]


@pytest.mark.parametrize(("gold", "answers", "counts"), STRONG)
def test_strong_annotations_match_as_in_gerbils_own_cases(frames, gold, answers, counts):
    found = row(frames(mentions(*gold)), frames(mentions(*answers)), "A2KB", "strong")
    assert (found["tp"], found["fn"], found["fp"]) == counts


def test_answer_of_confidence_zero_counts_unless_it_is_better_left_out(frames):
    # ScoredMatchingsCounterImpl.java counts without filter first: right it stays, wrong the threshold 0 leaves it out.
    gold = frames(mentions((0, 10, "1")))
    for entity, counts in (("1", (1, 0, 0)), ("2", (0, 1, 1))):
        run = frames(mentions((0, 10, entity)))
        run = replace(run, annotations=run.annotations.with_columns(confidence=0.0))
        found = row(gold, run, "A2KB", "strong")
        assert (found["tp"], found["fp"], found["fn"]) == counts
    both = frames(mentions((0, 10, "1"), (20, 10, "2")))
    both = replace(both, annotations=both.annotations.with_columns(confidence=pl.Series([0.5, 0.0])))
    assert row(gold, both, "A2KB", "strong")["precision"] == 1.0


def test_entities_of_a_document_are_counted_as_often_as_they_are_linked_to(frames):
    # MeaningMatchingsCounterTest.java: three times one entity on both sides is three TPs, not one.
    same = frames(mentions((0, 1, "1"), (2, 1, "1"), (4, 1, "1")))
    assert row(same, same, "C2KB", "strong")["tp"] == 3
    once = frames(mentions((0, 1, "1")))
    found = row(same, once, "C2KB", "strong")
    assert (found["tp"], found["fp"], found["fn"]) == (1, 0, 2)


AVERAGES = [
    # InKBClassBasedFMeasureCalculatorTest.java: gold, answers, then (P, R, F1) of all, InKB and EE; k is in the
    # knowledge base, u is not. A class without any mention has no row.
    (["k1"], [], (0, 0, 0), (0, 0, 0), None),
    ([], ["k1"], (0, 0, 0), (0, 0, 0), None),
    (["k1"], ["k1"], (1, 1, 1), (1, 1, 1), None),
    (["u1"], [], (0, 0, 0), None, (0, 0, 0)),
    ([], ["u1"], (0, 0, 0), None, (0, 0, 0)),
    (["u1"], ["u1"], (1, 1, 1), None, (1, 1, 1)),
    (["k1", "u2", "u3"], ["u2b", "u3b", "k1"], (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    (["k1", "u2"], ["k1", "k2", "k3"], (1 / 3, 1 / 2, 2 / 5), (1 / 3, 1, 1 / 2), (0, 0, 0)),
]


@pytest.mark.parametrize(("gold", "answers", "whole", "inside", "emerging"), AVERAGES)
def test_classes_of_the_knowledge_base_score_as_in_gerbils_own_cases(frames, gold, answers, whole, inside, emerging):
    def side(names):
        places = {"k": DBR, "u": "http://unknown.example/"}
        return frames(
            [{"begin": n * 10, "end": n * 10 + 1, "entity": places[name[0]] + name} for n, name in enumerate(names)]
        )

    rows = evaluate(side(gold), {"s": side(answers)}, task=["C2KB"], match=["strong"], profile="gerbil")
    for piece, want in (("", whole), ("InKB", inside), ("EE", emerging)):
        found = rows.filter(average="micro", slice=piece).select("precision", "recall", "f1").rows()
        assert found == ([] if want is None else [pytest.approx(want)])


def test_documents_without_anything_are_perfect_and_those_with_only_answers_are_not(frames):
    # d1: 1 of 1 right; d2: nothing on both sides, 1; d3: answers only, 0; d4: gold only, 0. Macro: (1+1+0+0)/4.
    names = ("d1", "d2", "d3", "d4")
    one = mentions((0, 3, "1"))[0]
    gold = frames([one | {"document": "d1"}, one | {"document": "d4"}], names)
    run = frames([one | {"document": "d1"}, one | {"document": "d3"}], names)
    found = row(gold, run, "A2KB", "strong", "macro")
    assert (found["precision"], found["recall"], found["f1"]) == (0.5, 0.5, 0.5)


def test_macro_scores_of_a_class_are_lifted_by_documents_without_it(frames):
    # EE: d1 has one missed (0), d2 has none on either side (1).
    gold = frames(
        [{"begin": 0, "end": 1, "document": "d1"}, mentions((0, 1, "1"))[0] | {"document": "d2"}], ("d1", "d2")
    )
    run = frames([mentions((0, 1, "1"))[0] | {"document": "d2"}], ("d1", "d2"))
    assert row(gold, run, "A2KB", "strong", "macro", "EE")["f1"] == 0.5
    assert row(gold, run, "A2KB", "strong", "micro", "EE")["f1"] == 0.0


def test_answers_off_gold_spans_do_not_count_in_d2kb(frames):
    # https://github.com/dice-group/gerbil/issues/127: gold a, b, d, answered a, b, c: P = 1, R = 2/3.
    gold = frames(mentions((0, 1, "a"), (2, 1, "b"), (6, 1, "d")))
    run = frames(mentions((0, 1, "a"), (2, 1, "b"), (4, 1, "c")))
    found = row(gold, run, "D2KB", "strong")
    assert (found["precision"], found["recall"]) == (1.0, pytest.approx(2 / 3))


def test_a_second_answer_on_a_gold_span_stays_and_is_wrong_in_d2kb(frames):
    found = row(frames(mentions((0, 1, "a"))), frames(mentions((0, 1, "a"), (0, 1, "b"))), "D2KB", "strong")
    assert (found["tp"], found["fp"], found["fn"]) == (1, 1, 0)


def test_gsinkb_is_of_d2kb_alone_and_holds_mentions_whose_gold_is_in_the_knowledge_base(frames):
    gold = frames([*mentions((0, 1, "a")), {"begin": 2, "end": 3}])
    run = frames([{"begin": 0, "end": 1}, *mentions((2, 1, "b"))])
    rows = evaluate(gold, {"s": run}, profile="gerbil").filter(
        pl.col("slice") == "GSInKB", pl.col("average") == "micro"
    )
    # The answer on a's span has no entity, but counts: one FP, one FN; that on the NIL mention is left out.
    assert rows["task"].unique().to_list() == ["D2KB"]
    assert rows.select("tp", "fp", "fn").row(0) == (0, 1, 1)


def of_classes(gold, run, task="D2KB", **options):
    rows = evaluate(gold, {"s": run}, task=[task], match=["strong"], profile="gerbil", **options)
    rows = rows.filter(average="micro", column="kb")
    return {name: counts for name, *counts in rows.select("slice", "tp", "fp", "fn").iter_rows()}


def test_classes_of_d2kb_have_the_answers_on_any_gold_span(frames):
    # Gold: a (in the kb) and an emerging entity; answered: a right, b (in the kb) on the emerging one's span, and one
    # beside all gold, which goes first. InKB: a, and b is one FP, as its gold is no InKB. EE: one FN.
    gold = frames([*mentions((0, 1, "a")), {"begin": 2, "end": 3}])
    run = frames(mentions((0, 1, "a"), (2, 1, "b"), (8, 1, "c")))
    assert of_classes(gold, run) == {"InKB": [1, 1, 0], "EE": [0, 0, 1], "GSInKB": [1, 0, 0]}


def test_rows_of_classes_are_there_where_all_of_gold_is_in_the_knowledge_base(frames):
    same = frames(mentions((0, 1, "a"), (2, 1, "b")))
    assert of_classes(same, same) == {"InKB": [2, 0, 0], "GSInKB": [2, 0, 0]}
    assert of_classes(same, same, "A2KB") == of_classes(same, same, "C2KB") == {"InKB": [2, 0, 0]}
    # GERBIL classifies meanings, which recognition has none of.
    assert of_classes(same, same, "ERec") == {}


def test_classes_take_the_threshold_of_all_mentions(frames):
    # All: right at 0.9, wrong at 0.5, right at 0.2 and emerging, wrong at 0.1 and emerging; gold has two more. Above
    # no score: tp 2, fp 2, fn 2, F1 = 1/2; above 0.1: 2, 1, 2: 4/7; above 0.2: 1, 1, 3; above 0.5: 1, 0, 3: 2/5.
    # InKB alone would be best above 0.5 (1, 0, 0), EE alone above 0.1.
    gold = frames([*mentions((0, 1, "a")), *({"begin": n, "end": n + 1} for n in (4, 8, 10))])
    run = frames([*mentions((0, 1, "a"), (2, 1, "b")), {"begin": 4, "end": 5}, {"begin": 6, "end": 7}])
    run = confident(run, [0.9, 0.5, 0.2, 0.1])
    assert of_classes(gold, run, "A2KB") == {"InKB": [1, 1, 0], "EE": [1, 0, 2]}
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], profile="gerbil")
    assert set(rows["threshold"]) == {0.1}
    assert of_classes(gold, run, "A2KB", threshold="none") == {"InKB": [1, 1, 0], "EE": [1, 1, 2]}


def test_emerging_entities_on_one_span_count_each(frames):
    # Two different entities of no knowledge base on one span: one finds the mention, the other is wrong.
    one, two = ({"begin": 0, "end": 1, "entity": f"http://example.org/{name}"} for name in ("one", "two"))
    found = row(frames([one]), frames([one, two]), "A2KB", "strong")
    assert (found["tp"], found["fp"], found["fn"]) == (1, 1, 0)
    found = row(frames([one, two]), frames([one]), "A2KB", "strong")
    assert (found["tp"], found["fp"], found["fn"]) == (1, 0, 1)
    assert row(frames([one, two]), frames([two, one]), "C2KB", "strong")["tp"] == 2


def test_gold_files_without_any_annotation_are_scored(tmp_path):
    empty, answers = tmp_path / "empty.jsonl", tmp_path / "answers.jsonl"
    empty.write_text('{"text": "Ada met Bob.", "document": "d"}\n')
    answers.write_text(
        '{"text": "Ada met Bob.", "document": "d", "begin": 0, "end": 3, "entity": "http://e.org/Ada"}\n'
    )
    workspace = Workspace(tmp_path / "none")
    runs = [f"none={empty}", f"some={answers}"]
    rows = workspace.evaluate(gold=[empty], run=runs, task=["A2KB"], match=["strong"], profile="gerbil").rows
    found = dict(rows.filter(average="micro", column="").select("system", "f1").iter_rows())
    assert found == {"none": 1.0, "some": 0.0}


def test_the_first_mention_takes_the_first_answer_so_that_order_matters(frames, counts):
    # Gold A (0-10), B (8-20); answers x (5-12), y (0-4). A takes y, the first by offset, B takes x: 2 TP. With y
    # behind x, A takes x and nothing is left for B; the default profile finds the better assignment.
    gold = frames(mentions((0, 10), (8, 12)))
    assert row(gold, frames(mentions((0, 4), (5, 7))), "ERec", "weak")["tp"] == 2
    behind = frames(mentions((5, 4), (3, 6), (9, 2)))
    assert row(gold, behind, "ERec", "weak")["tp"] == 2
    crossed = frames(mentions((0, 9), (9, 1)))  # the first serves both, the second only B … and A as well
    assert counts(gold, crossed, "ERec", "weak")[0] == 2
    late = frames(mentions((1, 9), (2, 3)))  # A takes what B needs; the other answer is A's alone
    assert row(gold, late, "ERec", "weak")["tp"] == 1
    assert counts(gold, late, "ERec", "weak")[0] == 2


def test_first_unused_is_what_a_loop_over_gold_does():
    random = pl.DataFrame({"n": range(400)}).select(group=pl.col("n").hash(1) % 40, answer=pl.col("n").hash(2) % 40)
    edges = random.unique().cast(pl.Int64).with_columns(system=pl.lit(0), doc=pl.lit(0)).sort("group", "answer")
    used, want = set(), []
    for group in range(40):
        for a in edges.filter(group=group)["answer"]:
            if a not in used:
                used.add(a)
                want.append((group, a))
                break
    assert first_unused(edges).sort("group").select("group", "answer").rows() == want


def confident(frame, values):
    from dataclasses import replace

    return replace(frame, annotations=frame.annotations.with_columns(confidence=pl.Series(values, dtype=pl.Float64)))


def test_threshold_is_the_lowest_of_the_best_on_the_test_data_itself(frames):
    # Right at 0.9, wrong at 0.5 and 0.2, right at 0.4. All: tp 2, fp 2, F1 = 4/6. Above 0.2: tp 2, fp 1, F1 = 4/5.
    # Above 0.4: tp 1, fp 1; above 0.5: tp 1, fp 0, F1 = 2/3.
    gold = frames(mentions((0, 1, "a"), (2, 1, "b")))
    run = frames(mentions((0, 1, "a"), (2, 1, "b"), (4, 1, "x"), (6, 1, "y")))
    found = row(gold, confident(run, [0.9, 0.4, 0.5, 0.2]), "A2KB", "strong")
    assert (found["tp"], found["fp"], found["fn"]) == (2, 1, 0)


def test_answers_without_confidence_are_never_below_the_threshold(frames):
    gold = frames(mentions((0, 1, "a")))
    run = frames(mentions((0, 1, "a"), (4, 1, "x"), (6, 1, "y")))
    found = row(gold, confident(run, [0.9, 0.3, None]), "A2KB", "strong")
    assert (found["tp"], found["fp"]) == (1, 1)


def test_threshold_is_one_for_all_documents_of_a_dataset(frames):
    # d1: right at 0.3, d2: wrong at 0.6 and right at 0.8. Above 0.6 loses d1's: F1 = 2/3; all: tp 2, fp 1, 4/5.
    names = ("d1", "d2")
    gold = frames([m | {"document": d} for m, d in zip(mentions((0, 1, "a"), (2, 1, "b")), names, strict=True)], names)
    rows = mentions((0, 1, "a"), (4, 1, "x"), (2, 1, "b"))
    run = frames([m | {"document": d} for m, d in zip(rows, ("d1", "d2", "d2"), strict=True)], names)
    found = row(gold, confident(run, [0.3, 0.6, 0.8]), "A2KB", "strong")
    assert (found["tp"], found["fp"], found["fn"]) == (2, 1, 0)


def test_wikipedia_links_in_another_form_are_emerging_and_equal_to_each_other(frames):
    # https://github.com/dice-group/gerbil/issues/325: what is outside the well-known namespaces has no identity.
    gold = frames([{"begin": 0, "end": 1, "entity": "http://example.org/one"}])
    run = frames([{"begin": 0, "end": 1, "entity": "http://example.org/two"}])
    assert row(gold, run, "A2KB", "strong")["tp"] == 1
    linked = frames(mentions((0, 1, "one")))
    assert row(gold, linked, "A2KB", "strong")["fp"] == 1


@pytest.mark.parametrize("ontology", ["dul/DUL", "d0"])
def test_classes_of_known_ontologies_are_entities_of_a_knowledge_base_as_files_are_read(tmp_path, ontology):
    # gerbil.properties, DefaultWellKnownKB. Links read from files have no www: two of these are not alike as emerging.
    def told(name, entity):
        file = tmp_path / name
        link = f"http://www.ontologydesignpatterns.org/ont/{ontology}.owl#{entity}"
        rows = [{"text": "a person"}, {"begin": 2, "end": 8, "entity": link}]
        file.write_text("".join(json.dumps({"document": "d", **row}) + "\n" for row in rows))
        return read(file, name="x").frames

    gold = told("gold.jsonl", "Person")
    rows = evaluate(gold, {"s": told("run.jsonl", "Role")}, task=["A2KB"], match=["strong"], profile="gerbil")
    found = {name: counts for name, *counts in rows.filter(average="micro").select("slice", "tp", "fp", "fn").rows()}
    assert found == {"": [0, 1, 1], "InKB": [0, 1, 1]}
    assert row(gold, told("same.jsonl", "Person"), "A2KB", "strong")["tp"] == 1


# A2KBTest.java and D2KBTest.java: the spans of three sentences, True where gold is in the knowledge base.
SENTENCES = {
    "d1": {0: True, 34: False, 44: True, 61: False},
    "d2": {22: True, 57: True, 78: True, 96: True, 115: True, 184: True},
    "d3": {4: False, 49: True},
}
OWN, OTHER = "http://own.example/", "http://other.example/"


def linked(frames, place):
    """Every span of the sentences with the namespace of its link: '' for none, None where it is not annotated."""
    rows = []
    for document, spans in SENTENCES.items():
        for begin, known in spans.items():
            space = place(known)
            if space is not None:
                entity = f"{space}{document}-{begin}" if space else None
                rows.append({"document": document, "begin": begin, "end": begin + 5, "entity": entity})
    return frames(rows, SENTENCES)


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("task", ["A2KB", "D2KB"])
@pytest.mark.parametrize(
    ("place", "macro", "micro"),
    [
        (lambda known: None, (0, 0, 0), (0, 0, 0)),
        # All in a namespace of gold's own: right where gold is in no knowledge base, 2 of 4, 0 of 6, 1 of 2.
        (lambda known: OWN, (1 / 3, 1 / 3, 1 / 3), (1 / 4, 1 / 4, 1 / 4)),
        (lambda known: DBR if known else None, (1, 2 / 3, 7 / 9), (1, 3 / 4, 6 / 7)),
        (lambda known: DBR if known else "", (1, 1, 1), (1, 1, 1)),
        (lambda known: DBR if known else OTHER, (1, 1, 1), (1, 1, 1)),
    ],
    ids=["nothing", "own", "known", "known-or-nil", "known-or-other"],
)
def test_sentences_score_as_in_gerbils_own_cases(frames, task, place, macro, micro):
    gold, run = linked(frames, lambda known: DBR if known else OWN), linked(frames, place)
    for average, want in (("macro", macro), ("micro", micro)):
        found = row(gold, run, task, "weak", average)
        assert (found["precision"], found["recall"], found["f1"]) == pytest.approx(want)
