"""Hostile and odd files: bounded memory and time, known causes in words of their own, nothing dropped unsaid."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from remix.errors import BadInput, Unforeseen
from remix.formats import read

DEEP = 100_000
JSON_HEADS = {
    "answers": '{"document": "d", "text": "Ada", "answers": [], "x": ',
    "bioc": '{"documents": [{"id": "1", "passages": [{"offset": 0, "text": "Ada", "annotations": []}]}], "x": ',
    "dwie-json": '{"id": "d", "mentions": [{"begin": 0, "end": 3, "text": "Ada", "concept": 0}], "x": ',
    "elevant": '{"id": 0, "title": "t", "text": "Ada", "labels": [{"id": 0, "span": [0, 3]}], "x": ',
    "elevant-simple": '{"text": "Ada", "labels": [{"start_char": 0, "end_char": 3}], "x": ',
    "gerbil-json": '[{"id": 0, "text": "Ada", "annotations": [{"start": 0, "end": 3}], "x": ',
    "jsonl": '{"document": "d", "begin": 0, "end": 3, "x": ',
    "tagme": '{"annotations": [{"start": 0, "end": 3, "spot": "Ada"}], "x": ',
}
"""Files of the formats of JSON up to a value that nobody reads."""


def refusal(path: Path, content: str | bytes, format: str | None = None) -> str:
    """Return why a file is refused, without its name."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput) as caught:
        read(path, format=format, unannotated=True)
    assert not isinstance(caught.value, Unforeseen), caught.value
    return str(caught.value).removeprefix(str(path))


def repairs(path: Path, content: str, **options: object) -> dict[str, str]:
    """Return the example of each kind of repair of a file that is read."""
    path.write_text(content)
    return {one.kind: one.example for one in read(path, **options).report.repairs}  # type: ignore[arg-type]


@pytest.mark.parametrize("format", JSON_HEADS)
def test_deep_json_is_refused_in_words(tmp_path: Path, format: str) -> None:
    content = JSON_HEADS[format] + "[" * DEEP + "]" * DEEP + ("}]" if format == "gerbil-json" else "}")
    assert "is JSON that is nested too deeply" in refusal(tmp_path / "x.json", content, format).replace("BioC ", "")


@pytest.mark.parametrize("format", JSON_HEADS)
def test_deep_json_is_no_defect_while_the_format_is_told(tmp_path: Path, format: str) -> None:
    content = JSON_HEADS[format] + "[" * 20_000 + "]" * 20_000 + ("}]" if format == "gerbil-json" else "}")
    refusal(tmp_path / "x.json", content)


@pytest.mark.parametrize("format", JSON_HEADS)
def test_half_a_letter_in_json_is_mended_and_told(tmp_path: Path, format: str) -> None:
    content = JSON_HEADS[format].replace("Ada", "A\\ud83dz") + "1}" + ("]" if format == "gerbil-json" else "")
    if "z" not in content:
        content = content.replace('"d"', '"d\\ud83dz"')
    found = repairs(tmp_path / "x.json", content, format=format, unannotated=True)
    assert found["surrogate"] == "line 1: \\ud83d is half a letter, read as U+FFFD"


BIOC = (
    '{"documents": [{"id": "7", "passages": [{"offset": 0, "text": "Ada", "annotations": [{"id": "1", "text": "Ada", '
)
PASSAGE = '{"offset": %s, "text": "Bob", "annotations": []}'


@pytest.mark.parametrize("offset", [10**9, 10**14])
@pytest.mark.parametrize("name", ["x.json", "x.xml"])
def test_bioc_offset_far_behind_the_text_is_refused_in_bounded_memory(tmp_path: Path, name: str, offset: int) -> None:
    content = f'{{"documents": [{{"id": "7", "passages": [{PASSAGE % offset}]}}]}}'
    if name == "x.xml":
        passage = f"<passage><offset>{offset}</offset><text>Bob</text></passage>"
        content = f"<collection><document><id>7</id>{passage}</document></collection>"
    tracemalloc.start()
    try:
        said = refusal(tmp_path / name, content, "bioc")
        assert said == f": a passage of document 7 begins at {offset:,}, and the text before it ends at 0"
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_bioc_gaps_of_many_documents_count_together(tmp_path: Path) -> None:
    document = '{"id": "7", "passages": [{"offset": 900000, "text": "Bob"}]}'
    said = refusal(tmp_path / "x.json", f'{{"documents": [{document}, {document}, {document}]}}', "bioc")
    assert "a passage of document 7 begins at 900,000" in said


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        ('"locations": {"offset": 0}}', "annotation 1 has no list of objects as 'locations'"),
        ('"locations": [0, 3]}', "annotation 1 has no list of objects as 'locations'"),
        ('"locations": [{"offset": 0, "length": 2.5}]}', "annotation 1, location 1 has 2.5 as 'length'"),
        ('"locations": [{"offset": true, "length": 3}]}', "annotation 1, location 1 has true as 'offset'"),
        ('"locations": [{"offset": 0}]}', "annotation 1, location 1 lacks 'length'"),
        ('"infons": ["a"]}', "annotation 1 has [\"a\"] as 'infons'"),
        ('"infons": {}, "text": 5}', "annotation 1 has 5 as 'text'"),
        ('"locations": [{"offset": "٣", "length": 3}]}', "an offset or length is no number ('٣')"),
        ('"locations": [{"offset": 0, "length": 99999999999999999999}]}', "no number ('99999999999999999999')"),
    ],
)
def test_bioc_of_other_types_is_refused_in_words(tmp_path: Path, annotation: str, said: str) -> None:
    assert said in refusal(tmp_path / "x.json", BIOC + annotation + "]}]}]}", "bioc")


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 5))
XML_BODIES = {
    "bioc": (
        "x.xml",
        "collection",
        "<document><id>1</id><passage><offset>0</offset><text>%s</text></passage></document>",
    ),
    "iitb-xml": (
        "x.xml",
        "iitb.CSAW.entityAnnotations",
        "<annotation><docName>a</docName><mention>%s</mention></annotation>",
    ),
    "lgl-xml": ("x.xml", "articles", "<article docid='1'><text>%s</text></article>"),
    "msnbc-xml": ("x.xml", "ReferenceProblem", "<ReferenceFileName>%s</ReferenceFileName>"),
    "tac": ("x.xml", "kbpentlink", "<query id='q'><name>%s</name></query>"),
}


@pytest.mark.parametrize("format", XML_BODIES)
def test_entities_of_xml_that_grow_are_refused_in_bounded_memory(tmp_path: Path, format: str) -> None:
    name, root, body = XML_BODIES[format]
    # 10 letters ten times in each of four: 100,000 of 700.
    content = (
        f'<?xml version="1.0"?><!DOCTYPE {root} [<!ENTITY l0 "{"ha" * 5}">{LAUGHS}]><{root}>{body % "&l4;"}</{root}>'
    )
    tracemalloc.start()
    try:
        assert "has entities (<!ENTITY …>) that grow to more than 4 times the file" in refusal(
            tmp_path / name, content, format
        )
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("format", XML_BODIES)
def test_entities_of_xml_that_do_not_grow_are_read(tmp_path: Path, format: str) -> None:
    name, root, body = XML_BODIES[format]
    content = f'<?xml version="1.0"?><!DOCTYPE {root} [<!ENTITY uuml "ü">]><{root}>{body % "Z&uuml;rich"}</{root}>'
    (tmp_path / name).write_text(content)
    try:
        read(tmp_path / name, format=format, unannotated=True)
    except BadInput as error:
        assert "ENTITY" not in str(error) and "is no XML" not in str(error)


@pytest.mark.parametrize("format", XML_BODIES)
def test_deep_xml_is_refused_in_words(tmp_path: Path, format: str) -> None:
    name, root, _ = XML_BODIES[format]
    assert "is nested deeper than 200 elements" in refusal(tmp_path / name, f"<{root}>" + "<a>" * DEEP, format)


@pytest.mark.parametrize("number", ["٣", "1_0", "99999999999999999999999"])
def test_numbers_of_xml_in_other_digits_or_beyond_any_text_are_refused(tmp_path: Path, number: str) -> None:
    iitb = f"<docName>a</docName><offset>{number}</offset><length>3</length>"
    said = refusal(
        tmp_path / "x.xml",
        f"<iitb.CSAW.entityAnnotations><annotation>{iitb}</annotation></iitb.CSAW.entityAnnotations>",
    )
    assert "offset and length are numbers" in said
    kbp = f"<query><docid>d</docid><beg>{number}</beg><end>3</end></query>"
    assert "a query has docid, beg and end" in refusal(tmp_path / "x.xml", f"<kbpentlink>{kbp}</kbpentlink>")
    (tmp_path / "a.txt").write_text("Ada")
    instance = f"<ReferenceInstance><Offset>{number}</Offset><Length>3</Length></ReferenceInstance>"
    problem = f"<ReferenceProblem><ReferenceFileName>a.txt</ReferenceFileName>{instance}</ReferenceProblem>"
    assert "Offset and Length are numbers" in refusal(tmp_path / "x.xml", problem)


@pytest.mark.parametrize(
    ("format", "line", "said"),
    [
        ("pubtator", "1|t|Ada\n1\t٠\t٣\tAda\tPerson\tD1\n", ":2: a mention is document, begin, end"),
        ("neleval", "d\t٠\t٣\n", ":1: begin and end are numbers, not"),
        ("neleval", "d\t0\t99999999999999999999\n", ":1: begin and end are numbers, not"),
        ("tac", "r\tq\tA\td1:1-99999999999999999999\tE1\tPER\n", ":1: document: begin - end is expected"),
        ("csv", "document,begin,end\nd,٠,٣\n", ":2: begin and end are whole numbers"),
        ("answers", '{"document": "d", "repeat": "²", "answers": []}', ":1: repeat is a number"),
        (
            "elevant",
            '{"id": 0, "text": "Ada", "hyperlinks": [[[0, 99999999999999999999], "A"]], "labels": []}\n[1]',
            ":2: an article is expected",
        ),
    ],
)
def test_digits_of_other_scripts_and_numbers_of_20_digits_are_refused(
    tmp_path: Path, format: str, line: str, said: str
) -> None:
    assert refusal(tmp_path / "x.txt", line, format).startswith(said)


@pytest.mark.parametrize("header", ["document,begin,end,entity,entity", "document,begin,end,Entity, entity"])
def test_a_column_of_a_table_that_is_there_twice_is_refused(tmp_path: Path, header: str) -> None:
    assert refusal(tmp_path / "x.csv", f"{header}\nd,0,3,Q1,Q2\n") == ":1: has the column 'entity' twice"


def test_a_table_may_have_a_column_of_any_other_name(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("document,begin,end,line,, \nd,0,3,x,y,z\n")
    assert read(tmp_path / "x.csv").frames.annotations.height == 1


def test_what_is_quoted_of_a_file_stays_on_one_line(tmp_path: Path) -> None:
    passage = "<passage><offset>1\n2</offset><text>Bob</text></passage>"
    said = refusal(tmp_path / "x.xml", f"<collection><document><id>7</id>{passage}</document></collection>", "bioc")
    assert said == ": is no BioC: line 1: an offset or length is no number ('1 2')"


def test_wide_headers_are_refused(tmp_path: Path) -> None:
    names = ",".join(f"c{n}" for n in range(100_000))
    assert refusal(tmp_path / "x.csv", f"document,begin,end,{names}\n") == ":1: has more than 1,000 columns"
    hipe = "TOKEN\tNE-COARSE-LIT\tNEL-LIT"
    many = "\t".join("x" for _ in range(100_000))
    assert (
        refusal(tmp_path / "x.tsv", f"{hipe}\t{many}\n", "hipe") == ":1: the header has 100003 columns; 64 are the most"
    )
    assert (
        refusal(tmp_path / "x.tsv", f"{hipe}\tTOKEN\nA\tO\t_\tB\n", "hipe")
        == ":1: the header has the column TOKEN twice"
    )


def archive(path: Path, members: list[tuple[str, str]]) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as stream:
        for name, text in members:
            stream.writestr(name, text)
    return path.read_bytes()


ANNOTATED = [("a.txt", "Ada"), ("a.ann", "T1\tPER 0 3\tAda\n")]


@pytest.mark.long
def test_every_damaged_byte_of_an_archive_ends_in_words(tmp_path: Path) -> None:
    whole = archive(tmp_path / "x.zip", ANNOTATED)
    for place in range(4, len(whole)):
        (tmp_path / "x.zip").write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read(tmp_path / "x.zip", format="brat", unannotated=True)
        except BadInput as error:
            assert not isinstance(error, Unforeseen), (place, error)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_with_two_members_of_one_name_is_refused(tmp_path: Path) -> None:
    content = archive(tmp_path / "x.zip", [*ANNOTATED, ("a.txt", "Bob")])
    assert refusal(tmp_path / "x.zip", content) == ": has two members named a.txt: only one could be read"


def test_an_archive_that_becomes_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remix.files.FREE", 1 << 20)
    content = archive(tmp_path / "x.zip", [("a.txt", "Ada " * 1_000_000), ANNOTATED[1]])
    assert "become more than 1,048,576: if it is meant to, set REMIX_MAX_EXPANSION=" in refusal(
        tmp_path / "x.zip", content
    )
    monkeypatch.setenv("REMIX_MAX_EXPANSION", "2000")
    assert read(tmp_path / "x.zip").frames.documents["text"][0].startswith("Ada Ada")


def test_several_classes_of_a_mention_in_json_lines_are_read(tmp_path: Path) -> None:
    row = {"document": "d", "text": "Ada", "begin": 0, "end": 3, "class": ["PER", "http://x/Woman"]}
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    classes = read(tmp_path / "x.jsonl").frames.classes["class"].sort().to_list()
    assert classes == ["http://x/Woman", "https://w3id.org/nel-remix/ns#PER"]


@pytest.mark.parametrize(
    ("format", "content", "said"),
    [
        (
            "elevant",
            '{"id": 0, "title": "t", "text": "Ada", "lables": [{"id": 0, "span": [0, 3]}]}',
            "'lables' is not read; did you mean 'labels'?",
        ),
        (
            "elevant",
            '{"id": 0, "title": "t", "text": "Ada", "entity_mention": []}',
            "'entity_mention' is not read; did you mean 'entity_mentions'?",
        ),
        ("elevant-simple", '{"text": "Ada", "label": []}', "'label' is not read; did you mean 'labels'?"),
        (
            "gerbil-json",
            '[{"id": 0, "text": "Ada", "anotations": []}]',
            "'anotations' is not read; did you mean 'annotations'?",
        ),
        (
            "bioc",
            '{"documents": [{"id": "1", "passages": [{"offset": 0, "text": "Ada", "annotation": []}]}]}',
            "'annotation' is not read; did you mean 'annotations'?",
        ),
        (
            "jsonl",
            '{"document": "d", "begin": 0, "end": 3, "confidense": 0.5}',
            "'confidense' is not read; did you mean 'confidence'?",
        ),
    ],
)
def test_a_field_that_is_nearly_called_like_one_is_told(tmp_path: Path, format: str, content: str, said: str) -> None:
    found = repairs(
        tmp_path / "x.jsonl", "\n" + content if format == "gerbil-json" else content, format=format, unannotated=True
    )
    assert found["misspelt"].endswith(said)


@pytest.mark.parametrize("field", ["text", "lang"])
def test_an_answer_of_tagme_whose_text_is_none_is_refused(tmp_path: Path, field: str) -> None:
    answer = {"annotations": [], field: [1]}
    assert refusal(tmp_path / "x.json", json.dumps(answer), "tagme") == f":1: '{field}' is a text, not [1]"


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.csv", "document,begin,end,entity\n"), ("x.json", "[]"), ("x.tsv", "TOKEN\tNE-COARSE-LIT\tNEL-LIT\n")],
)
def test_a_header_alone_is_told(tmp_path: Path, name: str, content: str) -> None:
    formats = {"x.csv": "csv", "x.json": "gerbil-json", "x.tsv": "hipe"}
    told = "has neither a document nor an annotation: a header or brackets alone"
    found = repairs(tmp_path / name, content, format=formats[name], unannotated=True)
    assert found == {"no-annotation": f"the file {told}"}
    with pytest.raises(BadInput, match=told):
        read(tmp_path / name, format=formats[name])


def test_a_run_without_annotations_or_without_links_is_told(tmp_path: Path) -> None:
    lines = ["d1\t0\t2\tNIL1\n", "d1\t4\t6\n"]
    found = repairs(tmp_path / "x.tsv", "".join(lines), unannotated=True)
    assert found == {"no-link": "not one of the file's 2 annotations has a link, so that all are NIL"}
    found = repairs(tmp_path / "y.jsonl", '{"document": "d", "text": "Ada"}', unannotated=True)
    assert found == {"no-annotation": "the file has 1 documents but no annotation"}
    # Gold may be so.
    assert repairs(tmp_path / "x.tsv", "".join(lines)) == {}


def test_a_document_that_failed_is_told_and_keeps_the_others(tmp_path: Path) -> None:
    good = '{"document": "d1", "text": "Ada", "answers": [{"mention": "Ada", "entity": "Q1"}]}\n'
    bad = '{"document": "d2", "text": "Bob", "error": "timed out\\nafter 60 s"}\n'
    (tmp_path / "x.jsonl").write_text(good + bad)
    found = read(tmp_path / "x.jsonl")
    assert [(one.kind, one.example) for one in found.report.repairs] == [
        ("failed", "line 2: document d2: timed out after 60 s")
    ]
    assert found.frames.annotations.height == 1 and found.frames.documents.height == 2
    answers = '{"annotations": [{"start": 0, "end": 3, "spot": "Ada", "title": "Ada"}]}\n{"error": "500"}\n'
    assert repairs(tmp_path / "y.json", answers, format="tagme")["failed"] == "line 2: 500"


def test_names_with_blanks_are_names_in_neleval_files(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("1163testb SOCCER\t0\t5\tQ1\t0.5\tPER\n1164testb SOCCER\t3\t9\n")
    found = read(tmp_path / "x.tsv")
    assert found.report.format == "neleval"
    assert found.frames.documents["given"].to_list() == ["1163testb SOCCER", "1164testb SOCCER"]


def test_an_archive_whose_member_has_no_name_is_refused(tmp_path: Path) -> None:
    content = archive(tmp_path / "x.zip", ANNOTATED)
    # The length of the name in the directory, 46 bytes before it.
    place = content.rindex(b"PK\x01\x02") + 28
    content = content[:place] + b"\0\0" + content[place + 2 :]
    assert "the archive is damaged" in refusal(tmp_path / "x.zip", content)


def test_candidates_of_a_mention_have_a_limit_in_neleval_files(tmp_path: Path) -> None:
    said = refusal(tmp_path / "x.tsv", "d\t0\t1" + "\tQ1\t1\tPER" * 100_000 + "\n", "neleval")
    assert said == ":1: 300003 columns; there are 1000 candidates at most"


@pytest.mark.parametrize(
    ("parent", "said"),
    [
        # Each label and its two children: 2, 5, 26, 677, 458,330 ways.
        (lambda n: (n - 1) // 2, "can be satisfied in more than 10,000 ways by the labels in it"),
        (lambda n: n - 1, "is nested deeper than 50 labels"),
    ],
)
def test_nested_labels_of_elevant_have_a_limit(tmp_path: Path, parent: Callable[[int], int], said: str) -> None:
    labels = [{"id": n, "span": [0, 3], "parent": parent(n) if n else None} for n in range(1000)]
    line = json.dumps({"id": 0, "title": "t", "text": "Ada", "labels": labels})
    found = refusal(tmp_path / "x.benchmark.jsonl", line + "\n")
    assert found.startswith(":1: label ") and found.endswith(said)


def test_mentions_looked_for_in_a_text_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remix.formats.definitions.answers.MOST_LETTERS", 100_000)
    answers = [{"mention": f"x{n}"} for n in range(1000)]
    line = json.dumps({"document": "d", "text": "ab " * 1000, "answers": answers})
    assert refusal(tmp_path / "x.jsonl", line) == (
        ":1: too many mentions are looked for in a text of 3,000 letters: give begin and end"
    )
    # What is not there is looked for once: 1,000 times the text otherwise.
    line = json.dumps({"document": "d", "text": "ab " * 1000, "answers": [{"mention": "x"}] * 1000})
    assert repairs(tmp_path / "x.jsonl", line, unannotated=True)["not-in-text"] == "line 1: document d"


def test_records_of_xml_in_records_are_read_once(tmp_path: Path) -> None:
    toponym = "<toponym><start>0</start><end>1</end></toponym>"
    nested = "<article docid='1'><text>x</text>" * 100 + toponym * 50 + "</article>" * 100
    (tmp_path / "x.xml").write_text(f"<articles>{nested}</articles>")
    # 50, not 100 times as many.
    assert read(tmp_path / "x.xml", format="lgl-xml").report.annotations == 50
