"""RDF read by Oxigraph's parser, whose values may have any length.

The parser of a stream holds 16 MiB at once, and ends in a `MemoryError` where a value is longer, as the text of a
document may be. What lies in memory the bulk loader of a store reads without this bound, but in no order, and it names
blank nodes anew; so it is used for nothing but the values that are too long.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import BinaryIO

import pyoxigraph as ox

_HELD = 1 << 24
"""Bytes that the parser of a stream holds."""
_LONG = 1 << 23
"""Bytes from which on a line is long: the parser holds more than a line at once."""
_BLOCK = 1 << 20


def parse_lines(content: bytes, syntax: ox.RdfFormat, *, lenient: bool = False) -> Iterator[ox.Quad]:
    """Yield what lines of N-Triples, or of Turtle with a statement a line, say, in their order.

    >>> [str(one) for one in parse_lines(b'<urn:s> <urn:p> "o" .', ox.RdfFormat.N_TRIPLES)]
    ['<urn:s> <urn:p> "o"']
    """
    if len(content) <= _HELD // 2:
        yield from ox.parse(content, syntax, lenient=lenient)
        return
    for is_long, lines in groupby(io.BytesIO(content), _is_long):
        if is_long:
            yield from (parse_long(line, syntax) for line in lines)
        else:
            yield from ox.parse(b"".join(lines), syntax, lenient=lenient)


def is_too_long(error: MemoryError) -> bool:
    """Return whether a parser ended because a value is longer than what it holds."""
    return "buffer" in str(error)


class ShortLines(io.RawIOBase):
    """The lines of a stream but the long ones, which are given to `take`: for a loader that reads a stream."""

    def __init__(self, stream: BinaryIO, take: Callable[[bytes], None]) -> None:
        self._stream = stream
        self._take = take
        self._rest = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Return that this may be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with as much of the lines as there is room for."""
        while not self._ready and (found := self._next()) is not None:
            self._ready = memoryview(found)
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _next(self) -> bytes | None:
        """Return the next whole lines, without those that are long; None at the end."""
        parts = [self._rest]
        while b"\n" not in parts[-1] and (block := self._stream.read(_BLOCK)):
            parts.append(block)
        held = b"".join(parts)
        if not held:
            return None
        end = held.rfind(b"\n") + 1 or len(held)
        lines, self._rest = held[:end], held[end:]
        if len(lines) < _LONG:
            return lines
        short: list[bytes] = []
        for line in io.BytesIO(lines):
            (self._take if _is_long(line) else short.append)(line)
        return b"".join(short)


def _is_long(line: bytes) -> bool:
    return len(line) >= _LONG


def parse_long(line: bytes, syntax: ox.RdfFormat = ox.RdfFormat.N_TRIPLES) -> ox.Quad:
    """Return what a line with one literal says, however long that is."""
    begin = line.find(b'"')
    if begin < 0:
        found: ox.Quad = next(ox.parse(line, syntax, lenient=True))
        return found
    # The bulk loader would name a blank node anew: who is spoken of is read by the parser, with an empty text.
    of = next(ox.parse(line[:begin] + b'"" .', syntax, lenient=True))
    store = ox.Store()
    store.bulk_load(b"<urn:s> <urn:p> " + line[begin:], syntax, lenient=True)
    said = next(iter(store))
    return ox.Quad(of.subject, of.predicate, said.object)
