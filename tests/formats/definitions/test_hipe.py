"""HIPE-scorer's TSV: a token a line, literal and metonymic readings."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given

from remix.errors import BadInput
from remix.formats import LoadedFile, read, write
from remix.formats.definitions.hipe import hipe
from remix.formats.losses import reduce_frames
from remix.frames import Frames
from tests.formats.corpora import assert_same, corpora, rewritten

HEADER = "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNEL-LIT\tNEL-METO\tMISC\n"
LINES = (
    HEADER
    + "# hipe2022:document_id = d-1\n# hipe2022:language = fr\n"
    + "A\tO\tO\tO\t_\t_\t_\n"
    + "Berne\tB-loc\tB-org\tB-loc.adm.town\tQ70|Q71\tQ72\tNoSpaceAfter\n"
    + ",\tO\tO\tO\t_\t_\tEndOfLine\n"
    + "Jean\tB-pers\tO\tO\tNIL\t_\t_\n"
    + "Roy\tI-pers\tO\tO\tNIL\t_\t_\n"
)


def read_lines(folder: Path, text: str) -> LoadedFile:
    path = folder / "x.tsv"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_text_is_rebuilt_and_a_metonymic_reading_is_an_alternative(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, LINES)
    frames = reading.frames
    assert reading.report.format == "hipe"
    assert frames.documents.select("text", "language", "given").rows() == [("A Berne, Jean Roy", "fr", "d-1")]
    rows = frames.annotations.sort("begin", "annotation").select("begin", "end", "surface_form", "is_nil").rows()
    assert rows == [(2, 7, "Berne", False), (2, 7, "Berne", False), (9, 17, "Jean Roy", True)]
    assert frames.annotations["group"].n_unique() == 2
    assert sorted(frames.links["entity"].str.extract("(Q.*)")) == ["Q70", "Q71", "Q72"]
    assert sorted(frames.classes["class"].str.extract("#(.*)")) == ["loc", "metonymic.org", "pers"]


def test_what_is_not_read_is_told(tmp_path: Path) -> None:
    # Two fine types, of which one has two tokens, and a link where no mention is.
    fine = LINES.replace("I-pers\tO\tO", "I-pers\tO\tI-pers.ind").replace("B-pers\tO\tO", "B-pers\tO\tB-pers.ind")
    reading = read_lines(tmp_path, fine.replace("A\tO\tO\tO\t_", "A\tO\tO\tO\tQ1"))
    (told,) = reading.report.repairs
    assert (told.kind, told.count) == ("unread", 3)
    assert told.example == "line 5: B-loc.adm.town in the column NE-FINE-LIT"


def test_what_is_written_reads_the_same(tmp_path: Path) -> None:
    frames = read_lines(tmp_path, LINES).frames
    assert write(frames, tmp_path / "y.tsv", "hipe") == ()
    assert_same(read(tmp_path / "y.tsv", name="x").frames, frames)


def test_spaces_and_overlaps_that_are_lost_are_named(tmp_path: Path) -> None:
    text = {"document": ["d"], "text": ["New  York"]}
    spans = {"annotation": ["a", "b"], "document": ["d"] * 2, "begin": [0, 5], "end": [9, 9]}
    spans["surface_form"] = ["New  York", "York"]
    frames = Frames.of(documents=pl.DataFrame(text), annotations=pl.DataFrame(spans))
    losses = write(frames, tmp_path / "y.tsv", "hipe")
    assert [(loss.kind, loss.count) for loss in losses] == [("overlaps", 1), ("white-space", 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "A\tO\n", r"x\.tsv:2: has 2 columns, the header 7"),
        (HEADER.replace("NEL-LIT", "NEL-LITERAL"), r"x\.tsv:1: the header has no column NEL-LIT; did you mean 'NEL-L"),
    ],
)
def test_broken_file_is_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_lines(tmp_path, text)


def test_mention_that_begins_with_i_is_told(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, HEADER + "Roy\tI-pers\tO\tO\tQ1\t_\t_\nParis\tI-loc\tO\tO\tQ2\t_\t_\n")
    assert reading.frames.annotations["surface_form"].sort().to_list() == ["Paris", "Roy"]
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("tag", 2)]


@given(corpora())
def test_round_trip_is_exact_the_second_time(frames: Frames) -> None:
    once = rewritten(reduce_frames(frames, hipe.holds)[0], "hipe", "x.tsv")
    assert_same(rewritten(once, "hipe", "x.tsv"), once)


@given(corpora(letters="ab.é🜁"))
def test_words_come_back_where_they_were(frames: Frames) -> None:
    # Without white space only mentions that overlap are lost, and of one span all but the first.
    once = rewritten(reduce_frames(frames, hipe.holds)[0], "hipe", "x.tsv")
    spans = ["document", "begin", "end"]
    assert once.documents["text"].to_list() == frames.documents["text"].to_list()
    assert once.annotations.join(frames.annotations, on=spans, how="anti").is_empty()
