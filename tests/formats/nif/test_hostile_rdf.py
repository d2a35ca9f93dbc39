"""RDF that was made to harm, or damaged so that it might: time and memory stay within a multiple of the input."""

from __future__ import annotations

from pathlib import Path

import pytest

from remix.errors import BadInput
from remix.formats import read
from remix.formats.nif.mending import find_relative_iris

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
NAMESPACES = f'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:nif="{NIF}"'
NESTED = '<!ENTITY a0 "lollollol">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 8))
MENTION = f"""@prefix nif: <{NIF}> .
<http://x/d> nif:isString "in Rome" .
<http://x/a> nif:referenceContext <http://x/d> ; nif:anchorOf "Rome" ; nif:beginIndex """


def rdf_xml(entities: str, text: str) -> str:
    about = f'<rdf:Description rdf:about="http://x/d"><nif:isString>{text}</nif:isString></rdf:Description>'
    phrase = (
        '<rdf:Description rdf:about="http://x/a"><nif:referenceContext rdf:resource="http://x/d"/>'
        "<nif:beginIndex>0</nif:beginIndex><nif:endIndex>3</nif:endIndex></rdf:Description>"
    )
    return f"<?xml version='1.0'?>\n<!DOCTYPE rdf:RDF [{entities}]>\n<rdf:RDF {NAMESPACES}>{about}{phrase}</rdf:RDF>"


@pytest.mark.parametrize(
    ("entities", "text", "line"),
    [
        # Ten of ten of …: 9 * 10^7 letters of 1 kB.
        (NESTED, "&a7;", 2),
        # One of 20,000 letters, 2,000 times: 40 million of 28,000.
        (f'<!ENTITY a "{"x" * 20_000}">', "&a;" * 2_000, 3),
        # Behind a comment that is longer than what a format is recognised by.
        (f"<!-- {'x' * 70_000} -->{NESTED}", "&a7;", 2),
    ],
)
def test_entities_of_rdf_xml_that_grow_are_refused_before_they_do(
    tmp_path: Path, entities: str, text: str, line: int
) -> None:
    (tmp_path / "x.rdf").write_text(rdf_xml(entities, text))
    with pytest.raises(BadInput, match=rf"x\.rdf:{line}: has entities .* grow to more than 8 times the file"):
        read(tmp_path / "x.rdf")


def test_entities_of_rdf_xml_that_abbreviate_are_read(tmp_path: Path) -> None:
    (tmp_path / "x.rdf").write_text(rdf_xml('<!ENTITY city "Rome">', "&city; is old &amp; &city; is new"))
    assert read(tmp_path / "x.rdf").frames.documents["text"].to_list() == ["Rome is old & Rome is new"]


def test_relative_iris_are_counted_in_one_pass() -> None:
    # 200,000 on as many lines: counting the lines before each took minutes.
    text = "".join(f"<relative/{n}> <http://x/p> <other/{n}> .\n" for n in range(100_000))
    assert find_relative_iris(text) == (200_000, "line 1: <relative/0>")


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1, -(2**63) + 3, 2**63, -(10**30)])
def test_offsets_beyond_any_text_are_told_and_do_not_wrap(tmp_path: Path, number: int) -> None:
    (tmp_path / "x.ttl").write_text(f"{MENTION}{number} ; nif:endIndex {number} .")
    found = read(tmp_path / "x.ttl")
    assert [repair.kind for repair in found.report.repairs] == ["range"]
    (tmp_path / "y.ttl").write_text(f"{MENTION}3 ; nif:endIndex 7 . <http://x/d> nif:beginIndex {number} .")
    assert read(tmp_path / "y.ttl").frames.annotations["surface_form"].to_list() == ["Rome"]


def test_halves_of_letters_are_joined_or_told(tmp_path: Path) -> None:
    mention = MENTION.replace("in Rome", r"\uD83D\uDE00 Rome \uD800") + "2 ; nif:endIndex 6 ."
    (tmp_path / "x.ttl").write_text(mention)
    found = read(tmp_path / "x.ttl")
    assert found.frames.documents["text"].to_list() == ["\U0001f600 Rome \ufffd"]
    assert [(repair.kind, repair.count) for repair in found.report.repairs] == [("surrogate", 2)]
    (tmp_path / "x.jsonld").write_text(
        r'[{"@id": "http://x/d", "NIF#isString": "\ud83d\ude00 Rome \ud800"}, {"@id": "http://x/a", '.replace(
            "NIF#", NIF
        )
        + f'"{NIF}referenceContext": {{"@id": "http://x/d"}}, "{NIF}beginIndex": 2, "{NIF}endIndex": 6}}]'
    )
    found = read(tmp_path / "x.jsonld")
    assert found.frames.documents["text"].to_list() == ["\U0001f600 Rome \ufffd"]
    assert [(repair.kind, repair.count) for repair in found.report.repairs] == [("surrogate", 1)]
