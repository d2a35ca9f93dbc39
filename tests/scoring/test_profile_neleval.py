"""neleval's measures: its documented definitions, hand-made clusters, and the defects that its numbers have."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.errors import BadInput, UnknownName, UsageError
from remix.formats import read
from remix.formats.losses import CLUSTER
from remix.frames import Frames
from remix.names import RMX
from remix.reports.readable import explain_slices, readable_tables
from remix.scoring import PROFILES
from remix.scoring.profiles.neleval.measures import GROUPS, NAMED, triple_named
from remix.scoring.rows import ALL_SLICES
from remix.scoring.statistics.clusters import cluster_counts
from tests.scoring.conftest import evaluate

EACH = pl.col("slice") != ALL_SLICES


def scored(gold: Frames, run: Frames, measure: str, average: str = "micro") -> dict[str, object]:
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=[measure], profile="neleval")
    return rows.filter(pl.col("average") == average).row(0, named=True)


def counts(gold: Frames, run: Frames, measure: str) -> tuple[object, ...]:
    row = scored(gold, run, measure)
    return row["tp"], row["fp"], row["fn"]


@pytest.fixture
def pair(frames):
    # Gold: A linked, B linked, C NIL, D linked. Answers: A right, B wrong, C NIL, D as NIL, E linked, beside gold.
    gold = frames(
        [
            {"begin": 0, "end": 3, "entity": "e:A", "classes": ["PER"]},
            {"begin": 4, "end": 7, "entity": "e:B", "classes": ["LOC"]},
            {"begin": 8, "end": 11, "classes": ["PER"]},
            {"begin": 12, "end": 15, "entity": "e:D", "classes": ["ORG"]},
        ]
    )
    run = frames(
        [
            {"begin": 0, "end": 3, "entity": "e:A", "classes": ["PER"]},
            {"begin": 4, "end": 7, "entity": "e:X", "classes": ["LOC"]},
            {"begin": 8, "end": 11, "classes": ["ORG"]},
            {"begin": 12, "end": 15, "classes": ["ORG"]},
            {"begin": 16, "end": 19, "entity": "e:B", "classes": ["PER"]},
        ]
    )
    return gold, run


@pytest.mark.parametrize(
    ("measure", "want"),
    [
        ("strong_mention_match", (4, 1, 0)),  # A, B, C, D; E
        ("strong_linked_mention_match", (2, 1, 1)),  # A, B; E; D
        ("strong_link_match", (1, 2, 2)),  # A; B, E; B, D
        ("strong_nil_match", (1, 1, 0)),  # C; D
        ("strong_all_match", (2, 3, 2)),  # A, C; B, D, E; B, D
        ("strong_typed_mention_match", (3, 2, 1)),  # A, B, D; C, E; C
        ("strong_typed_link_match", (1, 2, 2)),
        ("strong_typed_nil_match", (0, 2, 1)),
        ("strong_typed_all_match", (1, 4, 3)),
        ("entity_match", (2, 1, 1)),  # A, B (of E); X; D
        ("sets:is_linked:span+kbid", (1, 2, 2)),
        ("sets:None:docid+type", (3, 0, 0)),  # PER, LOC and ORG on both sides
    ],
)
def test_sets_compare_the_keys_of_what_the_filter_leaves(pair, measure, want):
    assert counts(*pair, measure) == want


def test_a_score_without_denominator_is_zero(frames):
    row = scored(frames([]), frames([]), "strong_link_match")
    assert (row["precision"], row["recall"], row["f1"]) == (0.0, 0.0, 0.0)


def test_macro_is_over_documents_with_gold(frames):
    # d1 1.0; d2 has only an answer and is left out.
    one = {"begin": 0, "end": 3, "entity": "e:A"}
    gold = frames([one | {"document": "d1"}], ("d1", "d2"))
    run = frames([one | {"document": "d1"}, one | {"document": "d2"}], ("d1", "d2"))
    assert scored(gold, run, "strong_link_match", "macro")["f1"] == 1.0
    assert scored(gold, run, "strong_link_match")["precision"] == 0.5


def test_macro_has_a_zero_for_documents_whose_gold_the_measure_leaves_out(frames):
    # d2 has NIL alone: nothing to link, and neleval counts 0 for it: (1 + 0) / 2.
    linked = {"document": "d1", "begin": 0, "end": 3, "entity": "e:A"}
    gold = frames([linked, {"document": "d2", "begin": 0, "end": 3}], ("d1", "d2"))
    assert [scored(gold, gold, name, "macro")["f1"] for name in ("strong_link_match", "entity_match")] == [0.5, 0.5]


def test_slices_by_type_hold_gold_of_a_type_against_answers_of_that_type(pair):
    # PER: A and C against A and E; LOC: B against B; ORG: D against C and D.
    rows = evaluate(pair[0], {"s": pair[1]}, match=["strong_mention_match"], profile="neleval", by=["type"])
    found = rows.filter(EACH, average="micro", column="type").select("slice", "tp", "fp", "fn").sort("slice").rows()
    assert found == [("LOC", 1, 0, 0), ("ORG", 1, 1, 0), ("PER", 1, 1, 1)]


def test_slices_have_enough_mentions_where_any_measure_counts_so_many(pair):
    # PER has two mentions, of two entities: no links of clusters to find.
    asked = {"match": ["strong_mention_match", "muc"], "profile": "neleval", "by": ["type"], "min_support": 2}
    rows = evaluate(pair[0], {"s": pair[1]}, **asked).filter(EACH, average="micro", column="type")
    assert rows.select("matching", "slice").sort("matching").rows() == [("muc", "PER"), ("strong_mention_match", "PER")]


def test_first_annotation_of_an_entity_in_a_document_is_so_before_any_filter(frames):
    # document.py, _set_fields: of A the longer of those at 0 is the first, of NIL that at 8, in d2 each anew.
    rows = [(0, 2, "e:A"), (0, 3, "e:A"), (4, 7, "e:A"), (8, 9, None), (10, 11, None)]
    marks = [{"document": "d1", "begin": b, "end": e, "entity": name} for b, e, name in rows]
    gold = frames([*marks, {"document": "d2", "begin": 4, "end": 7, "entity": "e:A"}], ("d1", "d2"))
    assert counts(gold, gold, "sets:is_first:span") == (3, 0, 0)
    # Of the answers that at 4 is the first of A in d1, where gold has another before it.
    run = frames([marks[2], marks[4]], ("d1", "d2"))
    assert counts(gold, run, "sets::span+kbid+is_first") == (0, 2, 6)
    assert counts(gold, run, "sets:is_linked:span+is_first") == (0, 1, 4)


def test_annotations_that_repeat_a_span_and_entity_count_each(frames):
    # Keys are sets, so that the two types are two keys and the span is one; overlaps are of annotations.
    twice = [{"begin": 0, "end": 4, "entity": "e:A", "classes": [name]} for name in ("PER", "LOC")]
    gold, run = frames(twice), frames([*twice, twice[0]])
    assert counts(gold, run, "sets::span+type") == (2, 0, 0)
    assert counts(gold, run, "sets::span+kbid") == (1, 0, 0)
    assert counts(gold, frames([]), "overlap-maxmax::span") == (0, 0, 2)
    assert counts(frames([]), run, "overlap-maxmax::span") == (0, 3, 0)


def test_score_is_a_field_of_a_key(frames):
    # Of three spans one has the same score on both sides, one another, and one none on both sides.
    marks = frames([{"begin": b, "end": b + 3, "entity": "e:A"} for b in (0, 4, 8)])
    gold, run = (
        replace(marks, annotations=marks.annotations.with_columns(confidence=pl.Series(scores)))
        for scores in ([0.5, 0.5, None], [0.5, 0.7, None])
    )
    assert counts(gold, run, "sets::span+score") == (2, 1, 1)


def test_first_annotations_are_those_of_the_document_where_types_are_apart(frames):
    # The first of A is of LOC, so that PER has none to count.
    places = [(0, "LOC"), (4, "PER")]
    gold = frames([{"begin": b, "end": b + 3, "entity": "e:A", "classes": [name]} for b, name in places])
    rows = evaluate(gold, {"s": gold}, match=["sets:is_first:span"], profile="neleval", by=["type"])
    assert rows.filter(EACH, average="micro", column="type").select("slice", "tp").rows() == [("LOC", 1)]


@pytest.fixture
def typed(tmp_path):
    def made(name, *types):
        lines = [f"d\t{4 * n}\t{4 * n + 2}\tQ{n}\t1.0\t{one}\n" for n, one in enumerate(types)]
        (tmp_path / f"{name}.tsv").write_text("".join(lines))
        return read(tmp_path / f"{name}.tsv", name="x").frames

    return made


def test_type_is_what_files_say_also_where_more_is_known_of_entities(typed):
    # A knowledge base knows two classes of Q0; gold and the run say PER of it, and the run ORG of Q1, which is LOC.
    gold, run = typed("gold", "PER", "LOC"), typed("run", "PER", "ORG")
    types = pl.DataFrame({"entity": [gold.links["entity"][0]] * 2, "class": ["dbo:Person", "dbo:Artist"]})
    rows = evaluate(
        gold, {"s": run}, task=["A2KB"], match=["strong_typed_mention_match"], profile="neleval", types=types
    )
    row = rows.filter(average="micro", column="").row(0, named=True)
    assert (row["tp"], row["fp"], row["fn"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("measure", "want"),
    [
        ("sets::span+type", (4, 0, 0)),
        ("sets::span+reftype", (2, 2, 2)),  # the first and that which has none on both sides
        ("sets::span+type+begin", (2, 2, 2)),  # a false head is another than none
        ("sets:begin:span", (1, 1, 0)),  # true of the second in gold, of the third answer besides
    ],
)
def test_keys_of_types_that_are_json_objects_are_fields_and_filters(typed, measure, want):
    gold = ['{"type": "PER", "reftype": "NOM"}', '{"type": "PER", "begin": true}', '{"type": "PER"}', "LOC"]
    run = ['{"type": "PER", "reftype": "NOM"}', '{"type": "PER", "reftype": "NAM", "begin": true}']
    run += ['{"type": "PER", "reftype": "X", "begin": 1}', '{"type": "LOC", "begin": false}']
    assert counts(typed("gold", *gold), typed("run", *run), measure) == want


def test_field_that_no_type_has_is_named_with_those_that_there_are(typed):
    gold = typed("gold", '{"type": "PER", "reftype": "NOM"}')
    with pytest.raises(UnknownName, match="no field of a triple named 'refftype'; did you mean 'reftype'"):
        counts(gold, gold, "sets::span+refftype")


def test_of_several_gold_links_the_one_answered_counts(frames):
    gold = frames([{"begin": 0, "end": 3, "entities": ["e:A", "e:B"]}])
    assert counts(gold, frames([{"begin": 0, "end": 3, "entity": "e:B"}]), "strong_link_match") == (1, 0, 0)
    assert counts(gold, frames([{"begin": 0, "end": 3, "entity": "e:C"}]), "strong_link_match") == (0, 1, 1)


@pytest.mark.parametrize(
    ("measure", "precision", "recall"),
    [
        # Gold 0-10; answers 0-4, 2-8, 20-22, all of one entity. Of gold: best 6/10, all 8/10. Of answers: 1, 1, 0.
        ("overlap-maxmax::span+kbid", 2 / 3, 0.6),
        ("overlap-summax::span+kbid", 2 / 3, 0.8),
        ("overlap-maxsum::span+kbid", 2 / 3, 0.6),
        ("overlap-sumsum::span+kbid", 2 / 3, 0.8),
    ],
)
def test_overlap_credits_shared_characters(frames, measure, precision, recall):
    gold = frames([{"begin": 0, "end": 10, "entity": "e:A"}])
    run = frames([{"begin": b, "end": e, "entity": "e:A"} for b, e in ((0, 4), (2, 8), (20, 22))])
    row = scored(gold, run, measure)
    assert (row["precision"], row["recall"]) == (pytest.approx(precision), pytest.approx(recall))


def test_overlap_sees_only_the_nearest_of_mentions_within_each_other(frames):
    # Gold 0-10 and 1-10, answered 2-9. From the end, 2-9 meets 1-10 (7 of 9) and is done with: 0-10 has none.
    gold = frames([{"begin": b, "end": 10, "entity": "e:A"} for b in (0, 1)])
    row = scored(gold, frames([{"begin": 2, "end": 9, "entity": "e:A"}]), "overlap-maxmax::span")
    assert (row["precision"], row["recall"]) == (1.0, pytest.approx(7 / 18))


@pytest.mark.parametrize(("key", "recall"), [("span+docid", 0.8), ("span+start", 0.0), ("span+end", 0.8)])
def test_overlap_with_a_place_in_its_key_is_among_mentions_of_that_place(frames, key, recall):
    # 0-10 answered 2-10: 8 of its 10 characters, but not the same start.
    gold, run = (frames([{"begin": b, "end": 10, "entity": "e:A"}]) for b in (0, 2))
    assert scored(gold, run, f"overlap-maxmax::{key}")["recall"] == pytest.approx(recall)


def test_without_texts_answers_in_documents_without_gold_are_wrong(frames):
    # Gold knows d1 alone; of the two answers the one in d2 is wrong, for macro averages d2 is no document.
    one = {"begin": 0, "end": 3, "entity": "e:A"}
    gold, run = (
        frames([one | {"document": "d1"}], ["d1"]),
        frames([one | {"document": d} for d in ("d1", "d2")], ("d1", "d2")),
    )

    assert counts(gold, run, "strong_link_match") == (1, 1, 0)
    assert scored(gold, run, "strong_link_match", "macro")["precision"] == 1.0
    with_texts = [replace(one, documents=one.documents.with_columns(text=pl.lit("abc"))) for one in (gold, run)]
    assert counts(*with_texts, "strong_link_match") == (1, 0, 0)
    row = evaluate(gold, {"s": run}, task=["A2KB"]).filter(average="micro", column="").row(0, named=True)
    assert (row["tp"], row["fp"]) == (1, 0)


def test_overlap_counts_what_the_filter_leaves_out_in_its_denominators(frames):
    # The NIL answer is no candidate for a match, but precision is 1 of 2 all the same.
    gold = frames([{"begin": 0, "end": 10, "entity": "e:A"}])
    run = frames([{"begin": 0, "end": 10, "entity": "e:A"}, {"begin": 20, "end": 22}])
    assert scored(gold, run, "overlap-maxmax:is_linked:span")["precision"] == 0.5


@pytest.fixture
def weigh(tmp_path, frames):
    def weighed(lines, measure, **more):
        (tmp_path / "types.tsv").write_text("".join(f"{line}\n" for line in lines))
        # Gold PER, LOC, ORG; answered ACTOR, LOC, nothing, and GPE beside gold.
        places = [(0, "PER"), (4, "LOC"), (8, "ORG")], [(0, "ACTOR"), (4, "LOC"), (12, "GPE")]
        sides = [
            frames([{"begin": b, "end": b + 3, "entity": f"e:{b}", "classes": [f"{RMX}{name}"]} for b, name in side])
            for side in places
        ]
        file = str(tmp_path / "types.tsv")
        return evaluate(sides[0], {"s": sides[1]}, match=[measure], profile="neleval", weight=file, **more)

    return weighed


@pytest.mark.parametrize(
    ("lines", "measure", "want"),
    [
        # A pair that the file lacks counts as its types are equal: LOC alone.
        (["X\tY\t0.5"], "strong_typed_mention_match", (1, 2, 2)),
        # ACTOR for PER is half right: of three asked and three given 1.5 are.
        (["PER\tACTOR\t0.5"], "strong_typed_mention_match", (1.5, 1.5, 1.5)),
        # The first column is gold's; of two weights the larger counts; an annotation weighs as its type with itself.
        (["ACTOR\tPER\t0.9", "PER\tACTOR\t0.2", "PER\tACTOR\t0.4"], "strong_typed_all_match", (1.4, 1.6, 1.6)),
        (["LOC\tLOC\t3", "PER\tACTOR\t0.5"], "sets:is_linked:span+type", (3.5, 1.5, 1.5)),
        # Without type in its key a measure counts whole.
        (["PER\tACTOR\t0.5"], "strong_link_match", (2, 1, 1)),
    ],
)
def test_type_weights_make_pairs_of_other_types_right_in_part(weigh, lines, measure, want):
    row = weigh(lines, measure).filter(average="micro", column="").row(0, named=True)
    assert (row["tp"], row["fp"], row["fn"]) == pytest.approx(want)
    assert "weight:types," in row["signature"]


def test_all_types_of_gold_together_have_the_mean_of_their_scores(frames):
    # PER: P 1/2, R 1/1, F1 2/3. ORG: 0. LOC is no type of gold, so that its answer is in no row: means 1/4, 1/2, 1/3,
    # and of the sums, one right of two answers and of two mentions, all are 1/2; of the whole P is 1/3.
    spans = [{"begin": n, "end": n + 3} for n in (0, 4, 8)]
    gold = frames([{**spans[0], "classes": ["PER"]}, {**spans[1], "classes": ["ORG"]}])
    run = frames([{**one, "classes": [name]} for one, name in zip(spans, ("PER", "PER", "LOC"), strict=True)])
    measure = ["strong_typed_mention_match"]
    every = evaluate(gold, {"s": run}, profile="neleval", match=measure, by=["type"])
    rows = every.filter(slice="all slices").sort("average")
    macro, micro = ("macro", 0.25, 0.5, pytest.approx(1 / 3)), ("micro", 0.5, 0.5, 0.5)
    assert rows.select("average", "precision", "recall", "f1").rows() == [macro, micro]
    assert rows.select("tp", "fp", "fn").rows() == [(1, 1, 1), (1, 1, 1)]
    table = readable_tables(every, ["g"], ["type"])["A2KB by type, strong_typed_mention_match matching"]
    shown = table.filter(slice="all slices").select("tp", "fp", "fn", "P", "F1", "macro-F1").rows()
    assert shown == [(1, 1, 1, 0.5, 0.5, pytest.approx(0.333, abs=1e-3))]
    assert not [line for line in explain_slices(every) if "all slices" in line]


def test_type_weights_hold_in_slices_by_type(weigh):
    # Answers of PER are none, so that nothing is found of it there; LOC counts threefold.
    rows = weigh(["LOC\tLOC\t3", "PER\tACTOR\t0.5"], "strong_typed_mention_match", by=["type"])
    found = rows.filter(EACH, average="micro", column="type").select("slice", "tp", "fn").sort("slice").rows()
    assert found == [("LOC", 3.0, 0.0), ("ORG", 0.0, 1.0), ("PER", 0.0, 1.0)]


@pytest.mark.parametrize(
    ("lines", "measure", "error", "message"),
    [
        (["PER\tACTOR\t0.5"], "muc", UsageError, "type weights count keys of sets, not 'muc::span'"),
        (["PER\tACTOR\t0.5"], "sets::docid+type", UsageError, "several of one: add span to its key"),
        (["PER\tACTOR\tmuch"], "strong_typed_all_match", BadInput, r"types\.tsv:1: needs two classes and a weight"),
        (["PER\t0.5"], "strong_typed_all_match", BadInput, "needs three columns without header"),
    ],
)
def test_type_weights_that_cannot_be_are_refused(weigh, lines, measure, error, message):
    with pytest.raises(error, match=message):
        weigh(lines, measure)


def test_type_weights_are_a_file(frames):
    with pytest.raises(UsageError, match="weighs types, by a file of gold's class"):
        evaluate(frames([]), {"s": frames([])}, match=["strong_all_match"], profile="neleval", weight="strict")


def clustered(names: dict[int, str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"system": [0] * len(names), "doc": [0] * len(names), "item": list(names), "cluster": list(names.values())},
        schema_overrides={"item": pl.Int64, "cluster": pl.String},
    )


# Gold {1 2 3} {4 5 6 7}, answered {1 2} {3 4 5} {6 7 8 9}: Luo, Pradhan, Recasens and Hovy (2014), their example.
KEY = {1: "a", 2: "a", 3: "a", 4: "b", 5: "b", 6: "b", 7: "b"}
RESPONSE = {1: "x", 2: "x", 3: "y", 4: "y", 5: "y", 6: "z", 7: "z", 8: "z", 9: "z"}


@pytest.mark.parametrize(
    ("measure", "right", "answered", "found", "asked"),
    [
        # Links: recall (3 - 2) + (4 - 2) of 2 + 3; precision (2 - 1) + (3 - 2) + (4 - 2 alone - 1) of 1 + 2 + 3.
        ("muc", 3, 6, 3, 5),
        # Recall (4/3 + 1/3) + (4/4 + 4/4) of 7; precision (4/2) + (1/3 + 4/3) + (4/4) of 9.
        ("b_cubed", 2 + 5 / 3 + 1, 9, 5 / 3 + 2, 7),
        # a with x (2), b with y or z (2).
        ("mention_ceaf", 4, 9, 4, 7),
        # a with x 2/(3+2), b with y 2/(4+3); halves of one each in the denominators.
        ("entity_ceaf", 2 / 5 + 2 / 7, 1.5, 2 / 5 + 2 / 7, 1),
        # Pairs in common: 12, 45, 67; gold has 3 + 6, the answers 1 + 3 + 6.
        ("pairwise", 3, 10, 3, 9),
        # Apart in both: of the 7 shared, 12 pairs are apart in gold, of which 34 and 35 are together in the answer.
        ("pairwise_negative", 10, 26, 10, 12),
    ],
)
def test_clusters_of_the_reference_example(measure, right, answered, found, asked):
    row = cluster_counts(clustered(KEY), clustered(RESPONSE), measure).row(0, named=True)
    assert (row["tp"], row["tp"] + row["fp"]) == (pytest.approx(right), pytest.approx(answered))
    assert (row["tp_of_gold"], row["tp_of_gold"] + row["fn"]) == (pytest.approx(found), pytest.approx(asked))


def test_best_assignment_of_clusters_is_not_that_of_the_best_pair_first():
    # a1 shares 3 with x and 2 with y, b shares 2 with x: best is a-y and b-x, 4; a-x alone is 3.
    gold = {1: "a", 2: "a", 3: "a", 4: "a", 5: "a", 6: "b", 7: "b"}
    answers = {1: "x", 2: "x", 3: "x", 4: "y", 5: "y", 6: "x", 7: "x"}
    assert cluster_counts(clustered(gold), clustered(answers), "mention_ceaf")["tp"].item() == 4


@pytest.mark.parametrize(
    ("measure", "right", "answered", "found", "asked"),
    [
        # b is at home in v, which begins after u: recall 2/2 of a, 2/2 of b, 2/2 of c; precision 2/3 of each.
        ("b_cubed", 2, 3, 3, 3),
        # u and v need no more links than x has; x joins items at home in two clusters: one link of two.
        ("muc", 1, 2, 2, 2),
        # Pairs of gold: a b and b c; of the answers these and a c.
        ("pairwise", 2, 3, 2, 2),
        # CEAF has b in its home alone: v with x shares 2 of a; b c.
        ("mention_ceaf", 2, 3, 2, 3),
    ],
)
def test_item_of_two_clusters_stays_in_both(measure, right, answered, found, asked):
    gold = [("u", 1), ("u", 2), ("v", 2), ("v", 3)]
    answers = [("x", 1), ("x", 2), ("x", 3)]
    sides = [
        pl.DataFrame(rows, schema=["cluster", "item"], orient="row").with_columns(system=pl.lit(0), doc=pl.lit(0))
        for rows in (gold, answers)
    ]
    row = cluster_counts(*sides, measure).row(0, named=True)
    assert (row["tp"], row["tp"] + row["fp"]) == (pytest.approx(right), pytest.approx(answered))
    assert (row["tp_of_gold"], row["tp_of_gold"] + row["fn"]) == (pytest.approx(found), pytest.approx(asked))


partitions = st.dictionaries(st.integers(0, 9), st.sampled_from("abcd"), min_size=1)


@pytest.mark.long
@given(partitions, partitions)
def test_cluster_measures_are_what_their_definitions_say(gold, answers):
    def sets(names):
        return [{i for i, name in names.items() if name == one} for one in sorted(set(names.values()))]

    left, right = sets(gold), sets(answers)
    b_cubed = sum(len(a & b) ** 2 / len(b) for a in left for b in right)
    pairs = sum(len(a & b) * (len(a & b) - 1) / 2 for a in left for b in right)
    muc = sum(len(a & b) - 1 for a in left for b in right if a & b)
    for measure, want in (("b_cubed", b_cubed), ("pairwise", pairs), ("muc", muc)):
        found = cluster_counts(clustered(gold), clustered(answers), measure)
        assert found["tp"].sum() == pytest.approx(want)
    for measure in ("b_cubed", "mention_ceaf", "entity_ceaf", "pairwise", "pairwise_negative", "muc"):
        same = cluster_counts(clustered(gold), clustered(gold), measure)
        assert same["fp"].sum() == pytest.approx(0)
        assert same["fn"].sum() == pytest.approx(0)


def test_mentions_are_those_of_gold_also_where_they_are_found_in_part(frames):
    # Gold of two entities, answered as one: B³ finds both in full, but half of each answer is right.
    gold = frames([{"begin": 0, "end": 3, "entity": "e:A"}, {"begin": 4, "end": 7, "entity": "e:B"}])
    run = frames([{"begin": 0, "end": 3, "entity": "e:A"}, {"begin": 4, "end": 7, "entity": "e:A"}])
    row = scored(gold, run, "b_cubed")
    assert (row["tp"], row["fp"], row["fn"], row["mentions"]) == (1.0, 1.0, 0.0, 2.0)


def test_nil_clusters_are_named_by_values_of_the_data(frames):
    def named(frame: Frames, names: list[str]) -> Frames:
        values = pl.DataFrame({"subject": frame.annotations["annotation"], "term": CLUSTER, "text": names})
        return replace(frame, values=Frames.of(values=values).values)

    mentions = frames([{"begin": 0, "end": 3}, {"begin": 4, "end": 7}, {"begin": 8, "end": 11}])
    gold, run = named(mentions, ["NIL1", "NIL1", "NIL2"]), named(mentions, ["NIL7", "NIL8", "NIL8"])
    assert scored(gold, gold, "b_cubed")["f1"] == 1.0
    # Gold {1 2} {3}, answered {1} {2 3}: each of the four cells has one; precision (1 + 1/2 + 1/2) / 3.
    assert scored(gold, run, "b_cubed")["precision"] == pytest.approx(2 / 3)
    # Without names all NILs are one cluster on both sides.
    assert scored(mentions, mentions, "b_cubed")["f1"] == 1.0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("strong_lnk_match", "no measure of neleval named 'strong_lnk_match'"),
        ("sts::span", "aggregate of a triple"),
        ("sets:is_link:span", "filter of a triple"),
        ("sets::spam", "field of a triple"),
    ],
)
def test_a_misspelt_measure_is_named(name, message):
    with pytest.raises(UnknownName, match=message):
        triple_named(name)


@pytest.mark.parametrize(
    ("group", "size", "member"),
    [
        # configs.py, MEASURE_SETS
        (("tac09",), 3, "strong_nil_match"),
        (("tac14", "tac09"), 10, "typed_mention_ceaf"),
        (("all-tagging",), 10, "entity_match"),
        (("all-coref",), 9, "typed_mention_ceaf_plus"),
        (("all",), 19, "muc"),
        (("cornolti", "sets::span"), 4, "sets::span"),
    ],
)
def test_groups_of_measures_stand_for_these(pair, group, size, member):
    rows = evaluate(pair[0], {"s": pair[1]}, match=group, profile="neleval")
    found = rows["matching"].unique()
    assert (len(found), member in found) == (size, True)


def test_groups_are_of_measures_that_there_are():
    assert {name for group in GROUPS.values() for name in group} == {*NAMED}


def test_every_measure_is_listed_with_its_triple_that_parses_back():
    told = PROFILES["neleval"].rules()
    for name, triple in NAMED.items():
        assert triple_named(told[name]) == triple


@pytest.mark.parametrize("measure", ["strong_link_match", "sets::span", "strong"])
def test_task_that_measures_are_not_of_is_refused_with_the_nearest_that_is(pair, measure):
    for task, alike in (("nonsense", "known: A2KB, C2KB, ERec"), ("A2B", "did you mean 'A2KB'")):
        with pytest.raises(UnknownName, match=f"no task of this profile named '{task}'.*{alike}"):
            evaluate(pair[0], {"s": pair[1]}, task=[task], match=[measure], profile="neleval")
        assert not PROFILES["neleval"].takes(task, measure)
    assert not PROFILES["neleval"].takes("D2KB", measure)
    assert PROFILES["neleval"].takes("ERec", "strong")
