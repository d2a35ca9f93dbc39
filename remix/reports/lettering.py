"""How broad texts are, at most, whichever font sets them: what fits on a line, and where it is broken or cut."""

from __future__ import annotations

import unicodedata

_ASCII = (
    *(32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64),
    *(64, 64, 34, 34, 84, 84, 84, 56, 102, 68, 69, 72, 77, 67, 61, 78, 75, 29, 50, 67, 56, 86, 75, 79),
    *(67, 79, 72, 67, 61, 73, 68, 99, 69, 67, 69, 39, 34, 39, 84, 56, 50, 61, 63, 55, 63, 62, 35, 63),
    *(63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84),
)
"""The wider of DejaVu Sans and Liberation Sans (Arial), in hundredths of the size, from the space on."""
_OTHER, _WIDE, _BOLD = 72, 102, 1.13


def breadth(text: str, size: float, *, bold: bool = False) -> float:
    """Return how broad the longest line of a text is at most, in the unit of its size.

    >>> breadth("il", 10), breadth("mm", 10), breadth("中", 10)
    (5.6, 19.4, 10.2)
    """
    wide = max((sum(map(_hundredths, line)) for line in text.split("\n")), default=0)
    return wide * size * (_BOLD if bold else 1.0) / 100


def _hundredths(letter: str) -> int:
    place = ord(letter) - 32
    if 0 <= place < len(_ASCII):
        return _ASCII[place]
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Cf"):
        return 0
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _OTHER


def cut(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Return a text that is no broader than its room; of one that is, the middle is left out.

    >>> cut("a-dataset-of-a-long-name-2012", 80, 10), cut("short", 80, 10)
    ('a-datase…-2012', 'short')
    """
    if breadth(text, size, bold=bold) <= room:
        return text
    kept = len(text)
    while kept > 0:
        kept -= 1
        start = -(-kept * 3 // 5)
        said = f"{text[:start].rstrip()}…{text[len(text) - (kept - start) :]}"
        if breadth(said, size, bold=bold) <= room:
            return said
    return ""


def wrap(text: str, room: float, size: float, *, most: int = 3, bold: bool = False) -> list[str]:
    """Return a text in at most so many lines that are no broader than their room, broken between words.

    >>> wrap("the density of all datasets", 80, 10)
    ['the density of', 'all datasets']
    """
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and breadth(longer, size, bold=bold) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [cut(line, room, size, bold=bold) for line in lines]
