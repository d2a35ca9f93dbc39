"""Answers of TagMe and WAT."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given

from remix.formats import LoadedFile, read, write
from remix.formats.definitions.tagme import tagme
from remix.formats.losses import reduce_frames
from remix.frames import Frames
from tests.formats.corpora import assert_same, corpora, rewritten

ADA = {"spot": "Ada", "start": 0, "end": 3, "id": 974, "title": "Ada Lovelace", "rho": 0.5, "link_probability": 0.1}
ANSWER = {"test": "5", "annotations": [ADA], "time": 2, "api": "tag", "lang": "en", "timestamp": "2020-01-01T00:00:00"}


def read_text(folder: Path, text: str, name: str = "x.json") -> LoadedFile:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read(path, unannotated=True)


def test_single_answer_is_called_by_its_file(tmp_path: Path) -> None:
    reading = read_text(tmp_path, json.dumps(ANSWER, indent=1), "doc7.json")
    frames = reading.frames
    assert reading.report.format == "tagme"
    assert frames.documents.select("given", "text", "language").rows() == [("doc7", None, "en")]
    assert frames.annotations.select("begin", "end", "surface_form", "confidence").rows() == [(0, 3, "Ada", 0.5)]
    assert frames.links["entity"].to_list() == ["http://dbpedia.org/resource/Ada_Lovelace"]


def test_answer_a_line_may_name_its_text_and_is_held_against_it(tmp_path: Path) -> None:
    # The answer says 0 to 3, the text has the spot at 2.
    lines = [{"annotations": [], "lang": "de"}, {**ANSWER, "lang": "de", "document": "d", "text": "O Ada"}]
    reading = read_text(tmp_path, "".join(json.dumps(line) + "\n" for line in lines))
    assert reading.frames.documents["given"].to_list() == ["1", "d"]
    assert reading.frames.annotations.select("begin", "end").rows() == [(2, 5)]
    assert reading.frames.links["entity"].to_list() == ["http://de.dbpedia.org/resource/Ada_Lovelace"]
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("offset", 1)]


def test_entity_without_a_title_in_the_edition_is_named_as_lost(tmp_path: Path) -> None:
    frames = read_text(tmp_path, json.dumps({**ANSWER, "document": "d", "text": "Ada", "lang": "de"})).frames
    english = Frames.of(
        documents=frames.documents.with_columns(language=pl.lit("en")),
        annotations=frames.annotations,
        links=frames.links,
    )
    assert [(loss.kind, loss.count) for loss in write(english, tmp_path / "y.jsonl", "tagme")] == [("entities", 1)]


@pytest.mark.long
@given(corpora())
def test_round_trip_keeps_what_is_linked_to_wikipedia(frames: Frames) -> None:
    titled = frames.links.filter(pl.col("entity").str.contains("dbpedia"))["annotation"]
    held, _ = reduce_frames(frames.keep(annotations=titled), tagme.holds)
    once = rewritten(held, "tagme", "x.jsonl")
    spans = ["document", "begin", "end", "surface_form", "confidence"]
    assert once.annotations.select(spans).sort(spans).equals(held.annotations.select(spans).sort(spans))
    assert sorted(once.links["entity"]) == sorted(held.links["entity"])
    assert_same(rewritten(once, "tagme", "x.jsonl"), once)
