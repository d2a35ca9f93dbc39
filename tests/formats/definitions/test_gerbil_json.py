"""GERBIL's JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

from remix.errors import BadInput
from remix.formats import LoadedFile, read, write
from tests.formats.corpora import assert_kept, corpora

# The smiling face is two units of UTF-16, so that Ada is at 3 to 6 for GERBIL, at 2 to 5 for us.
ADA = {"start": 3, "end": 6, "confidence": 0.5, "meaning": ["http://dbpedia.org/resource/Ada_Lovelace"]}
TYPED = {"start": 11, "end": 14, "meaning": [], "types": ["http://dbpedia.org/ontology/Person", "PER"]}
DOCUMENT = {"id": 4, "iri": "http://x/d1", "text": "\U0001f600 Ada met Bob", "annotations": [ADA, TYPED]}


def read_json(folder: Path, documents: object) -> LoadedFile:
    path = folder / "x.json"
    path.write_text(documents if isinstance(documents, str) else json.dumps(documents), encoding="utf-8")
    return read(path, unannotated=True)


def test_units_become_characters_and_no_meaning_is_nil(tmp_path: Path) -> None:
    reading = read_json(tmp_path, [DOCUMENT])
    assert reading.report.format == "gerbil-json"
    rows = reading.frames.annotations.select("begin", "end", "surface_form", "confidence", "is_nil").rows()
    assert rows == [(2, 5, "Ada", 0.5, False), (10, 13, "Bob", None, True)]
    assert reading.frames.links["entity_as_given"].to_list() == ADA["meaning"]
    # A name without a namespace is one of ours.
    local = [name.rpartition("/")[2] for name in reading.frames.classes["class"]]
    assert local == ["Person", "ns#PER"]


def test_document_is_called_by_iri_or_id_or_place(tmp_path: Path) -> None:
    documents = [DOCUMENT, {"id": 4, "text": "b"}, {"text": "c"}, {"id": 4, "text": "d"}]
    reading = read_json(tmp_path, documents)
    assert reading.frames.documents["given"].to_list() == ["http://x/d1", "4", "2", "4-3"]
    assert [(one.kind, one.count) for one in reading.report.repairs] == [("duplicate-document", 1)]


def test_no_document_is_called_as_another_calls_itself(tmp_path: Path) -> None:
    # The second would be 0-1 by its place, which is the third.
    documents = [{"id": one, "text": text, "annotations": []} for one, text in ((0, "a"), (0, "b"), ("0-1", "c"))]
    reading = read_json(tmp_path, documents)
    assert reading.frames.documents.select("given", "text").rows() == [("0", "a"), ("0-1-1", "b"), ("0-1", "c")]


def test_annotation_of_the_whole_document_and_one_beyond_it_are_told(tmp_path: Path) -> None:
    tag, beyond = {"meaning": ["http://x/e"]}, {"start": 3, "end": 99, "meaning": ["http://x/e"]}
    reading = read_json(tmp_path, [{**DOCUMENT, "annotations": [ADA, tag, beyond]}])
    assert reading.frames.annotations.height == 1
    assert [(one.kind, one.count, one.example) for one in reading.report.repairs] == [
        ("unread", 1, "http://x/d1, annotation 2 is about the whole document (no start and end)"),
        ("range", 1, "http://x/d1, annotation 3: lies outside the text (2,98)"),
    ]


def test_whole_number_may_be_written_with_a_point(tmp_path: Path) -> None:
    reading = read_json(tmp_path, [{"id": 1, "text": "Ada", "annotations": [{"start": 0.0, "end": 3.0}]}])
    assert reading.frames.annotations.select("begin", "end").row(0) == (0, 3)


@pytest.mark.parametrize("start", ["12345678901234567890", "-12345678901234567890", "1e30"])
@pytest.mark.parametrize("end", ["1", "12345678901234567891"])
def test_offset_larger_than_any_text_is_told_as_others_that_lie_outside(tmp_path: Path, start: str, end: str) -> None:
    text = (
        f'[{{"id": 1, "text": "Ada", "annotations": [{{"start": {start}, "end": {end}}}, {{"start": 0, "end": 3}}]}}]'
    )
    reading = read_json(tmp_path, text)
    assert reading.frames.annotations["surface_form"].to_list() == ["Ada"]
    assert {repair.kind: repair.count for repair in reading.report.repairs} == {"range": 1, "no-link": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"id": 1, "text": "a",\n "annotations": [', r"x\.json:2: is no JSON"),
        ('[{"id": 1, "text": "a", "annotations": []}, 5]', r"x\.json: document 2 is no JSON object"),
        ('[{"id": 1, "text": "a", "annotations": [5]}]', r"x\.json: document 1, annotation 1: is no JSON object"),
        (
            '[{"id": 1, "text": "a", "annotations": [{"start": "0", "end": 1}]}]',
            r'document 1, annotation 1: start is a whole number, not "0"',
        ),
        (
            '[{"id": 1, "text": "a", "annotations": [{"start": 0, "end": 1}, {"start": 0.5, "end": 1}]}]',
            r"document 1, annotation 2: start is a whole number, not 0\.5",
        ),
        (
            '[{"id": 1, "text": "ab", "annotations": [{"start": 0, "end": true}]}]',
            r"document 1, annotation 1: end is a whole number, not true",
        ),
        (
            '[{"id": 1, "text": "a", "annotations": [{"start": 0, "end": 1, "confidence": true}]}]',
            r"document 1, annotation 1: true is no number for a confidence",
        ),
        (
            '[{"id": 1, "text": "a", "annotations": [{"start": 0, "end": 1e400}]}]',
            r"document 1, annotation 1: end is a whole number, not Infinity",
        ),
        ('[{"id": 1, "text": "a", "annotations": [{"start": 0}]}]', r"1, annotation 1: start and end go together"),
        (
            '[{"id": 1, "text": "a", "annotations": [{"start": 0, "end": 1, "confidence": "high"}]}]',
            r'annotation 1: "high" is no number for a confidence',
        ),
        (
            '[{"id": 1, "text": "a", "annotations": [{"start": 0, "end": 1, "confidence": NaN}]}]',
            r"is no JSON \(NaN is no value of JSON\)",
        ),
    ],
)  # fmt: skip
def test_what_is_no_document_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_json(tmp_path, text)


def test_written_as_gerbil_reads_it(tmp_path: Path) -> None:
    frames = read_json(tmp_path, [DOCUMENT]).frames
    write(frames, tmp_path / "y.json", "gerbil-json")
    # No field is null, and what has no entity has an empty meaning.
    expected = {**DOCUMENT, "id": 0}
    (found,) = json.loads((tmp_path / "y.json").read_text(encoding="utf-8"))
    for one in (expected, found):
        one["annotations"] = sorted(one["annotations"], key=lambda row: row["start"])
        one["annotations"][1]["types"] = sorted(one["annotations"][1]["types"])
    assert found == expected


@pytest.mark.long
@given(corpora())
def test_round_trip(frames: object) -> None:
    assert_kept(frames, "gerbil-json", "x.json")  # type: ignore[arg-type]
