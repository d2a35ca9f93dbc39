"""A text in segments: mentions within others stand in them, and those that cross are cut."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from remix.web import page

_DEEP = 12
"""Mentions within each other that are shown; what lies deeper is in the table alone."""


@dataclass(order=True)
class Mark:
    """A stretch of the text that is annotated, or answered; `cut` and `rest` say that it goes on or has begun."""

    begin: int
    before: int
    look: str = field(compare=False)
    label: str = field(compare=False)
    href: str = field(compare=False)
    name: str = field(compare=False)

    @property
    def end(self) -> int:
        """Return where it ends: of those that begin together the longest comes first."""
        return -self.before


def lay_out(text: str, marks: Sequence[Mark]) -> tuple[list[page.Segment], list[str]]:
    """Return a text in segments, mentions within others as parts of them, and what is said of mentions that cross.

    A mention that begins in another and ends behind it is cut where the other ends. What has no place in the text, or
    lies deeper than a page can show, is left out and said.
    """
    placed = [mark for mark in marks if 0 <= mark.begin < mark.end <= len(text)]
    heap = sorted(placed)
    told = {"cut": 0, "deep": 0}
    segments = _nest(text, 0, len(text), heap, told, 0)
    notes = []
    if told["cut"]:
        said = "Mentions that cross others, which are shown in parts, with a dashed edge where they are cut"
        notes.append(f"{said}: {told['cut']}.")
    if left := len(marks) - len(placed) + told["deep"]:
        notes.append(f"Mentions that have no place in the text, or lie too deep in others; the table has them: {left}.")
    return segments, notes


def _nest(text: str, begin: int, end: int, heap: list[Mark], told: dict[str, int], depth: int) -> list[page.Segment]:
    """Return a stretch of the text in segments; the marks, a heap by where they begin, all lie within it."""
    segments, at = [], begin
    while heap:
        mark = heapq.heappop(heap)
        inside: list[Mark] = []
        while heap and heap[0].begin < mark.end:
            other = heapq.heappop(heap)
            if other.end > mark.end:
                told["cut"] += not other.look.endswith((" cut", " rest"))
                heapq.heappush(heap, replace(other, begin=mark.end, look=f"{other.look} rest", name=""))
                other = replace(other, before=-mark.end, look=f"{other.look} cut")
            inside.append(other)
        heapq.heapify(inside)
        parts: list[page.Segment] = []
        if depth < _DEEP:
            parts = _nest(text, mark.begin, mark.end, inside, told, depth + 1) if inside else []
        else:
            told["deep"] += len(inside)
        segments += [page.Segment(text[at : mark.begin])] if at < mark.begin else []
        segments.append(page.Segment(text[mark.begin : mark.end], mark.look, mark.label, mark.href, parts, mark.name))
        at = mark.end
    return [*segments, page.Segment(text[at:end])] if at < end else segments
