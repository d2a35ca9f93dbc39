"""What is no NIF ends in one clear line with its place, and quickly."""

from __future__ import annotations

import gzip
import resource
from pathlib import Path

import pytest

from remix.errors import BadInput, UnknownName
from remix.formats import read

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
        ("a.txt", b"Dear reader, this is a letter.", ": is in no known format; known: "),
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
    assert refusal(tmp_path / "none.ttl") == ": no such file"


def test_read_when_an_endless_line_follows_what_can_be_mended_then_it_is_refused_as_well(tmp_path: Path) -> None:
    path = tmp_path / "late.ttl"
    path.write_bytes(CLEAN.removeprefix(NIF).encode() + b"<" * (10 << 20))
    assert refusal(path) == ":3: the line is longer than 8 MB"


@pytest.mark.parametrize("begin", [b"a", b"<", b'"', b'<http://x/d> <http://x/p> "'])
@pytest.mark.parametrize("suffix", [".ttl", ".nt"])
def test_read_when_one_line_is_endless_then_refused_without_its_size_in_memory(
    tmp_path: Path, begin: bytes, suffix: str
) -> None:
    path = tmp_path / f"long{suffix}"
    with path.open("wb") as stream:
        for _ in range(200):
            stream.write(begin * ((1 << 20) // len(begin)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert refusal(path) == ":1: the line is longer than 8 MB"
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
