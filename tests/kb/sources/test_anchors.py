"""Anchor texts with counts in the layouts that are met."""

from __future__ import annotations

import bz2
from collections.abc import Callable
from pathlib import Path

import pytest

from remix.errors import BadInput
from remix.kb.sources.anchors import SOURCE

from .conftest import Read, rows

Anchors = Callable[..., list[tuple[object, ...]]]
DBR, WD = "http://dbpedia.org/resource/", "http://www.wikidata.org/entity/"


@pytest.fixture
def anchors(tmp_path: Path, read: Read) -> Anchors:
    def reading(text: str, **choices: object) -> list[tuple[object, ...]]:
        (tmp_path / "anchors.tsv").write_text(text)
        staging = read(SOURCE, tmp_path / "anchors.tsv", **choices)
        found = rows(staging, "surface_forms", "surface_form", "entity", "count", "source")
        assert {row[3] for row in found} == {"anchor"}
        return [row[:3] for row in found]

    return reading


ORDERS = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("header", [None, ["mention", "entity", "count"]])
def test_columns_are_found_in_any_order(anchors: Anchors, order: tuple[int, ...], header: list[str] | None) -> None:
    lines = [
        ["big  apple", DBR + "New_York", "12"],
        ["1984", DBR + "1984_(novel)", "3"],
        ["東京 都", DBR + "Tokyo", "0"],
    ]
    if header:
        lines.insert(0, header)
    text = "".join("\t".join(line[place] for place in order) + "\n" for line in lines)
    assert anchors(text) == [
        ("1984", DBR + "1984_(novel)", 3),
        ("big  apple", DBR + "New_York", 12),
        ("東京 都", DBR + "Tokyo", 0),
    ]


@pytest.mark.parametrize(
    ("named", "entity"),
    [
        ("New York", DBR + "New_York"),
        ("https://en.wikipedia.org/wiki/New_York", DBR + "New_York"),
        ("<http://dbpedia.org/resource/New_York>", DBR + "New_York"),
        ("dbr:New_York", DBR + "New_York"),
        ("Q60", WD + "Q60"),
        ("Star Trek: Picard", DBR + "Star_Trek:_Picard"),
    ],
)
def test_entities_are_named_in_several_ways(anchors: Anchors, named: str, entity: str) -> None:
    assert anchors(f"apple\t{named}\t5\n") == [("apple", entity, 5)]


def test_titles_are_of_the_first_language(anchors: Anchors) -> None:
    found = anchors("Köln\tKöln\t5\r\n", languages=("de",))
    assert found == [("Köln", "http://de.dbpedia.org/resource/Köln", 5)]


def test_two_columns_have_no_counts(anchors: Anchors) -> None:
    assert anchors("apple\tApple Inc.\n") == [("apple", DBR + "Apple_Inc.", None)]


def test_crosswikis(anchors: Anchors) -> None:
    # Three links in Wikipedia and two from the Web make five.
    text = "apple\t0.75 Apple_Inc. KB W:3/4 w:2/9 d\napple\t0.25 Apple KB W:1/4\napple\t0 Apples\n"
    assert anchors(text) == [
        ("apple", DBR + "Apple", 1),
        ("apple", DBR + "Apple_Inc.", 5),
        ("apple", DBR + "Apples", None),
    ]


def test_tables_that_rel_reads(anchors: Anchors) -> None:
    text = "big apple\t7\t645042,5,New York City\t18978754,2,Apple, Inc.\n"
    assert anchors(text) == [("big apple", DBR + "Apple,_Inc.", 2), ("big apple", DBR + "New_York_City", 5)]


def test_lines_that_are_no_rows_are_told(tmp_path: Path, read: Read) -> None:
    text = b"a\tA\t1\nb\tB\t2\nc\tC\tmany\nalone\n\tD\t4\n" + b"e\t\xff\t5\n" + b"f\tF\t6\n" * 20
    (tmp_path / "x.tsv.bz2").write_bytes(bz2.compress(text))
    staging = read(SOURCE, tmp_path / "x.tsv.bz2")
    assert staging.rows == {"surface_forms": 22}
    problem = staging.problems["a line that has no surface form, entity and count"]
    assert (problem.count, problem.first[0]) == (3, "x.tsv.bz2:3: c\tC\tmany")
    assert staging.problems["a line that is not UTF-8"].count == 1


def test_file_without_a_row_is_refused(tmp_path: Path, read: Read) -> None:
    (tmp_path / "x.tsv").write_text("just a text\nof lines\n")
    with pytest.raises(BadInput, match=r"x\.tsv: has no surface form with an entity"):
        read(SOURCE, tmp_path / "x.tsv")
