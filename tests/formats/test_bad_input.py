"""What is no NIF ends in one clear line with its place, and quickly."""

from __future__ import annotations

import gzip
import re
import resource
import zipfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from remix.errors import BadInput, Error, Unforeseen, UnknownName
from remix.formats import FORMATS, Contents, SourceFile, read, write
from remix.formats.mentions import MentionTables, assemble

NIF = "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
CLEAN = (
    NIF
    + '<http://x/d> nif:isString "Rome" .\n'
    + '<http://x/a> nif:referenceContext <http://x/d> ; nif:anchorOf "Rome" ; nif:beginIndex 0 ; nif:endIndex 4 .\n'
)


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(BadInput) as caught:
        read(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


@pytest.mark.parametrize(
    ("file", "data", "reason"),
    [
        ("a.ttl", b"", ": is empty"),
        ("a.ttl", b" \n\n", ": is empty"),
        ("a.ttl", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ": is a binary file, not text"),
        ("a.ttl.gz", gzip.compress(CLEAN.encode())[:-20], ": the compressed file is cut short or damaged"),
        ("a.txt", b"Dear reader, this is a letter.", ": is in no known format; `remix list formats` shows"),
        ("a.ttl", NIF.encode(), ": is RDF without NIF in it"),
        ("a.ttl", NIF.encode() + b'<http://x/d> nif:isString "Rome" .', ": has 1 documents but no annotation"),
        ("a.ttl", (NIF + CLEAN.split("\n")[2]).encode(), ": has 1 annotations but not one of their texts"),
        ("a.ttl", NIF.encode() + b"<http://x/a> nif:p 1\n nif:q 2 .", ":3:2: A dot is expected"),
        ("a.ttl", CLEAN.encode() + b"<http://x/a> nope:p 1 .", ":4:14: The prefix nope: has not been declared"),
        ("a.ttl", CLEAN.encode() + b'<http://x/a> nif:p "open .\n', ":4:"),
        ("a.rdf", b"<?xml version='1.0'?><rdf:RDF><open>", ": "),
        ("a.jsonld", b'{"@context": {', ":1:"),
    ],
)  # fmt: skip
def test_read_when_bad_then_one_line_says_where_and_why(tmp_path: Path, file: str, data: bytes, reason: str) -> None:
    path = tmp_path / file
    path.write_bytes(data)
    assert refusal(path).startswith(reason)


def test_read_when_a_folder_or_nothing_then_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path).startswith(
        ": is a folder; name the files in it: none is of a format that has several (brat"
    )
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("news.ttl", "<http://x/a> <http://x/b> <http://x/c> .")
    assert refusal(tmp_path / "x.zip").startswith(": is an archive; unpack it and name the files of it: none is of")
    assert refusal(tmp_path / "none.ttl") == ": no such file"


TOO_LONG = (
    "the line is longer than 8 MB, which is not read from RDF: divide the document, or give it as JSON or a table, "
    "which may have longer texts"
)


def test_read_when_an_endless_line_follows_what_can_be_mended_then_it_is_refused_as_well(tmp_path: Path) -> None:
    path = tmp_path / "late.ttl"
    path.write_bytes(CLEAN.removeprefix(NIF).encode() + b"<" * (10 << 20))
    assert refusal(path) == f":3: {TOO_LONG}"


@pytest.mark.parametrize("begin", [b"a", b"<", b'"', b'<http://x/d> <http://x/p> "'])
@pytest.mark.parametrize("suffix", [".ttl", ".nt"])
def test_read_when_one_line_is_endless_then_refused_without_its_size_in_memory(
    tmp_path: Path, begin: bytes, suffix: str
) -> None:
    path = tmp_path / f"long{suffix}"
    with path.open("wb") as stream:
        stream.write(begin * ((10 << 20) // len(begin)))
        stream.truncate(200 << 20)  # the rest takes no place on the disk
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert refusal(path) == f":1: {TOO_LONG}"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_read_when_a_quote_stands_in_an_iri_then_it_is_encoded_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "quote.ttl"
    path.write_text(CLEAN.replace("http://x/a", 'http://x/"a"'))
    found = read(path)
    assert found.frames.annotations["given"].to_list() == ["http://x/%22a%22"]
    assert [(repair.kind, repair.count) for repair in found.report.repairs] == [("invalid-iri", 1)]


def test_read_when_the_format_is_unknown_then_the_nearest_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no format named 'niff'; did you mean 'nif'"):
        read(tmp_path / "x", format="niff")


def test_read_when_a_line_holds_text_with_brackets_after_an_error_then_the_line_is_the_file_s(tmp_path: Path) -> None:
    path = tmp_path / "late.ttl"
    # Prefixes that are supplied must not move the lines.
    path.write_text(CLEAN.removeprefix(NIF) + "\n\n<http://x/a> nif:p 1 nif:q 2 .\n")
    assert refusal(path).startswith(":5:")


MENTION = '{"document": "d", "begin": 0, "end": 4}\n'


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("x.jsonl", MENTION * 2 + MENTION[:20], ":3: is no JSON"),
        ("x.tsv", "d\t0\t3\tQ1\nd\t5\t8\tQ2\nd\t-9\t11\tQ3\n", ":3: begin and end are numbers, not '-9' and '11'"),
        (
            "x.jsonl",
            '{"id": 0, "title": "", "text": "Rome", "labels": [{"id": 0, "span": [4, 0]}]}',
            ":1: the span [4, 0]",
        ),
    ],
)
def test_broken_line_is_named_though_the_format_is_to_be_told(
    tmp_path: Path, file: str, text: str, reason: str
) -> None:
    path = tmp_path / file
    path.write_text(text)
    assert refusal(path).startswith(reason)


def test_text_of_other_encodings_is_of_the_same_format(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes((MENTION.replace('"d"', '"é"') * 2).encode("utf-16"))
    assert [repair.kind for repair in read(path).report.repairs] == ["encoding", "duplicate"]


NUMBER = rb"(?<![0-9A-Za-z#_.])27(?![0-9])"
"""27 as the end of the mention whose begin is 20."""

WRONG = {
    "cut short": lambda data: data[: 2 * len(data) // 3],
    "cut at the end": lambda data: data[:-3],
    "in Windows-1252": lambda data: data.decode().encode("cp1252", "replace"),
    "in UTF-16": lambda data: data.decode().encode("utf-16"),
    "with a mark": lambda data: b"\xef\xbb\xbf" + data,
    "with a binary zero": lambda data: data[: len(data) // 2] + b"\0" + data[len(data) // 2 :],
    "blank": lambda data: b"\n\n",
    "beyond the text": lambda data: re.sub(NUMBER, b"2700", data),
    "before its begin": lambda data: re.sub(NUMBER, b"3", data),
    "no number": lambda data: re.sub(NUMBER, b"abc", data),
    "no number of a machine": lambda data: re.sub(NUMBER, b"9" * 20, data),
    "with other lines": lambda data: data + b"this is no line of the format\n",
    "without a column": lambda data: b"\n".join(line.rsplit(b"\t", 1)[0] for line in data.split(b"\n")),
    "without a field": lambda data: re.sub(rb"begin|start|offset|span", b"x", data),
}


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("format", [one.name for one in FORMATS if one.write is not None])
def test_wrong_files_of_every_format_are_read_or_refused_in_one_line(tmp_path: Path, format: str) -> None:
    texts = {"name": ["d1", "d2"], "text": ["Café Ada met Bob in München.", "Rome is old.\nIt is big."]}
    mentions = {"mention": [0, 1, 2], "name": ["d1", "d1", "d2"], "begin": [0, 20, 0], "end": [4, 27, 4]}
    links = {"mention": [0, 2], "identifier": ["http://dbpedia.org/resource/Café", "Q220"]}
    frames = assemble(MentionTables(*map(pl.DataFrame, (texts, mentions, links))), "urn:remix:dataset:x").frames
    chosen = FORMATS[format]
    whole = tmp_path / ("x" if chosen.collection else f"x{chosen.suffixes[0]}")
    write(frames, whole, format)
    files = sorted(path for path in whole.rglob("*") if path.is_file()) if whole.is_dir() else [whole]
    for file in files[:2]:
        data = file.read_bytes()
        made = {name: wrong(data) for name, wrong in WRONG.items()}
        for name, content in made.items():
            if content == data:  # nothing in it is what would be wrong
                continue
            file.write_bytes(content)
            try:
                read(whole, unannotated=True, format=format if name == "blank" else None)
            except Error as error:
                assert "\n" not in str(error), name
                assert str(whole) in str(error), name
        file.write_bytes(data)


FOREIGN = (b"\n", b"Rome is old.\n", b"\x00\xff\xfe", b"{}", b"[1]", b"<a b='1'>Rome</a>", b"a\tb\n1\t2\n")


@pytest.mark.at_hand(10)
@pytest.mark.parametrize("format", [one.name for one in FORMATS if not one.collection])
def test_what_is_of_no_format_is_foreseen_by_the_reader_of_every_format(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"x{FORMATS[format].suffixes[0]}"
    for content in FOREIGN:
        path.write_bytes(content)
        try:
            read(path, unannotated=True, format=format)
        except Error as error:
            assert not isinstance(error, Unforeseen), (content, error)
            assert "\n" not in str(error), content


class PanicException(BaseException):
    """What a library in Rust raises where it panics: no `Exception`, and known by its name alone."""


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (KeyError("text"), ": cannot be read (KeyError: 'text'); nobody foresaw this: please report it"),
        (PanicException("index out of\nbounds"), ": cannot be read (PanicException: index out of bounds); nobody"),
        (OverflowError("too large"), ": cannot be read (OverflowError: too large); nobody foresaw this"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), ": cannot be read (UnicodeDecodeError"),
        (RecursionError("deep"), ": is nested too deeply to be read"),
        (MemoryError(), ": needs more memory than there is"),
        (OSError(5, "Input/output error"), ": cannot be read (Input/output error)"),
    ],
)
def test_what_another_library_raises_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cause: BaseException, said: str
) -> None:
    def stumble(source: SourceFile, dataset: str) -> Contents:
        raise cause

    path = tmp_path / "x.csv"
    path.write_text("document,begin,end\nd,0,1\n")
    monkeypatch.setattr("remix.formats.FORMATS", {"csv": replace(FORMATS["csv"], read=stumble)})
    assert refusal(path, format="csv").startswith(said)


def test_an_interruption_is_no_error_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(source: SourceFile, dataset: str) -> Contents:
        raise KeyboardInterrupt

    path = tmp_path / "x.csv"
    path.write_text("document,begin,end\nd,0,1\n")
    monkeypatch.setattr("remix.formats.FORMATS", {"csv": replace(FORMATS["csv"], read=interrupted)})
    with pytest.raises(KeyboardInterrupt):
        read(path, format="csv")


def test_file_that_was_cut_off_is_said_to_be(tmp_path: Path) -> None:
    whole = "@prefix ex: <http://e.org/> .\nex:a ex:b ex:c ;\n  ex:d ex:e .\n"
    (tmp_path / "half.ttl").write_text(whole[:-9])
    with pytest.raises(BadInput, match="half.ttl:3.*it was cut off, get it again whole"):
        read(tmp_path / "half.ttl")
