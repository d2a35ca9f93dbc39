"""One place for progress: bars on a terminal, start and finish lines elsewhere, silent in the library."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

__all__ = ["enable", "note", "stage", "track"]

Item = TypeVar("Item")

_enabled: ContextVar[bool] = ContextVar("remix_progress", default=False)


@contextmanager
def enable(on: bool = True) -> Iterator[None]:
    """Show progress on standard error within the block; the library itself stays silent."""
    token = _enabled.set(on)
    try:
        yield
    finally:
        _enabled.reset(token)


def note(line: str) -> None:
    """Print one line on standard error where progress is shown."""
    if _enabled.get():
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

        yield from tqdm(items, desc=what, total=total, leave=False, file=sys.stderr)
    else:
        with stage(what):
            yield from items
