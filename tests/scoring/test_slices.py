"""Slices by several columns, by schemes, and of enough support; unknown ones."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from remix import progress
from remix.errors import UnknownName, UsageError
from remix.frames import Frames
from remix.measures.partitions import Breakdown, breakdown
from remix.reports.readable import explain_slices, signature_lines
from remix.scoring.inputs import Background
from remix.scoring.inputs.entities import with_types
from remix.scoring.slicing import scope_named, slice_named
from tests.scoring.conftest import evaluate, framed

# Six mentions in two documents: persons and places, with the numbers 1 to 5 and one without.
CLASSES = ["c:Person", "c:Person", "c:Place", "c:Person", "c:Place", "c:Place"]
ROWS = [
    {"document": "d" if n < 3 else "e", "begin": 10 * n, "end": 10 * n + 3, "entity": "e:A", "classes": [name]}
    for n, name in enumerate(CLASSES)
]
GOLD = framed(ROWS, documents=["d", "e"])
RUN = framed(ROWS[:4], documents=["d", "e"])
COLUMNS = pl.DataFrame({"annotation": GOLD.annotations["annotation"][:5], "size": [1, 2, 3, 4, 5]})
TYPES = pl.DataFrame({"entity": ["e:A"], "class": ["c:Person"]})


def slices(by, **options):
    rows = evaluate(GOLD, {"s": RUN}, task=["D2KB"], match=["strong"], by=[by], columns=COLUMNS, **options)
    rows = rows.filter(pl.col("column") != "", pl.col("average") == "micro")
    return {row["slice"]: (row["tp"], row["fn"]) for row in rows.to_dicts()}


def test_two_columns_crossed_give_a_slice_for_each_pair_that_occurs():
    # Answered are the first four: of the persons in d both, of the places in d one, and so on.
    expected = {
        "c:Person × d": (2, 0), "c:Place × d": (1, 0), "c:Person × e": (1, 0), "c:Place × e": (0, 2),
    }  # fmt: skip
    assert slices("class,document") == slices("class × document") == expected
    assert slices("document,class") == {" × ".join(reversed(name.split(" × "))): n for name, n in expected.items()}


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        # Up to 2: 1, 2; up to 4: 3, 4; above: 5; the sixth has no value. The first four are answered.
        ("size:thresholds:2,4", {"0: unspecified": (0, 1), "1: ≤ 2": (2, 0), "2: > 2, ≤ 4": (2, 0), "3: > 4": (0, 1)}),
        ("size:quantiles:2", {"0: unspecified": (0, 1), "1: ≤ 3": (3, 0), "2: > 3": (1, 1)}),
        (
            "size:head-torso-tail",
            {
                "0: unspecified": (0, 1),
                "1: head of the dataset (> 4)": (0, 1),
                "2: torso of the dataset (> 2, ≤ 4)": (2, 0),
                "3: tail of the dataset (≤ 2)": (2, 0),
            },
        ),
    ],
)
def test_numbers_are_cut_by_a_scheme(by, expected):
    assert slices(by) == expected


def test_a_second_column_of_several_values_changes_no_slice_of_the_first():
    # Of the sizes 1 to 4 two are up to 2; were all three rows of the 4 counted, three of six would be up to 3.
    wide = pl.DataFrame({"annotation": GOLD.annotations["annotation"], "size": [1, 2, 3, 4, None, None]})
    topics = pl.DataFrame({"annotation": ["e#3"] * 3, "topic": ["x", "y", "z"]})
    rows = evaluate(
        GOLD,
        {"s": RUN},
        task=["D2KB"],
        match=["strong"],
        by=["size:quantiles:2"],
        columns=wide.join(topics, on="annotation", how="full", coalesce=True),
    ).filter(column="size:quantiles:2", average="micro")
    assert rows.select("slice", "mentions").rows() == [("0: unspecified", 2), ("1: ≤ 2", 2), ("2: > 2", 2)]


def test_classes_that_the_mapping_says_are_one_have_one_slice():
    # Every person of Wikidata is one of DBpedia's, and nothing else is; of the writers the rest are others.
    person, writer = "http://www.wikidata.org/entity/Q215627", "http://dbpedia.org/ontology/Writer"
    rows = [{**row, "classes": [person, *([writer] if n else [])]} for n, row in enumerate(ROWS[:3])]
    gold = framed(rows, documents=["d", "e"])
    types = pl.DataFrame({"entity": ["e:A"] * 2, "class": [person, "http://dbpedia.org/ontology/Person"]})
    classes = with_types(gold, types)
    for by in ("class", "type"):
        rows = evaluate(replace(gold, classes=classes), {"s": RUN}, task=["D2KB"], match=["strong"], by=[by])
        own = rows.filter(column=by, average="micro")
        assert dict(own.select("slice", "mentions").iter_rows()) == {"http://dbpedia.org/ontology/Person": 3, writer: 2}


def test_slices_without_support_are_left_out_and_said(capsys):
    with progress.enable():
        assert set(slices("class,document", min_support=2)) == {"c:Person × d", "c:Place × e"}
    assert "by class,document: 2 slices of fewer than 2 mentions are left out" in capsys.readouterr().err
    with pytest.raises(UsageError, match="no slice by 'class' has 9 mentions"):
        slices("class", min_support=9)


def test_a_breakdown_reads_commas_of_numbers_as_numbers():
    assert breakdown("a:thresholds:3, 5,b:quantiles:4") == (
        Breakdown("a", "thresholds:3,5"),
        Breakdown("b", "quantiles:4"),
    )
    assert breakdown("http://e.org/ns#x:deciles") == (Breakdown("http://e.org/ns#x", "deciles"),)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("clas", "no column named 'clas'; nearest: class; columns: "),
        ("size:deciels", "no scheme 'deciels'; did you mean 'deciles'"),
        ("class:deciles", "holds no numbers"),
        ("class,", "names no column"),
    ],
)
def test_unknown_columns_and_schemes_are_refused_with_the_nearest(by, message):
    with pytest.raises(UsageError, match=message):
        slices(by)


def test_a_scope_is_named_in_short_and_an_unknown_one_refused():
    classes = pl.Series(["http://dbpedia.org/ontology/Person", "http://dbpedia.org/ontology/Place"])
    for given in ("Person", "dbo:Person", "http://dbpedia.org/ontology/Person"):
        assert scope_named(given, classes) == "http://dbpedia.org/ontology/Person"
    with pytest.raises(UnknownName, match="no class named 'Persn'; did you mean 'Person'"):
        scope_named("Persn", classes)
    with pytest.raises(UnknownName, match="did you mean 'Person'"):
        evaluate(GOLD, {"s": RUN}, scope="Persn", types=TYPES)


def test_a_slice_is_named_as_tables_show_it():
    slices = pl.Series(["", "http://e.org/Person × d", "http://e.org/a#Place", "http://e.org/b#Place", "n/a"])
    assert slice_named("", slices) == ""
    assert slice_named("Person × d", slices) == "http://e.org/Person × d"
    assert slice_named("http://e.org/a#Place", slices) == "http://e.org/a#Place"
    assert slice_named("n/a", slices) == "n/a"
    typed = pl.Series(["http://dbpedia.org/ontology/Person", "http://dbpedia.org/ontology/Place"])
    assert [slice_named(said, typed) for said in ("Person", "person", "dbo:Person")] == [typed[0]] * 3
    with pytest.raises(UnknownName, match="no slice named 'Persn × d'; did you mean 'Person × d'"):
        slice_named("Persn × d", slices)
    with pytest.raises(UnknownName, match="no slice named 'Place'"):
        slice_named("Place", slices)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        # What is inside a name is near it, too; then comes all there is, by where it comes from.
        (
            "siz",
            "no column named 'siz'; nearest: size; columns: class, .*; of documents: size; with --seen: seenEntity, ",
        ),
        ("prominence", "is a measure and no column: its columns are pagerank, "),
        ("seenForm", "'seenForm' is about a training set: name it with --seen"),
    ],
)
def test_unknown_column_is_told_with_all_that_exist(column, message):
    with pytest.raises(UsageError, match=message):
        slices(column)


def test_what_there_is_of_columns_is_told_in_a_line_that_one_reads():
    many = GOLD.annotations.select("annotation", *(pl.lit(n).alias(f"column{n}") for n in range(100)))
    with pytest.raises(UsageError) as refused:
        evaluate(GOLD, {"s": RUN}, by=["nosuch"], columns=many)
    assert len(str(refused.value)) < 1000 and str(refused.value).endswith("; `remix list columns` shows all")


def test_measures_that_gold_has_no_values_of_are_told_with_what_computes_them():
    table = GOLD.annotations.select("annotation", overlap=pl.lit("none"))
    with pytest.raises(UsageError, match="'pagerank' is a measure .*: `remix kb attach NAME` .*`remix enrich`"):
        evaluate(GOLD, {"s": RUN}, by=["pagerank"], columns=table)


def test_measures_of_gold_from_files_are_told_to_need_the_workspace():
    with pytest.raises(UsageError, match="'candidateRank' is a measure: `remix load` the gold"):
        evaluate(GOLD, {"s": RUN}, by=["candidateRank"])


def test_a_type_with_the_very_mentions_of_its_coarse_class_is_shown_once():
    # Both persons are human, so that human is the coarse class; of two places one alone is a city.
    q5, city = (f"http://www.wikidata.org/entity/{name}" for name in ("Q5", "Q515"))
    person, place = (f"http://dbpedia.org/ontology/{name}" for name in ("Person", "Place"))
    named = [[q5, person], [q5, person], [city, place], [place]]
    rows = [
        {"begin": 10 * n, "end": 10 * n + 3, "entity": "e:A", "classes": classes} for n, classes in enumerate(named)
    ]
    found = evaluate(framed(rows), {"s": framed(rows)}, task=["D2KB"], match=["strong"], by=["type:all"])
    assert set(found.filter(column="type:all")["slice"]) == {person, place, city}


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        # The sixth mention has none: it is in a slice of its own, as numbers of few values, of many, and as words.
        ("few", [1, 2, 2, 1, 2, None], {"1": (2, 0), "2": (2, 1), "unspecified": (0, 1)}),
        ("nan", [1.5, 2.5, 2.5, 1.5, 2.5, float("nan")], {"1.5": (2, 0), "2.5": (2, 1), "unspecified": (0, 1)}),
        ("word", ["a", "b", "b", "a", "b", None], {"a": (2, 0), "b": (2, 1), "unspecified": (0, 1)}),
        (
            "same",
            ["a", "unspecified", "a", "a", "a", None],
            {"a": (3, 1), "unspecified": (1, 0), "without-value": (0, 1)},
        ),
    ],
)
def test_mentions_without_a_value_are_a_slice_of_their_own(column, values, expected):
    table = pl.DataFrame({"annotation": GOLD.annotations["annotation"], column: values}, strict=False)
    rows = evaluate(GOLD, {"s": RUN}, task=["D2KB"], match=["strong"], by=[column], columns=table)
    own = rows.filter(column=column, average="micro")
    assert {row["slice"]: (row["tp"], row["fn"]) for row in own.to_dicts()} == expected


def test_quarters_have_a_slice_of_what_has_no_value():
    # Twelve numbers make quarters of three; the thirteenth mention has none.
    rows = [{"begin": 5 * n, "end": 5 * n + 3, "entity": "e:A"} for n in range(13)]
    gold = framed(rows)
    table = pl.DataFrame({"annotation": gold.annotations["annotation"], "rank": [*range(12), None]})
    own = evaluate(gold, {"s": gold}, task=["A2KB"], match=["strong"], by=["rank"], columns=table)
    own = own.filter(column="rank", average="micro")
    assert own.select("slice", "mentions").rows()[0] == ("0: unspecified", 1)
    assert own["mentions"].sum() == own["tp"].sum() == 13


def test_alternatives_of_a_mention_with_a_value_are_not_unspecified():
    both = [
        {"annotation": one, "begin": 0, "end": 3, "entity": f"e:{one}", "group": "g", "option": one} for one in "AB"
    ]
    gold = framed(both)
    table = pl.DataFrame({"annotation": ["A", "B"], "word": ["x", None]})
    rows = evaluate(gold, {"s": gold}, task=["A2KB"], match=["strong"], by=["word"], columns=table)
    assert set(rows["slice"]) == {"", "x"}


def test_mentions_without_class_and_documents_without_value_are_slices_of_their_own():
    gold = framed([row | ({"classes": []} if n > 3 else {}) for n, row in enumerate(ROWS)], documents=["d", "e"])
    known = {"types": TYPES, "document_columns": pl.DataFrame({"document": ["d"], "topic": ["x"]})}
    rows = evaluate(gold, {"s": RUN}, task=["D2KB"], match=["strong"], by=["class", "topic"], **known)
    own = rows.filter(pl.col("column") != "", average="micro").select("column", "slice", "tp", "fn").rows()
    assert own == [
        ("class", "c:Person", 3, 0), ("class", "c:Place", 1, 0), ("class", "unspecified", 0, 2),
        ("topic", "unspecified", 1, 2), ("topic", "x", 3, 0),
    ]  # fmt: skip


def test_answers_of_no_class_are_in_scope_of_the_mentions_of_no_class():
    # e:A is a person, e:Z of no class: one of no class may be of any, e:A is out of scope of what has none.
    person = {"begin": 0, "end": 3, "entity": "e:A", "classes": ["c:Person"]}
    gold = framed([person, {"begin": 5, "end": 8, "entity": "e:Z"}])
    answers = ((0, "e:A"), (5, "e:Z"), (20, "e:A"), (30, "e:Z"))
    run = framed([{"begin": at, "end": at + 3, "entity": name} for at, name in answers])
    rows = evaluate(gold, {"s": run}, task=["A2KB"], match=["strong"], by=["class"], types=TYPES)
    own = rows.filter(column="class", average="micro")
    # The last two are wrong: both are in scope of the person, the last alone of what has no class.
    found = {row["slice"]: (row["tp"], row["precision"], row["precision_in_scope"]) for row in own.to_dicts()}
    assert found == {
        "c:Person": (1, pytest.approx(1 / 3), pytest.approx(1 / 3)),
        "unspecified": (1, pytest.approx(1 / 3), 1 / 2),
    }


def test_column_without_any_value_is_refused():
    table = pl.DataFrame({"annotation": GOLD.annotations["annotation"], "word": pl.Series([None] * 6, dtype=pl.String)})
    with pytest.raises(UsageError, match="no annotation of gold has a value in column 'word'"):
        evaluate(GOLD, {"s": RUN}, by=["word"], columns=table)


def test_coverage_of_a_column_and_sums_that_differ_are_said():
    # The answer spans both mentions: under weak matching it is right once in all, and once in each slice; in C2KB the
    # entity is asked for in both slices and once in all.
    person = {"begin": 0, "end": 3, "entity": "e:A", "classes": ["c:Person"]}
    gold = framed([person, {"begin": 5, "end": 8, "entity": "e:A"}])
    run = framed([{"begin": 0, "end": 8, "entity": "e:A"}, {"begin": 20, "end": 23, "entity": "e:B"}])
    rows = evaluate(gold, {"s": run}, task=["A2KB", "C2KB"], match=["weak"], by=["class"], types=TYPES)
    coverage, sums = explain_slices(rows)
    assert coverage == "class: 1 of 2 mentions have a value, the others are the slice 'unspecified'"
    assert sums == (
        "sums of slices are not the counts of all: an answer on no mention is wrong in every slice; where overlap is "
        "enough, an answer may be right in one slice for another mention than in all; in C2KB an entity counts in "
        "every slice that one of its mentions is in"
    )


def test_mentions_without_a_value_are_told_from_those_of_a_value_unspecified():
    # Of three entities one is in the head, one has no score, the value 'unspecified'; the third mention is NIL.
    gold = framed([{"begin": 10 * n, "end": 10 * n + 3, "entity": f"e:{n}"} for n in range(3)])
    known = gold.annotations.select("annotation")
    table = known.with_columns(segment=pl.Series(["head", "unspecified", None], dtype=pl.String))
    rows = evaluate(gold, {"s": gold}, task=["A2KB"], match=["strong"], by=["segment"], columns=table)
    [coverage] = explain_slices(rows)
    assert coverage == (
        "segment: 2 of 3 mentions have a value, 1 of them the value 'unspecified', "
        "the others are the slice 'without-value'"
    )


def test_mentions_that_datasets_share_are_said():
    # Two remixes of one document: both keep the first mention, each has one that the other dropped.
    def cut(name, dropped):
        rows = [
            {"document": name, "annotation": f"{name}#{at}", "begin": at, "end": at + 3, "entity": f"e:{at}"}
            | ({"ignorable": "dropped"} if at == dropped else {})
            for at in (0, 10, 20)
        ]
        return framed(rows, documents=[name], dataset=name)

    gold = Frames.concat([cut("x", 20), cut("y", 10)])
    origin, places = framed([], documents=["o"]), pl.DataFrame({"gold": ["x", "y"], "document": ["o", "o"]})
    asked = {"task": ["A2KB"], "match": ["strong"], "documents": "all"}
    # Origins of several datasets, whose tables have their columns in any order.
    parts = (places[:1], places[1:].select("document", "gold"))
    said = "datasets share mentions: 'all' counts each once, and each answer (3 mentions in place of 4)"
    for own in ([Background(origin, places, None)], [Background(origin, part, None) for part in parts]):
        assert said in signature_lines(evaluate(gold, {"s": gold}, backgrounds=own, **asked))
    assert not any("share" in line for line in signature_lines(evaluate(cut("x", 20), {"s": gold}, **asked)))
