"""Mentions whose offsets no file tells: their links count, and nothing that comes after fails for them."""

from __future__ import annotations

from pathlib import Path

import pytest

import remix
from remix.formats import FORMATS, read, write

QUESTIONS = """[
 {"question_id": "q1", "utterance": "where was ada born?", "entities": ["Q7259", null], "entities_fb": []},
 {"question_id": "q2", "utterance": "is rome old?", "entities": ["Q220"], "entities_fb": []}]"""
TUPLES = '[["1", 0, "Ada", "Ada_Lovelace"], ["1", 0, "Rome", "Rome"], ["1", 2, "Bob", "Bob"]]'


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    (tmp_path / "questions.json").write_text(QUESTIONS)
    return tmp_path / "questions.json"


def test_they_are_loaded_measured_and_counted(tmp_path: Path, questions: Path) -> None:
    workspace = remix.open(tmp_path / "ws")
    workspace.load(questions)
    assert workspace.stats().table.height > 20
    assert read(questions).report.mentions_nil == 1


def test_entities_of_documents_are_scored_without_places(tmp_path: Path) -> None:
    (tmp_path / "gold.json").write_text(TUPLES)
    # One of two answers is right, and one of three in gold found.
    (tmp_path / "run.json").write_text('[["1", 0, "Ada", "Ada_Lovelace"], ["1", 2, "Bob", "Bob_Dylan"]]')
    report = remix.open(tmp_path / "ws").evaluate(
        gold=tmp_path / "gold.json", run=f"s={tmp_path / 'run.json'}", task="C2KB", match="strong"
    )
    [row] = [one for one in report.rows.to_dicts() if one["average"] == "micro" and one["dataset"] == "all"]
    assert (row["tp"], row["fp"], row["fn"]) == (1, 1, 2)


@pytest.mark.parametrize("format", [one.name for one in FORMATS if one.write is not None])
def test_they_are_kept_or_named_as_lost(tmp_path: Path, questions: Path, format: str) -> None:
    frames = read(questions).frames
    target = tmp_path / ("y" if FORMATS[format].collection else f"y{FORMATS[format].suffixes[0]}")
    losses = {loss.kind: loss.count for loss in write(frames, target, format)}
    assert losses.get("unplaced", 0) == (0 if "unplaced" in FORMATS[format].holds else 3)
    if not losses:
        assert read(target, format=format).report.mentions == 3
