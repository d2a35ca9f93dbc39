"""The XML of MSNBC, ACE2004 and AQUAINT."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from remix.errors import BadInput
from remix.formats import read, write
from remix.frames import Frames
from tests.examples import FEW
from tests.formats.corpora import assert_kept, corpora

TEXT = "Procter & Gamble of Rome met Nobody."


def instance(form: str, offset: int | str, length: int, link: str, tag: str = "ChosenAnnotation") -> str:
    return f"""<ReferenceInstance>
<SurfaceForm>
{form}
</SurfaceForm><Offset>
{offset}
</Offset><Length>{length}</Length>
<{tag}>{link}</{tag}><NumAnnotators>1</NumAnnotators>
</ReferenceInstance>
"""


def problem(*instances: str) -> str:
    return (
        f"<ReferenceProblem>\n<ReferenceFileName>\none\n</ReferenceFileName>\n{''.join(instances)}</ReferenceProblem>\n"
    )


ROME = instance("Rome", 20, 4, "http://en.wikipedia.org/wiki/Rome")
PROBLEM = problem(
    # The ampersand is bare, as in some of the files.
    instance("Procter & Gamble", 0, 16, '"http://en.wikipedia.org/wiki/Procter_%26_Gamble"'),
    ROME,
    instance("Nobody", 29, 6, "*null*"),
)


def folder_of(folder: Path, xml: str = PROBLEM) -> Path:
    (folder / "Problems").mkdir(parents=True)
    (folder / "RawTexts").mkdir()
    (folder / "Problems" / "one").write_text(xml)
    (folder / "RawTexts" / "one").write_text(TEXT)
    return folder


def test_text_that_is_like_a_comment_is_a_text(tmp_path: Path) -> None:
    # Comments begin files of RDF, too, which would be of another format than the problems.
    folder = folder_of(tmp_path / "x", problem(instance("1", 1, 1, "*null*")))
    (folder / "RawTexts" / "one").write_text("#1")
    assert read(folder).frames.documents["text"].to_list() == ["#1"]


def test_problem_and_text_of_one_name_are_a_document(tmp_path: Path) -> None:
    reading = read(folder_of(tmp_path / "x"))
    frames = reading.frames
    assert frames.documents.select("given", "text").rows() == [("one", TEXT)]
    assert frames.annotations.sort("begin").select("begin", "end", "surface_form", "is_nil").rows() == [
        (0, 16, "Procter & Gamble", False), (20, 24, "Rome", False), (29, 35, "Nobody", True)
    ]  # fmt: skip
    assert sorted(frames.links["entity"].str.strip_prefix("http://dbpedia.org/resource/")) == [
        "Procter_&_Gamble",
        "Rome",
    ]
    assert reading.report.format == "msnbc-xml"
    assert [(one.kind, one.count, one.example) for one in reading.report.repairs] == [
        ("ampersand", 1, "line 7: '&' is not allowed in XML")
    ]


def test_one_problem_finds_its_text_in_the_folder_beside_its_own(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "x", problem(ROME, instance("Rome", 20, 4, "none", "Annotation")))
    frames = read(folder / "Problems" / "one").frames
    assert frames.documents["text"].to_list() == [TEXT]
    assert sorted(frames.annotations["is_nil"]) == [False, True]


def test_problem_is_no_text_of_another(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "x", problem(ROME))
    (folder / "RawTexts" / "one").unlink()
    (folder / "Problems" / "other").write_text(problem(ROME))  # of the text 'one', as its namesake
    assert read(folder / "Problems" / "other").frames.documents["text"].to_list() == [None]


def test_shifted_offset_is_repaired_by_its_surface_form(tmp_path: Path) -> None:
    reading = read(folder_of(tmp_path / "x", problem(instance("Rome", 17, 4, "none"))))
    assert reading.frames.annotations.select("begin", "end").rows() == [(20, 24)]
    assert reading.report.repairs[0].kind == "offset"


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        (problem(instance("Rome", "x", 4, "none")), r"one:5: Offset and Length are numbers, not 'x' and '4'"),
        (PROBLEM.replace("</Offset>", ""), r"one:\d+:\d+: is no XML \(mismatched tag\)"),
        ("<ReferenceProblem></ReferenceProblem>", "names no text"),
    ],
)
def test_what_is_broken_is_refused_with_its_line(tmp_path: Path, xml: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read(folder_of(tmp_path / "x", xml))


def test_what_is_written_has_a_problem_and_a_text_for_each_document(tmp_path: Path) -> None:
    frames = read(folder_of(tmp_path / "x")).frames
    assert write(frames, tmp_path / "y", "msnbc-xml") == ()
    assert (tmp_path / "y" / "RawTexts" / "one").read_text() == TEXT
    assert "<ChosenAnnotation>*null*</ChosenAnnotation>" in (tmp_path / "y" / "Problems" / "one").read_text()


@settings(max_examples=FEW)
@given(corpora())
def test_round_trip_keeps_all_but_the_named_losses(frames: Frames) -> None:
    assert_kept(frames, "msnbc-xml", "x.zip")
