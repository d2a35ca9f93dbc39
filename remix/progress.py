"""One place for progress: bars on a terminal, start and finish lines elsewhere, silent in the library."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
FIRST, EVERY = 0.5, 10.0
"""Seconds before the first line of what takes long, and between the lines after it."""
LARGE = 1 << 26
"""Units of which there are so many that a line is printed before the first is done."""

_enabled: ContextVar[bool] = ContextVar("remix_progress", default=False)
_said: ContextVar[set[str] | None] = ContextVar("remix_said", default=None)


@contextmanager
def enable(on: bool = True) -> Iterator[None]:
    """Show progress on standard error within the block; the library itself stays silent."""
    token = _enabled.set(on)
    try:
        yield
    finally:
        _enabled.reset(token)


@contextmanager
def once() -> Iterator[None]:
    """Print the same note once within the block, and within one around it, however often it is due."""
    said = _said.get()
    token = _said.set(set() if said is None else said)
    try:
        yield
    finally:
        _said.reset(token)


def is_shown() -> bool:
    """Return whether notes are printed: what takes long to find out only to be noted need not be looked for else."""
    return _enabled.get()


def note(line: str) -> None:
    """Print one line on standard error where progress is shown."""
    said = _said.get()
    if not _enabled.get() or (said is not None and line in said):
        return
    if said is not None:
        said.add(line)
    print(line, file=sys.stderr, flush=True)


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Say that something has begun and, with the seconds it took, that it is done."""
    begin = time.perf_counter()
    try:
        yield
    finally:
        took = time.perf_counter() - begin
        if took >= 0.5:
            note(f"{what}: {took:.1f} s")


def track(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Return the items while a bar moves on a terminal, or one line is printed at the end elsewhere."""
    if not _enabled.get():
        yield from items
    elif sys.stderr.isatty():
        from tqdm import tqdm

        yield from tqdm(items, desc=what, total=total, leave=False, file=sys.__stderr__)
    else:
        with stage(what):
            yield from items


@contextmanager
def moving(what: str, total: int = 0, unit: str = " rows") -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many more units are done; `total` is 0 where it is not known.

    On a terminal a bar shows rate and remaining time; elsewhere a line says them at the beginning of what is large or
    after half a second, then every ten seconds, and at the end. What is done in half a second says nothing.

    >>> with moving("count", total=3) as done:
    ...     for _ in range(3):
    ...         done(1)
    """
    if not _enabled.get():
        yield lambda _: None
    elif sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(
            desc=_printable(what), total=total or None, unit=unit, unit_scale=True, leave=False, file=sys.__stderr__
        ) as bar:

            def done(count: int) -> None:
                bar.update(count)

            yield done
    else:
        lines = _Lines(what, total, unit)
        yield lines.done
        lines.end()


def _printable(what: str) -> str:
    """Return a name without what steers a terminal: a bar, which does so itself, is written past the rest's filter."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in what)


def reading(path: Path | str, size: int = 0, unit: str = "B") -> AbstractContextManager[Callable[[int], None]]:
    """Give a function that is told how many more bytes of a file are read; see `moving`.

    `size` is that of the file as it lies there; what is told are bytes of it, too, so before decompression:
    `with progress.reading(path, path.stat().st_size) as done: …; done(stream.tell() - before)`.
    """
    return moving(Path(path).name or str(path), size, unit)


class _Lines:
    """The lines that stand for a bar where there is no terminal."""

    def __init__(self, what: str, total: int, unit: str) -> None:
        self._what, self._total, self._unit = what, total, unit
        self._done = 0
        self._begin = time.perf_counter()
        self._next = self._begin + FIRST
        if total >= LARGE:
            self._say(f"{self._amount(total)} to do")

    def done(self, count: int) -> None:
        """Take that so many more units are done, and print a line where one is due."""
        self._done += count
        now = time.perf_counter()
        if now >= self._next:
            self._next = now + EVERY
            self._say(self._state(now - self._begin))

    def end(self) -> None:
        """Print what was done and how long it took, where that was long."""
        took = time.perf_counter() - self._begin
        if took >= FIRST:
            self._say(f"{self._amount(self._done)} in {took:.1f} s")

    def _state(self, took: float) -> str:
        from tqdm import tqdm

        rate = self._done / took
        said = f"{self._amount(self._done)}, {self._amount(rate)}/s"
        if rate and self._total > self._done:
            return f"{said}, {tqdm.format_interval((self._total - self._done) / rate)} left"
        return said

    def _amount(self, count: float) -> str:
        from tqdm import tqdm

        return f"{tqdm.format_sizeof(count)}{self._unit}"

    def _say(self, line: str) -> None:
        note(f"{self._what}: {line}")
