"""Each format takes its own files alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from remix.errors import BadInput
from remix.formats import FORMATS, SourceFile, read
from remix.formats.source import begin_of

HEADS = [
    ("neleval", "x.tsv", "d1\t0\t3\tQ64\t0.5\tLOC\n"),
    ("neleval", "x", "http://x/d1#char=0,9\t0\t3\n"),
    ("aida-conll", "x.tsv", "-DOCSTART- (1 EU)\nEU\tB\tEU\t--NME--\n"),
    ("zelda-conll", "x.conll", "-DOCSTART-\n\n# 46 a\nEU\tO\tO\n"),
    ("cleanconll-tsv", "x", "-DOCSTART-\t-X-\tO\tO\tO\n\nEU\tNNP\tO\tO\tO\n"),
    ("cleanconll-tsv", "x.conll", "\n[TOKEN]\t-X-\tO\tO\tO\n"),
    ("gum-conllu", "x.conllu", "# newdoc id = d\n# global.Entity = GRP-etype-identity\n# text = Ada\n1\tAda\t_\n"),
    ("gum-conllu", "x", "# global.columns = ID\n# sent_id = 1\n\n1-2\tdu\t_\n"),
    ("webanno-tsv", "x.tsv", "#FORMAT=WebAnno TSV 3.3\n#T_SP=a|identifier\n\n\n#Text=Ada\n1-1\t0-3\tAda\t_\t\n"),
    ("nif", "x", "# a comment\n\nBASE\t<http://x/>\n"),
    ("nif", "x", "# a comment\nex:a\tnif:beginIndex\t0 .\n"),
    ("dwie-json", "x.json", '{"id": "d", "mentions": [{"begin": 0, "end": 3, "concept": 0}]}'),
    ("gerdaq-xml", "x.xml", "<?xml version='1.0'?>\n<dataset><instance>a <annotation rank_0_id='1'>b</annotation>"),
    ("geovirus-xml", "x.xml", "<articles>\n  <article>\n <source>https://x/y</source><text>a</text><locations>"),
    ("gwn-xml", "x.xml", "<articles>\n<article file='0'><title>a</title></article>"),
    ("lgl-xml", "x.xml", "<?xml version='1.0'?>\n<articles><article docid='7'><text>a</text>"),
    (
        "knowtator-xml",
        "x.xml",
        "<?xml version='1.0'?>\n<annotations textSource='a.txt'>\n<annotation><mention id='1'/>",
    ),
    ("nif", "x.ttl", "<a> <b> <c> ."),
    ("slavicner-tsv", "x.tsv", "0\t3\tAda\tAda\tPER\tPER-Ada\n"),
    ("brat", "x.ann", "#1\tAnnotatorNotes T1\tsee Q64\nT1\tLocation 0 5;8 12\tNorth\n"),
    ("brat", "x.ann", "T1\tLocation 0 5\tNorth\nN1\tReference T1 Wikidata:Q64\tNorth\n"),
    ("msnbc-xml", "x.txt", "<?xml version='1.0'?>\n<ReferenceProblem>\n<ReferenceFileName>a</ReferenceFileName>"),
    ("msnbc-xml", "x.xml", "<ReferenceProblem><ReferenceFileName>a</ReferenceFileName></ReferenceProblem>"),
    ("iitb-xml", "x.xml", "<iitb.CSAW.entityAnnotations><annotation><docName>a</docName>"),
    ("iitb-xml", "x.xml", "<?xml version='1.0'?><!-- b --><ace2004.entityAnnotation><document docName='a'>"),
    ("tac", "x.tab", "r\tq1\tRome\td1:5-8\tE1\tGPE\tNAM\t0.5\n"),
    ("tac", "x.xml", "<?xml version='1.0'?>\n<kbpentlink>\n<query id='q1'>"),
    ("nif", "x.rdf", "<?xml version='1.0'?>\n<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"),
    ("nif", "x", "# a comment\n@prefix nif: <http://x/> .\n"),
    ("nif", "x", "ex:a\tnif:beginIndex\t0 .\n"),
    ("nif", "x.ttl", "<http://x/a> a <http://x/b> ."),
    ("elevant", "x.jsonl", '{"id": 0, "title": "", "text": "Rome", "labels": []}\n'),
    ("elevant", "x", '{"id": 3, "title": "", "text": "Rome"}\n{"id": 4, "text": "a", "entity_mentions": []}\n'),
    ("elevant", "x.jsonl", '{"id": 3, "title": "", "text": "a text that is longer than what is looked at'),
    ("elevant-simple", "x.benchmark.jsonl", '{"text": "Rome", "labels": [{"start_char": 0, "end_char": 4}]}\n'),
    ("elevant-simple", "x.jsonl", '{"text": "a", "labels": []}\n{"text": "start_char", "labels": []}\n'),
    (
        "elevant-simple",
        "x.jsonl",
        '{"text": "a", "labels": []}\n{"text": "b", "labels": [{"entity_reference": "Q1", "start_char": 0}]}\n',
    ),
    ("elevant", "x.jsonl", '{"id": 0, "text": "\\"start_char\\"", "labels": [{"id": 0, "span": [0, 1]}]}\n'),
    ("elevant-simple", "x.jsonl", '{"text": "Rome", "labels": [{"start_char": 0, "end_char": 4}]}\n'),
    ("elevant-simple", "x.jsonl", '{"predictions": []}\n{"predictions": [{"start_char": 0, "end_char": 4}]}\n'),
    ("jsonl", "x.jsonl", '{"document": "d", "begin": 0, "end": 4, "entity": "Q220"}\n'),
    ("jsonl", "x.jsonl", '{"document": "d", "text": "Rome"}\n{"doc_id": "d", "start": 0, "end": 4}\n'),
    ("csv", "x.csv", "document,begin,end,entity\nd,0,4,Q220\n"),
    ("csv", "x.tsv", "doc_id\tstart\tend\tentity\td\t0\t4\tQ220\n"),
    ("hipe", "x.tsv", "TOKEN\tNE-COARSE-LIT\tNEL-LIT\tMISC\nRome\tB-loc\tQ220\t_\n"),
    ("hipe", "x.tsv", "# hipe2022:applicable_columns = x\nTOKEN\tNE-COARSE-LIT\tNEL-LIT\n"),
    ("pubtator", "x.txt", "10|t|Rome\n10|a|\n10\t0\t4\tRome\tPlace\t-\n"),
    ("bioc", "x.xml", "<?xml version='1.0'?>\n<!DOCTYPE collection SYSTEM 'BioC.dtd'>\n<collection><source>x</source>"),
    ("bioc", "x.json", '{"source": "x", "documents": [{"id": "1", "passages": [{"offset": 0, "annotations": []}]}]}'),
    (
        "tagme",
        "x.json",
        '{"test": "5", "annotations": [{"spot": "Rome", "start": 0, "end": 4, "rho": 0.5}], "lang": "en"}',
    ),
    ("tagme", "x.json", '{"annotations": [], "api": "tag"}'),
    (
        "gerbil-json",
        "x.json",
        '[{"id": 0, "iri": "http://x/d", "text": "Rome", "annotations": [{"start": 0, "end": 4}]}]',
    ),
    ("gerbil-json", "x", '[ {"iri": "http://x/d", "text": "A text longer than what is looked at'),
    ("answers", "x.jsonl", '{"model": "m"}\n{"document": "d", "text": "Rome", "answers": [{"mention": "Rome"}]}\n'),
    ("answers", "x.jsonl", '{"document": "d", "text": "Rome", "output": "[{\\"mention\\": \\"Rome\\"}]"}\n'),
]


def sniffed(head: bytes, name: str) -> list[str]:
    return [one.name for one in FORMATS if one.sniff(begin_of(head), name)]


@pytest.mark.parametrize(("format", "name", "text"), HEADS)
def test_file_is_of_one_format(format: str, name: str, text: str) -> None:
    assert sniffed(text.encode(), name) == [format]


@pytest.mark.parametrize(
    "text",
    [
        *("Rome is old.\n", "a,b\n1,2\n", "<html><body>Rome</body></html>", "[1, 2]", "a\tb\n1\t2\n"),
        # The second byte of Å is a blank where bytes are taken for letters.
        *(":Å", "Note:see below.", "a:b\u00a0c"),
    ],
)
def test_other_file_is_of_none(text: str) -> None:
    assert sniffed(text.encode(), "x.txt") == []


@pytest.mark.long
def test_real_files_are_of_one_format(real_data: Path) -> None:
    files = [path for path in sorted((real_data / "nif").rglob("*.*")) if path.is_file() and path.suffix != ".md"]
    files = [path for path in files if "not-nif" not in path.parts] + sorted((real_data / "elevant").rglob("*.jsonl*"))
    found = {str(path.relative_to(real_data)): sniffed(SourceFile(path).head, path.name) for path in files}
    assert len(found) > 20
    expected = {name: ["nif" if name.startswith("nif") else "elevant"] for name in found}
    assert found == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("d1 0 3 Q64\n", "it would be neleval with tabs in the place of its spaces"),
        ("d1,0,3,Q64,0.5\n", "it would be neleval with tabs in the place of its commas"),
        ("made by us\nTOKEN\tNE-COARSE-LIT\tNEL-LIT\n", "it would be hipe without its first line"),
        ('[{"text": "", "index": [], "wikipedia_titles": []}]', "it would be zelda-jsonl with an object a line"),
        ('{"text": "", "index": [], "titles": []}', "it resembles zelda-jsonl, but for 'wikipedia_titles'"),
        ('{"id": 1, "text": "a", "index": [[0,1]], "t": []}', "it resembles zelda-jsonl, but for 'wikipedia_titles'"),
    ],
)
def test_error_of_an_unknown_file_says_what_it_resembles(tmp_path: Path, text: str, hint: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(BadInput, match=re.escape(f"x: is in no known format; {hint}")):
        read(tmp_path / "x")


@pytest.mark.parametrize(
    "text",
    [
        "#Brexit\nTheresa May spoke.\n",
        "https://example.org/a?b=1 Title: a text\n",
        "Base jumping is old.\n",
        "Prefix notation is older.\n",
        "14:30 a man met another.\n",
        "#one #two\n\n#three\nhttps://example.org/ Note: a text\n",
    ],
)
def test_plain_text_is_no_rdf(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    assert [one.name for one in FORMATS if one.sniff(text.encode(), "x.txt")] == []
    with pytest.raises(BadInput, match="is in no known format"):
        read(tmp_path / "x.txt")
