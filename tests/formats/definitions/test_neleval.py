"""neleval's tab-separated annotations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings

from remix.errors import BadInput
from remix.formats import LoadedFile, read, write
from remix.formats.losses import TYPE_FIELDS
from remix.frames import Frames
from tests.examples import FEW
from tests.formats.corpora import assert_kept, corpora

LINES = "d1\t3\t4\tQ64\t0.5\tLOC\nd1\t6\t9\tNIL7\t\tPER\nd2\t0\t1\nd2\t5\t7\tB\t0.1\tY\tA\t0.9\tX\n"


def read_lines(folder: Path, text: str) -> LoadedFile:
    path = folder / "x.tsv"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_ends_are_inclusive_the_best_candidate_answers_and_what_begins_with_nil_names_a_cluster(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, LINES)
    frames = reading.frames
    # "Go" at 3 to 4 in neleval's own example ends before 5.
    assert frames.annotations.sort("document", "begin").select("begin", "end", "is_nil", "confidence").rows() == [
        (3, 5, False, 0.5), (6, 10, True, None), (0, 2, True, None), (5, 8, False, 0.9)
    ]  # fmt: skip
    assert frames.links["entity"].to_list() == ["http://www.wikidata.org/entity/Q64", "A"]
    assert frames.values["text"].to_list() == ["NIL7"]
    assert frames.candidates.select("entity", "score").rows() == [("A", 0.9), ("B", 0.1)]
    assert frames.classes["class"].str.extract("#(.*)").to_list() == ["LOC", "PER", "X"]
    assert reading.report.format == "neleval"


def test_what_is_written_says_what_it_left_out(tmp_path: Path) -> None:
    frames = read_lines(tmp_path, LINES).frames
    losses = write(frames, tmp_path / "y.tsv", "neleval")
    assert [(loss.kind, loss.count) for loss in losses] == [("candidates", 2), ("no-confidence", 1)]
    # Without a link an answer is NIL; neleval reads no type without a score.
    assert (tmp_path / "y.tsv").read_text() == (
        "d1\t3\t4\tQ64\t0.5\tLOC\nd1\t6\t9\tNIL7\t1.0\tPER\nd2\t0\t1\tNIL\t\t\nd2\t5\t7\tA\t0.9\tX\n"
    )


def test_type_that_is_a_json_object_has_a_class_and_keeps_its_fields(tmp_path: Path) -> None:
    said = 'd1\t0\t2\tQ1\t1.0\t{"type": "PER", "reftype": "NOM"}\nd1\t4\t5\tQ2\t0.5\t{"reftype": "NAM"}\n'
    frames = read_lines(tmp_path, said).frames
    assert frames.classes["class"].str.extract("#(.*)").to_list() == ["PER"]
    assert frames.values.filter(term=TYPE_FIELDS)["text"].to_list() == [
        '{"type": "PER", "reftype": "NOM"}', '{"reftype": "NAM"}'
    ]  # fmt: skip
    assert write(frames, tmp_path / "y.tsv", "neleval") == ()
    assert (tmp_path / "y.tsv").read_text() == said
    # Another class is not what the file said.
    other = replace(frames, classes=frames.classes.with_columns(pl.col("class").str.replace("PER", "ORG")))
    write(other, tmp_path / "y.tsv", "neleval")
    assert (tmp_path / "y.tsv").read_text().splitlines()[0] == "d1\t0\t2\tQ1\t1.0\tORG"


def test_type_that_is_no_json_object_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"x\.tsv:2: a type that begins with a brace is a JSON object"):
        read_lines(tmp_path, "d1\t0\t2\tQ1\t1.0\tPER\nd1\t4\t5\tQ1\t1.0\t{'type': 'PER'}\n")


def test_span_that_ends_before_it_begins_is_left_out_and_told(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, "d1\t9\t3\nd1\t0\t1\n")
    assert reading.frames.annotations["end"].to_list() == [2]
    [repair] = reading.report.repairs
    assert (repair.kind, repair.count, repair.example) == ("range", 1, "line 1: ends before it begins (9,4)")


@settings(max_examples=FEW)
@given(corpora())
def test_round_trip_keeps_all_but_the_named_losses(frames: Frames) -> None:
    classed = pl.col("annotation").is_in(frames.classes["annotation"].implode())
    sure = pl.when(classed).then(pl.col("confidence").fill_null(1.0)).otherwise("confidence")
    assert_kept(replace(frames, annotations=frames.annotations.with_columns(confidence=sure)), "neleval", "x.tsv")
