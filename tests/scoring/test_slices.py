"""Slices by several columns, by schemes, and of enough support; unknown ones."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from remix import progress
from remix.errors import UnknownName, UsageError
from remix.scoring import evaluate
from remix.scoring.inputs.columns import Breakdown, breakdown
from remix.scoring.inputs.entities import with_types
from remix.scoring.slicing import scope_named, slice_named
from tests.scoring.conftest import framed

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
    rows = evaluate(GOLD, {"s": RUN}, tasks=["D2KB"], matchings=["strong"], by=[by], columns=COLUMNS, **options)
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
        ("size:thresholds:2,4", {"1: ≤ 2": (2, 0), "2: > 2, ≤ 4": (2, 0), "3: > 4": (0, 1), "4: unspecified": (0, 1)}),
        ("size:quantiles:2", {"1: ≤ 3": (3, 0), "2: > 3": (1, 1), "3: unspecified": (0, 1)}),
        (
            "size:head-torso-tail",
            {"1: head (> 4)": (0, 1), "2: torso (> 2, ≤ 4)": (2, 0), "3: tail (≤ 2)": (2, 0), "4: unspecified": (0, 1)},
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
        tasks=["D2KB"],
        matchings=["strong"],
        by=["size:quantiles:2"],
        columns=wide.join(topics, on="annotation", how="full", coalesce=True),
    ).filter(column="size:quantiles:2", average="micro")
    assert rows.select("slice", "mentions").rows() == [("1: ≤ 2", 2), ("2: > 2", 2), ("3: unspecified", 2)]


def test_classes_that_the_mapping_says_are_one_have_one_slice():
    # Every person of Wikidata is one of DBpedia's, and nothing else is; of the writers the rest are others.
    person, writer = "http://www.wikidata.org/entity/Q215627", "http://dbpedia.org/ontology/Writer"
    rows = [{**row, "classes": [person, *([writer] if n else [])]} for n, row in enumerate(ROWS[:3])]
    gold = framed(rows, documents=["d", "e"])
    types = pl.DataFrame({"entity": ["e:A"] * 2, "class": [person, "http://dbpedia.org/ontology/Person"]})
    classes = with_types(gold, types)
    for by in ("class", "type"):
        rows = evaluate(replace(gold, classes=classes), {"s": RUN}, tasks=["D2KB"], matchings=["strong"], by=[by])
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
        Breakdown("a", "thresholds:3, 5"),
        Breakdown("b", "quantiles:4"),
    )
    assert breakdown("http://e.org/ns#x:deciles") == (Breakdown("http://e.org/ns#x", "log-deciles"),)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("clas", "no column named 'clas'; nearest: class; columns: "),
        ("size:deciels", "no scheme 'deciels'; did you mean 'log-deciles'"),
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
    found = evaluate(framed(rows), {"s": framed(rows)}, tasks=["D2KB"], matchings=["strong"], by=["type"])
    assert set(found.filter(column="type")["slice"]) == {person, place, city}
