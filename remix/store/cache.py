"""What is computed of the state of a workspace, once for each state, as far as there is room for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

Answer = TypeVar("Answer")

_PLAIN = (str, bytes, int, float, type(None))
"""Kinds of values that hold no others."""
_LOOKED_AT = 32
"""Parts of a collection whose size is looked at."""

KEEPS: ContextVar[bool] = ContextVar("keeps", default=True)
"""Whether what is asked in this thread is kept; what another site makes a browser ask is not."""


@dataclass
class _Place:
    """The place of an answer: who computes it has its turn, and others wait; `size` is that of what was found."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    found: list[Any] = field(default_factory=list)
    size: int = 0
    asked: bool = False


class StateCache:
    """What is computed of the state of a workspace, once for each key; it goes when the file of the state is another.

    The answers that were asked for last stay, no more than `most`. Those that users ask for (`asked`), of which there
    are as many as they think of, have `room` for so many bytes, and the others `own_room`, beyond which the last of
    them stays alone. Threads that ask for one at the same time wait for the first of them, and where that fails for the
    next.

    >>> cached = StateCache(Path("nowhere"))
    >>> cached("answer", lambda: 42), cached("answer", lambda: 43)
    (42, 42)
    """

    def __init__(self, file: Path, most: int = 2000, room: int = 128_000_000, own_room: int = 1_000_000_000) -> None:
        self._file = file
        self._most = most
        self._room = room
        self._own_room = own_room
        self._sign: object = None
        self._places: dict[Hashable, _Place] = {}
        self._lock = threading.Lock()

    def __call__(self, key: Hashable, compute: Callable[[], Answer], *, asked: bool = False) -> Answer:
        """Return what `compute` returned when the key was first asked for; an error is raised, and not kept.

        Nor is what was `asked` kept where it takes a quarter of the room, or where nothing of this thread is
        (`KEEPS`).
        """
        with self._lock:
            if (sign := self.sign()) != self._sign:
                self._sign, self._places = sign, {}
            places = self._places
            place = places.get(key) or _Place()
            if place.found:  # it is the last that was asked for
                places[key] = places.pop(key)
            elif not asked or KEEPS.get():
                places[key] = place
        # What ends the first, its limit of time or a reader who left, need not end those who wait for it.
        with place.turn:
            if not place.found:
                try:
                    made = compute()
                    size = size_of(made)
                except BaseException:
                    with self._lock:
                        self._forget(places, key, place)
                    raise
                place.found.append(made)
                place.size, place.asked = size, asked
                with self._lock:
                    self._forget(places, key, place)
                    if not asked or (KEEPS.get() and size <= self._room // 4):
                        places[key] = place
                        self._make_room(places, place)
        answer: Answer = place.found[0]
        return answer

    def holds(self, key: Hashable) -> bool:
        """Return whether an answer of the present state is kept.

        >>> cached = StateCache(Path("nowhere"))
        >>> cached.holds("answer"), cached("answer", lambda: 42), cached.holds("answer")
        (False, 42, True)
        """
        with self._lock:
            place = self._places.get(key) if self.sign() == self._sign else None
            return place is not None and bool(place.found)

    def sign(self) -> object:
        """Return what is another whenever the state was written anew, None where nothing was yet."""
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size

    def sizes(self) -> dict[Hashable, int]:
        """Return the bytes of each answer that is kept, that which was asked for longest ago first."""
        with self._lock:
            return {key: place.size for key, place in self._places.items() if place.found}

    @staticmethod
    def _forget(places: dict[Hashable, _Place], key: Hashable, place: _Place) -> None:
        if places.get(key) is place:
            del places[key]

    def _make_room(self, places: dict[Hashable, _Place], last: _Place) -> None:
        """Let go of what was asked for longest ago, where there is too much."""
        there = {key: place for key, place in places.items() if place.found}
        over = {kind: sum(place.size for place in there.values() if place.asked == kind) for kind in (True, False)}
        over = {True: over[True] - self._room, False: over[False] - self._own_room}
        count = len(there)
        for key, place in there.items():
            if place is not last and (count > self._most or over[place.asked] > 0):
                del places[key]
                count -= 1
                over[place.asked] -= place.size


def size_of(value: object, counted: set[int] | None = None) -> int:
    """Return about how many bytes of memory a value takes, with all that it holds, but what was `counted` (by `id`).

    >>> size_of(b"x" * 1000) >= 1000, size_of({"a": ["x" * 1000]}) >= 1000
    (True, True)
    """
    counted = set() if counted is None else counted
    if id(value) in counted:
        return 0
    counted.add(id(value))
    if isinstance(value, _PLAIN):  # nearly all there is, so they are told from the others first
        return sys.getsizeof(value)
    # A frame says so itself; Polars is not imported, for the process of a query has it not.
    if callable(says := getattr(value, "estimated_size", None)):
        return int(says())
    size = sys.getsizeof(value)
    if is_dataclass(value):
        return size + sum(size_of(getattr(value, one.name), counted) for one in fields(value))
    if not isinstance(value, Collection) or not value:
        return size
    # Of many parts the first stand for all: to look at each takes longer than to make them.
    parts = [*islice(value, _LOOKED_AT)]
    held = [value[one] for one in parts] if isinstance(value, Mapping) else []
    return size + sum(size_of(one, counted) for one in (*parts, *held)) * len(value) // len(parts)
