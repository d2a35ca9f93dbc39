"""The XML of IITB and WNED."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings

from remix.errors import BadInput
from remix.formats import read, write
from remix.frames import Frames
from tests.examples import FEW
from tests.formats.corpora import assert_kept, corpora

TEXT = "New York is not Rome."
IITB = """<iitb.CSAW.entityAnnotations>
<annotation><docName>one.txt</docName><userId>a</userId><wikiName>New York City</wikiName><offset>0</offset>
<length>8</length></annotation>
<annotation><docName>one.txt</docName><userId>b</userId><wikiName>New York</wikiName><offset>0</offset>
<length>8</length></annotation>
<annotation><docName>one.txt</docName><userId>b</userId><wikiName/><offset>16</offset><length>4</length></annotation>
</iitb.CSAW.entityAnnotations>
"""
WNED = """<?xml version="1.0" encoding="UTF-8"?>
<ace2004.entityAnnotation>
<document docName="one.txt">
<annotation><mention>New York</mention><wikiName>New York City</wikiName>
<offset>0</offset><length>8</length></annotation>
<annotation><mention>Rome</mention><wikiName>NIL</wikiName><offset>14</offset><length>4</length></annotation>
</document>
</ace2004.entityAnnotation>
"""


def folder_of(folder: Path, xml: str, texts: str) -> Path:
    (folder / texts).mkdir(parents=True)
    (folder / texts / "one.txt").write_text(TEXT)
    (folder / "gold.xml").write_text(xml)
    return folder


def test_annotators_of_one_span_are_alternatives_and_an_empty_title_is_nil(tmp_path: Path) -> None:
    reading = read(folder_of(tmp_path / "x", IITB, "crawledDocs"))
    frames = reading.frames
    assert reading.report.format == "iitb-xml"
    rows = frames.annotations.sort("begin").select("begin", "end", "surface_form", "is_nil").rows()
    assert rows == [(0, 8, "New York", False), (0, 8, "New York", False), (16, 20, "Rome", True)]
    assert frames.annotations["group"].n_unique() == 2
    assert sorted(frames.links["entity"].str.extract("([^/]*)$")) == ["New_York", "New_York_City"]


def test_annotations_in_documents_are_read_and_their_offsets_repaired(tmp_path: Path) -> None:
    reading = read(folder_of(tmp_path / "x", WNED, "RawText") / "gold.xml")
    # Rome is said to begin at 14.
    assert reading.frames.annotations.sort("begin").select("begin", "end", "is_nil").rows() == [
        (0, 8, False), (16, 20, True)
    ]  # fmt: skip
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("offset", 1)]


def test_broken_number_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gold\.xml:6: offset and length are numbers, not 'x' and '4'"):
        read(folder_of(tmp_path / "x", IITB.replace("<offset>16", "<offset>x"), "crawledDocs"))


def test_identifier_that_is_no_title_is_a_loss_with_a_name(tmp_path: Path) -> None:
    frames = read(folder_of(tmp_path / "x", WNED, "RawText")).frames
    other = frames.links.with_columns(entity=pl.lit("E0123"), entity_as_given=pl.lit("E0123"))
    losses = write(replace(frames, links=other), tmp_path / "y", "iitb-xml")
    assert [(loss.kind, loss.count, loss.example) for loss in losses] == [("identifiers", 1, "E0123")]


def test_documents_are_those_that_the_xml_names_in_a_folder_and_beside_a_file(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "x", IITB, "crawledDocs")
    (folder / "crawledDocs" / "two.txt").write_text("Nobody annotated this.")
    whole, alone = read(folder), read(folder / "gold.xml")
    assert whole.report.documents == alone.report.documents == 1
    assert [(one.kind, one.count, one.example) for one in whole.report.repairs] == [
        ("unread", 1, "crawledDocs/two.txt is of no document that the XML names")
    ]


def test_document_without_annotations_is_written_by_its_name(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "x", WNED.replace("</ace2004", '<document docName="a&quot;b"/></ace2004'), "RawText")
    (folder / "RawText" / 'a"b').write_text("Nothing here.")
    frames = read(folder).frames
    assert sorted(frames.documents["given"]) == ['a"b', "one.txt"]
    write(frames, tmp_path / "y.zip", "iitb-xml")
    assert sorted(read(tmp_path / "y.zip").frames.documents["text"]) == sorted(["Nothing here.", TEXT])


@settings(max_examples=FEW)
@given(corpora())
def test_round_trip_keeps_all_but_the_named_losses(frames: Frames) -> None:
    assert_kept(frames, "iitb-xml", "x.zip")
