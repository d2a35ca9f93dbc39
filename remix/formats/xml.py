"""Elements of an XML file with their lines, from files that are not quite XML too.

Entities that lie outside the file are never fetched; what those in it may grow to is bounded, and so is how deep
elements are nested.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from xml.parsers import expat

from remix.errors import BadInput
from remix.formats.mends import Mends, decode_declared

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_AMPERSAND = re.compile(
    r"(?s)(<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z))|&(?!(?:[A-Za-z_][\w.-]*|#[0-9]+|#x[0-9A-Fa-f]+);)"
)
"""An ampersand that is none of XML, or a passage (the group) which has any as they are."""
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]*)")
_DEEPEST = 200
_GROWTH, _FREE = 4, 10_000
"""How many times its length a file with all its entities may have, and how many characters whatever its length."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element at its end: the line it begins in, its name, attributes, the text directly in it, what it is in.

    `begin` and `end` are how many characters of text stand in the file before it and before its end.
    """

    line: int
    name: str
    attributes: dict[str, str]
    text: str
    parent: str
    begin: int
    end: int


def parse_elements(data: bytes, file: object, mends: Mends) -> list[Element]:
    """Return the elements of an XML file in the order of their ends: what is inside one comes before it.

    Bare ampersands and characters that XML has not are mended. Raises `BadInput` with line and column for the rest,
    for entities that grow too much, and for elements that are nested too deeply.
    """
    text = _mend(decode_declared(data, mends), mends)
    found: list[Element] = []
    open_: list[tuple[int, str, dict[str, str], list[str], int]] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True
    left = _GROWTH * len(text) + _FREE
    passed = 0

    def grow(length: int) -> None:
        nonlocal left
        left -= length
        if left < 0:
            reason = f"has entities (<!ENTITY …>) that grow to more than {_GROWTH} times the file"
            raise BadInput(file, reason, line=parser.CurrentLineNumber)

    def start(name: str, attributes: dict[str, str]) -> None:
        grow(len(name) + sum(map(len, attributes.values())))
        if len(open_) == _DEEPEST:
            raise BadInput(file, f"is nested deeper than {_DEEPEST} elements", line=parser.CurrentLineNumber)
        open_.append((parser.CurrentLineNumber, name, attributes, [], passed))

    def end(_: str) -> None:
        line, name, attributes, texts, begin = open_.pop()
        parent = open_[-1][1] if open_ else ""
        found.append(Element(line, name, attributes, "".join(texts), parent, begin, passed))

    def characters(said: str) -> None:
        nonlocal passed
        grow(len(said))
        passed += len(said)
        if open_:
            open_[-1][3].append(said)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        reason = f"is no XML ({expat.ErrorString(error.code)})"
        raise BadInput(file, reason, line=error.lineno, column=error.offset + 1) from None
    return found


def _mend(text: str, mends: Mends) -> str:
    text = text.lstrip("\ufeff \t\r\n")
    for kind, pattern, instead in (("ampersand", _AMPERSAND, "&amp;"), ("character", _ILLEGAL, "\ufffd")):
        wrong = [match for match in pattern.finditer(text) if not match.lastindex]
        if wrong:
            line = text.count("\n", 0, wrong[0].start()) + 1
            mends.add(kind, f"line {line}: {wrong[0][0]!r} is not allowed in XML", len(wrong))
            text = _replace(text, pattern, instead)
    return text


def _replace(text: str, pattern: re.Pattern[str], instead: str) -> str:
    return pattern.sub(lambda match: match[0] if match.lastindex else instead, text)


def root_of(head: bytes) -> str:
    """Return the name of the first element in the first bytes of a file, or an empty string.

    >>> root_of(b"<?xml version='1.0'?><!-- a --><ReferenceProblem>")
    'ReferenceProblem'
    """
    text = head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace").lstrip(
        "\ufeff \t\r\n"
    )
    if not text.startswith("<"):
        return ""
    found = _ROOT.search(re.sub(r"(?s)<!--.*?-->|<\?.*?\?>", "", text))
    return found[1] if found else ""


def has_root(name: str, pattern: bytes = b"") -> Callable[[bytes, str], bool]:
    """Return what sniffs XML whose root has this name, and in whose first bytes the pattern is found.

    >>> has_root("articles", rb"<article\\b")(b"<articles><article docid='1'>", "x.xml")
    True
    """
    return lambda head, _: root_of(head) == name and re.search(pattern, head) is not None


def replace_illegal(text: str) -> str:
    """Return a text with U+FFFD for the characters that XML has not."""
    return _ILLEGAL.sub("\ufffd", text)


def escape_text(text: str) -> str:
    """Return a text as it stands in an element."""
    return escape(replace_illegal(text), quote=False).replace("\r", "&#13;")
