"""Bounds within which every query of a block runs, whoever asks it: what a page of the server may use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

__all__ = ["Bounds", "bounds_here", "holding_bounds", "within_bounds"]


@dataclass(frozen=True)
class Bounds:
    """Seconds, bytes of memory and of the result of a query, what stops it, and the `turn` that it holds.

    `lend` gives the worker that answers it, which has the index open already where it answered another.
    """

    timeout: float
    memory: int
    largest: int
    stop: threading.Event
    turn: Callable[[], AbstractContextManager[None]]
    lend: Callable[[], AbstractContextManager[Any]]
    allow_services: tuple[str, ...] = ()


_BOUNDS: ContextVar[Bounds | None] = ContextVar("bounds", default=None)


@contextmanager
def holding_bounds(bounds: Bounds) -> Iterator[None]:
    """Hold the queries of this thread to bounds within the block."""
    token = _BOUNDS.set(bounds)
    try:
        yield
    finally:
        _BOUNDS.reset(token)


def bounds_here() -> Bounds | None:
    """Return the bounds of this thread, None where it has none."""
    return _BOUNDS.get()


@contextmanager
def within_bounds(
    timeout: float, memory: int, largest: int | None, stop: threading.Event | None
) -> Iterator[tuple[float, int, int | None, threading.Event | None]]:
    """Hold a query's turn within the block, and give its limits as they are with the bounds of this thread."""
    bounds = _BOUNDS.get()
    if bounds is None:
        yield timeout, memory, largest, stop
        return
    size = bounds.largest if largest is None else min(largest, bounds.largest)
    with bounds.turn():
        yield min(timeout, bounds.timeout), min(memory, bounds.memory), size, stop or bounds.stop
