"""Simple JSON Lines and CSV: a mention a line or row."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given

from remix.errors import BadInput
from remix.formats import FORMATS, LoadedFile, read, write
from remix.formats.losses import reduce_frames
from remix.frames import Frames
from tests.formats.corpora import assert_kept, assert_same, corpora, rewritten

TEXT = '{"document": "d1", "text": "Ada met Bob"}\n'


def read_text(folder: Path, text: str, name: str = "x.jsonl") -> LoadedFile:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read(path)


@pytest.mark.parametrize("before", ["\n", "\ufeff\n", " "])
def test_long_first_line_with_blanks_before_it_is_json_lines(tmp_path: Path, before: str) -> None:
    text = before + json.dumps({"document": "d1", "text": "Ada " * 20_000}) + "\n"
    mention = '{"document": "d1", "begin": 0, "end": 3, "entity": "Q1"}\n'
    assert read_text(tmp_path, text + mention).report.format == "jsonl"


def test_fields_of_a_mention_in_json_lines(tmp_path: Path) -> None:
    reading = read_text(
        tmp_path,
        TEXT
        + '{"document": "d1", "begin": 0, "end": 3, "entity": ["Q1", "Q2"], "confidence": 0.5, "class": "PER",'
        + ' "candidates": [{"entity": "Q1", "score": 0.4}, {"entity": "Q3", "score": 0.1}]}\n'
        + '{"document": "d1", "begin": 8, "end": 11, "entity": null, "cluster": "NIL1", "candidates": ["Q4"]}\n',
    )
    frames = reading.frames
    assert reading.report.format == "jsonl"
    rows = frames.annotations.sort("begin").select("begin", "end", "surface_form", "is_nil", "confidence").rows()
    assert rows == [(0, 3, "Ada", False, 0.5), (8, 11, "Bob", True, None)]
    assert frames.links["entity"].str.extract("(Q.*)").to_list() == ["Q1", "Q2"]
    assert frames.candidates.select(pl.col("entity").str.extract("(Q.*)"), "score").rows() == [
        ("Q4", None), ("Q1", 0.4), ("Q3", 0.1)
    ]  # fmt: skip
    assert frames.values["text"].to_list() == ["NIL1"]


def test_group_is_satisfied_by_any_option_whose_mentions_are_all_required(tmp_path: Path) -> None:
    span = '{"document": "d1", "begin": %d, "end": %d, "entity": "%s", "group": "g", "option": "%s"}\n'
    lines = [span % (0, 11, "Q1", "whole"), span % (0, 3, "Q2", "parts"), span % (8, 11, "Q3", "parts")]
    annotations = read_text(tmp_path, TEXT + "".join(lines)).frames.annotations
    assert annotations["group"].n_unique() == 1
    assert annotations.group_by("option").len()["len"].sort().to_list() == [1, 2]


def test_table_is_read_by_its_header_whatever_separates_it(tmp_path: Path) -> None:
    table = "doc_id;start;end;entity;score\nd1;0;3;Q1;0.5\nd1;8;11;;\n"
    reading = read_text(tmp_path, table, "x.csv")
    assert reading.report.format == "csv"
    assert reading.frames.annotations.sort("begin").select("begin", "end", "is_nil", "confidence").rows() == [
        (0, 3, False, 0.5), (8, 11, True, None)
    ]  # fmt: skip
    assert reading.frames.documents["text"].to_list() == [None]


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv"])
def test_what_is_odd_in_answers_is_told_and_the_answer_kept(tmp_path: Path, name: str) -> None:
    rows = [("d1", 0, 3, "Q1", "high"), ("d1", 0, 3, "Q1", 0.5), ("d1", 5, 3, "Q2", 0.5)]
    if name == "x.csv":
        text = "document,begin,end,entity,confidence\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    else:
        text = "".join(
            f'{{"document": "{d}", "begin": {b}, "end": {e}, "entity": "{q}", "confidence": "{c}"}}\n'
            for d, b, e, q, c in rows
        )
    reading = read_text(tmp_path, text, name)
    line = 1 if name == "x.jsonl" else 2
    assert {repair.kind: (repair.count, repair.example) for repair in reading.report.repairs} == {
        "confidence": (1, f"line {line}: 'high' is no number, left out"),
        "duplicate": (1, f"line {line + 1}: d1 0,3 has the same entity again"),
        "range": (1, f"line {line + 2}: ends before it begins (5,3)"),
    }
    assert reading.frames.annotations["confidence"].to_list() == [None, 0.5]


def test_span_beyond_the_text_is_left_out_and_told(tmp_path: Path) -> None:
    mention = '{"document": "d1", "begin": %d, "end": %d, "entity": "Q1"}\n'
    reading = read_text(tmp_path, TEXT + mention % (0, 3) + mention % (8, 99))
    assert reading.frames.annotations["end"].to_list() == [3]
    [repair] = reading.report.repairs
    assert (repair.kind, repair.count) == ("range", 1)
    assert repair.example.startswith("line 3:")


@pytest.mark.parametrize(
    ("field", "good", "wrong"),
    [
        ("entity", ["http://e/a"], [{"x": 1}]),
        ("candidates", [{"entity": "http://e/a", "score": 0.5}], [{"score": "a"}]),
        ("candidates", ["http://e/a"], [["http://e/a"]]),
    ],
)
def test_the_line_that_is_named_is_the_one_that_is_wrong(
    tmp_path: Path, field: str, good: object, wrong: object
) -> None:
    mention = {"document": "d1", "begin": 0, "end": 3}
    lines = [json.dumps({**mention, field: value}) + "\n" for value in (good, "[1] x", wrong, good)]
    with pytest.raises(BadInput, match=re.escape(f"x.jsonl:4: {field}") + ".*, not " + re.escape(json.dumps(wrong))):
        read_text(tmp_path, TEXT + "".join(lines))


def test_text_that_begins_as_a_list_is_a_text(tmp_path: Path) -> None:
    row = '{"document": "d1", "begin": %d, "end": %d, "entity": %s, "candidates": %s}\n'
    rows = row % (0, 3, '"[1] x"', '"[{x"') + row % (8, 11, '["http://e/a"]', '[{"entity": "http://e/b", "score": 1}]')
    frames = read_text(tmp_path, TEXT + rows).frames
    assert frames.links["entity_as_given"].to_list() == ["[1] x", "http://e/a"]
    assert frames.candidates.height == 2


def test_lines_are_numbered_as_the_file_has_them(tmp_path: Path) -> None:
    mention = '{"document": "d1", "begin": "a", "end": 3}\n'
    with pytest.raises(BadInput, match=r"x\.jsonl:4: begin and end"):
        read_text(tmp_path, f"\n{TEXT} \n{mention}")


def test_what_is_written_leaves_out_what_is_not_there(tmp_path: Path) -> None:
    line = '{"document":"d1","begin":0,"end":3,"surface_form":"Ada","entity":["Q1"]}\n'
    frames = read_text(tmp_path, TEXT + line).frames
    assert write(frames, tmp_path / "y.jsonl", "jsonl") == ()
    assert (tmp_path / "y.jsonl").read_text() == '{"document":"d1","text":"Ada met Bob"}\n' + line


@pytest.mark.long
@given(corpora())
def test_json_lines_keep_what_they_hold(frames: Frames) -> None:
    assert_kept(frames, "jsonl", "x.jsonl")


@pytest.mark.long
@given(corpora())
def test_tables_keep_what_they_hold(frames: Frames) -> None:
    held, _ = reduce_frames(frames, FORMATS["csv"].holds)
    assert_same(rewritten(frames, "csv", "x.csv"), held)


def test_a_mention_in_several_readings_is_no_duplicate(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(
        "".join(
            f'{{"document": "d", "begin": 0, "end": 4, "entity": "Q1", "group": "g", "option": "{option}"}}\n'
            for option in ("1", "2", "2")
        )
    )
    assert [(one.kind, one.count) for one in read(tmp_path / "x.jsonl").report.repairs] == [("duplicate", 1)]


def test_row_of_a_table_with_too_many_cells_is_named(tmp_path: Path) -> None:
    table = "document,begin,end,entity\nd,0,3,Q1\nhttp://x/d#char=0,9,0,3,Q1\n"
    with pytest.raises(
        BadInput, match=r"x\.csv:3: has 5 cells in a table of 4 columns: put a cell with ',' in it in quotes"
    ):
        read_text(tmp_path, table, "x.csv")


def test_frames_without_documents_are_written_as_an_empty_file(tmp_path: Path) -> None:
    # Before, the second table was taken for the first where the first had no row.
    write(Frames.empty(), tmp_path / "none.jsonl", "jsonl")
    assert (tmp_path / "none.jsonl").read_bytes() == b""
