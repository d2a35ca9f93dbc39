"""ELEVANT's benchmarks and linked articles, on articles written for these tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from remix import formats
from remix.errors import BadInput
from remix.frames import Frames

TEXT = "Ada Byron of London met Bob in 1840."
ADA = {"id": 0, "span": [0, 9], "entity_id": "Q7259", "name": "Ada Lovelace", "type": "Q215627|Q5"}
BOB = {"id": 1, "span": [24, 27], "entity_id": "<NIL>", "name": "Bob", "type": "OTHER"}
YEAR = {"id": 2, "span": [31, 35], "entity_id": "DATETIME", "name": "1840", "type": "DATETIME"}


def written(folder: Path, *articles: dict[str, Any], name: str = "small.benchmark.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps({"id": 0, "title": "t", "text": TEXT} | one) + "\n" for one in articles))
    return path


def read(path: Path) -> Frames:
    return formats.read(path, unannotated=True).frames


def test_labels_become_annotations_with_links_and_classes(tmp_path: Path) -> None:
    frames = read(written(tmp_path, {"labels": [ADA, BOB, YEAR]}))
    rows = frames.annotations.sort("begin").select("begin", "end", "surface_form", "is_nil", "ignorable").rows()
    assert rows == [(0, 9, "Ada Byron", False, None), (24, 27, "Bob", True, None), (31, 35, "1840", True, "optional")]
    assert frames.links["entity"].to_list() == ["http://www.wikidata.org/entity/Q7259"]
    assert "http://www.wikidata.org/entity/Q215627" in frames.classes["class"].to_list()


def test_articles_without_a_number_are_named_by_their_place(tmp_path: Path) -> None:
    frames = read(written(tmp_path, {"id": None, "labels": [ADA]}, {"id": None, "labels": [BOB]}))
    assert frames.documents["given"].to_list() == ["urn:elevant:article:0", "urn:elevant:article:1"]
    assert frames.annotations["document"].to_list() == frames.documents["document"].to_list()


def test_children_are_an_option_beside_their_parent(tmp_path: Path) -> None:
    whole = {"id": 0, "span": [0, 19], "entity_id": "Q1", "type": "OTHER", "children": [1, 2]}
    name = {"id": 1, "span": [0, 9], "entity_id": "Q7259", "type": "OTHER", "parent": 0}
    city = {"id": 2, "span": [13, 19], "entity_id": "Q84", "type": "OTHER", "parent": 0}
    frames = read(written(tmp_path, {"labels": [whole, name, city, BOB | {"id": 3}]}))
    assert frames.annotations["group"].n_unique() == 2
    nested = frames.annotations.filter(pl.col("begin") < 20)
    options = nested.group_by("option").agg(pl.col("end").sort()).sort("option")["end"].to_list()
    assert options == [[19], [9, 19]]


def test_linked_articles_are_answers_with_candidates_and_leave_the_labels_out(tmp_path: Path) -> None:
    mentions = [{"span": [0, 3], "id": "Q1", "candidates": ["Q1", "Q2"]}, {"span": [24, 27], "id": "<NIL>"}]
    path = written(tmp_path, {"labels": [ADA], "entity_mentions": mentions}, {"id": 1}, name="s.linked_articles.jsonl")
    frames = read(path)
    assert frames.documents.height == 2
    assert frames.annotations.sort("begin").select("begin", "end", "is_nil").rows() == [(0, 3, False), (24, 27, True)]
    assert frames.candidates["entity"].to_list() == [f"http://www.wikidata.org/entity/Q{n}" for n in (1, 2)]


def test_evaluation_span_is_a_region_where_it_is_not_the_whole_text(tmp_path: Path) -> None:
    whole = {"id": 0, "labels": [ADA], "evaluation_span": [0, len(TEXT)]}
    part = {"id": 1, "labels": [ADA], "evaluation_span": [0, 20]}
    assert read(written(tmp_path, whole, part)).regions.select("begin", "end").rows() == [(0, 20)]


def test_title_that_is_an_iri_names_the_document(tmp_path: Path) -> None:
    frames = read(written(tmp_path, {"labels": [ADA], "title": "http://example.org/BUS01#char=0,"}))
    assert frames.documents["given"].to_list() == ["http://example.org/BUS01#char=0,"]
    assert frames.documents["document"].to_list() == ["urn:remix:dataset:small-benchmark/BUS01"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": 1, "text": "a", "labels": [', r"bad\.benchmark\.jsonl:2: is no JSON"),
        ("[1]", r"bad\.benchmark\.jsonl:2: an article is expected"),
        ('{"id": 1, "labels": []}', r"bad\.benchmark\.jsonl:2: an article without text"),
        ('{"id": 1, "text": "a", "labels": [{"span": [0, 5]}]}', r":2: the span \[0, 5\] is not in the text of 1"),
        ('{"id": 1, "text": "a", "labels": [{"span": null}]}', r":2: the span \[None, None\] is not in the text"),
    ],
)
def test_broken_line_is_refused_with_its_number(tmp_path: Path, line: str, message: str) -> None:
    path = written(tmp_path, {"labels": [ADA]}, name="bad.benchmark.jsonl")
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(BadInput, match=message):
        read(path)


def test_values_keep_what_groups_cannot_say_of_nested_labels_and_hyperlinks(tmp_path: Path) -> None:
    # The whole is optional, its child is not; the second child is listed by its neighbour too, as some files have it.
    whole = {"id": 0, "span": [0, 19], "entity_id": "Q1", "type": "OTHER", "children": [1, 2], "optional": True}
    name = {"id": 1, "span": [0, 9], "entity_id": "Q7259", "type": "OTHER", "parent": 0, "children": [2]}
    city = {"id": 2, "span": [13, 19], "entity_id": "Q84", "type": "OTHER", "parent": 0}
    frames = read(written(tmp_path, {"labels": [whole, name, city], "hyperlinks": [[[13, 19], "London"]]}))
    found = {
        (row["subject"].split("=")[1], row["term"].split("#")[1], (row["text"] or "=").split("=")[1])
        for row in frames.values.to_dicts()
    }
    assert found == {
        ("0,9", "nestedIn", "0,19"), ("13,19", "nestedIn", "0,19"),
        ("0,19", "nests", "0,9"), ("0,19", "nests", "13,19"), ("0,9", "nests", "13,19"),
        ("0,9", "required", ""), ("13,19", "required", ""), ("13,19", "hyperlink", ""),
    }  # fmt: skip
