"""What a server has running and waiting: whose turn it is, and how all of it is stopped.

All of it belongs to the loop of the server. A signal schedules there that the server stops, and does nothing itself:
what a handler does stands in the midst of any other line of the same thread, which may hold the lock that it wants.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterable, Iterator

import anyio


class RequestRefused(Exception):
    """A request that is answered with a status code and one line."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status = status


STOPPED = "the server is being stopped: ask again when it is back"
LEFT = "the query was stopped"


class Turns:
    """Queries, of which `most` run at the same time; others wait for so many seconds of `patience`."""

    def __init__(self, most: int, patience: float) -> None:
        self.most = most
        self.patience = patience
        self.stopped = False
        self._free = asyncio.Semaphore(most)
        self._waiting: dict[asyncio.Timeout, threading.Event] = {}
        self._running: set[threading.Event] = set()
        self._answering: set[anyio.CancelScope] = set()

    async def take(self, stop: threading.Event) -> None:
        """Wait until a query may run, or until nobody waits for it (`leave`).

        Raises `RequestRefused` where others take too long, it is left, or the server stops.
        """
        try:
            async with self.wait(stop, self.patience):
                await self._free.acquire()
        except TimeoutError:
            raise RequestRefused(503, f"{self.most} queries are running, as many as may: try again") from None
        if self.stopped or stop.is_set():
            self._free.release()
            raise RequestRefused(503, STOPPED if self.stopped else LEFT)

    @contextlib.asynccontextmanager
    async def wait(self, stop: threading.Event, patience: float | None = None) -> AsyncIterator[None]:
        """Wait within the block for so many seconds at most, and not when the server stops or nobody waits for it.

        Raises `TimeoutError` after these seconds, `RequestRefused` otherwise.
        """
        if self.stopped or stop.is_set():
            raise RequestRefused(503, STOPPED if self.stopped else LEFT)
        try:
            async with asyncio.timeout(patience) as limit:
                self._waiting[limit] = stop
                try:
                    yield
                finally:
                    del self._waiting[limit]
        except TimeoutError:
            if self.stopped or stop.is_set():
                raise RequestRefused(503, STOPPED if self.stopped else LEFT) from None
            raise

    def leave(self, stop: threading.Event) -> None:
        """Tell what has this event to end, and let it wait for no turn: its client is gone."""
        stop.set()
        _end(limit for limit, own in self._waiting.items() if own is stop)

    def release(self) -> None:
        """Let another query run."""
        self._free.release()

    @contextlib.contextmanager
    def tell_stop(self, stop: threading.Event) -> Iterator[None]:
        """Set an event when the server stops within the block: what looks at it ends soon."""
        if self.stopped:
            stop.set()
        self._running.add(stop)
        try:
            yield
        finally:
            self._running.discard(stop)

    @contextlib.contextmanager
    def allow_giving_up(self) -> Iterator[None]:
        """End the block early where the server cannot wait for it any longer: a thread of it may still be computing."""
        with anyio.CancelScope() as scope:
            self._answering.add(scope)
            try:
                yield
            finally:
                self._answering.discard(scope)

    def stop(self) -> None:
        """Tell whatever runs to end, and let nothing that waits begin."""
        self.stopped = True
        for query in tuple(self._running):
            query.set()
        _end(self._waiting)

    def give_up(self) -> None:
        """Wait for nothing any more."""
        for scope in tuple(self._answering):
            scope.cancel()


def _end(limits: Iterable[asyncio.Timeout]) -> None:
    for limit in tuple(limits):
        if not limit.expired():
            limit.reschedule(0)  # which was long ago: it is over at once
