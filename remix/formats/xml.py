"""The tree of an XML file, each element with its line, from files that are not quite XML too.

Entities that lie outside the file are never fetched; what those in it may grow to is bounded, and so is how deep
elements are nested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import cast
from xml.etree import ElementTree
from xml.parsers import expat

from remix.errors import BadInput
from remix.formats.repairs import RepairTally, decode_declared

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_AMPERSAND = re.compile(
    r"(?s)(<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z))|&(?!(?:[A-Za-z_][\w.-]*|#[0-9]+|#x[0-9A-Fa-f]+);)"
)
"""An ampersand that is none of XML, or a passage (the group) which has any as they are."""
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]*)")
_DEEPEST = 200
_GROWTH, _FREE = 4, 10_000
"""How many times its length a file with all its entities may have, and how many characters whatever its length."""


class Element(ElementTree.Element):
    """An element as Python's own, with the line that it begins in."""

    line = 0

    def every(self, *names: str) -> Iterator[Element]:
        """Return the elements of these names in it, in their order."""
        return (one for one in cast(Iterator[Element], self.iter()) if one.tag in names)

    def inner(self) -> list[Element]:
        """Return the elements directly in it."""
        return cast(list[Element], list(self))

    def own_text(self) -> str:
        """Return the text directly in it, without that of the elements in it."""
        return "".join((self.text or "", *(one.tail or "" for one in self)))

    def fields(self) -> dict[str, str]:
        """Return the texts of the elements directly in it, by their names."""
        return {one.tag: one.own_text() for one in self.inner()}


def parse_tree(data: bytes, file: object, tally: RepairTally) -> Element:
    """Return the first element of an XML file, which has the others in it.

    Bare ampersands and characters that XML has not are mended. Raises `BadInput` with line and column for the rest,
    for entities that grow too much, and for elements that are nested too deeply.
    """
    text = _mend(decode_declared(data, tally), tally)
    builder = ElementTree.TreeBuilder(element_factory=Element)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    left = _GROWTH * len(text) + _FREE
    depth = 0

    def grow(length: int) -> None:
        nonlocal left
        left -= length
        if left < 0:
            reason = f"has entities (<!ENTITY …>) that grow to more than {_GROWTH} times the file"
            raise BadInput(file, reason, line=parser.CurrentLineNumber)

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        grow(len(name) + sum(map(len, attributes.values())))
        if depth == _DEEPEST:
            raise BadInput(file, f"is nested deeper than {_DEEPEST} elements", line=parser.CurrentLineNumber)
        depth += 1
        cast(Element, builder.start(name, attributes)).line = parser.CurrentLineNumber

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(name)

    def characters(said: str) -> None:
        grow(len(said))
        builder.data(said)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        reason = f"is no XML ({expat.ErrorString(error.code)})"
        raise BadInput(file, reason, line=error.lineno, column=error.offset + 1) from None
    return cast(Element, builder.close())


def _mend(text: str, tally: RepairTally) -> str:
    text = text.lstrip("\ufeff \t\r\n")
    for kind, pattern, instead in (("ampersand", _AMPERSAND, "&amp;"), ("character", _ILLEGAL, "\ufffd")):
        wrong = [match for match in pattern.finditer(text) if not match.lastindex]
        if wrong:
            line = text.count("\n", 0, wrong[0].start()) + 1
            tally.add(kind, f"line {line}: {wrong[0][0]!r} is not allowed in XML", len(wrong))
            text = _replace(text, pattern, instead)
    return text


def _replace(text: str, pattern: re.Pattern[str], instead: str) -> str:
    return pattern.sub(lambda match: match[0] if match.lastindex else instead, text)


def root_of(head: bytes) -> str:
    """Return the name of the first element in the first bytes of a file, or an empty string.

    >>> root_of(b"<?xml version='1.0'?><!-- a --><ReferenceProblem>")
    'ReferenceProblem'
    """
    text = head.decode("utf-8", "replace")
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
