"""Mending text that is no RDF as it stands: bytes, prefixes, dots and IRIs, each mend counted."""

from __future__ import annotations

import re
from collections import Counter

from remix.names import PREFIXES
from remix.rdf.iris import legal_reference

__all__ = [
    "Mends",
    "decoded",
    "mended_iri",
    "recoded",
    "relative_iris",
    "with_dots",
    "with_iris",
    "with_letters",
    "with_prefix",
]


class Mends:
    """A tally of what was mended: counts by kind, and the first example of each."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, str] = {}

    def add(self, kind: str, example: str, count: int = 1) -> None:
        """Count a mend; the first example of a kind is kept."""
        if count:
            self.counts[kind] += count
            self.examples.setdefault(kind, example)


def decoded(data: bytes, mends: Mends) -> str:
    """Return the text of the bytes: UTF-8 (or UTF-16 with its mark), else Windows-1252 line by line.

    Only the lines that are no UTF-8 are read as Windows-1252, so that a file put together from two
    sources keeps both.

    >>> mends = Mends()
    >>> decoded("é\\n".encode() + "é".encode("cp1252"), mends), mends.counts["encoding"]
    ('é\\né', 1)
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        mends.add("encoding", "the file is UTF-16")
        return data.decode("utf-16", errors="replace")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "".join(_line(line, n, mends) for n, line in enumerate(data.splitlines(keepends=True), 1))


_DECLARED = re.compile(r"""(<\?xml[^>]*?)\s+encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def recoded(data: bytes, mends: Mends) -> str:
    """Return the text of RDF/XML or JSON-LD by its own mark or declaration, which goes; else as `decoded`.

    >>> mends = Mends()
    >>> recoded("<?xml version='1.0' encoding='ISO-8859-2'?><ž/>".encode("iso-8859-2"), mends)
    "<?xml version='1.0'?><ž/>"
    >>> mends.examples
    {'encoding': 'the file is ISO-8859-2'}
    """
    declared = _DECLARED.match(data[:200].decode("latin-1"))
    try:
        if declared and declared[2].lower() not in ("utf-8", "utf8"):
            text = data.decode(declared[2])
            mends.add("encoding", f"the file is {declared[2]}")
        else:
            text = decoded(data, mends)
    except (LookupError, ValueError):
        text = decoded(data, mends)
    return _DECLARED.sub(r"\1", text, count=1) if text.startswith("<?xml") else text


def _line(line: bytes, number: int, mends: Mends) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        mends.add("encoding", f"line {number}: byte 0x{line[error.start]:02x} is no UTF-8, read as Windows-1252")
        # Five bytes mean nothing in Windows-1252; they become the control characters of Latin-1.
        return "".join(bytes([byte]).decode("cp1252", errors="ignore") or chr(byte) for byte in line)


def with_prefix(text: str, prefix: str) -> str | None:
    """Return Turtle with a well-known prefix declared before its first line, null for an unknown prefix.

    Lines keep their numbers.
    """
    if prefix not in PREFIXES:
        return None
    return f"@prefix {prefix}: <{PREFIXES[prefix]}> . {text}"


_UNDOTTED = re.compile(
    r"^([ \t]*@(?:prefix[ \t]+\S*:|base)[ \t]*<[^<>\n]*>)([ \t]*(?:#[^\r\n]*)?)(?=\r?$)", re.MULTILINE
)


def with_dots(text: str, mends: Mends) -> str:
    """Return Turtle with a dot at the end of each `@prefix` line that lacks it.

    >>> mends = Mends()
    >>> with_dots("@prefix a: <http://a/>\\n@prefix b: <http://b/> .", mends), mends.counts["missing-dot"]
    ('@prefix a: <http://a/> .\\n@prefix b: <http://b/> .', 1)
    """

    def dotted(match: re.Match[str]) -> str:
        # The dot may stand alone on the next line.
        if text[match.end() : match.end() + 200].lstrip().startswith("."):
            return match[0]
        if not (known := mends.examples.get("missing-dot", "")):
            known = f"line {text.count(chr(10), 0, match.start()) + 1}: {match[1].strip()}"
        mends.add("missing-dot", known)
        return f"{match[1]} .{match[2]}"

    return _UNDOTTED.sub(dotted, text)


_SURROGATES = re.compile(
    r"\\\\|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def with_letters(text: str, mends: Mends, *, pairs: bool) -> str:
    r"""Return text in which no escape is half a letter of UTF-16: one without its other half is read as U+FFFD.

    JSON writes letters in two halves; Turtle does not, and there such `pairs` are mended, too.

    >>> mends = Mends()
    >>> print(with_letters(r'"\uD83D\uDE00 \uD83D \\uD83D"', mends, pairs=True), mends.counts["surrogate"])
    "😀 \ufffd \\uD83D" 2
    """
    if re.search(r"\\u[dD][89a-fA-F]", text) is None:
        return text

    def mended(match: re.Match[str]) -> str:
        if match[0] == "\\\\" or (match[1] and not pairs):
            return match[0]
        if not (known := mends.examples.get("surrogate", "")):
            what = "is a letter in two halves" if match[1] else "is half a letter, read as U+FFFD"
            known = f"line {text.count(chr(10), 0, match.start()) + 1}: {match[0]} {what}"
        mends.add("surrogate", known)
        if match[1] is None:
            return r"\ufffd"
        return chr(0x10000 + ((int(match[1], 16) - 0xD800) << 10) + (int(match[2], 16) - 0xDC00))

    return _SURROGATES.sub(mended, text)


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


def with_iris(text: str, mends: Mends) -> str:
    """Return Turtle or N-Triples with every IRI legal; strings and comments stay as they are."""
    mended: dict[str, str] = {}
    first: list[str] = []

    def legal(match: re.Match[str]) -> str:
        """Return a token as it is or, where it is an illegal IRI, mended and told."""
        iri = match[1]
        if iri is None:
            return match[0]
        if iri not in mended:
            mended[iri] = mended_iri(iri)
        if mended[iri] == iri:
            return match[0]
        if not first:
            first.append(f"line {text.count(chr(10), 0, match.start()) + 1}: {match[0]}")
        mends.add("invalid-iri", first[0])
        return f"<{mended[iri]}>"

    return _TOKEN.sub(legal, text)


def relative_iris(text: str) -> tuple[int, str]:
    """Return how many IRIs of a text have no scheme, and the first with its line.

    >>> relative_iris('<a> <http://b> "<c>" .')
    (1, 'line 1: <a>')
    """
    found = (match for match in _TOKEN.finditer(text) if match[1] is not None and not _SCHEME.match(match[1]))
    first = next(found, None)
    if first is None:
        return 0, ""
    line = text.count("\n", 0, first.start()) + 1
    return 1 + sum(1 for _ in found), f"line {line}: {first[0]}"


def mended_iri(iri: str) -> str:
    """Return an IRI of Turtle, with its escapes, that parses; one that does so already stays as it is spelt.

    >>> mended_iri(" http://x/a b#c#d "), mended_iri("http://x/Jos\\\\u00e9")
    ('http://x/a%20b#c%23d', 'http://x/Jos\\\\u00e9')
    """
    plain = _ESCAPE.sub(lambda match: chr(min(int(match[1] or match[2], 16), 0x10FFFF)), iri)
    legal = legal_reference(plain)
    return iri if legal == plain else legal
