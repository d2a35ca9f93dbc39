"""What is mended in a file, counted; and its text: bytes in any encoding, halves of letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import PurePosixPath

import polars as pl

from remix.expressions import fill
from remix.formats.format import Repair
from remix.formats.source import SourceFile

TOLD = 10_000
"""So many of a kind are told one by one; the others are counted."""

BLOCK = 3
"""So many annotations in a row that are wrong alike are a block."""


class RepairTally:
    """A tally of what was mended: counts by kind, and each one, as far as it is told one by one."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self.each: dict[str, list[str]] = {}

    def add(self, kind: str, example: str, count: int = 1, each: Sequence[str] = ()) -> None:
        """Count a mend; the first example of a kind is kept, and `each`, or the example of one that is told alone."""
        if count:
            one = [example] if count == 1 and self.examples.get(kind) != example else []
            self.counts[kind] += count
            self.examples.setdefault(kind, example)
            told = self.each.setdefault(kind, [])
            told += (each or one)[: TOLD - len(told)]

    def add_rows(self, kind: str, rows: pl.DataFrame, example: str) -> None:
        """Count rows of which something was mended; the example names columns, as in `{place}: '{anchor}'`."""
        if rows.height:
            told = [example.format_map(row) for row in rows.head(TOLD).iter_rows(named=True)]
            self.add(kind, told[0], rows.height, told)

    def add_offsets(self, rows: pl.DataFrame, name: str, example: Callable[[dict[str, object]], str]) -> None:
        """Count what `check_offsets` says of annotations, and the blocks in which they are wrong alike.

        `name` is the column with the name of the document, `example` says in words what is wrong in a row.
        """
        if rows["kind"].null_count() == rows.height:
            return
        for kind in ("offset", "anchor", "range"):
            wrong = rows.filter(pl.col("kind") == kind)
            told = [example(row) for row in wrong.head(TOLD).iter_rows(named=True)]
            self.add(kind, "".join(told[:1]), wrong.height, told)
        if self.counts["offset"] >= BLOCK and (blocks := _tell_blocks(rows, name)):
            self.add("shifted-block", blocks[0], len(blocks), blocks)

    def repairs(self) -> tuple[Repair, ...]:
        """Return what was mended, as reports have it."""
        return tuple(
            Repair(kind, count, self.examples[kind], self._further(kind)) for kind, count in self.counts.items()
        )

    def _further(self, kind: str) -> tuple[str, ...]:
        """Return what is told of a kind beyond its first example."""
        told = self.each[kind]
        return tuple(told[1:] if told[:1] == [self.examples[kind]] else told)


def separate_names(names: pl.Series, tally: RepairTally) -> pl.Series:
    """Return what a file calls its documents, no two of them alike: the second of a name is `name;2`, which is told.

    >>> separate_names(pl.Series(["a", "b", "a"]), tally := RepairTally()).to_list(), tally.examples["shared-name"]
    (['a', 'b', 'a;2'], "'a' names several documents")
    """
    shared = names.alias("name").to_frame().filter(names.is_duplicated())
    tally.add_rows("shared-name", shared, "'{name}' names several documents")
    while names.is_duplicated().any():
        # `a;2` may be the name of a document of its own.
        nth = pl.int_range(1, pl.len() + 1).over("name")
        numbered = pl.when(nth > 1).then(fill("{};{}", "name", nth)).otherwise("name")
        names = names.alias("name").to_frame().select(numbered.alias("name")).to_series()
    return names


def _tell_blocks(rows: pl.DataFrame, name: str) -> list[str]:
    """Return where annotations in a row of a document are shifted by as much, or count the same unit."""
    shift = pl.col("given_begin") - pl.col("begin")
    even = (shift != 0) & (shift == pl.col("given_end") - pl.col("end"))
    signed = pl.when(shift > 0).then(pl.lit("+")).otherwise(pl.lit("")) + shift.cast(pl.String)
    counted = pl.col("reason").str.starts_with("counted in ")
    alike = pl.when(counted).then("reason").when(even).then(fill("shifted by {}", signed))
    odd = rows.filter(pl.col("kind") == "offset").select("document")
    placed = rows.join(odd, on="document", how="semi").unique(["document", "given_begin", "given_end"], keep="first")
    placed = placed.sort("document", "begin", "end", "given_begin", "given_end").with_columns(
        alike=pl.when(pl.col("kind") == "offset").then(alike)
    )
    runs = placed.with_columns(run=pl.struct("document", "alike").rle_id()).drop_nulls("alike")
    blocks = runs.group_by("run", maintain_order=True).agg(
        pl.col(name, "alike").first(), pl.col("begin").min(), pl.col("end").max(), size=pl.len()
    )
    told = fill("{} {},{}: {} annotations in a row are {}", name, "begin", "end", "size", "alike")
    return blocks.filter(pl.col("size") >= BLOCK).select(told).to_series().to_list()


def decode(data: bytes, tally: RepairTally) -> str:
    """Return the text of the bytes: UTF-8 (or UTF-16 with its mark), else Windows-1252 line by line.

    Only the lines that are no UTF-8 are read as Windows-1252, so that a file put together from two
    sources keeps both.

    >>> tally = RepairTally()
    >>> decode("é\\n".encode() + "é".encode("cp1252"), tally), tally.counts["encoding"]
    ('é\\né', 1)
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        tally.add("encoding", "the file is UTF-16")
        return data.decode("utf-16", errors="replace")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "".join(_line(line, n, tally) for n, line in enumerate(data.splitlines(keepends=True), 1))


def find_text(
    source: SourceFile, name: str, beside: Iterable[str], but: Container[str], tally: RepairTally
) -> str | None:
    """Return the text of the file of that name in a folder or archive, `but` of these, else of one beside; or None."""
    inside = (file for file in source.members if file not in but and PurePosixPath(file).name == name)
    found = next((source.members[file] for file in inside), None)
    data = source.beside(*beside) if found is None else found
    return None if data is None else decode(data, tally)


_DECLARED = re.compile(r"""(<\?xml[^>]*?)\s+encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def decode_declared(data: bytes, tally: RepairTally) -> str:
    """Return the text of RDF/XML or JSON-LD by its own mark or declaration, which goes; else as `decode`.

    >>> tally = RepairTally()
    >>> decode_declared("<?xml version='1.0' encoding='ISO-8859-2'?><ž/>".encode("iso-8859-2"), tally)
    "<?xml version='1.0'?><ž/>"
    >>> tally.examples
    {'encoding': 'the file is ISO-8859-2'}
    """
    declared = _DECLARED.match(data[:200].decode("latin-1"))
    try:
        if declared and declared[2].lower() not in ("utf-8", "utf8"):
            text = data.decode(declared[2])
            tally.add("encoding", f"the file is {declared[2]}")
        else:
            text = decode(data, tally)
    except (LookupError, ValueError):
        text = decode(data, tally)
    return _DECLARED.sub(r"\1", text, count=1) if text.startswith("<?xml") else text


def _line(line: bytes, number: int, tally: RepairTally) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        tally.add("encoding", f"line {number}: byte 0x{line[error.start]:02x} is no UTF-8, read as Windows-1252")
        # Five bytes mean nothing in Windows-1252; they become the control characters of Latin-1.
        return "".join(bytes([byte]).decode("cp1252", errors="ignore") or chr(byte) for byte in line)


_SURROGATES = re.compile(
    r"\\\\|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def mend_surrogates(text: str, tally: RepairTally, *, pairs: bool) -> str:
    r"""Return text in which no escape is half a letter of UTF-16: one without its other half is read as U+FFFD.

    JSON writes letters in two halves; Turtle does not, and there such `pairs` are mended, too.

    >>> tally = RepairTally()
    >>> print(mend_surrogates(r'"\uD83D\uDE00 \uD83D \\uD83D"', tally, pairs=True), tally.counts["surrogate"])
    "😀 \ufffd \\uD83D" 2
    """
    if re.search(r"\\u[dD][89a-fA-F]", text) is None:
        return text

    def mend_match(match: re.Match[str]) -> str:
        """Return what stands for one escape, and note a half that is alone."""
        if match[0] == "\\\\" or (match[1] and not pairs):
            return match[0]
        if not (known := tally.examples.get("surrogate", "")):
            what = "is a letter in two halves" if match[1] else "is half a letter, read as U+FFFD"
            known = f"line {text.count(chr(10), 0, match.start()) + 1}: {match[0]} {what}"
        tally.add("surrogate", known)
        if match[1] is None:
            return r"\ufffd"
        return chr(0x10000 + ((int(match[1], 16) - 0xD800) << 10) + (int(match[2], 16) - 0xDC00))

    return _SURROGATES.sub(mend_match, text)
