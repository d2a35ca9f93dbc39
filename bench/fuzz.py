"""Damaged files of every format, and what the readers make of them: an answer, or one line that says what is wrong.

    python bench/fuzz.py --inputs 100000 --seed 1 [--format hipe ...] [--memory 400] [--seconds 10]

Each input is made of the seed and its number alone (`--only N` makes one again and prints it). A reader fails where it
raises what nobody foresaw, says another thing the second time (one input in ten is read twice), takes more seconds of
CPU, or grows by more memory (in MB, beyond that of the seeds) than it may. `tests/formats/test_fuzz.py` tries a few.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import math
import random
import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import zstandard

from remix.errors import BadInput, Error, Unforeseen
from remix.formats import FORMATS, read


@dataclass(frozen=True)
class Input:
    """A damaged file: its name, its bytes, and the format that it is read as (null: as it is sniffed)."""

    name: str
    data: bytes
    format: str | None


def zipped(files: dict[str, str]) -> bytes:
    """Return an archive of the files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return stream.getvalue()


_NIF = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
_TTL = f"""{_NIF}@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<http://x/d#char=0,11> a nif:Context ; nif:isString "Ada met Böb"@en ; nif:beginIndex "0"^^xsd:int ; nif:endIndex 11 .
<http://x/d#char=0,3> a nif:Phrase ; nif:referenceContext <http://x/d#char=0,11> ; nif:anchorOf "Ada" ;
  nif:beginIndex 0 ; nif:endIndex 3 ; itsrdf:taIdentRef <http://dbpedia.org/resource/Ada> ; itsrdf:taConfidence 0.5 .
"""
_NT = (
    '<http://x/d> <{0}isString> "Ada met B\\u00F6b" .\n<http://x/a> <{0}referenceContext> <http://x/d> .\n'
    '<http://x/a> <{0}beginIndex> "0" .\n<http://x/a> <{0}endIndex> "3" .\n<http://x/a> <{0}anchorOf> "Ada" .\n'
).format("http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#")
_RDF = """<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:nif="http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#">
<nif:Context rdf:about="http://x/d"><nif:isString>Ada &amp; Bob</nif:isString></nif:Context>
<nif:Phrase rdf:about="http://x/a"><nif:referenceContext rdf:resource="http://x/d"/><nif:beginIndex>0</nif:beginIndex>
<nif:endIndex>3</nif:endIndex><nif:anchorOf>Ada</nif:anchorOf></nif:Phrase></rdf:RDF>
"""
_JSONLD = (
    '{"@context": {"nif": "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"}, "@graph": [\n'
    ' {"@id": "http://x/d", "nif:isString": "Ada met Bob"},\n'
    ' {"@id": "http://x/a", "nif:referenceContext": {"@id": "http://x/d"}, "nif:beginIndex": 0, "nif:endIndex": 3}]}\n'
)
_TEXT = "Ada met Böb in Rome."
_ARTICLE = (
    '{"id": 7, "title": "t", "text": "Ada met Böb in Rome.", "evaluation_span": [0, 20], "hyperlinks": [[[0, 3], "A"]],'
)
_PROBLEM = """<?xml version="1.0" encoding="UTF-8"?>
<ReferenceProblem><ReferenceFileName>a.txt</ReferenceFileName>
<ReferenceInstance><SurfaceForm>Ada</SurfaceForm><Offset>0</Offset><Length>3</Length>
<ChosenAnnotation>http://en.wikipedia.org/wiki/Ada</ChosenAnnotation></ReferenceInstance></ReferenceProblem>
"""
_IITB = """<iitb.CSAW.entityAnnotations><annotation><docName>a.txt</docName><userId>u</userId>
<wikiName>Ada_Lovelace</wikiName><offset>0</offset><length>3</length></annotation>
<document docName="b.txt"><annotation><mention>Böb</mention><wikiName>NIL</wikiName><offset>8</offset>
<length>3</length></annotation></document></iitb.CSAW.entityAnnotations>
"""
_BIOC_XML = """<?xml version="1.0"?><!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source/><date/><key/><document><id>10</id><passage><infon key="type">title</infon><offset>0</offset>
<text>Breast and ovarian cancer</text><annotation id="1"><infon key="identifier">D1|D2</infon>
<infon key="type">Disease</infon><location offset="0" length="6"/><location offset="19" length="6"/>
<text>Breast cancer</text></annotation></passage></document></collection>
"""
_BIOC_JSON = (
    '{"source": "", "documents": [{"id": "10", "infons": {}, "passages": [{"offset": 0, "infons": {}, '
    '"text": "Breast and ovarian cancer", "annotations": [{"id": "1", "infons": {"identifier": "MESH:D001943", '
    '"type": "Disease"}, "text": "Breast", "locations": [{"offset": 0, "length": 6}]}]}, '
    '{"offset": 26, "text": "in mice", "annotations": []}]}]}\n'
)
_KBP = """<?xml version="1.0"?><kbpentlink><query id="q1"><name>Rome</name><docid>d1</docid><beg>5</beg><end>8</end>
</query></kbpentlink>
"""

_KNOWTATOR = """<annotations textSource="a.txt"><annotation><mention id="i1"/><span start="0" end="3"/>
<spannedText>Ada</spannedText></annotation>
<annotation><mention id="i2"/><span start="0" end="3"/><span start="8" end="11"/>
<spannedText>Ada ... Böb</spannedText></annotation>
<annotation><mention id="i3"/><span start="0" end="3"/></annotation>
<classMention id="i1"><mentionClass id="CHEBI:1">ada</mentionClass></classMention>
<classMention id="i2"><mentionClass id="PR:P1">b</mentionClass></classMention></annotations>
"""
_LGL = """<articles>
<article docid="7"><title>t</title><text><![CDATA[Ada & Böb]]></text><toponyms><toponym><start>0</start>
<end>3</end><phrase>Ada</phrase>
<gaztag geonameid="12"><name>x</name><country geonameid="3">y</country></gaztag></toponym>
<toponym><start>6</start><end>9</end><phrase>Böb</phrase></toponym></toponyms></article></articles>
"""
_GWN = """<articles>
<article file="0"><text>Ada met Böb</text><toponyms><toponym><extractedName>Ada</extractedName>
<type>Literal</type><start>0</start><end>3</end><geonamesID>12</geonamesID></toponym><toponym><extractedName>Ada</extractedName>
<type>Coercion</type><start>0</start><end>3</end><geonamesID/></toponym></toponyms></article></articles>
"""
_GEOVIRUS = """<articles>
<article><source>https://x/A_b</source><text>Ada met Böb</text><locations><location><name>Ada</name>
<start>1</start><end>4</end><page>https://en.wikipedia.org/wiki/Ada</page></location><location><name>Böb</name>
<start>9</start><end>12</end><page>N/A</page></location></locations></article></articles>
"""
_GERDAQ = """<dataset><instance>an
<annotation rank_0_id="1" rank_0_title="Oak" rank_0_score="0.9" rank_1_title="Elm">oak
</annotation> of <annotation rank_0_title="Böb">Böb</annotation></instance><instance>none</instance></dataset>
"""
_DWIE = (
    '{"id": "D1", "mentions": [{"begin": 0, "end": 3, "text": "Ada", "concept": 0, "candidates": ["Ada", "Oak"], '
    '"scores": [0.9, 0.1]}, {"begin": 8, "end": 11, "text": "Böb", "concept": 1}], "concepts": [{"concept": 0, "link": '
    '"Ada", "tags": ["type::person", "slot::x"]}, {"concept": 1, "link": null, "tags": []}]}'
)

SEEDS: dict[str, list[tuple[str, bytes | str]]] = {
    "aida-conll": [
        ("x.conll", "-DOCSTART- (1 A)\nAda\tB\tAda L\tAda_L\thttp://en.wikipedia.org/wiki/Ada\nL\tI\tAda L\tAda_L\n\nB\n"),  # noqa: E501
        ("x.tsv", "-DOCSTART- (2)\nBöb\tB\tBöb\t--NME--\n.\n\n-DOCSTART- (2)\nRome\tB\tRome\tRome\n"),
    ],
    "answers": [
        (
            "x.jsonl",
            '{"model": "m", "cost": 1.5}\n{"document": "d1", "text": "Ada met Böb", "answers": [{"mention": "Ada", '
            '"entity": "Q7259", "confidence": 0.9}, {"mention": "Bob", "label": "a man", "begin": 8, "end": 11}]}\n',
        ),
        ("x.jsonl", '{"document": "d", "text": "Ada", "repeat": 1, "output": "Sure! [{\\"mention\\": \\"Ada\\"}, {"}\n'),  # noqa: E501
    ],
    "bioc": [("x.xml", _BIOC_XML), ("x.json", _BIOC_JSON)],
    "brat": [
        (
            "x.zip",
            zipped(
                {
                    "a.txt": _TEXT,
                    "a.ann": "T1\tPER 0 3\tAda\nN1\tReference T1 Wikidata:Q7259\tAda\nA1\tConfidence T1 0.5\n"
                    "T2\tPER 0 3;8 11\tAda Böb\n#1\tAnnotatorNotes T2\tQ1\nR1\tknows Arg1:T1 Arg2:T2\n",
                }
            ),
        ),
        ("a.ann", "T1\tPER 0 3\tAda\nT2\tEntity 8 11\tBöb\nN1\tReference T1 Wikidata:Q7259\tAda\n"),
    ],
    "cleanconll-tsv": [
        (
            "x.conll",
            "-DOCSTART-\t-X-\tO\tO\tO\n\nAda\tNNP\tB-Ada_L\tB-PER\tB-PER\nL\tNNP\tI-Ada_L\tI-PER\tI-PER\n"
            "Böb\tNNP\tO\tO\tB-PER\n\n-DOCSTART-\t-X-\tO\tO\tO\n[TOKEN]\tNN\tO\tO\tO\n",
        )
    ],
    "csv": [
        ("x.csv", 'document,begin,end,entity,surface_form,confidence,class\nd,0,3,Q1,"A,da",0.5,PER\nd,8,11,,Böb,,\n'),
        ("x.tsv", "doc\tstart\tend\turi\nd\t0\t3\thttp://dbpedia.org/resource/Ada\n"),
    ],
    "dwie-json": [("x.json", _DWIE), ("x.zip", zipped({"a.json": _DWIE, "b/c.json": _DWIE}))],
    "elevant": [
        (
            "x.benchmark.jsonl",
            _ARTICLE + ' "labels": [{"id": 0, "span": [0, 3], "entity_id": "Q1", "type": "Q5|Q6", "parent": null, '
            '"children": [1], "optional": false}, {"id": 1, "span": [0, 1], "entity_id": "Q2", "parent": 0}]}\n',
        ),
        ("x.linked_articles.jsonl", _ARTICLE + ' "entity_mentions": [{"id": "Q1", "span": [0, 3], "candidates": []}]}\n'),  # noqa: E501
    ],
    "elevant-simple": [
        (
            "x.jsonl",
            '{"text": "Ada met Böb", "title": "t", "labels": [{"start_char": 0, "end_char": 3, "entity_reference": "Q1"}]}\n',  # noqa: E501
        ),
        ("x.jsonl", '{"predictions": [{"start_char": 0, "end_char": 3, "entity_reference": "Q1", "candidates": ["Q2"]}]}\n'),  # noqa: E501
    ],
    "gerbil-json": [
        (
            "x.json",
            '[{"id": 0, "iri": "http://x/d1", "text": "Ada 😀 met Böb", "annotations": [{"start": 0, "end": 3, '
            '"confidence": 0.5, "meaning": ["http://dbpedia.org/resource/Ada"], "types": ["http://x/P"]}]}]\n',
        )
    ],
    "geovirus-xml": [("x.xml", _GEOVIRUS)],
    "gerdaq-xml": [("x.xml", _GERDAQ)],
    "gum-conllu": [
        (
            "x.conllu",
            "# newdoc id = d\n# global.Entity = GRP-etype-minspan-identity\n# sent_id = 1\n# text = Ada's du Böb\n"
            "1-2\tAda's\t_\t_\t_\t_\t_\t_\t_\t_\n1\tAda\t_\t_\t_\t_\t_\t_\t_\tA=b|Entity=(1-person-1-Ada-L(2-thing-1)|X=y\n"
            "2\t's\t_\t_\t_\t_\t_\t_\t_\tEntity=1)\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"
            "3\tdu\t_\t_\t_\t_\t_\t_\t_\tEntity=(1-person-1-Ada-L(3-person-2\n"
            "4\tBöb\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|Entity=3)1)\n\n# newdoc id = e\n1\tA\t_\t_\t_\t_\t_\t_\t_\t_\n",
        )
    ],
    "gwn-xml": [("x.xml", _GWN)],
    "hipe": [
        (
            "x.tsv",
            "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNEL-LIT\tNEL-METO\tMISC\n# document_id = d1\n"
            "# language = de\nAda\tB-pers\tO\tO\tQ7259|Q1\t_\t_\nmet\tI-pers\tB-org\tO\tQ7259\tNIL\tNoSpaceAfter\n",
        )
    ],
    "iitb-xml": [("x.xml", _IITB), ("x.zip", zipped({"x.xml": _IITB, "RawText/a.txt": _TEXT, "RawText/b.txt": _TEXT}))],
    "jsonl": [
        (
            "x.jsonl",
            '{"document": "d", "text": "Ada met Böb", "language": "en"}\n{"document": "d", "begin": 0, "end": 3, "entity": '  # noqa: E501
            '["Q1", "Q2"], "surface_form": "Ada", "confidence": 0.5, "class": "PER", "candidates": [{"entity": "Q3", '
            '"score": 0.1}], "ignorable": "optional", "group": "g", "option": "o"}\n'
            '{"document": "d", "begin": 8, "end": 11, "entity": null, "cluster": "NIL1", "candidates": ["Q4"]}\n',
        )
    ],
    "knowtator-xml": [
        ("x.xml", _KNOWTATOR),
        ("x.zip", zipped({"A/a.txt.knowtator.xml": _KNOWTATOR, "B/a.txt.knowtator.xml": _KNOWTATOR, "t/a.txt": _TEXT})),
    ],
    "lgl-xml": [("x.xml", _LGL)],
    "msnbc-xml": [("p.xml", _PROBLEM), ("x.zip", zipped({"Problems/a.txt": _PROBLEM, "RawTexts/a.txt": _TEXT}))],
    "neleval": [("x.tsv", "d1\t0\t2\tQ1\t0.9\tPER\tQ2\t0.1\tPER\nd1\t8\t10\tNIL1\nd1\t15\t18\n")],
    "nif": [("x.ttl", _TTL), ("x.nt", _NT), ("x.rdf", _RDF), ("x.jsonld", _JSONLD)],
    "pubtator": [
        (
            "x.pubtator",
            "10|t|Breast and ovarian cancer\n10|a|BRCA1 in mice\n10\t0\t6\tBreast\tDisease\tD001943|D010051\n"
            "10\t26\t31\tBRCA1\tT116,T123\t672;675\n10\tCID\tD1\tD2\n"
            "10\t0,19\t6,25\tBreast ... cancer\tDisease\tD1+D2\n10\tT2\tSpecies\t35\t39\tmice\n",
        )
    ],
    "slavicner-tsv": [
        ("x.tsv", "0\t3\tAda\tAda\tPER\tPER-Ada\n8\t11\tBöb\tBob\tPER\t\n"),
        ("x.zip", zipped({"ner/a.tsv": "8\t11\tBöb\tBob\tPER\tPER-B\n", "raw/a.txt": _TEXT, "ner/b.tsv": ""})),
    ],
    "tac": [
        ("x.tab", "r\tq1\tRome\td1:15-18\tm.06c62\tGPE\tNAM\t0.5\nr\tq2\tBöb\td1: 8 - 10\tNIL01\tPER\tNOM\t1.0\n"),
        ("x.zip", zipped({"x.xml": _KBP, "x.tab": "query_id\tentity\nq1\tE1\tGPE\t0.5\n"})),
    ],
    "tagme": [
        (
            "x.json",
            '{"document": "d", "text": "Ada met Böb", "lang": "en", "annotations": [{"start": 0, "end": 3, "spot": "Ada", '  # noqa: E501
            '"title": "Ada Lovelace", "rho": 0.5}]}\n{"annotations": [], "lang": "de"}\n',
        )
    ],
    "webanno-tsv": [
        (
            "x.tsv",
            "#FORMAT=WebAnno TSV 3.2\n#T_SP=other|a\n#T_SP=custom|entity|identity\n#T_RL=rel|type|BT_custom\n\n\n"
            "#Text=Ada L met Böb\n1-1\t0-3\tAda\t_\tperson[1]|name[2]\tAda_L[1]\t_\t_\t\n"
            "1-2\t4-5\tL\t_\tperson[1]\tAda_L[1]\t_\t_\t\n1-3\t6-9\tmet\tx\t_\t_\t_\t1-1[1_0]\t\n\n"
            "#Text=B\\_b\n2-1\t14-17\tB_b\t_\t*\t_\t_\t_\t\n",
        )
    ],
    "zelda-conll": [
        (
            "x.conll",
            "-DOCSTART-\n\n# 1 A\t0.3-0.4\nAda\tB-7\tB-Ada_L\nL\tI-7\tI-Ada_L\n\n#\tO\tO\nBöb\tB-8\tB-Böb\n\n"
            "-DOCSTART-\n\n# 1 A\n.\tO\tO\n",
        )
    ],
}  # fmt: skip
"""Small files of every format that are fine; those of formats by mapping have their examples as well."""
for _one in FORMATS:
    if _one.mapping is not None:
        SEEDS.setdefault(_one.name, []).append((f"x{_one.suffixes[0]}", _one.mapping.example.lstrip("\n")))

SPECIAL = [
    *("-1", "0", "00", "1e9", "1e999", "-0.5", "NaN", "Infinity", "1000000000", "2147483648", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775808", "18446744073709551616", "9" * 25, "9" * 5000, "٣", "३", "１", "²"),
    *("null", "true", "[]", "{}", "[1]", '{"a": 1}', '""', '"x"', "[[]]", "[" * 3000, '{"a":' * 3000, "<a>" * 3000),
    *("\\ud800", "\\udc00\\ud800", "\\u0000", "\\u", "\\", "\0", "\t", "\n", "\r", "\r\n", "\v", "\x1b[31m", "\x85"),
    *("\u2028", "\ufeff", "\ufffe", "\uffff", "😀", "e\u0301", "\u202e", " ", "", "|", ";", ",", ":", "#", "%", "%zz"),
    *("&", "&x;", "&amp;", "&#0;", "&#xD800;", "<", ">", "</a>", "<!--", "<![CDATA[", "]]>", "<?x?>", '"', "'", "`"),
    *(
        "../../etc/passwd",
        "/",
        "a" * 300,
        "-DOCSTART- (",
        "NIL",
        "NIL1",
        "B-",
        "I-x",
        "T1\t",
        "http://",
        "Q0",
        "_",
        "=",
    ),
]
BYTES = [
    b"\xff",
    b"\xfe\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\x80",
    b"\0",
]
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_NAME = re.compile(rb'"[^"\\]*"|<[^<>]*>|[^\s",<>{}\[\]]+')


def _replaced(pattern: re.Pattern[bytes], data: bytes, draw: random.Random, by: bytes) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data + by
    one = draw.choice(found)
    return data[: one.start()] + by + data[one.end() :]


def _slice(data: bytes, draw: random.Random) -> tuple[int, int]:
    begin = draw.randrange(len(data) + 1)
    return begin, min(len(data), begin + draw.choice([1, 1, 2, 5, 20, 100]))


def _special(draw: random.Random) -> bytes:
    return draw.choice(BYTES) if draw.random() < 0.2 else draw.choice(SPECIAL).encode("utf-8", "surrogatepass")


def _flipped(data: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(data)) if data else 0
    return data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :]


def _inserted(data: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(data) + 1)
    return data[:place] + _special(draw) + data[place:]


def _without(data: bytes, draw: random.Random) -> bytes:
    begin, end = _slice(data, draw)
    return data[:begin] + data[end:]


def _repeated(data: bytes, draw: random.Random) -> bytes:
    begin, end = _slice(data, draw)
    return data[:end] + data[begin:end] * draw.choice([1, 1, 2, 50]) + data[end:]


def _moved(data: bytes, draw: random.Random) -> bytes:
    begin, end = _slice(data, draw)
    rest = data[:begin] + data[end:]
    place = draw.randrange(len(rest) + 1)
    return rest[:place] + data[begin:end] + rest[place:]


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def _by_lines(data: bytes, draw: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        one = lines.pop(draw.randrange(len(lines)))
        for _ in range(draw.choice([0, 1, 2, 3])):
            lines.insert(draw.randrange(len(lines) + 1), one)
    return b"".join(lines)


def _exchanged(data: bytes, draw: random.Random) -> bytes:
    """Return the data with one word or value of it in the place of another."""
    found = _NAME.findall(data)
    return _replaced(_NAME, data, draw, draw.choice(found)) if found else data


MUTATIONS: list[Callable[[bytes, random.Random], bytes]] = [
    _flipped,
    _inserted,
    _inserted,
    _without,
    _repeated,
    _moved,
    _cut,
    _by_lines,
    _exchanged,
    lambda data, draw: _replaced(_NUMBER, data, draw, _special(draw)),
    lambda data, draw: _replaced(_NUMBER, data, draw, _special(draw)),
    lambda data, draw: _replaced(_NAME, data, draw, _special(draw)),
]


def _damaged(data: bytes, draw: random.Random) -> bytes:
    for _ in range(draw.choice([1, 1, 1, 2, 3, 5])):
        data = draw.choice(MUTATIONS)(data, draw)
    return data


def _damaged_archive(data: bytes, draw: random.Random) -> bytes:
    """Return an archive of damaged files, or a damaged archive."""
    if draw.random() < 0.3:
        return _damaged(data, draw)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = draw.choice(sorted(members))
    members[chosen] = _damaged(members[chosen], draw)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def _compressed(data: bytes, draw: random.Random) -> tuple[str, bytes]:
    suffix, pack = draw.choice(
        [(".gz", lambda data: gzip.compress(data, mtime=0)), (".bz2", bz2.compress), (".zst", zstandard.compress)]
    )
    packed: bytes = pack(data)
    return suffix, _damaged(packed, draw) if draw.random() < 0.5 else packed


def made(seed: int, number: int, formats: Iterable[str] = ()) -> Input:
    """Return the input of that number: a file of some format, damaged in one to five ways, sometimes compressed."""
    draw = random.Random(f"{seed}/{number}")
    format = draw.choice(sorted(formats or SEEDS))
    name, content = draw.choice(SEEDS[format])
    data = content.encode() if isinstance(content, str) else content
    data = _damaged_archive(data, draw) if name.endswith(".zip") else _damaged(data, draw)
    if not name.endswith(".zip") and draw.random() < 0.05:
        suffix, data = _compressed(data, draw)
        name += suffix
    return Input(name, data, format if draw.random() < 0.7 else None)


def outcome(one: Input, folder: Path) -> str:
    """Return what comes of reading an input: the report and the hash of the content, or the error in one line.

    Raises `Unforeseen` where a reader does.
    """
    path = folder / one.name
    path.write_bytes(one.data)
    try:
        return _told(path, one.format, folder / "x.nt.zst")
    except Unforeseen:
        raise
    except Error as error:
        return str(error)
    finally:
        path.unlink()


def _told(path: Path, format: str | None, triples_to: Path | None) -> str:
    try:
        found = read(path, name="x", format=format, triples_to=triples_to, unannotated=triples_to is None)
    except BadInput as error:
        if triples_to is None or "has no text for" not in error.reason:
            raise
        return _told(path, format, None)
    return f"{found.report} {found.content}"


def _peak() -> float:
    """Return the peak of this process's memory in MB, and begin a new one."""
    said = Path("/proc/self/status").read_text()
    Path("/proc/self/clear_refs").write_text("5")
    return int(re.search(r"VmHWM:\s+(\d+)", said)[1]) / 1024  # type: ignore[index]


def failure(one: Input, folder: Path, seconds: float = 10.0, memory: float = math.inf, *, twice: bool = True) -> str:
    """Return what is wrong with how an input is read, or an empty string; memory is that of the whole process, in MB."""  # noqa: E501
    try:
        begin = time.process_time()
        first = outcome(one, folder)
        took, peak = time.process_time() - begin, _peak()
        if took > seconds:
            return f"takes {took:.1f} seconds"
        if peak > memory:
            return f"takes {peak:,.0f} MB"
        if "\n" in first:
            return f"says it in several lines: {first!r}"
        again = outcome(one, folder) if twice else first
        return "" if again == first else f"says first {first!r}, then {again!r}"
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {error}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", action="append", choices=sorted(SEEDS), default=[])
    parser.add_argument("--only", type=int)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--memory", type=float, default=400.0)
    options = parser.parse_args()
    missing = {one.name for one in FORMATS} - set(SEEDS)
    if missing:
        sys.exit(f"no seed for {', '.join(sorted(missing))}")
    numbers = range(options.inputs) if options.only is None else [options.only]
    failed, begin = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for format, files in SEEDS.items():
            for file, content in files:
                data = content.encode() if isinstance(content, str) else content
                outcome(Input(file, data, format), folder)
        memory = _peak() + options.memory
        for number in numbers:
            one = made(options.seed, number, options.format)
            if options.only is not None:
                print(one, flush=True)
            if wrong := failure(one, folder, options.seconds, memory, twice=number % 10 == 0):
                failed += 1
                print(f"{number} ({one.format or 'sniffed'}, {one.name}): {wrong.replace(name, '')[:400]}", flush=True)
    print(f"{len(numbers):,} inputs, {failed} failed, {time.monotonic() - begin:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
