"""XML with its texts in it or beside it: GERDAQ, toponyms in three dialects, Knowtator; and DWIE's joined JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remix.errors import BadInput
from remix.formats import LoadedFile, read
from tests.formats.definitions.test_token_columns import spans


def read_text(folder: Path, name: str, text: str) -> LoadedFile:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return read(folder / name)


def told(found: LoadedFile) -> dict[str, tuple[int, str]]:
    return {one.kind: (one.count, one.example) for one in found.report.repairs}


def test_queries_of_gerdaq_have_the_text_of_their_annotations(tmp_path: Path) -> None:
    found = read_text(
        tmp_path,
        "x.xml",
        '<dataset><instance>a <annotation rank_0_title="Big Oak" rank_0_score="0.5" rank_1_title="Elm" '
        'rank_1_score="1">oak</annotation> &amp; <annotation rank_0_title="Fir">fir</annotation>s</instance>\n'
        "<instance>none</instance></dataset>",
    )
    assert found.report.format == "gerdaq-xml"
    assert found.frames.documents["text"].to_list() == ["a oak & firs", "none"]
    assert spans(found) == [(2, 5, "oak", "Big_Oak"), (8, 11, "fir", "Fir")]
    assert found.frames.candidates["score"].to_list() == [0.5, 1.0]


def test_text_of_other_elements_belongs_to_the_query(tmp_path: Path) -> None:
    found = read_text(
        tmp_path,
        "x.xml",
        '<dataset><instance><b>big</b> <annotation rank_0_title="Oak">oak</annotation></instance></dataset>',
    )
    assert found.frames.documents["text"].to_list() == ["big oak"]
    assert spans(found) == [(4, 7, "oak", "Oak")]


def test_annotation_within_an_annotation_of_gerdaq_is_refused(tmp_path: Path) -> None:
    nested = "<dataset><instance><annotation>a<annotation>b</annotation></annotation></instance></dataset>"
    with pytest.raises(BadInput, match=r"x\.xml:1: an annotation stands in an <instance>"):
        read_text(tmp_path, "x.xml", nested)


def test_only_the_gazetteers_own_number_is_the_link_of_lgl(tmp_path: Path) -> None:
    found = read_text(
        tmp_path,
        "x.xml",
        "<articles><article docid='7'><title>t</title><text><![CDATA[A&B in Ulm]]></text><toponyms>"
        "<toponym><start>7</start><end>10</end><phrase>Ulm</phrase><gaztag geonameid='1'><name>x</name>"
        "<country geonameid='2'>y</country></gaztag></toponym>"
        "<toponym><start>0</start><end>3</end><phrase>A&amp;B</phrase></toponym></toponyms></article></articles>",
    )
    assert found.report.format == "lgl-xml"
    assert found.frames.documents.select("given", "text").rows() == [("7", "A&B in Ulm")]
    assert spans(found) == [(0, 3, "A&B", None), (7, 10, "Ulm", "http://sws.geonames.org/1/")]
    # The ampersand in CDATA is fine.
    assert found.report.repairs == ()


def test_toponyms_of_geowebnews_on_one_span_are_two_mentions(tmp_path: Path) -> None:
    toponym = "<toponym><extractedName>Ulm</extractedName><type>{}</type><start>0</start><end>3</end>{}</toponym>"
    both = toponym.format("Literal", "<geonamesID>1</geonamesID>") + toponym.format("Coercion", "<geonamesID/>")
    found = read_text(tmp_path, "x.xml", f"<articles><article file='0'><text>Ulm</text>{both}</article></articles>")
    assert (found.report.format, found.report.mentions, found.report.mentions_nil) == ("gwn-xml", 2, 1)
    assert sorted(found.frames.classes["class"].str.extract("([A-Za-z]+)$")) == ["Coercion", "Literal"]


def test_shifted_toponyms_on_one_place_are_two_mentions(tmp_path: Path) -> None:
    lines = (f"<toponym><start>{begin}</start><end>{begin + 3}</end><phrase>Ulm</phrase></toponym>" for begin in (8, 9))
    text = f'<articles><article docid="7"><text>Rain in Ulm.</text>{"".join(lines)}</article></articles>'
    found = read_text(tmp_path, "x.xml", text)
    assert found.frames.annotations.select("begin", "end").rows() == [(8, 11), (8, 11)]
    assert (found.report.mentions, found.report.alternatives) == (2, 0)


def test_toponym_before_its_text_is_told_and_keeps_its_link(tmp_path: Path) -> None:
    toponym = (
        "<toponym><extractedName>Bo</extractedName><start>-90</start><end>-88</end><geonamesID>1</geonamesID></toponym>"
    )
    found = read_text(tmp_path, "x.xml", f"<articles><article file='0'><text>Ulm</text>{toponym}</article></articles>")
    assert spans(found) == [(None, None, "Bo", "http://sws.geonames.org/1/")]
    assert told(found) == {
        "range": (1, "line 1: 'Bo' begins before the text, whose first character is 0 (-90,-88)"),
        "unplaced": (1, "line 1: the offsets are not in the text, and left out"),
    }


def geovirus(shift: int) -> str:
    location = "<location><name>{}</name><start>{}</start><end>{}</end><page>{}</page></location>"
    both = location.format("Ulm", 4 + shift, 7 + shift, "https://en.wikipedia.org/wiki/Ulm")
    both += location.format("Bo", 11 + shift, 13 + shift, "N/A")
    return f"<articles>\n<article><source>https://x/y</source><text>Now Ulm at Bo</text>{both}</article></articles>"


@pytest.mark.parametrize("shift", [0, 1])
def test_offsets_of_geovirus_that_count_from_one_are_told(tmp_path: Path, shift: int) -> None:
    found = read_text(tmp_path, "x.xml", geovirus(shift))
    assert found.report.format == "geovirus-xml"
    assert spans(found) == [(4, 7, "Ulm", "Ulm"), (11, 13, "Bo", None)]
    expected = {"offset": (2, "line 2: 'Ulm' 5,8, as the file counts from 1")}
    assert told(found) == (expected if shift else {})


def test_offset_that_is_no_number_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"x\.xml:2: location\[\]\.start and location\[\]\.end are whole numbers, not 'x' and '7'"
    ):
        read_text(tmp_path, "x.xml", geovirus(0).replace(">4<", ">x<"))


def knowtator(concept: str) -> str:
    return (
        '<?xml version="1.0"?>\n<annotations textSource="a.txt"><annotation><mention id="1"/><span start="0" end="3"/>'
        '<span start="8" end="11"/><spannedText>Ada ... Bob</spannedText></annotation>\n<annotation><mention id="2"/>'
        '<span start="0" end="3"/><spannedText>Ada</spannedText></annotation>'
        f'<classMention id="1"><mentionClass id="{concept}">x</mentionClass></classMention></annotations>'
    )


def test_files_of_knowtator_on_one_text_are_mentions_of_one_document(tmp_path: Path) -> None:
    for folder, concept in (("PR", "PR:P1"), ("CHEBI", "CHEBI:7")):
        read_text(tmp_path, f"craft/concept-annotation/{folder}/a.txt.knowtator.xml", knowtator(concept))
    read_texts = tmp_path / "craft" / "articles" / "txt"
    read_texts.mkdir(parents=True)
    (read_texts / "a.txt").write_text("Ada met Bob")
    found = read(tmp_path / "craft" / "concept-annotation")
    assert found.frames.documents.select("given", "text").rows() == [("a.txt", "Ada met Bob")]
    # Two in parts, and two on the first part that are NIL.
    assert (found.report.mentions, found.report.mentions_nil, found.report.annotations) == (4, 2, 6)
    assert sorted(found.frames.links["entity"].unique()) == [
        "http://purl.obolibrary.org/obo/CHEBI_7", "http://purl.obolibrary.org/obo/PR_P1"
    ]  # fmt: skip
    assert found.report.repairs == ()
    alone = read(tmp_path / "craft" / "concept-annotation" / "PR" / "a.txt.knowtator.xml")
    assert alone.frames.annotations["surface_form"].to_list() == ["Ada", "Bob", "Ada"]


DWIE = {
    "id": "D1",
    "mentions": [
        {"begin": 0, "end": 3, "text": "Ada", "concept": 0, "candidates": ["Ada L", "Oak"], "scores": [0.9]},
        {"begin": 8, "end": 11, "text": "Bob", "concept": 1, "candidates": ["Bo"], "scores": None},
        {"begin": 12, "end": 14, "text": "he", "concept": 9},
    ],
    "concepts": [
        {"concept": 0, "link": "Ada_L", "tags": ["type::person", "slot::x"]},
        {"concept": 1, "link": None, "tags": []},
    ],
}


def test_mentions_of_dwie_have_the_link_and_types_of_their_concept(tmp_path: Path) -> None:
    found = read_text(tmp_path, "x.json", json.dumps(DWIE, indent=1))
    rows = found.frames.annotations.join(found.frames.links, on="annotation", how="left").sort("begin")
    assert rows.select("begin", "surface_form", "entity").rows() == [
        (0, "Ada", "http://dbpedia.org/resource/Ada_L"), (8, "Bob", None), (12, "he", None)
    ]  # fmt: skip
    assert found.frames.classes["class"].str.extract("([a-z]+)$").to_list() == ["person"]
    assert found.frames.candidates["score"].to_list() == [0.9, None, None]
    assert told(found) == {"dangling": (1, "D1, mentions 3: concept 9 is none of D1")}
    with_text = read_text(tmp_path, "y.json", json.dumps(DWIE | {"content": "Ada met Bob he"}))
    assert with_text.frames.documents["text"].to_list() == ["Ada met Bob he"]


def test_articles_of_dwie_of_one_name_are_two_and_told(tmp_path: Path) -> None:
    for file, content in (("a.json", "Ada met Bob he"), ("b.json", "Ada saw Bob he")):
        (tmp_path / "x" / file).parent.mkdir(exist_ok=True)
        (tmp_path / "x" / file).write_text(json.dumps(DWIE | {"content": content}))
    found = read(tmp_path / "x")
    assert found.frames.documents["text"].to_list() == ["Ada met Bob he", "Ada saw Bob he"]
    assert found.report.mentions == 6
    assert told(found)["shared-name"] == (2, "'D1' names several documents")


@pytest.mark.parametrize("begin", [1.5, None, "a"])
def test_mention_of_dwie_without_offsets_is_refused(tmp_path: Path, begin: object) -> None:
    broken = DWIE | {"mentions": [*DWIE["mentions"][:1], {"begin": begin, "end": 3, "concept": 0}]}  # type: ignore[index]
    with pytest.raises(BadInput, match=r"x\.json: (?:D1, mentions 2: begin and end are whole|is no article of DWIE)"):
        read_text(tmp_path, "x.json", json.dumps(broken))
