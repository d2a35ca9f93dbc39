"""RDF in any syntax and state of health as a frame of terms, in the order of the text; what is no RDF is mended."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO, cast
from urllib.parse import urldefrag, urljoin

import polars as pl
import pyoxigraph as ox

from remix.errors import BadInput
from remix.formats.mends import Mends, decode, decode_declared, mend_surrogates
from remix.formats.nif import BASE, CLASS, IDENT
from remix.formats.source import SourceFile
from remix.names import PREFIXES
from remix.rdf.iris import legal_reference
from remix.rdf.ntriples import terms_of

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
_GROWTH, _FREE = 8, 1 << 20
"""How many times its length an XML file with all its entities may have, and how many characters whatever its length."""
_USED = re.compile(r"&([\w.:-]+);")
_DECLARED = re.compile(r"""&([\w.:-]+);|<!ENTITY\s+([\w.:-]+)\s+("[^"]*"|'[^']*')""")
# Repair holds the text three times in memory.
_LONGEST_REPAIR = 1 << 30


@dataclass(frozen=True)
class ParsedFile:
    """Triples as N-Triples terms (`subject`, `predicate`, `object`) in the order of the text."""

    triples: pl.DataFrame
    mends: Mends


def syntax_of(head: bytes, name: str) -> ox.RdfFormat | None:
    """Return the RDF syntax that the first bytes and the file's name speak for, null for none.

    What the content says plainly counts for more than the suffix.

    >>> syntax_of(b"<?xml version='1.0'?><rdf:RDF ", "a.ttl")
    <RdfFormat RDF/XML>
    >>> syntax_of(b"<http://a> <http://b> <http://c> .", "a")
    <RdfFormat Turtle>
    """
    text = head[:4096].decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1", "ignore")
    start = text.removeprefix("ï»¿").lstrip()
    suffix = _suffix(name)
    if re.match(r"<\?xml|<rdf:RDF|<!DOCTYPE rdf|<!--", start):
        return ox.RdfFormat.RDF_XML
    if start.startswith(("{", "[")) and suffix not in (".ttl", ".trig", ".n3"):
        return ox.RdfFormat.JSON_LD if '"@' in text or suffix == ".jsonld" else None
    if suffix in _SYNTAXES and _SYNTAXES[suffix] in _TEXTUAL:
        declares = re.search(r"(?im)^\s*@?(?:prefix|base)\b", start) is not None
        syntax = _SYNTAXES[suffix]
        return ox.RdfFormat.TRIG if declares and syntax in _LINED else syntax
    # Comments alone say nothing of RDF.
    if re.match(r"(?i)@prefix|@base|prefix\s|base\s|<[^<>\s]*>\s|_:\S+\s|\#[^\n]*\n\s*\S|[\w-]*:\S+\s", start):
        return ox.RdfFormat.TRIG if re.search(r"(?m)^[^#\"]*\{", start) else ox.RdfFormat.TURTLE
    return None


def _suffix(name: str) -> str:
    for compression in (".gz", ".bz2", ".zst"):
        name = name.removesuffix(compression)
    return "." + name.rsplit(".", 1)[-1].lower() if "." in name else ""


def parse(source: SourceFile) -> ParsedFile:
    """Return the triples of a file; mends it only where it does not parse as it is.

    Raises `BadInput` with line, column and reason where no mending helps.
    """
    syntax = syntax_of(source.head, str(source.path)) or ox.RdfFormat.TURTLE
    if syntax == ox.RdfFormat.RDF_XML and _declares_entities(source):
        with source.open() as stream:
            _refuse_entities_that_grow(_whole(stream, source).decode("latin-1"), source)
    try:
        with source.open() as stream:
            lined = _Lined(stream, source.name) if syntax in _TEXTUAL else stream
            return _table(cast(BinaryIO, lined), syntax, Mends())
    except (SyntaxError, ValueError) as error:
        if syntax not in _TEXTUAL:
            return _parse_recoded(source, syntax, error)
    return _parse_mended(source)


def _parse_recoded(source: SourceFile, syntax: ox.RdfFormat, error: SyntaxError | ValueError) -> ParsedFile:
    """Return the triples of RDF/XML or JSON-LD that is not UTF-8; raises `BadInput` where that is not its defect."""
    mends = Mends()
    with source.open() as stream:
        text = decode_declared(_whole(stream, source), mends)
    if syntax == ox.RdfFormat.JSON_LD:
        text = mend_surrogates(text, mends, pairs=False)
    else:
        _refuse_entities_that_grow(text, source)
    if not mends.counts:
        raise _refusal(source, error) from None
    try:
        return _table(io.BytesIO(text.encode("utf-8", "replace")), syntax, mends)
    except (SyntaxError, ValueError) as other:
        raise _refusal(source, other) from None


def _declares_entities(source: SourceFile) -> bool:
    with source.open() as stream:
        end = b""
        while block := stream.read(1 << 20):
            if b"<!ENTITY" in end + block:
                return True
            end = block[-8:]
    return False


def _refuse_entities_that_grow(text: str, source: SourceFile) -> None:
    """Raise `BadInput` for XML whose entities stand for much more than is there; the parser writes them out."""
    limit = _GROWTH * len(text) + _FREE
    sizes: dict[str, int] = {}
    grown = 0
    for match in _DECLARED.finditer(text):
        if match[2] is not None:
            # An entity is made of those that were declared before it.
            sizes[match[2]] = size = len(match[3]) + sum(sizes.get(name, 0) for name in _USED.findall(match[3]))
            grown += size
        else:
            grown += sizes.get(match[1], 0)
        if grown > limit:
            line = text.count("\n", 0, match.start()) + 1
            reason = f"has entities (<!ENTITY …>) that grow to more than {_GROWTH} times the file"
            raise BadInput(source.name, reason, line=line)


def _whole(stream: BinaryIO | io.RawIOBase, source: SourceFile) -> bytes:
    data = bytearray()
    while len(data) <= _LONGEST_REPAIR and (block := stream.read(_LONGEST_LINE)):
        data += block
    if len(data) > _LONGEST_REPAIR:
        raise BadInput(source.name, "does not parse, and is too long (over 1 GB) to be repaired; split it")
    return bytes(data)


def _parse_mended(source: SourceFile) -> ParsedFile:
    mends = Mends()
    with source.open() as stream:
        data = _whole(_Lined(stream, source.name), source)
    text = mend_iris(mend_surrogates(add_dots(decode(data, mends), mends), mends, pairs=True), mends)
    del data
    base: str | None = None
    while True:
        try:
            # TriG holds the other three: a file may have any of them under a wrong name.
            return _table(io.BytesIO(text.encode("utf-8", "replace")), ox.RdfFormat.TRIG, mends, base)
        except SyntaxError as error:
            undeclared = re.search(r"The prefix (\S*): has not been declared", str(error))
            longer = declare_prefix(text, undeclared[1]) if undeclared else None
            if longer is not None and undeclared is not None:
                mends.add("missing-prefix", f"line {error.lineno}: {undeclared[1]}:")
                text = longer
            elif "No scheme found" in str(error) and base is None:
                count, example = find_relative_iris(text)
                mends.add("relative-iri", example or str(error), count or 1)
                base = BASE
            else:
                raise _refusal(source, error) from None


def _refusal(source: SourceFile, error: SyntaxError | ValueError) -> BadInput:
    line = getattr(error, "lineno", None)
    reason = re.sub(
        r"^Parser error at line \d+ (?:between columns? \d+ and (?:column )?\d+|column \d+): ", "", str(error)
    )
    reason = re.sub(r" \(line \d+\)$", "", reason)
    shown = reason if len(reason) <= 200 else reason[:200] + "…"
    return BadInput(source.name, " ".join(shown.split()), line=line, column=getattr(error, "offset", None))


def declare_prefix(text: str, prefix: str) -> str | None:
    """Return Turtle with a well-known prefix declared before its first line, null for an unknown prefix.

    Lines keep their numbers.
    """
    if prefix not in PREFIXES:
        return None
    return f"@prefix {prefix}: <{PREFIXES[prefix]}> . {text}"


_UNDOTTED = re.compile(
    r"^([ \t]*@(?:prefix[ \t]+\S*:|base)[ \t]*<[^<>\n]*>)([ \t]*(?:#[^\r\n]*)?)(?=\r?$)", re.MULTILINE
)


def add_dots(text: str, mends: Mends) -> str:
    """Return Turtle with a dot at the end of each `@prefix` line that lacks it.

    >>> mends = Mends()
    >>> add_dots("@prefix a: <http://a/>\\n@prefix b: <http://b/> .", mends), mends.counts["missing-dot"]
    ('@prefix a: <http://a/> .\\n@prefix b: <http://b/> .', 1)
    """

    def add_dot(match: re.Match[str]) -> str:
        # The dot may stand alone on the next line.
        if text[match.end() : match.end() + 200].lstrip().startswith("."):
            return match[0]
        if not (known := mends.examples.get("missing-dot", "")):
            known = f"line {text.count(chr(10), 0, match.start()) + 1}: {match[1].strip()}"
        mends.add("missing-dot", known)
        return f"{match[1]} .{match[2]}"

    return _UNDOTTED.sub(add_dot, text)


_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""'
    r"|'''(?:[^'\\]|\\.|'(?!''))*+'''"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'(?:[^'\\\n]|\\.)*+'"
    r"|<([^<>\n]*)>"
    r"|\#[^\n]*",
    re.DOTALL,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


def mend_iris(text: str, mends: Mends) -> str:
    """Return Turtle or N-Triples with every IRI legal; strings and comments stay as they are."""
    mended: dict[str, str] = {}
    first: list[str] = []

    def legal(match: re.Match[str]) -> str:
        """Return a token as it is or, where it is an illegal IRI, mended and told."""
        iri = match[1]
        if iri is None:
            return match[0]
        if iri not in mended:
            mended[iri] = mend_iri(iri)
        if mended[iri] == iri:
            return match[0]
        if not first:
            first.append(f"line {text.count(chr(10), 0, match.start()) + 1}: {match[0]}")
        mends.add("invalid-iri", first[0])
        return f"<{mended[iri]}>"

    return _TOKEN.sub(legal, text)


def find_relative_iris(text: str) -> tuple[int, str]:
    """Return how many IRIs of a text have no scheme, and the first with its line.

    >>> find_relative_iris('<a> <http://b> "<c>" .')
    (1, 'line 1: <a>')
    """
    found = (match for match in _TOKEN.finditer(text) if match[1] is not None and not _SCHEME.match(match[1]))
    first = next(found, None)
    if first is None:
        return 0, ""
    line = text.count("\n", 0, first.start()) + 1
    return 1 + sum(1 for _ in found), f"line {line}: {first[0]}"


def mend_iri(iri: str) -> str:
    """Return an IRI of Turtle, with its escapes, that parses; one that does so already stays as it is spelt.

    >>> mend_iri(" http://x/a b#c#d "), mend_iri("http://x/Jos\\\\u00e9")
    ('http://x/a%20b#c%23d', 'http://x/Jos\\\\u00e9')
    """
    plain = _ESCAPE.sub(lambda match: chr(min(int(match[1] or match[2], 16), 0x10FFFF)), iri)
    legal = legal_reference(plain)
    return iri if legal == plain else legal


def _table(stream: BinaryIO, syntax: ox.RdfFormat, mends: Mends, base: str | None = None) -> ParsedFile:
    quads = ox.parse(stream, format=syntax, base_iri=base)
    # The names of graphs go: a dataset is one graph.
    parser = (quad.triple for quad in quads) if syntax in _QUADS else cast(Iterator[ox.Triple], quads)
    schema = {"subject": pl.String(), "predicate": pl.Categorical(), "object": pl.String()}
    parts = [pl.DataFrame(schema=schema), *_split(_batches(parser))]
    return ParsedFile(_without_links_to(quads.base_iri, pl.concat(parts)), mends)


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


class _Lined(io.RawIOBase):
    """A stream that hands out whole lines, and refuses one that is longer than any triple.

    The parser looks for the end of a token in all that it was given; a line without end would
    take its time and memory with the square of the length.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._lines = b""
        self._given = 0
        self._rest = b""
        self._line = 1
        self._first = True

    def readable(self) -> bool:
        """Return true: the stream can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes of whole lines, nothing at the end."""
        if self._given >= len(self._lines):
            self._line += self._lines.count(b"\n")
            self._lines = self._whole_lines()
            self._given = 0
        begin = self._given
        self._given = len(self._lines) if size < 0 else min(begin + size, len(self._lines))
        return self._lines[begin : self._given]

    def _whole_lines(self) -> bytes:
        while block := self._stream.read(1 << 20):
            if self._first:
                block = block.removeprefix(b"\xef\xbb\xbf")
                self._first = False
            end = block.rfind(b"\n") + 1
            if end:
                lines = self._rest + block[:end]
                self._rest = block[end:]
                return lines
            self._rest += block
            if len(self._rest) > _LONGEST_LINE:
                longest = f"the line is longer than {_LONGEST_LINE >> 20} MB"
                raise BadInput(self._name, longest, line=self._line)
        lines, self._rest = self._rest, b""
        return lines
