"""What a figure consists of when it is laid out: labels, lines, boxes and signs at their places on a sheet.

Both writers, `svg` and `plots`, draw these and nothing else. Places are in units of which letters have 12, from the
upper left corner. A colour is `#rrggbb`, or `ink`, which is that of text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from remix.reports.lettering import breadth

Place: TypeAlias = tuple[float, float]
INK = "ink"
SIGNS = ("circle", "square", "triangle", "diamond", "falling", "plus", "hexagon", "star", *("circle", "square") * 2)
"""The signs of series by their number; those from `HOLLOW` on are hollow."""
HOLLOW = 8
DASHES = ((), (6, 3), (2, 3), (8, 3, 2, 3), (10, 4), (1, 2), (4, 2, 1, 2, 1, 2))
"""Dashes of series by their number: lengths of what is drawn and what is left out in turn."""
HATCHES = (
    *("", "rising", "falling", "lying", "crossed", "standing", "dotted"),
    *("grid", "rings", "many rising", "many lying", "many standing"),
)
"""What fills the bars of series by their number, so that they are told apart without colours."""


@dataclass(frozen=True)
class Label:
    """A text at the end that it is anchored by (`start`, `middle` or `end`), on its base line, turned by degrees."""

    text: str
    x: float
    y: float
    size: float = 12.0
    anchor: str = "start"
    turn: float = 0.0
    bold: bool = False
    slanted: bool = False
    pale: bool = False
    role: str = ""

    def move(self, right: float, down: float) -> Label:
        """Return it at another place."""
        return replace(self, x=self.x + right, y=self.y + down)

    @property
    def corners(self) -> list[Place]:
        """Return the corners of what the text takes at most."""
        wide = breadth(self.text, self.size, bold=self.bold)
        left = {"start": 0.0, "middle": -wide / 2, "end": -wide}[self.anchor]
        up, down = 0.78 * self.size, 0.24 * self.size
        sine, cosine = math.sin(math.radians(self.turn)), math.cos(math.radians(self.turn))
        flat = [(left, -up), (left + wide, -up), (left + wide, down), (left, down)]
        return [(self.x + x * cosine - y * sine, self.y + x * sine + y * cosine) for x, y in flat]


@dataclass(frozen=True)
class Trace:
    """Lines through places, each of its own beginning; `filled` ones are areas without an outline."""

    runs: Sequence[Sequence[Place]]
    colour: str = INK
    width: float = 1.0
    dashes: Sequence[float] = ()
    opacity: float = 1.0
    closed: bool = False
    filled: bool = False
    role: str = ""

    def move(self, right: float, down: float) -> Trace:
        """Return it at another place."""
        return replace(self, runs=[[(x + right, y + down) for x, y in run] for run in self.runs])


@dataclass(frozen=True)
class Box:
    """A rectangle with what it says and where it leads; `hatch` is one of `HATCHES`."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    opacity: float = 1.0
    hatch: str = ""
    words: str = ""
    link: str = ""
    role: str = ""
    outlined: bool = True

    def move(self, right: float, down: float) -> Box:
        """Return it at another place."""
        return replace(self, x=self.x + right, y=self.y + down)


@dataclass(frozen=True)
class Sign:
    """The sign of a series by its number, about its place."""

    number: int
    x: float
    y: float
    colour: str
    scale: float = 1.0
    opacity: float = 1.0
    words: str = ""
    link: str = ""
    role: str = ""

    def move(self, right: float, down: float) -> Sign:
        """Return it at another place."""
        return replace(self, x=self.x + right, y=self.y + down)


Mark: TypeAlias = Label | Trace | Box | Sign


@dataclass(frozen=True)
class Sheet:
    """Marks on a sheet of this size, with what it is called and what is to be seen on it."""

    width: float
    height: float
    marks: Sequence[Mark]
    title: str = ""
    description: str = ""
