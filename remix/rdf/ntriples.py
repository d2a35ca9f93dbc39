"""Line-based RDF (N-Triples, N-Quads, Turtle with a triple a line) of any size: lines, their terms, and back.

A file is read in blocks of whole lines from any compression; a block becomes a frame of terms by polars expressions.
Terms come out as the serialiser of the store writes them: letters as they are, not as `\\u00E9`, and only quotes,
backslashes and control characters escaped. So they are written again as they stand.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import BinaryIO

import polars as pl
import zstandard

from remix.errors import BadInput
from remix.files import open_measured, write_whole
from remix.rdf.terms import ESCAPES

BLOCK = 1 << 24
_LONGEST_LINE = 1 << 26
_AT_ONCE = 1 << 17

SCHEMA: dict[str, pl.DataType] = {"subject": pl.String(), "predicate": pl.String(), "object": pl.String()}
"""The columns of a frame of triples; the values are terms as N-Triples spells them."""

LINE: dict[str, pl.DataType] = {"line": pl.Int64(), **SCHEMA}
"""The columns of triples with the number of their line."""

PLAIN_IRI = r"<[^\x00-\x20<>\"{}|^`\\]*>"
"""An IRI that needs no unescaping (IRIREF of the grammar of N-Triples)."""
LITERAL = r'(?s)^"(.*)"(?:@([A-Za-z0-9-]+)|\^\^<([^<>]*)>)?$'
"""A literal: its text as it is escaped, its language or its datatype."""

# Dumps hold IRIs that no grammar allows.
_IRI = r"<[^<>\"\s]*>"
_LITERAL = r'"(?:[^"\\]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^<[^<>\s]*>)?'
_OBJECT = rf"(?:{_IRI}|_:\S+|{_LITERAL})"
_TRIPLE = rf"^\s*({_IRI}|_:\S+)\s*({_IRI})\s*({_OBJECT})\s*(?:{_IRI}|_:\S+)?\s*\.\s*(?:#.*)?$"
# A pair of surrogates is one letter that was written in UTF-16.
_ESCAPE = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}"
_ROWS = 200_000


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file: the bytes, the number of the first line, and how many bytes on disk were taken so far."""

    data: bytes
    line: int
    taken: int


def blocks_of_lines(path: Path | str, size: int = BLOCK, stopped: Event | None = None) -> Iterator[Block]:
    """Yield the lines of a file, decompressed by what its first bytes say, in blocks of about so many bytes.

    Another thread ends it in the middle of a block by setting `stopped`; the block is then left out.

    Raises `BadInput` as `files.open_bytes`, with the line and the offset that were reached where the file is cut
    short, and for a line longer than 64 MB.
    """
    line, offset, at = 1, 0, 0

    def count() -> Iterator[bytes]:
        nonlocal offset, at
        for piece in _pieces(stream, size, stopped or Event()):
            offset, at = offset + len(piece), taken()
            yield piece

    try:
        with open_measured(path) as (stream, taken):
            for data, line in whole_lines(count(), path):
                if data.endswith(b"\n") or not (stopped and stopped.is_set()):
                    yield Block(data, line, at)
                line += data.count(b"\n")
    except BadInput as error:
        if error.line is not None or not offset:
            raise
        reached = f" after {at:,} bytes of it; {offset:,} bytes came out of it before; download it again"
        raise BadInput(error.file, error.reason + reached, line=line) from None


def whole_lines(pieces: Iterable[bytes], file: object, longest: int = _LONGEST_LINE) -> Iterator[tuple[bytes, int]]:
    """Yield pieces of UTF-8, without its mark, cut where lines end, each with the number of its first line.

    Raises `BadInput` for a line longer than so many bytes.
    """
    line, rest, mark = 1, b"", b"\xef\xbb\xbf"
    for piece in pieces:
        piece, mark = piece.removeprefix(mark), b""
        if end := piece.rfind(b"\n") + 1:
            data, rest = rest + piece[:end], piece[end:]
            yield data, line
            line += data.count(b"\n")
        else:
            rest += piece
        if len(rest) > longest:
            raise BadInput(file, f"the line is longer than {longest >> 20} MB", line=line)
    if rest:
        yield rest, line


def _pieces(stream: BinaryIO, size: int, stopped: Event) -> Iterator[bytes]:
    """Yield the bytes in pieces of a size; what came out before the stream turned out to be damaged comes first."""
    while True:
        taken, missing, damage = [], size, None
        while missing > 0:
            if stopped.is_set():
                return
            try:
                # Not `read`: it would lose what it had gathered before the damage.
                some = stream.read1(min(missing, _AT_ONCE))  # type: ignore[attr-defined]
            except Exception as error:
                damage = error
                break
            if not some:
                break
            taken.append(some)
            missing -= len(some)
        if taken:
            yield b"".join(taken)
        if damage is not None:
            raise damage
        if not taken:
            return


def triples(block: Block) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the triples (line, subject, predicate, object) and the lines that are none (line, text, reason).

    Comments and empty lines are neither. Bytes that are no UTF-8 and halves of surrogate pairs become U+FFFD; the
    names of graphs go.

    >>> found, bad = triples(Block(b'<a:s> <a:p> "caf\\\\u00E9"@fr .\\n# x\\n<a:s> <a:p>\\n', 1, 0))
    >>> found.rows(), bad.rows()
    ([(1, '<a:s>', '<a:p>', '"café"@fr')], [(3, '<a:s> <a:p>')])
    """
    lines = _lines(block)
    split = pl.col("text").str.strip_chars_end().str.strip_suffix(".").str.strip_chars_end().str.splitn(" ", 3)
    named = lines.with_columns(split.struct.rename_fields(["subject", "predicate", "object"]).alias("terms"))
    plain = named.unnest("terms")
    sound = plain.select(
        (
            pl.col("subject").str.contains(rf"^(?:{_IRI}|_:\S+)$")
            & pl.col("predicate").str.contains(rf"^{_IRI}$")
            & pl.col("object").str.contains(rf"^{_OBJECT}$")
        ).fill_null(False)
    ).to_series()
    good, odd = plain.filter(sound), plain.filter(~sound)
    if odd.height:
        parts = pl.col("text").str.extract_groups(_TRIPLE).struct.rename_fields(["subject", "predicate", "object"])
        again = odd.select("line", "text", terms=parts).unnest("terms")
        good = pl.concat([good, again.drop_nulls("subject")]).sort("line")
        odd = again.filter(pl.col("subject").is_null())
    return _unescape_terms(good.drop("text")), odd.select("line", "text")


def lines_of(data: bytes) -> pl.Series:
    """Return the lines of a text in UTF-8 without their ends, which are LF or CRLF; a line that is not UTF-8 is null.

    >>> lines_of(b"one\\r\\n\\n\\xff\\nlast").to_list()
    ['one', '', None, 'last']
    """
    try:
        lines = pl.Series("text", [data], dtype=pl.Binary).cast(pl.String).str.split("\n").explode()
    except pl.exceptions.ComputeError:  # somewhere it is not UTF-8
        lines = pl.Series("text", map(_decode, data.split(b"\n")), dtype=pl.String)
    if not data or data.endswith(b"\n"):
        lines = lines.head(-1)
    return lines.str.strip_suffix("\r") if b"\r" in data else lines


def _decode(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def _lines(block: Block) -> pl.DataFrame:
    texts = lines_of(block.data)
    if texts.null_count():
        texts = lines_of(block.data.decode("utf-8", "replace").encode())
    numbered = texts.to_frame().with_row_index("line", offset=block.line).cast({"line": pl.Int64})
    return numbered.filter(~pl.col("text").str.contains(r"^\s*(?:#|$)"))


def _unescape_terms(terms: pl.DataFrame) -> pl.DataFrame:
    columns = ["subject", "predicate", "object"]
    escapes: set[str] = set()
    for column in columns:
        held = terms.filter(pl.col(column).str.contains(r"\\[uU']"))[column]
        escapes.update(held.str.extract_all(_ESCAPE).explode().unique().drop_nulls().to_list())
        escapes.update(["\\'"] if len(held) else [])
    if not escapes:
        return terms
    # An escaped backslash comes first: what follows it is text. A pair comes before its halves.
    mapping = {
        "\\\\": "\\\\",
        **{escape: _letter(escape) for escape in sorted(escapes, key=lambda one: (-len(one), one))},
    }
    replaced = (
        pl.when(pl.col(column).str.contains("\\", literal=True))
        .then(pl.col(column).str.replace_many(mapping, leftmost=True))
        .otherwise(column)
        .alias(column)
        for column in columns
    )
    return terms.with_columns(replaced)


def _letter(escape: str) -> str:
    """Return what an escape stands for, as a serialiser writes it."""
    try:
        units = escape.encode().decode("unicode_escape").encode("utf-16", "surrogatepass")
    except UnicodeDecodeError:  # beyond the last letter
        return "\ufffd"
    letter = units.decode("utf-16", "replace")
    return ESCAPES.get(letter, letter)


def terms_of(line: pl.Expr) -> pl.Expr:
    """Return the terms of a line that a serialiser wrote, one space between two: subject, predicate, object."""
    return line.str.strip_suffix(" .").str.splitn(" ", 3).struct.rename_fields(list(SCHEMA))


def columns(data: bytes) -> pl.DataFrame:
    """Return N-Triples as a frame of three columns of terms, one row a line; comments and blank lines go.

    >>> columns(b'<urn:a> <urn:p> "x . y" .\\n# no triple\\n').rows()
    [('<urn:a>', '<urn:p>', '"x . y"')]
    """
    # Only \n ends a line: U+2028 and its like may stand inside a literal, where splitlines() would cut.
    line = pl.col("line")
    rows = pl.DataFrame({"line": data.decode().split("\n")}).filter(line.str.len_bytes() > 0)
    split = rows.select(terms_of(line)).unnest("line")
    value = pl.col("object").str
    canonical = (
        (pl.col("subject").str.starts_with("<") | pl.col("subject").str.starts_with("_:"))
        & pl.col("predicate").str.starts_with("<")
        & (value.starts_with("<") | value.starts_with('"') | value.starts_with("_:"))
        & ~value.ends_with(" ")
    )
    regular = rows["line"].str.ends_with(" .").all() and split.select(canonical.fill_null(False).all()).item()
    return split if regular else triples(Block(data, 1, 0))[0].drop("line")


def serialise(triples: pl.DataFrame) -> Iterator[bytes]:
    """Yield triples as N-Triples in the order of their rows, 200,000 lines at a time."""
    for rows in triples.iter_slices(_ROWS):
        lines = io.BytesIO()
        rows.select(pl.col(list(SCHEMA)).cast(pl.String), dot=pl.lit(".")).write_csv(
            lines, include_header=False, separator=" ", quote_style="never"
        )
        yield lines.getvalue()


def write_ntriples(triples: pl.DataFrame, path: Path) -> int:
    """Write triples as N-Triples, compressed with zstandard, and return how many they are."""
    with write_whole(path) as stream, zstandard.ZstdCompressor(level=1).stream_writer(stream, closefd=False) as packed:
        for block in serialise(triples):
            packed.write(block)
    return triples.height


def content_hash_of(triples: pl.DataFrame) -> str:
    """Return the SHA-256 of a set of triples (subject, predicate, object), in hexadecimal.

    >>> one = pl.DataFrame({"subject": ["<a>", "_:x"], "predicate": ["<p>", "<p>"], "object": ["_:x", '"y"']})
    >>> two = pl.DataFrame({"subject": ["_:z", "<a>"], "predicate": ["<p>", "<p>"], "object": ['"y"', "_:z"]})
    >>> content_hash_of(one) == content_hash_of(two)
    True
    """
    masked = triples.select(_mask("subject"), pl.col("predicate").cast(pl.Categorical), _mask("object"))
    # Sorting 2 million long strings is slow: subjects and predicates are sorted once each and become
    # numbers, objects are compared only where one subject has one predicate several times.
    subjects, predicates = (masked[name].unique().cast(pl.String).sort() for name in ("subject", "predicate"))
    ranks = [
        pl.col(values.name).cast(pl.Enum(values)).to_physical().cast(pl.UInt64) for values in (subjects, predicates)
    ]
    keyed = masked.select("object", key=ranks[0] * len(predicates) + ranks[1])
    several = keyed["key"].is_duplicated()
    rows = pl.concat([keyed.filter(~several), keyed.filter(several).unique().sort("key", "object")]).sort(
        "key", maintain_order=True
    )
    digest = hashlib.sha256()
    for column in (subjects, predicates, rows["key"], rows["object"]):
        text = io.BytesIO()
        column.to_frame().write_csv(text, include_header=False, quote_style="never")
        digest.update(text.getbuffer())
    return digest.hexdigest()


def _mask(name: str) -> pl.Expr:
    return pl.when(pl.col(name).str.starts_with("_:")).then(pl.lit("_:")).otherwise(name).alias(name)
