"""Line-based RDF in blocks of whole lines, and the terms of its lines."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from threading import Event

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.errors import BadInput
from remix.rdf.ntriples import Block, blocks_of_lines, lines_of, triples


def rows(text: str | bytes) -> list[tuple[str, str, str]]:
    data = text.encode() if isinstance(text, str) else text
    return triples(Block(data, 1, 0))[0].drop("line").rows()


@pytest.mark.parametrize("size", [1, 7, 40, 1000])
def test_blocks_hold_whole_lines_whatever_their_size(tmp_path: Path, size: int) -> None:
    lines = [f"<a:{n}> <a:p> <a:o> .\n".encode() for n in range(9)]
    (tmp_path / "x.nt.bz2").write_bytes(bz2.compress(b"".join(lines)))
    found = list(blocks_of_lines(tmp_path / "x.nt.bz2", size))
    assert b"".join(block.data for block in found) == b"".join(lines)
    assert all(block.data.endswith(b"\n") for block in found)
    counted = 1
    for block in found:
        assert block.line == counted
        counted += block.data.count(b"\n")
    assert found[-1].taken == (tmp_path / "x.nt.bz2").stat().st_size


def test_reading_ends_where_it_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "x.nt").write_bytes(b"one\ntwo\nthree\nfour")
    stopped = Event()
    blocks = blocks_of_lines(tmp_path / "x.nt", 4, stopped)
    assert next(blocks).data == b"one\n"
    stopped.set()
    assert list(blocks) == []


def test_last_line_needs_no_end(tmp_path: Path) -> None:
    (tmp_path / "x.nt").write_bytes(b"one\ntwo")
    assert b"".join(block.data for block in blocks_of_lines(tmp_path / "x.nt", 5)) == b"one\ntwo"


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("compress", [bz2.compress, gzip.compress])
def test_file_that_is_cut_short_is_refused_with_the_offset(tmp_path: Path, compress: object) -> None:
    # Bytes that do not compress, so that several blocks come out before the cut.
    text = "".join(f"<a:{n * 7919 % 100003}> <a:p> <a:{n * n}> .\n" for n in range(60_000)).encode()
    whole = compress(text)  # type: ignore[operator]
    (tmp_path / "cut.nt").write_bytes(whole[: len(whole) // 2 + len(whole) // 4])
    with pytest.raises(BadInput, match=r"cut\.nt:\d+: .*(cut short|ended).*bytes came out of it before"):
        list(blocks_of_lines(tmp_path / "cut.nt", 1000))


def test_terms_are_those_of_the_line() -> None:
    text = (
        '<a:s> <a:p> "x . y \\" <z> ."@en .\n_:b <a:p> _:c.\n<a:s>\t<a:p>\t"4"^^<a:int> .\n<a:s> <a:p> <a:o> <a:g> .\n'
    )
    assert rows(text) == [
        ("<a:s>", "<a:p>", '"x . y \\" <z> ."@en'),
        ("_:b", "<a:p>", "_:c"),
        ("<a:s>", "<a:p>", '"4"^^<a:int>'),
        ("<a:s>", "<a:p>", "<a:o>"),
    ]


def test_lines_that_are_no_triple_are_told_with_their_number() -> None:
    text = '<a:s> <a:p> <a:o> .\n\n# note\n<a:s> <a:p> .\n@prefix a: <b> .\n<a:s> <a:p> "open .\n'
    found, bad = triples(Block(text.encode(), 11, 0))
    assert found["line"].to_list() == [11]
    assert bad["line"].to_list() == [14, 15, 16]


def test_escapes_become_letters_but_an_escaped_backslash_stays() -> None:
    # \u escapes, a UTF-16 pair, half a pair, an escaped backslash before a u, a quote, a line feed.
    text = r'<a:\u00E9> <a:p> "\u00e9 \U0001F600 \uD83D\uDE00 \uD83D \\u00e9 \u0022 \u000A \' \n" .'
    assert rows(text) == [("<a:é>", "<a:p>", '"é 😀 😀 \ufffd \\\\u00e9 \\" \\n \' \\n"')]


def test_control_characters_that_stand_bare_in_a_literal_stay_in_it() -> None:
    # N-Triples allows them all but line feed and carriage return.
    text = '<a:s> <a:p> "x\x01y\x00z\x0b\x85\u2028" .\n<a:s> <a:p> <a:o> .\n'
    assert rows(text) == [("<a:s>", "<a:p>", '"x\x01y\x00z\x0b\x85\u2028"'), ("<a:s>", "<a:p>", "<a:o>")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", []), (b"a", ["a"]), (b"a\n", ["a"]), (b"\n\n", ["", ""]), (b"a\r\nb\rc\r\n", ["a", "b\rc"])],
)
def test_lines_are_without_their_ends(data: bytes, expected: list[str]) -> None:
    assert lines_of(data).to_list() == expected


def test_line_that_is_no_text_is_null_and_the_others_are_kept() -> None:
    assert lines_of(b"a\n\xffb\n\xc3\xa9\n").to_list() == ["a", None, "\u00e9"]


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert rows(b'<a:s> <a:p> "a\xffb" .\n') == [("<a:s>", "<a:p>", '"a\ufffdb"')]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_any_literal_comes_out_as_the_store_writes_it(texts: list[str]) -> None:
    node, quads = ox.NamedNode("a:x"), []
    for text in texts:
        quads.append(ox.Triple(node, node, ox.Literal(text)))
    written = ox.serialize(quads, format=ox.RdfFormat.N_TRIPLES) or b""
    # Escaped as far as can be, as dumps are.
    ascii_only = "".join(c if c < "\x7f" else f"\\U{ord(c):08X}" for c in written.decode()).encode()
    expected = [f"{line}"[12:-2] for line in written.decode().split("\n") if line]
    assert [row[2] for row in rows(ascii_only)] == expected
    assert pl.Series([row[2] for row in rows(written)], dtype=pl.String).to_list() == expected
