"""What is computed of the state of a workspace, once for each state, as far as there is room for it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

Answer = TypeVar("Answer")

KEEPS: ContextVar[bool] = ContextVar("keeps", default=True)
"""Whether what is asked in this thread is kept; what another site makes a browser ask is not."""


@dataclass
class _Place:
    """The place of an answer: who computes it has its turn, and others wait; `size` is 0 unless it was asked."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    found: list[Any] = field(default_factory=list)
    size: int = 0


class StateCache:
    """What is computed of the state of a workspace, once for each key; it goes when the file of the state is another.

    Of more than `most` answers those that were asked for last stay, and of those that users ask for (`asked`), of which
    there are as many as they think of, no more than `room` bytes. Threads that ask for one at the same time wait for
    the first of them, and where that fails for the next.

    >>> cached = StateCache(Path("nowhere"))
    >>> cached("answer", lambda: 42), cached("answer", lambda: 43)
    (42, 42)
    """

    def __init__(self, file: Path, most: int = 100, room: int = 64_000_000) -> None:
        self._file = file
        self._most = most
        self._room = room
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
                    size = size_of(made) if asked else 0
                except BaseException:
                    with self._lock:
                        self._forget(places, key, place)
                    raise
                place.found.append(made)
                place.size = size
                with self._lock:
                    self._forget(places, key, place)
                    if not asked or (KEEPS.get() and size <= self._room // 4):
                        places[key] = place
                        self._make_room(places)
        answer: Answer = place.found[0]
        return answer

    def sign(self) -> object:
        """Return what is another whenever the state was written anew, None where nothing was yet."""
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size

    @staticmethod
    def _forget(places: dict[Hashable, _Place], key: Hashable, place: _Place) -> None:
        if places.get(key) is place:
            del places[key]

    def _make_room(self, places: dict[Hashable, _Place]) -> None:
        """Let go of what was asked for longest ago, where there is too much."""
        there = {key: place for key, place in places.items() if place.found}
        size = sum(place.size for place in there.values())
        count = len(there)
        for key, place in there.items():
            if count > self._most or (size > self._room and place.size):
                del places[key]
                count, size = count - 1, size - place.size


def size_of(value: object) -> int:
    """Return about how many bytes of memory a value takes, with all that it holds.

    >>> size_of(b"x" * 1000) >= 1000, size_of({"a": ["x" * 1000]}) >= 1000
    (True, True)
    """
    # A frame says so itself; Polars is not imported, for the process of a query has it not.
    if callable(says := getattr(value, "estimated_size", None)):
        return int(says())
    size = sys.getsizeof(value)
    if isinstance(value, str | bytes):
        return size
    if isinstance(value, Mapping):
        return size + sum(size_of(key) + size_of(one) for key, one in value.items())
    if is_dataclass(value):
        return size + sum(size_of(getattr(value, one.name)) for one in fields(value))
    return size + sum(map(size_of, value)) if isinstance(value, Collection) else size
