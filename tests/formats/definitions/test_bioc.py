"""BioC in XML and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given

from remix.errors import BadInput
from remix.formats import LoadedFile, read, write
from remix.frames import Frames
from tests.formats.corpora import assert_kept, assert_same, corpora

XML = """<?xml version="1.0" encoding="UTF-8"?>
<collection><source>x</source><date/><key/>
<document><id>10</id>
<passage><offset>0</offset><text>A café</text></passage>
<passage><offset>8</offset><text>retinal and choroidal tumour</text>
<annotation id="1"><infon key="type">Disease</infon><infon key="MESH">D1</infon>
<location offset="8" length="7"/><location offset="30" length="6"/><text>retinal tumour</text></annotation>
<annotation id="2"><infon key="type">Disease</infon><infon key="identifier">MESH:D009369</infon>
<location offset="20" length="9"/><text>choroidal</text></annotation>
</passage></document></collection>
"""


def read_text(folder: Path, text: str, name: str = "x.xml") -> LoadedFile:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_mention_in_several_places_is_one_option_with_a_part_a_place(tmp_path: Path) -> None:
    reading = read_text(tmp_path, XML)
    frames = reading.frames
    assert reading.report.format == "bioc"
    # The first passage has 6 characters; the second begins at 8.
    assert frames.documents["text"].to_list() == ["A café  retinal and choroidal tumour"]
    option = (
        frames.annotations.group_by("option").agg(pl.col("surface_form").sort()).sort(pl.col("surface_form").list.len())
    )
    assert option["surface_form"].to_list() == [["choroidal"], ["retinal", "tumour"]]
    assert sorted(frames.links["entity"]) == ["D1", "D1", "http://id.nlm.nih.gov/mesh/D009369"]


def test_offsets_in_bytes_are_told_by_the_texts(tmp_path: Path) -> None:
    # The é has two bytes, so what begins at character 20 begins at byte 21.
    reading = read_text(tmp_path, XML.replace('offset="20"', 'offset="21"'))
    assert "choroidal" in reading.frames.annotations["surface_form"].to_list()
    [repair] = reading.report.repairs
    assert (repair.kind, repair.count) == ("offset", 1)
    assert repair.example.startswith("document 10, annotation 2: 'choroidal' 21,30 is 20,29")


@pytest.mark.parametrize("name", ["y.xml", "y.json"])
def test_xml_and_json_hold_the_same(tmp_path: Path, name: str) -> None:
    frames = read_text(tmp_path, XML).frames
    assert write(frames, tmp_path / name, "bioc") == ()
    assert_same(read(tmp_path / name, name="x").frames, frames)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (XML.replace("</document>", ""), "x.xml", r"x\.xml:10:\d+: is no XML"),
        (XML.replace('offset="8"', 'offset="a"'), "x.xml", r"an offset or length is no number"),
        ('{"documents": [{"id": "1", "passages": [{}]}]}', "x.json", r"x\.json: is no BioC JSON: .* lacks 'offset'"),
        ('{"documents": [{"passages": [', "x.json", r"x\.json:1: is no BioC JSON"),
    ],
)
def test_broken_file_is_refused(tmp_path: Path, text: str, name: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_text(tmp_path, text, name)


@pytest.mark.long
@pytest.mark.parametrize("name", ["x.xml", "x.json"])
def test_round_trip_keeps_all_but_the_named_losses(name: str) -> None:
    @given(corpora(letters="ab é🜁.<&"))
    def kept(frames: Frames) -> None:
        assert_kept(frames, "bioc", name)

    kept()


def test_documents_of_one_name_are_two_and_told(tmp_path: Path) -> None:
    def document(form: str) -> dict[str, object]:
        said = {"infons": {"MESH": "D001943"}, "text": form, "locations": [{"offset": 0, "length": len(form)}]}
        return {"id": "7", "passages": [{"offset": 0, "text": f"{form}.", "annotations": [said]}]}

    path = tmp_path / "x.json"
    path.write_text(json.dumps({"documents": [document("Flu"), document("Measles")]}))
    reading = read(path)
    assert reading.frames.documents["text"].to_list() == ["Flu.", "Measles."]
    assert reading.frames.annotations["surface_form"].to_list() == ["Flu", "Measles"]
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("shared-name", 2)]
