r"""Properties of Java, as GERBIL's configuration reads them (Apache Commons Configuration 1).

A line is `key = value`; `:` or white space part them as well. A line that ends in a backslash goes on in the next one,
past lines that are empty or comments. `\t`, `\n` and `\u00e9` stand for what they are in Java, a backslash before any
other letter for that letter. A value is a list at its commas, where a key takes several; `\,` is a comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from remix.files import read_bytes

_COMMENTS = ("#", "!")
_BACKSLASHES = re.compile(r"\\+$")
_KEY = re.compile(r"((?:[^\\=:\s]|\\.)*)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.|$)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b"}
_ITEM = re.compile(r"(?:[^\\,]|\\.)+", re.DOTALL)
_REFERENCE = re.compile(r"\$\{([^${}]+)\}")


@dataclass(frozen=True)
class Property:
    """A key with its value as the file spells it, `written`, and the line that it begins in."""

    key: str
    written: str
    line: int

    @property
    def value(self) -> str:
        """Return the value."""
        return _unescape(self.written)

    @property
    def items(self) -> list[str]:
        r"""Return the value as a list, parted at its commas, without what is empty.

        >>> Property("k", r"a, b\,c,,", 1).items
        ['a', 'b,c']
        """
        return [item for one in _ITEM.findall(self.written) if (item := _unescape(one).strip())]


def read_properties(file: Path | str) -> list[Property]:
    """Return the properties of a file in their order; a key may come several times.

    The file is UTF-8 or, where it is not, ISO 8859-1, as Java has it. Raises `BadInput` for what is no readable file.
    """
    content = read_bytes(file)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return [*parse_properties(text)]


def parse_properties(text: str) -> Iterator[Property]:
    r"""Yield the properties of a text.

    >>> text = "# a comment\nname : Filter\\\n\n   Persons\nempty\n"
    >>> [(one.key, one.value, one.line) for one in parse_properties(text)]
    [('name', 'FilterPersons', 2), ('empty', '', 5)]
    """
    said, begin = "", 0
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        line = line.strip()
        if not line or line.startswith(_COMMENTS):
            continue
        begin = begin or number
        end = _BACKSLASHES.search(line)
        if end and len(end[0]) % 2:
            said += line[:-1]
            continue
        yield _property(said + line, begin)
        said, begin = "", 0
    if said:
        yield _property(said, begin)


def _property(said: str, line: int) -> Property:
    found = _KEY.fullmatch(said)
    assert found is not None  # every part of the pattern may be empty
    return Property(_unescape(found[1]), found[2].strip(), line)


def _unescape(text: str) -> str:
    def letter(match: re.Match[str]) -> str:
        one = match[1]
        return chr(int(one[1:], 16)) if len(one) == 5 else _LETTERS.get(one, one)

    return _ESCAPE.sub(letter, text)


def fill_in(value: str, known: Mapping[str, str]) -> str:
    """Return a value with the values of other keys in the place of `${key}`; what is not known stays.

    >>> fill_in("${data}/ranks", {"data": "${home}/data", "home": "gerbil"}), fill_in("${no}", {"no": "${no}"})
    ('gerbil/data/ranks', '${no}')
    """
    for _ in range(len(known) + 1):
        filled = _REFERENCE.sub(lambda match: known.get(match[1], match[0]), value)
        if filled == value:
            break
        value = filled
    return value


def unknown_reference(value: str) -> str:
    """Return the first key that a value refers to and that was not filled in, or nothing."""
    found = _REFERENCE.search(value)
    return found[1] if found else ""
