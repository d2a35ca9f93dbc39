"""ETyping and RT2KB: classes in a hierarchy, by hand and as in GERBIL's own cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remix.errors import BadInput, UnknownName
from remix.frames import Frames
from remix.names import OWL, RDFS
from remix.scoring.inputs.entities import read_subclasses, with_types
from tests.examples import FEW
from tests.scoring.conftest import evaluate

# thing > agent > person > writer; thing > place
STEPS = pl.DataFrame(
    {"class": ["agent", "person", "writer", "place"], "parent": ["thing", "agent", "person", "thing"]}
).select(("t:" + pl.all()).name.keep())


def at(begin: int, end: int, *classes: str, **more: object) -> dict[str, object]:
    return {"begin": begin, "end": end, "classes": [f"t:{name}" for name in classes], **more}


def scored(gold, run, task="RT2KB", matching="strong", **more):
    rows = evaluate(gold, {"s": run}, task=[task], match=[matching], subclasses=STEPS, **more)
    return rows.filter(pl.col("average") == "micro", pl.col("column") == "").row(0, named=True)


def values(row, *names):
    return tuple(row[name] for name in names)


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        # Gold writer: writer, person, agent, thing are asked for.
        ("writer", (4, 0, 0)),
        ("person", (3, 0, 1)),  # too general: all it says is right
        ("place", (1, 1, 3)),  # only thing is shared
        ("planet", (0, 1, 4)),  # in no hierarchy
    ],
)
def test_classes_are_compared_with_those_above_them(frames, answer, want):
    row = scored(frames([at(0, 3, "writer")]), frames([at(0, 3, answer)]))
    assert values(row, "tp", "fp", "fn") == want
    assert row["mentions"] == 1


def test_missed_and_extra_mentions_count_with_all_their_classes(frames):
    # Missed: writer and three above. Extra: place and thing, in RT2KB alone.
    gold, run = frames([at(0, 3, "writer")]), frames([at(5, 8, "place")])
    assert values(scored(gold, run), "tp", "fp", "fn") == (0, 2, 4)
    assert values(scored(gold, run, "ETyping"), "tp", "fp", "fn") == (0, 0, 4)


def test_rt2kb_takes_overlapping_spans_where_matching_is_weak(frames):
    gold, run = frames([at(0, 3, "place")]), frames([at(1, 6, "place")])
    assert values(scored(gold, run, matching="weak"), "tp", "fp", "fn") == (2, 0, 0)
    assert values(scored(gold, run, matching="strong"), "tp", "fp", "fn") == (0, 2, 2)
    assert values(scored(gold, run, "ETyping", "weak"), "tp", "fp", "fn") == (0, 0, 2)


def test_gold_without_classes_asks_nothing(frames):
    gold, run = frames([at(0, 3), at(5, 8, "place")]), frames([at(0, 3, "person"), at(5, 8, "place")])
    assert values(scored(gold, run), "tp", "fp", "fn", "ignored", "mentions") == (2, 0, 0, 1, 1)


def test_an_answer_without_classes_gets_them_from_its_entity(frames):
    types = pl.DataFrame({"entity": ["e:A", "e:B"], "class": ["t:place", "t:writer"]})
    gold, run = frames([at(0, 3, "place")]), frames([at(0, 3, entity="e:A")])
    assert values(scored(gold, run, types=types), "tp", "fp", "fn") == (2, 0, 0)
    # What is stated of the mention goes before what is known of the entity.
    run = frames([at(0, 3, "place", entity="e:B")])
    assert values(scored(gold, run, types=types), "tp", "fp", "fn") == (2, 0, 0)


def test_classes_added_to_gold_from_its_entities_are_not_taken_for_stated_ones(frames):
    gold = frames([at(0, 3, "place", entity="e:A")])
    types = pl.DataFrame({"entity": ["e:A"], "class": ["t:writer"]})
    gold = replace(gold, classes=with_types(gold, types))
    assert gold.classes.sort("class").rows() == [("d#0", "t:place", False), ("d#0", "t:writer", True)]
    assert values(scored(gold, frames([at(0, 3, "place")]), types=types), "tp", "fp", "fn") == (2, 0, 0)


def test_without_a_hierarchy_classes_are_equal_or_not(frames):
    rows = evaluate(frames([at(0, 3, "writer")]), {"s": frames([at(0, 3, "person")])}, task=["ETyping"])
    assert rows.filter(average="micro").select("tp", "fp", "fn").row(0) == (0, 1, 1)


def test_typing_on_a_slice_leaves_answers_on_dropped_mentions_out(frames):
    gold = frames([at(0, 3, "place", entity="e:A"), at(5, 8, "writer", entity="e:B")])
    run = frames([at(0, 3, "place"), at(5, 8, "place")])
    rows = evaluate(gold, {"s": run}, task=["RT2KB"], match=["strong"], subclasses=STEPS, by=["class"])
    row = rows.filter(pl.col("slice") == "t:place", pl.col("average") == "micro").row(0, named=True)
    assert values(row, "tp", "fp", "fn", "ignored", "precision_on_mention") == (2, 0, 0, 1, 1.0)


def test_hierarchies_are_read_from_rdf(tmp_path: Path):
    file = tmp_path / "classes.ttl"
    file.write_text("@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . <urn:a> rdfs:subClassOf <urn:b> , [] .")
    assert read_subclasses(file).rows() == [("urn:a", "urn:b")]
    file.write_text("<urn:a> <urn:p> <urn:b> .")
    with pytest.raises(BadInput, match="says of no class"):
        read_subclasses(file)


@pytest.mark.parametrize("task", ["ETyping", "RT2KB"])
@pytest.mark.parametrize("home", ["x", "y"])
def test_what_another_gold_says_of_an_entity_changes_no_row(frames, task, home):
    # Gold asks for C. The answer is E, which is a C where its own gold says so, and nothing where another does.
    one = frames([at(0, 3, "C")], ["d"], dataset="x")
    other = frames([at(0, 3, "D", document="e")], ["e"], dataset="y")
    stated = pl.DataFrame({"home": [home], "entity": ["urn:E"], "class": ["t:C"]})
    run = {"s": frames([{"begin": 0, "end": 3, "entity": "urn:E"}])}
    rows = evaluate(Frames.concat([one, other]), run, task=[task], match=["strong"], stated=stated)
    row = rows.filter(dataset="x", average="micro", column="")
    assert row.select("tp", "fn").row(0) == ((1, 0) if home == "x" else (0, 1))


DBO = "http://dbpedia.org/ontology/"
# GERBIL's tests: A > B C D; B > E F; C > G; D > G H I J L; I > K L.
LETTERS = ["BA", "CA", "DA", "EB", "FB", "GC", "GD", "HD", "ID", "JD", "KI", "LD", "LI"]
TREE = pl.DataFrame({"class": [DBO + one[0] for one in LETTERS], "parent": [DBO + one[1] for one in LETTERS]})
FIRST, SECOND = ("GJK", "HKL"), ("D", "C")


@pytest.mark.parametrize(
    ("cases", "micro", "macro"),
    [
        # src/test/java/org/aksw/gerbil/evaluate/impl/HierarchicalFMeasureCalculatorTest.java
        ([FIRST], (1 / 3, 1 / 3, 1 / 3), (1 / 3, 1 / 3, 1 / 3)),
        ([SECOND], (1 / 2, 1 / 7, 2 / 9), (1 / 2, 1 / 7, 2 / 9)),
        ([FIRST, SECOND], (5 / 12, 5 / 21, 10 / 33), (5 / 12, 5 / 21, 5 / 18)),
    ],
)
def test_hierarchical_scores_of_gerbil_are_those_of_its_own_cases(frames, cases, micro, macro):
    names = [f"d{number}" for number in range(len(cases))]

    def side(place):
        rows = [
            {"begin": 0, "end": 1, "document": name, "classes": [DBO + letter for letter in case[place]]}
            for name, case in zip(names, cases, strict=True)
        ]
        # A document without any mention is not averaged over.
        return frames(rows, [*names, "empty"])

    rows = evaluate(side(0), {"s": side(1)}, task=["RT2KB"], match=["weak"], profile="gerbil", subclasses=TREE).filter(
        pl.col("column") == ""
    )
    for average, want in (("micro", micro), ("macro", macro)):
        row = rows.filter(average=average).row(0, named=True)
        assert values(row, "precision", "recall", "f1") == pytest.approx(want)


def test_gerbil_takes_two_mentions_without_known_classes_for_a_match_and_punishes_extra_ones(frames):
    # Three entries: 1 (no class of a well-known knowledge base on either side), 0 (missed), 0 (extra).
    gold, run = frames([at(0, 3, "x"), at(5, 8, "y")]), frames([at(0, 3, "z"), at(10, 12, "w")])
    row = scored(gold, run, profile="gerbil")
    assert values(row, "precision", "recall", "mentions") == pytest.approx((1 / 3, 1 / 3, 2))
    # On gold spans alone there are no extra ones.
    assert scored(gold, run, "ETyping", profile="gerbil")["precision"] == 1 / 2


def test_typing_of_gerbil_pairs_in_order_whatever_the_links_are(frames):
    # [0, 10) takes the answer at [3, 5), so that [3, 5) is missed and the answer at [7, 9) extra: 1 of 3 either way.
    place = {"classes": [f"{DBO}A"]}
    gold = frames([{"begin": 0, "end": 10, "entity": "e:1"} | place, {"begin": 3, "end": 5, "entity": "e:2"} | place])
    run = frames([{"begin": 3, "end": 5, "entity": "e:1"} | place, {"begin": 7, "end": 9, "entity": "e:2"} | place])
    row = scored(gold, run, matching="weak", profile="gerbil")
    assert values(row, "precision", "recall", "f1") == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    # Of two answers on one span the first stands for the mention, also where the second is linked right.
    gold = frames([{"begin": 0, "end": 4, "entity": "e:2"} | place])
    first = {"begin": 0, "end": 4, "entity": "e:1", "classes": [f"{DBO}B"]}
    row = scored(gold, frames([first, {"begin": 0, "end": 4, "entity": "e:2"} | place]), profile="gerbil")
    assert row["f1"] == 0.0


@pytest.mark.long
def test_typing_of_gerbil_takes_the_best_threshold_and_has_no_rows_of_the_knowledge_base(frames):
    # The doubtful answer is extra: P = R = (1 + 0) / 2 with it, 1 without it.
    gold = frames([{"begin": 0, "end": 4, "classes": [f"{DBO}A"]}])
    run = frames([{"begin": 0, "end": 4, "classes": [f"{DBO}A"]}, {"begin": 6, "end": 8, "classes": [f"{DBO}B"]}])
    assert scored(gold, run, profile="gerbil")["f1"] == 1 / 2
    sure = run.annotations.with_columns(confidence=pl.Series([0.9, 0.1]))
    rows = evaluate(gold, {"s": replace(run, annotations=sure)}, task=["RT2KB", "OKE-1"], profile="gerbil")
    assert {*rows.filter(task="RT2KB")["f1"]} == {1.0} and {*rows["column"]} == {""}


def test_second_task_of_oke_is_scored_by_gerbil(frames):
    # Of the spans that name classes the one inside another goes: one of two is found, and one is extra.
    owl, rdfs = {"classes": [f"{OWL}Class"]}, {"classes": [f"{RDFS}Class"]}
    gold = [{"begin": 0, "end": 9} | owl, {"begin": 4, "end": 9} | owl, {"begin": 20, "end": 25} | rdfs]
    run = [{"begin": 0, "end": 9} | owl, {"begin": 30, "end": 35} | rdfs]
    rows = evaluate(
        frames(gold), {"s": frames(run)}, task=["ERec-classes", "OKE-2"], match=["strong"], profile="gerbil"
    )
    row = rows.filter(task="ERec-classes", average="micro", column="").row(0, named=True)
    assert values(row, "tp", "fp", "fn") == (1, 1, 1)
    assert rows.filter(task="OKE-2", average="micro", column="")["f1"].is_not_null().all()


ODP = "http://www.ontologydesignpatterns.org/ont/"


def typed(begin: int, end: int, *classes: str, **more: object) -> dict[str, object]:
    return {"begin": begin, "end": end, "classes": [*classes], **more}


def test_first_task_of_oke_knows_four_classes_in_gerbil(frames):
    # Person is right; of dbo:A neither side is asked, which is perfect; dul:Agent is none of the four.
    person, agent = f"{ODP}dul/DUL.owl#Person", f"{ODP}dul/DUL.owl#Agent"
    gold = frames([typed(0, 3, person, agent), typed(5, 8, f"{DBO}A")])
    run = frames([typed(0, 3, person), typed(5, 8, f"{DBO}B")])
    rows = evaluate(gold, {"s": run}, task=["ETyping", "OKE-1"], match=["strong"], profile="gerbil")
    rows = rows.filter(average="micro", column="")
    # ETyping: recall (1/2 + 0) / 2. OKE-1: ERec and D2KB (all are EE) are perfect, and so is its typing.
    assert rows["recall"].to_list() == [1 / 4, 1.0]


def test_second_task_of_oke_types_entities_alone_in_gerbil(frames):
    # The word that names a class is not answered, and no entity; dbo:A is no class of the list: its typing is perfect.
    gold = frames([typed(0, 3, f"{ODP}dul/DUL.owl#Agent", f"{DBO}A"), typed(5, 8, f"{OWL}Class")])
    run = frames([typed(0, 3, f"{ODP}dul/DUL.owl#Agent")])
    rows = evaluate(gold, {"s": run}, task=["ERec-classes", "OKE-2"], match=["strong"], profile="gerbil")
    rows = rows.filter(average="micro", column="")
    assert rows["f1"].to_list() == [0.0, 1 / 2]


def test_typing_is_of_a_list_of_classes_where_one_is_asked_for(frames):
    gold = frames([typed(0, 3, f"{ODP}dul/DUL.owl#Person", f"{DBO}A")])
    run = frames([typed(0, 3, f"{ODP}dul/DUL.owl#Person", f"{DBO}B")])
    assert values(scored(gold, run, "ETyping"), "tp", "fp", "fn") == (1, 1, 1)
    assert values(scored(gold, run, "ETyping(classes=OKE-1)"), "tp", "fp", "fn") == (1, 0, 0)
    with pytest.raises(UnknownName, match="no list of classes named 'OKE1'; did you mean 'OKE-1'"):
        scored(gold, run, "ETyping(classes=OKE1)")


def test_equal_spans_of_classes_are_one_in_gerbil(frames):
    # Two links of one span inside another go with it; two of the outermost span are one span to find.
    spans = [(0, 9, "c:1"), (0, 9, "c:2"), (4, 9, "c:1"), (4, 9, "c:2")]
    gold = frames([typed(b, e, f"{OWL}Class", entity=name) for b, e, name in spans])
    run = frames([typed(0, 9, f"{OWL}Class", entity="c:1")])
    row = scored(gold, run, "ERec-classes", profile="gerbil")
    assert values(row, "tp", "fp", "fn") == (1, 0, 0)


names = st.sampled_from(["writer", "person", "agent", "place", "thing", "planet"])
typings = st.lists(st.tuples(st.integers(0, 5), st.lists(names, max_size=2, unique=True)), max_size=4)


@settings(max_examples=FEW)
@given(typings, typings)
def test_gold_is_perfect_and_what_is_asked_is_found_or_missed(frames, left, right):
    gold, run = (
        frames([at(2 * place, 2 * place + 1, *classes) for place, classes in dict(rows).items()])
        for rows in (left, right)
    )
    perfect = scored(gold, gold)
    assert (perfect["fp"], perfect["fn"]) == (0, 0)
    row = scored(gold, run)
    assert row["tp"] + row["fn"] == perfect["tp"]
    # The other way round, the roles of precision and recall change where every mention has classes.
    if all(classes for _, classes in [*left, *right]):
        assert scored(run, gold)["precision"] == row["recall"]
