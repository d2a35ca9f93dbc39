"""A broken line of a format of lines is refused with its number, and with what is expected there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from remix.errors import BadInput
from remix.formats import FORMATS, read


@dataclass(frozen=True)
class Broken:
    """Lines that are fine, and lines that are not, each behind these, with what is said of it."""

    file: str
    fine: str
    lines: dict[str, str]


HIPE = "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNEL-LIT\tNEL-METO\tMISC"
BROKEN = {
    "aida-conll": Broken(
        "x.conll",
        "-DOCSTART- (1)\n",
        {
            "Rome\tB\tRome": "a token of a mention has mention and entity, not 3 columns",
        },
    ),
    "answers": Broken(
        "x.jsonl",
        '{"document": "d", "text": "Paris slept.", "answers": []}\n',
        {
            '{"document": "e", "answers": [{"mention": "Ann"}]}': "'Ann' has no offsets, and the line no text",
            '{"document": "e", "answers": [1]}': "an answer is a JSON object, not 1",
            '{"document": "e", "repeat": "x", "answers": []}': "repeat is a number, not 'x'",
            '{"documents": []}': "neither a document nor a text is named",
            "{": "is no JSON",
        },
    ),
    "cleanconll-tsv": Broken(
        "x.conll",
        "-DOCSTART-\t-X-\tO\tO\tO\n",
        {
            "Rome\tNNP\tB-Rome": "token, part of speech, title and two tags are expected",
        },
    ),
    "csv": Broken(
        "x.csv",
        "document,begin,end\nd,0,1\n",
        {"d,1,": "begin and end are whole numbers, not '1' and 'None'"},
    ),
    "elevant": Broken(
        "x.benchmark.jsonl",
        '{"id": 0, "title": "", "text": "Rome", "labels": []}\n',
        {
            '{"id": 1, "title": "", "text": "Rome", "labels": [{"id": 0, "span": [4, 0]}]}': "the span [4, 0]",
            '{"id": 1, "title": ': "is no JSON",
        },
    ),
    "elevant-simple": Broken("x.jsonl", '{"predictions": []}\n', {'{"predictions": [': "is no JSON"}),
    "gum-conllu": Broken(
        "x.conllu",
        "# newdoc id = d\n",
        {
            "1\tAda\t_": "a token has 10 columns, not 3",
            f"# global.Entity = GRP{'-x' * 80}": "global.Entity names at most 64 fields",
        },
    ),
    "hipe": Broken("x.tsv", f"{HIPE}\n", {"A\tO": "has 2 columns, the header 7"}),
    "jsonl": Broken(
        "x.jsonl",
        '{"document": "d1", "text": "Ada met Bob"}\n',
        {
            '{"document": "d", "begin": 1,': "is no JSON",
            '{"document": "d", "begin": 1, "end": 2, "confidence": NaN}': "is no JSON (NaN is no value of JSON)",
            "[1]": "a record is expected",
            '{"document": "d", "begin": "a", "end": 2}': "begin and end are whole numbers, not 'a' and '2'",
            '{"begin": 1, "end": 2}': "a mention without its document",
            '{"document": "\\t", "begin": 1, "end": 2}': "a mention without its document",
            '{"document": "d", "begin": 1, "end": 2, "entity": [{}]}': "entity is a text or a list of texts",
            '{"document": "d", "begin": 1, "end": 2, "candidates": [{"score": "a"}]}': "candidates are [",
        },
    ),
    "neleval": Broken(
        "x.tsv",
        "d1\t0\t1\n",
        {
            "d1\t3": "2 columns; document, begin, end",
            "d1\ta\t3": "begin and end are numbers, not 'a' and '3'",
            "d1\t1\t3\tQ1\thigh\tLOC": "the score is a number, not 'high'",
        },
    ),
    "pubtator": Broken(
        "x.pubtator",
        "10|t|Breast and ovarian cancer\n10|a|BRCA1 in mice\n",
        {
            "10\t0\tx\tBreast\tDisease\tD1": "a mention is document, begin, end",
            "11\t0\t6\tBreast\tDisease\tD1": "a mention in document 11, which has neither title",
        },
    ),
    "slavicner-tsv": Broken(
        "x.tsv",
        "0\t3\tAda\tAda\tPER\tPER-Ada\n",
        {
            "4\tx\tBo\tBo\tPER\tPER-Bo": "begin, end and 4 more columns are expected",
            "4\t6\tBo": "begin, end and 4 more columns are expected",
        },
    ),
    "tac": Broken(
        "x.tab",
        "r\tq1\tRome\td1:5-8\tm.06c62\tGPE\tNAM\t0.5\n",
        {
            "r\tq9\tA\td1:x\tE1\tPER\tNAM\t1": "document: begin - end is expected in column 4, not 'd1:x'",
            "r\tq9\tA\td1:1-2\tE1\tPER\tNAM\tsure": "the confidence is a number, not 'sure'",
            "r\tq9\tA\td1:1-2": "column 5 has no identifier",
        },
    ),
    "tagme": Broken(
        "x.json",
        '{"annotations": []}\n',
        {
            '{"annotations": [': "is no JSON",
            '{"annotations": 5}': "annotations is a list, not 5",
            '{"annotations": [{"start": "a", "end": 2}]}': "annotations[].start and annotations[].end are",
        },
    ),
    "webanno-tsv": Broken(
        "x.tsv",
        "#FORMAT=WebAnno TSV 3.2\n#T_SP=custom|value|identifier\n#Text=Ada\n",
        {
            "1-1\t0-3\tAda\t_": "a token has number, begin-end, word and 2 columns of layers",
            "1-1\t0-x\tAda\t_\t_": "a token has number, begin-end, word and 2 columns of layers",
        },
    ),
    "zelda-conll": Broken(
        "x.conll",
        "-DOCSTART-\n\n# a\n",
        {
            "Rome\tB-220": "token, page id and title are expected",
        },
    ),
}

WHOLE = {
    *("bioc", "brat", "dwie-json", "gerbil-json", "gerdaq-xml", "iitb-xml", "knowtator-xml", "msnbc-xml", "nif"),
}
"""Formats of XML, of one JSON value, of RDF, and of folders."""

for _one in FORMATS:
    if _one.mapping is not None and _one.name not in BROKEN:
        _lines = {
            "json-lines": {"{": "is no JSON", "[1]": "a record is expected"},
            "table": {f"a{_one.mapping.records.separator[0] * 9}": "has 10 cells"},
            "token-lines": {"a\tb": "has 2 columns; a token has "},
            "json": {},
            "xml": {},
        }[_one.mapping.records.syntax]
        BROKEN[_one.name] = Broken(f"x{_one.suffixes[0]}", _one.mapping.example.lstrip("\n"), _lines)


@pytest.mark.parametrize(
    ("format", "line"), [(format, line) for format, broken in BROKEN.items() for line in broken.lines]
)
def test_broken_line_is_refused_with_its_number(tmp_path: Path, format: str, line: str) -> None:
    broken = BROKEN[format]
    path = tmp_path / broken.file
    path.write_text(f"{broken.fine}{line}\n", encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read(path, format=format)
    number = broken.fine.count("\n") + 1
    assert str(refused.value).startswith(f"{path}:{number}: {broken.lines[line]}")
    assert "\n" not in str(refused.value)


def test_every_format_of_lines_is_tried() -> None:
    known = {one.name for one in FORMATS}
    lacking = sorted(known - set(BROKEN) - WHOLE)
    assert not lacking, f"give {lacking} a line that is broken in BROKEN, or add what has no lines to WHOLE"
    assert set(BROKEN) | WHOLE == known and not set(BROKEN) & WHOLE, "of no format, or in BROKEN and WHOLE"


UNREAD = {
    "aida-conll": ("-DOCSTART- (1)\nAda\tB\tAda\tAda\n", "Rome\tX\tRome\tRome", "'X'"),
    "cleanconll-tsv": ("-DOCSTART-\t-X-\tO\tO\tO\nAda\tNNP\tB-Ada\tO\tO\n", "Rome\tNNP\tRome\tO\tO", "'Rome'"),
    "mhercl-tsv": ("", "Rome\tX-LOC\tQ220\tRome\tPROPN", "'X-LOC'"),
    "zelda-conll": ("-DOCSTART-\n\n# a\nAda\tB-1\tB-Ada\n", "Rome\tB-266955\tO-266955", "'O-266955'"),
}
"""Lines that are fine, one of them a mention, and one whose tag is none."""


@pytest.mark.parametrize("format", UNREAD)
def test_tag_that_cannot_be_read_is_one_finding_and_not_the_end_of_the_file(tmp_path: Path, format: str) -> None:
    fine, line, said = UNREAD[format]
    mapping = FORMATS[format].mapping
    fine = mapping.example.lstrip("\n") if mapping else fine
    path = tmp_path / "x.tsv"
    path.write_text(fine, encoding="utf-8")
    known = read(path, format=format).report
    path.write_text(f"{fine}{line}\n", encoding="utf-8")
    found = read(path, format=format).report
    assert found.annotations == known.annotations
    [told] = [one for one in found.repairs if one.kind == "tag"]
    assert told.count == 1 and told.example.endswith(f"{said} is no tag: read as O")


def test_every_format_of_tokens_with_tags_is_tried() -> None:
    tagged = {one.name for one in FORMATS if one.mapping is not None and any(rule.tags for rule in one.mapping.mention)}
    assert set(UNREAD) == tagged | {"aida-conll", "cleanconll-tsv", "zelda-conll"}
