"""RDF in any syntax and state of health as a frame of terms, in the order of the text; what is no RDF is mended."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import BinaryIO, cast
from urllib.parse import urldefrag, urljoin

import polars as pl
import pyoxigraph as ox

from remix.errors import BadInput
from remix.formats.nif import BASE, CLASS, IDENT
from remix.formats.nif.mending import (
    add_dots,
    declare_prefix,
    find_relative_ids,
    find_relative_iris,
    mend_iris,
    mend_json_iris,
    mend_xml_iris,
    refuse_entities_that_grow,
)
from remix.formats.repairs import RepairTally, decode, decode_declared, mend_surrogates
from remix.formats.source import SourceFile, begin_of
from remix.rdf.ntriples import terms_of, whole_lines
from remix.rdf.parsing import is_too_long

_SYNTAXES = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".n3": ox.RdfFormat.TURTLE,
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".nq": ox.RdfFormat.N_QUADS,
    ".trig": ox.RdfFormat.TRIG,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".jsonld": ox.RdfFormat.JSON_LD,
    ".json": ox.RdfFormat.JSON_LD,
}
SUFFIXES = tuple(_SYNTAXES)
_LINED = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_TEXTUAL = (*_LINED, ox.RdfFormat.TURTLE, ox.RdfFormat.TRIG)
_QUADS = (ox.RdfFormat.N_QUADS, ox.RdfFormat.TRIG, ox.RdfFormat.JSON_LD)
_BATCH = 100_000
_LONGEST_LINE = 1 << 23
_OVERLAP = 1 << 12
_NOT_READ = (
    "which is not read from RDF: divide the document, or give it as JSON or a table, which may have longer texts"
)
# Repair holds the text three times in memory.
_LONGEST_REPAIR = 1 << 30


def syntax_of(head: bytes, name: str) -> ox.RdfFormat | None:
    """Return the RDF syntax that the first bytes and the file's name speak for, null for none.

    What the content says plainly counts for more than the suffix.

    >>> syntax_of(b"<?xml version='1.0'?><rdf:RDF ", "a.ttl")
    <RdfFormat RDF/XML>
    >>> syntax_of(b"<http://a> <http://b> <http://c> .", "a")
    <RdfFormat Turtle>
    """
    start = begin_of(head)[:4096].decode("utf-8", "replace")
    suffix = uncompressed_suffix(name)
    if re.match(r"<\?xml|<rdf:RDF|<!DOCTYPE rdf|<!--", start):
        return ox.RdfFormat.RDF_XML
    if start.startswith(("{", "[")) and suffix not in (".ttl", ".trig", ".n3"):
        return ox.RdfFormat.JSON_LD if '"@' in start or suffix == ".jsonld" else None
    if suffix in _SYNTAXES and _SYNTAXES[suffix] in _TEXTUAL:
        declares = re.search(r"(?im)^\s*@?(?:prefix|base)\b", start) is not None
        syntax = _SYNTAXES[suffix]
        return ox.RdfFormat.TRIG if declares and syntax in _LINED else syntax
    # Comments say nothing of RDF, nor does a name alone: a text may begin `#news`, `Note:` or `Base jumping`, or with
    # an address, which stands between angle brackets in RDF.
    term = r"(?:<|[\w-]*:)"
    named = rf"(?!\w+://)[\w-]*:\S+\s+(?:a\s+{term}|{term})"
    behind = re.sub(r"(?:\s*#[^\n]*(?:\n|$))+", "", start, count=1) if start.startswith("#") else start
    if re.match(rf"(?i)\s*(?:@prefix|@base|prefix\s+[\w-]*:|base\s+<|<[^<>\s]*>\s|_:\S+\s|{named})", behind):
        return ox.RdfFormat.TRIG if re.search(r"(?m)^[^#\"]*\{", start) else ox.RdfFormat.TURTLE
    return None


def uncompressed_suffix(name: str) -> str:
    """Return the suffix of a file's name below that of its compression, in lower case."""
    for compression in (".gz", ".bz2", ".zst"):
        name = name.removesuffix(compression)
    return "." + name.rsplit(".", 1)[-1].lower() if "." in name else ""


def parse(source: SourceFile, tally: RepairTally) -> pl.DataFrame:
    """Return the triples of a file as terms of N-Triples (`subject`, `predicate`, `object`) in the order of the text.

    It is mended only where it does not parse as it is. Raises `BadInput` with line, column and reason where no mending
    helps.
    """
    try:
        return _read_triples(source, tally)
    except MemoryError as error:
        if not is_too_long(error):
            raise
        raise BadInput(source.name, f"has a value of more than 16 MiB, {_NOT_READ}") from None


def _read_triples(source: SourceFile, tally: RepairTally) -> pl.DataFrame:
    syntax = syntax_of(source.head, str(source.path)) or ox.RdfFormat.TURTLE
    if syntax == ox.RdfFormat.RDF_XML and _matches(source, re.compile(b"<!ENTITY")):
        refuse_entities_that_grow(_whole(source, syntax).decode("latin-1"), source)
    try:
        if syntax == ox.RdfFormat.JSON_LD and _matches(source, _ODD_ID):
            return _parse_recoded(source, syntax, None, tally)
        with source.open() as stream:
            return _table(_Lined(stream, source.name) if syntax in _TEXTUAL else stream, syntax)
    except (SyntaxError, ValueError) as error:
        if syntax not in _TEXTUAL:
            return _parse_recoded(source, syntax, error, tally)
    return _parse_mended(source, syntax, tally)


def _parse_recoded(
    source: SourceFile, syntax: ox.RdfFormat, error: SyntaxError | ValueError | None, tally: RepairTally
) -> pl.DataFrame:
    """Return the triples of RDF/XML or JSON-LD that is not UTF-8, or has IRIs that are none.

    Raises `BadInput` where the `error` of the parser has another reason.
    """
    text = decode_declared(_whole(source, syntax), tally)
    base: str | None = None
    if syntax == ox.RdfFormat.JSON_LD:
        text = mend_json_iris(mend_surrogates(text, tally, pairs=False), tally)
        count, example = find_relative_ids(text)
        tally.add("relative-iri", example, count)
        base = BASE if count else None
    else:
        refuse_entities_that_grow(text, source)
        text = mend_xml_iris(text, tally)
        base = _base_for(error, tally)
    if error is not None and not tally.counts:
        raise _refusal(source, error) from None
    while True:
        try:
            return _table(io.BytesIO(text.encode("utf-8", "replace")), syntax, base)
        except (SyntaxError, ValueError) as other:
            # The parser tells the first defect alone: what is relative may stand behind what was mended.
            if base is not None or (base := _base_for(other, tally)) is None:
                raise _refusal(source, other) from None


def _base_for(error: SyntaxError | ValueError | None, tally: RepairTally) -> str | None:
    """Return what relative IRIs are relative to, and count one, where that is the parser's error."""
    if "No scheme found" not in str(error):
        return None
    tally.add("relative-iri", str(error))
    return BASE


_ODD_ID = re.compile(rb'"@id"\s*:\s*"(?:[^":@]*"|[^"]*[\x00-\x20<>{}|\\^`]|[^"]*(?:\xef\xbf\xbd|#[^"]*#))')
"""An identifier of JSON-LD that may have no scheme or characters that no IRI has."""


def _matches(source: SourceFile, pattern: re.Pattern[bytes]) -> bool:
    with source.open() as stream:
        end = b""
        while block := stream.read(1 << 20):
            if pattern.search(end + block):
                return True
            end = block[-_OVERLAP:]
    return False


def _whole(source: SourceFile, syntax: ox.RdfFormat) -> bytes:
    with source.open() as stream:
        lined = _Lined(stream, source.name) if syntax in _TEXTUAL else stream
        data = bytearray()
        while len(data) <= _LONGEST_REPAIR and (block := lined.read(_LONGEST_LINE)):
            data += block
    if len(data) > _LONGEST_REPAIR:
        raise BadInput(source.name, "does not parse, and is too long (over 1 GB) to be repaired; split it")
    return bytes(data)


def _parse_mended(source: SourceFile, syntax: ox.RdfFormat, tally: RepairTally) -> pl.DataFrame:
    text = add_dots(decode(_whole(source, syntax), tally), tally)
    text = mend_iris(mend_surrogates(text, tally, pairs=True), tally)
    base: str | None = None
    while True:
        try:
            # TriG holds the other three: a file may have any of them under a wrong name.
            return _table(io.BytesIO(text.encode("utf-8", "replace")), ox.RdfFormat.TRIG, base)
        except SyntaxError as error:
            undeclared = re.search(r"The prefix (\S*): has not been declared", str(error))
            if undeclared and (longer := declare_prefix(text, undeclared[1])):
                tally.add("missing-prefix", f"line {error.lineno}: {undeclared[1]}:")
                text = longer
            elif "No scheme found" in str(error) and base is None:
                count, example = find_relative_iris(text)
                tally.add("relative-iri", example or str(error), count or 1)
                base = BASE
            else:
                raise _refusal(source, error) from None


def _refusal(source: SourceFile, error: SyntaxError | ValueError) -> BadInput:
    line = getattr(error, "lineno", None)
    reason = re.sub(
        r"^Parser error at line \d+ (?:between columns? \d+ and (?:column )?\d+|column \d+): ", "", str(error)
    )
    reason = re.sub(r" \(line \d+\)$", "", reason)
    if reason.startswith("Unexpected end"):
        reason = "the file ends in the middle of a statement: it was cut off, get it again whole"
    shown = reason if len(reason) <= 200 else reason[:200] + "…"
    return BadInput(source.name, " ".join(shown.split()), line=line, column=getattr(error, "offset", None))


def _table(stream: _Lined | BinaryIO, syntax: ox.RdfFormat, base: str | None = None) -> pl.DataFrame:
    quads = ox.parse(cast(BinaryIO, stream), format=syntax, base_iri=base)
    # The names of graphs go: a dataset is one graph.
    parser = (quad.triple for quad in quads) if syntax in _QUADS else cast(Iterator[ox.Triple], quads)
    schema = {"subject": pl.String(), "predicate": pl.Categorical(), "object": pl.String()}
    parts = [pl.DataFrame(schema=schema), *_split(_batches(parser))]
    return _without_links_to(quads.base_iri, pl.concat(parts))


def _without_links_to(base: str | None, triples: pl.DataFrame) -> pl.DataFrame:
    """Return the triples with links to `<>` and `<*>` as they are without a base: one that is declared hides them."""
    if base is None or base == BASE:
        return triples
    empty = {f"<{urljoin(urldefrag(base).url, link)}>": f"<{BASE}{link}>" for link in ("", "*")}
    links = pl.col("predicate").is_in([IDENT, CLASS])
    return triples.with_columns(
        pl.when(links).then(pl.col("object").replace(empty)).otherwise("object").alias("object")
    )


def _batches(parser: Iterator[ox.Triple]) -> Iterator[bytes]:
    # Every triple passes through Python here, and nowhere else: as an object that is not looked at.
    while lines := ox.serialize(islice(parser, _BATCH), format=ox.RdfFormat.N_TRIPLES):
        yield lines


def _split(batches: Iterable[bytes]) -> Iterator[pl.DataFrame]:
    """Return the columns of each batch, split while the next one is parsed."""
    with ThreadPoolExecutor(1) as pool:
        split: Future[pl.DataFrame] | None = None
        for lines in batches:
            if split is not None:
                yield split.result()
            split = pool.submit(_columns, lines)
        if split is not None:
            yield split.result()


def _columns(lines: bytes) -> pl.DataFrame:
    # No control character stands bare in N-Triples, so each line is one field.
    read = pl.read_csv(lines, has_header=False, separator="\x01", quote_char=None, schema={"line": pl.String})
    return read.select(terms_of(pl.col("line"))).unnest("line").with_columns(pl.col("predicate").cast(pl.Categorical))


class _Lined:
    """A stream that hands out whole lines, and refuses one that is longer than any triple.

    The parser looks for the end of a token in all that it was given; a line without end would
    take its time and memory with the square of the length.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        pieces = iter(lambda: stream.read(1 << 20), b"")
        self._blocks = whole_lines(pieces, name, _LONGEST_LINE)
        self._lines = io.BytesIO()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes of whole lines, nothing at the end."""
        if found := self._lines.read(size):
            return found
        try:
            self._lines = io.BytesIO(next(self._blocks, (b"", 0))[0])
        except BadInput as error:
            raise BadInput(error.file, f"{error.reason}, {_NOT_READ}", line=error.line) from None
        return self._lines.read(size)
