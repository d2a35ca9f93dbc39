"""PubTator: blocks of title, abstract and mentions."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given

from remix.formats import LoadedFile, read, write
from remix.frames import Frames
from tests.formats.corpora import assert_kept, corpora

TEXT = "10|t|Breast and ovarian cancer\n10|a|BRCA1 in mice\n"
COMPOSITE = "10\t0\t25\tBreast and ovarian cancer\tCompositeMention\tD001943|MESH:D010051\n"
GENE = "10\t26\t31\tBRCA1\tGene\t672;675\n"
NONE = "10\t35\t39\tmice\tSpecies\t-1\n"


def read_text(folder: Path, text: str) -> LoadedFile:
    path = folder / "x.pubtator"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_concepts_of_a_composite_mention_are_required_together(tmp_path: Path) -> None:
    reading = read_text(tmp_path, TEXT + COMPOSITE + GENE + NONE + "10\tCID\tD001943\tD010051\n")
    frames = reading.frames
    assert reading.report.format == "pubtator"
    # The title has 25 characters, so the abstract begins at 26.
    rows = frames.annotations.sort("begin").select("begin", "end", "surface_form", "is_nil").rows()
    assert rows == [(0, 25, "Breast and ovarian cancer", False)] * 2 + [
        (26, 31, "BRCA1", False), (35, 39, "mice", True)
    ]  # fmt: skip
    assert frames.annotations.filter(pl.col("begin") == 0)["option"].n_unique() == 1
    mesh = "http://id.nlm.nih.gov/mesh/"
    assert sorted(frames.links["entity"]) == ["672", "675", f"{mesh}D001943", f"{mesh}D010051"]


def test_mention_in_parts_is_one_and_its_parts_are_held_against_the_text(tmp_path: Path) -> None:
    parts = "10\t0,19\t6,25\tBreast ... cancer\tDisease\tD001943\n10\t11;19\t18;25\tovarian|cancer\tDisease\tD010051\n"
    reading = read_text(tmp_path, TEXT + parts)
    assert (reading.report.mentions, reading.report.annotations, reading.report.repairs) == (2, 4, ())
    rows = reading.frames.annotations.sort("begin", "end", "option").select("begin", "surface_form", "option").rows()
    assert [row[:2] for row in rows] == [(0, "Breast"), (11, "ovarian"), (19, "cancer"), (19, "cancer")]
    assert len({option for _, _, option in rows}) == 2
    assert reading.frames.links.height == 4


def test_concepts_with_a_plus_are_required_together_as_well(tmp_path: Path) -> None:
    frames = read_text(tmp_path, TEXT + COMPOSITE.replace("|MESH", "+MESH")).frames
    assert frames.annotations["option"].n_unique() == 1
    assert frames.links.height == 2


def test_types_of_medmentions_are_classes_each(tmp_path: Path) -> None:
    frames = read_text(tmp_path, TEXT + "10\t26\t31\tBRCA1\tT116,T123\tUMLS:C1\n").frames
    assert sorted(frames.classes["class"].str.extract("(T[0-9]+)$")) == ["T116", "T123"]


def test_dialect_of_fbk_has_types_before_offsets_and_no_links(tmp_path: Path) -> None:
    frames = read_text(tmp_path, TEXT + "10\tT1\tGene\t26\t31\tBRCA1\n").frames
    assert frames.annotations.select("begin", "end", "surface_form", "is_nil").rows() == [(26, 31, "BRCA1", True)]
    assert frames.classes["class"].str.extract("([A-Za-z]+)$").to_list() == ["Gene"]


def test_file_is_written_as_it_was_read(tmp_path: Path) -> None:
    text = TEXT + COMPOSITE.replace("MESH:", "") + GENE + NONE.replace("-1", "-") + "\n"
    assert write(read_text(tmp_path, text).frames, tmp_path / "y.txt", "pubtator") == ()
    assert (tmp_path / "y.txt").read_text() == text


def test_line_breaks_that_are_lost_are_named(tmp_path: Path) -> None:
    frames = read_text(tmp_path, TEXT + GENE).frames
    text = pl.lit("Breast and ovarian cancer\nBRCA1\nmice")
    broken = Frames.of(documents=frames.documents.with_columns(text=text), annotations=frames.annotations)
    assert [loss.kind for loss in write(broken, tmp_path / "y.txt", "pubtator")] == ["line-breaks"]


def test_documents_of_one_name_are_two_and_told(tmp_path: Path) -> None:
    second = "10|t|BRCA1\n10|a|in men\n10\t0\t5\tBRCA1\tGene\t672\n"
    reading = read_text(tmp_path, TEXT + GENE + "\n" + second)
    assert reading.frames.documents["text"].to_list() == ["Breast and ovarian cancer\nBRCA1 in mice", "BRCA1\nin men"]
    rows = reading.frames.annotations.sort("begin").select("begin", "end", pl.col("document").str.extract("([^/]*)$"))
    assert rows.rows() == [(0, 5, "10-2"), (26, 31, "10")]
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("shared-name", 2)]


@pytest.mark.long
@given(corpora(letters="ab é🜁."))
def test_round_trip_keeps_all_but_the_named_losses(frames: Frames) -> None:
    assert_kept(frames, "pubtator", "x.pubtator")
