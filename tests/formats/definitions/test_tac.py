"""TAC KBP entity discovery and linking."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given

from remix.errors import BadInput
from remix.formats import read, write
from remix.formats.definitions.tac import tac
from remix.formats.losses import reduce_frames
from remix.frames import Frames
from tests.formats.corpora import assert_same, corpora, rewritten

TABLE = """r\tq1\tRome\td1:5-8\tm.06c62\tGPE\tNAM\t0.5
r\tq1\tRome\td1:5-8\tE0123\tPER\tNAM\t0.9
r\tq2\tAda\td1: 12 – 14\tNIL0007\tPER\tNAM\t1.0
r\tq3\tpoet\td2:0-3\tNIL0007\tPER\tNOM\t1.0
"""
QUERIES = """<?xml version="1.0" encoding="UTF-8"?>
<kbpentlink>
  <query id="q1"><name>Rome</name><docid>d1</docid><beg>5</beg><end>8</end></query>
  <query id="q2"><name>Ada</name><docid>d1</docid><beg>12</beg><end>14</end></query>
</kbpentlink>
"""
LINKS = "query_id\tkb_id\ttype\nq1\tE0123\tGPE\t0.5\n"


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_lines_of_one_mention_are_candidates_and_the_most_confident_answers(tmp_path: Path) -> None:
    reading = read(written(tmp_path, "x.tab", TABLE))
    frames = reading.frames
    # Ends are inclusive: "Rome" from 5 to 8 ends before 9.
    rows = frames.annotations.sort("document", "begin")
    assert rows.select("begin", "end", "surface_form", "is_nil", "confidence").rows() == [
        (5, 9, "Rome", False, 0.9), (12, 15, "Ada", True, 1.0), (0, 4, "poet", True, 1.0)
    ]  # fmt: skip
    assert frames.links["entity"].to_list() == ["E0123"]
    assert frames.candidates.select("entity", "score").rows() == [
        ("E0123", 0.9), ("http://rdf.freebase.com/ns/m.06c62", 0.5)
    ]  # fmt: skip
    assert frames.values["text"].to_list() == ["NIL0007", "NIL0007"]
    assert reading.report.format == "tac"
    # That a mention is nominal is told, not kept.
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("unread", 1)]


def test_content_is_the_same_in_any_folder(tmp_path: Path) -> None:
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        files.append(written(tmp_path / name, "x.tab", TABLE))
    assert read(files[0]).content == read(files[1]).content


def test_queries_are_read_with_the_links_beside_them(tmp_path: Path) -> None:
    queries = written(tmp_path, "x_queries.xml", QUERIES)
    with pytest.raises(BadInput, match=r"their links are not there: put them beside it as x_queries\.tab"):
        read(queries)
    written(tmp_path, "x_KB_links.tab", LINKS)
    for path in (queries, tmp_path):
        rows = read(path, name="x").frames.annotations.sort("begin")
        assert rows.select("begin", "end", "is_nil", "confidence").rows() == [(5, 9, False, 0.5), (12, 15, True, None)]


def test_mentions_that_share_a_number_are_still_two(tmp_path: Path) -> None:
    lines = "r\tq1\tA\td1:0-0\tE1\tPER\tNAM\t1\nr\tq1\tB\td1:4-4\tE2\tPER\tNAM\t1\nr\t\tC\td1:6-6\tE3\tPER\tNAM\t1\n"
    frames = read(written(tmp_path, "x.tab", lines)).frames
    assert sorted(frames.links["entity"]) == ["E1", "E2", "E3"]


def test_link_without_a_query_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "x.tab", f"{LINKS}q8\tE1\tPER\n")
    with pytest.raises(BadInput, match="q8 has a link, but no query"):
        read(written(tmp_path, "x.xml", QUERIES))


def test_what_is_written_is_a_table_of_2015(tmp_path: Path) -> None:
    frames = read(written(tmp_path, "x.tab", TABLE)).frames
    assert [(loss.kind, loss.count) for loss in write(frames, tmp_path / "y.tab", "tac")] == [("candidates", 2)]
    assert (tmp_path / "y.tab").read_text().splitlines()[0] == (
        "remix\tremix_000001\tRome\td1:5-8\tE0123\tPER\tNAM\t0.9"
    )


@pytest.mark.long
@given(corpora())
def test_round_trip_keeps_all_but_the_named_losses(frames: Frames) -> None:
    held, _ = reduce_frames(frames, tac.holds)
    # The text of a mention is in the table, with its white space made plain.
    form = pl.col("surface_form").str.replace_all(r"\s", " ").str.strip_chars()
    plain = pl.when(form != "").then(form)
    sure = pl.col("confidence").fill_null(1.0)
    held = replace(held, annotations=held.annotations.with_columns(surface_form=plain, confidence=sure))
    assert_same(rewritten(held, "tac", "x.tab"), held)
