"""BRAT standoff: folders, archives, files that stand side by side."""

from __future__ import annotations

import zipfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given

from remix.errors import BadInput, Error, UsageError
from remix.formats import read, write
from remix.frames import Frames
from tests.formats.corpora import assert_kept, corpora

TEXT = "North and South America\nlie west of Rome.\n"
ANN = """T1\tLocation 0 5;16 23\tNorth America
T2\tLocation 10 23\tSouth America
N1\tReference T1 Wikidata:Q49\tNorth America
N2\tReference T2 Wikidata:Q18\tSouth America
N3\tReference T2 DBpedia:South_America\t
T3\tEntity 36 40\tRome
A1\tConfidence T3 0.25
#1\tAnnotatorNotes T3\tQ220
R1\tPart-of Arg1:T1 Arg2:T2
"""


def folder_of(folder: Path, ann: str = ANN, text: str | None = TEXT) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "one.ann").write_text(ann, encoding="utf-8")
    if text is not None:
        (folder / "one.txt").write_text(text, encoding="utf-8")
    return folder


def test_fragments_are_parts_that_are_required_together_and_several_links_are_all_right(tmp_path: Path) -> None:
    reading = read(folder_of(tmp_path / "x"))
    frames = reading.frames
    rows = frames.annotations.sort("begin").select("begin", "end", "surface_form", "confidence").rows()
    assert rows == [
        (0, 5, "North", None), (10, 23, "South America", None), (16, 23, "America", None), (36, 40, "Rome", 0.25)
    ]  # fmt: skip
    parts = frames.annotations.filter(pl.col("surface_form").is_in(["North", "America"]))
    assert parts["group"].n_unique() == parts["option"].n_unique() == 1
    linked = frames.links.join(frames.annotations, on="annotation").sort("begin", "entity")
    assert linked.select("surface_form", pl.col("entity").str.extract("([^/]*)$")).rows() == [
        ("North", "Q49"), ("South America", "South_America"), ("South America", "Q18"), ("America", "Q49"),
        ("Rome", "Q220")
    ]  # fmt: skip
    # Rome has no type of its own; the relation is told.
    assert frames.classes.height == 3
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("unread", 1)]


def test_what_is_written_is_brat_again_in_a_folder_and_in_an_archive(tmp_path: Path) -> None:
    frames = read(folder_of(tmp_path / "x")).frames
    assert write(frames, tmp_path / "y", "brat") == ()
    assert (tmp_path / "y" / "one.txt").read_text() == TEXT
    assert (tmp_path / "y" / "one.ann").read_text().splitlines()[:4] == [
        "T1\tLocation 0 5;16 23\tNorth America", "N1\tReference T1 Wikidata:Q49\t",
        "T2\tLocation 10 23\tSouth America", "N2\tReference T2 Wikidata:Q18\t",
    ]  # fmt: skip
    write(frames, tmp_path / "y.zip", "brat")
    assert read(tmp_path / "y.zip", name="x").frames.annotations.equals(frames.annotations)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "y", "y.zip"]


def test_one_file_is_read_with_the_text_beside_it_or_without(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "x")
    assert read(folder / "one.ann").frames.documents["text"].to_list() == [TEXT]
    (folder / "one.txt").unlink()
    assert read(folder / "one.ann").frames.documents["text"].to_list() == [None]


def test_mention_of_two_lines_is_cut_as_brat_does_and_joined_again(tmp_path: Path) -> None:
    frames = read(folder_of(tmp_path / "x", "T1\tEntity 16 23;24 27\tAmerica lie\n")).frames
    assert frames.annotations.select("begin", "end", "surface_form").rows() == [(16, 27, "America\nlie")]
    write(frames, tmp_path / "y", "brat")
    assert (tmp_path / "y" / "one.ann").read_text() == "T1\tEntity 16 23;24 27\tAmerica lie\n"


def test_shifted_offset_is_repaired_by_its_anchor(tmp_path: Path) -> None:
    reading = read(folder_of(tmp_path / "x", "T1\tEntity 35 39\tRome\n"))
    assert reading.frames.annotations.select("begin", "end").rows() == [(36, 40)]
    assert reading.report.repairs[0].example == "one.ann, line 1: 'Rome' 35,39 is 36,40 (found nearby)"


def test_broken_line_is_refused_with_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"x/one\.ann:2: is no line of BRAT: 'T2"):
        read(folder_of(tmp_path / "x", "T1\tEntity 0 5\tNorth\nT2\tEntity five\tNorth\n"))


def test_archive_that_reaches_outside_itself_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("../one.ann", ANN)
    with pytest.raises(BadInput, match=r"the member \.\./one\.ann lies outside the archive"):
        read(tmp_path / "x.zip")


def test_folder_with_something_in_it_is_never_overwritten(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "x")
    frames = read(folder).frames
    with pytest.raises(Error, match="exists: name a new folder"):
        write(frames, folder, "brat")
    with pytest.raises(UsageError, match="as a folder"):
        write(frames, tmp_path / "y.ann", "brat")
    assert (folder / "one.ann").read_text() == ANN


def test_parts_with_links_of_their_own_become_mentions_and_are_told(tmp_path: Path) -> None:
    annotations = pl.DataFrame(
        {
            "annotation": ["d#1", "d#2"],
            "document": ["d", "d"],
            "begin": [0, 16],
            "end": [5, 23],
            "surface_form": ["North", "America"],
            "group": ["g", "g"],
            "option": ["o", "o"],
        }
    )
    links = pl.DataFrame({"annotation": ["d#1"], "entity": ["http://x/1"], "entity_as_given": ["http://x/1"]})
    documents = pl.DataFrame({"document": ["d"], "text": [TEXT]})
    losses = write(Frames.of(documents=documents, annotations=annotations, links=links), tmp_path / "y", "brat")
    assert [(loss.kind, loss.count) for loss in losses] == [("parts", 2)]


@pytest.mark.long
@given(corpora())
def test_round_trip_keeps_all_but_the_named_losses(frames: Frames) -> None:
    assert_kept(frames, "brat", "x.zip")


def test_reference_to_null_is_nil_and_a_title_of_that_name_is_not(tmp_path: Path) -> None:
    ann = "".join(f"T{n}\tEntity 36 {36 + n}\t{'Rome'[:n]}\n" for n in (1, 2, 3))
    ann += "N1\tReference T1 Wikidata:NULL\tR\nN2\tReference T2 DBpedia:Null\tRo\nN3\tReference T3 Wikidata:NULL\t\n"
    ann += "N4\tReference T3 Wikidata:Q220\t\n"
    frames = read(folder_of(tmp_path / "x", ann)).frames
    assert frames.annotations.sort("end")["is_nil"].to_list() == [True, False, False]
    assert frames.links["entity"].sort().to_list() == [
        "http://dbpedia.org/resource/Null", "http://www.wikidata.org/entity/Q220"
    ]  # fmt: skip


def test_folder_with_brat_deep_below_and_other_formats_beside_it_is_no_dataset(tmp_path: Path) -> None:
    folder_of(tmp_path / "some", ANN)
    assert read(tmp_path).report.format == "brat"
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "x.jsonl").write_text('{"document": "1", "begin": 0, "end": 1, "entity": "http://x/A"}\n')
    with pytest.raises(BadInput, match="holds brat in some and jsonl in others/x.jsonl: name the folders and files"):
        read(tmp_path)
