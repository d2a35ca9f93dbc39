"""Answers of language models: alignment, raw output, and what is no answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from remix.formats import LoadedFile, read

TEXT = "Paris Hilton met Ann in PARIS; Paris slept."


def read_lines(folder: Path, *rows: dict[str, Any]) -> LoadedFile:
    path = folder / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read(path, unannotated=True)


def found(reading: LoadedFile) -> dict[str, tuple[float | None, str | None]]:
    rows = reading.frames.values.with_columns(pl.col("term").str.extract("#(.*)"))
    return {row["term"]: (row["number"], row["text"]) for row in rows.to_dicts()}


def test_mentions_are_found_in_order_exactly_then_alike_then_nearly(tmp_path: Path) -> None:
    # Paris stands at 0, in capitals at 24, and at 31; the fourth is nowhere.
    named = ["Paris", "Paris", "paris", "Paris", "Parris Hilton"]
    answers = [{"mention": name, "entity": "Q1"} for name in named]
    reading = read_lines(tmp_path, {"document": "d", "text": TEXT, "answers": answers})
    assert reading.report.format == "answers"
    spans = reading.frames.annotations.sort("begin", "end").select("begin", "end").rows()
    assert spans == [(0, 5), (0, 12), (24, 29), (31, 36)]
    assert {repair.kind: repair.count for repair in reading.report.repairs} == {
        "aligned-normalised": 1, "aligned-fuzzy": 1, "not-in-text": 1
    }  # fmt: skip
    assert found(reading)["notInText"] == (1.0, None)


def test_offsets_that_fit_are_taken_and_others_are_a_hint(tmp_path: Path) -> None:
    answers = [{"mention": "Paris", "begin": 31, "end": 36}, {"mention": "Ann", "begin": 99, "end": 102}]
    reading = read_lines(tmp_path, {"document": "d", "text": TEXT, "answers": answers})
    assert reading.frames.annotations["surface_form"].to_list() == ["Paris", "Ann"]
    assert reading.frames.annotations["begin"].to_list() == [31, 17]


def test_label_without_identifier_is_an_entity_that_no_gold_has(tmp_path: Path) -> None:
    answers = [{"mention": "Ann", "label": "Ann Lee"}, {"mention": "Paris"}]
    frames = read_lines(tmp_path, {"document": "d", "text": TEXT, "answers": answers}).frames
    assert frames.links["entity"].to_list() == ["urn:remix:label:Ann%20Lee"]
    assert frames.annotations.sort("begin")["is_nil"].to_list() == [True, False]


@pytest.mark.parametrize(
    ("output", "count", "problem"),
    [
        ('Sure!\n```json\n[{"mention": "Ann", "entity": "Q1"}]\n```\nDone.', 1, None),
        ('{"entities": [{"mention": "Ann", "entity": "Q1"}, {"mention": "Paris"}]}', 2, None),
        ('[{"mention": "Ann", "entity": "Q1"}, {"mention": "Par', 1, "cutOff"),
        ("I cannot help with that.", 0, "refusal"),
        ("", 0, "refusal"),
        ("[]", 0, None),
    ],
)
def test_raw_output(tmp_path: Path, output: str, count: int, problem: str | None) -> None:
    reading = read_lines(tmp_path, {"document": "d", "text": TEXT, "output": output})
    assert reading.frames.annotations.height == count
    assert found(reading) == ({problem: (1.0, None)} if problem else {})


def test_header_describes_the_run_and_repeats_are_told_apart(tmp_path: Path) -> None:
    text = {"document": "d", "text": TEXT}
    answers = [{"mention": "Ann", "entity": "Q1", "confidence": "sure"}]
    repeats = [{**text, "repeat": n, "answers": answers} for n in (1, 2)]
    reading = read_lines(tmp_path, {"model": "m", "cost": 1.5}, *repeats)
    assert found(reading) == {"model": (None, "m"), "cost": (1.5, None), "repeat": (2.0, None)}
    assert reading.frames.annotations["group"].n_unique() == 2
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("confidence", 2)]
