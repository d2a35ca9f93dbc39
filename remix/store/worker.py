"""Queries in processes of their own, which can be killed: Oxigraph has no time limit and cannot be interrupted."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, cast

from remix.errors import NotAllowed, QueryError, StoreError, Timeout
from remix.store import running
from remix.store.cache import KEEPS
from remix.store.index import Index
from remix.store.running import GIBIBYTE, STOPS, Request
from remix.store.tree import predicates_matched

_NO_THREADS = ("Resource temporarily unavailable", "terminate called without an active exception")
"""What the process says last where the system gives it no further thread."""
_PATIENCE = 0.05
"""Seconds after which it is looked whether a query shall stop; a result is read as soon as it comes."""


class TooLarge(StoreError):
    """A result larger than it may be."""


class Stopped(StoreError):
    """A query that was ended because nobody waits for its answer any more, or its server stops."""


class _WorkerDied(Exception):
    """The process ended, perhaps while it was `answering`."""

    def __init__(self, *, answering: bool) -> None:
        self.answering = answering


@dataclass(frozen=True)
class Answer:
    """A result: `kind` is solutions, boolean or graph; `body` is what it is serialised as."""

    kind: str
    body: bytes
    notes: tuple[str, ...]
    rewritten: str


@dataclass(frozen=True)
class Bounds:
    """Seconds, bytes of memory and of the result of a query, what stops it, and the `turn` that it holds.

    `lend` gives the worker that answers it, which has the index open already where it answered another. Unless `keeps`,
    no answer is kept for those who ask the same.
    """

    timeout: float
    memory: int
    largest: int
    stop: threading.Event
    turn: Callable[[], AbstractContextManager[None]]
    lend: Callable[[], AbstractContextManager[Worker]]
    allow_services: tuple[str, ...] = ()
    keeps: bool = True


BOUNDS: ContextVar[Bounds | None] = ContextVar("bounds", default=None)
"""The bounds of this thread, None where it has none."""


@contextlib.contextmanager
def limit_queries(bounds: Bounds) -> Iterator[None]:
    """Hold the queries of this thread to bounds within the block, whoever asks them: those of a page of the server."""
    token, kept = BOUNDS.set(bounds), KEEPS.set(bounds.keeps)
    try:
        yield
    finally:
        BOUNDS.reset(token)
        KEEPS.reset(kept)


def ask(index: Path | None, request: Request) -> Answer:
    """Return the answer to one query, as `Worker.ask` does, of a process that is gone afterwards, or lent here.

    >>> ask(None, Request("ASK {}")).body
    b'{"head":{},"boolean":true}'
    """
    with Worker() as own, _lend(own) as worker:
        return worker.ask(index, request)


def _lend(own: Worker) -> AbstractContextManager[Worker]:
    """Give the worker that the bounds of this thread lend, or one's own where there are none."""
    return contextlib.nullcontext(own) if (bounds := BOUNDS.get()) is None else bounds.lend()


class Worker:
    """A process that answers one query after another; it is started when there is one, and killed at the end.

    One that ran too long, became too large or failed is killed as well, and the next query has a new one.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = cast(IO[bytes], tempfile.TemporaryFile("a+b"))  # noqa: SIM115  (closed with the worker)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process; the worker is of no use any more."""
        self._kill()
        self._errors.close()

    def ask(self, index: Path | None, request: Request, stop: threading.Event | None = None) -> Answer:
        """Return the answer to a query on the index in a folder (None for an empty one).

        Another thread may set `stop` to end it. Raises `QueryError` for a query that does not parse or is not
        allowed, `Timeout` after its seconds, `TooLarge` for a result of too many bytes, `StoreError` for what else
        went wrong in the process.
        """
        blocks = self.blocks(index, request, stop)
        about = json.loads(next(blocks))
        return Answer(about["kind"], b"".join(blocks), tuple(about["notes"]), about["rewritten"])

    def blocks(
        self, index: Path | None, request: Request, stop: threading.Event | None = None
    ) -> Generator[bytes, None, None]:
        """Yield the answer to a query as it comes: first what it is, as JSON, then blocks of the serialised result.

        The query waits while a block is in use, which is no part of its time. Where the blocks are left before their
        end, so is the query. Raises as `ask`.
        """
        bounds = BOUNDS.get()
        if bounds is not None:
            stop, largest = stop or bounds.stop, min(request.largest or bounds.largest, bounds.largest)
            timeout, memory = min(request.timeout, bounds.timeout), min(request.memory, bounds.memory)
            request = replace(request, timeout=timeout, memory=memory, largest=largest)
        with contextlib.nullcontext() if bounds is None else bounds.turn():
            place = {"folder": str(Path.cwd()) if index and not index.is_absolute() else "", "index": str(index or "")}
            line = json.dumps({**place, "request": asdict(request)}).encode() + b"\n"
            end = _QueryEnd(request, time.monotonic() + request.timeout, stop)
            tries = 1 if self._process is None else 2  # one that was kept may have ended meanwhile
            try:
                while True:
                    try:
                        yield from _blocks(self._start(), line, end)
                        return
                    except _WorkerDied as gone:
                        tries -= 1
                        if gone.answering or not tries:
                            raise self._failure(request) from None
                        self._kill()
            except QueryError:
                raise
            except BaseException:
                self._kill()
                raise

    def _start(self) -> subprocess.Popen[bytes]:
        self._errors.truncate(0)
        if self._process is None:
            # Without -P the folder of the file would come first among the places that modules are looked for.
            command, pipe = [sys.executable, "-P", running.__file__], subprocess.PIPE
            # The C library would reserve up to 128 MiB of addresses for each of Oxigraph's threads that allocates while
            # another does, so that whether a query starts within a limit of 1 GiB would depend on chance.
            alone = {**os.environ, "MALLOC_ARENA_MAX": "1"}
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._errors, bufsize=0, env=alone
            )
        return self._process

    def _kill(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            with contextlib.suppress(BrokenPipeError), process:
                pass

    def _failure(self, request: Request) -> StoreError:
        """Return what the end of the process tells."""
        name = request.name
        code = self._process.wait() if self._process else 0
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        last = said[-1] if said else f"signal {-code}" if code < 0 else f"exit code {code}"
        if code in STOPS:
            return Stopped(f"{name} was stopped")
        if code == -signal.SIGXCPU:
            return StoreError(
                f"{name} used all the time of the processor that it may: make it narrower, or raise ulimit -t"
            )
        allowed = f"{request.memory / GIBIBYTE:g} GiB of memory"
        if any(sign in one for sign in _NO_THREADS for one in said):
            return StoreError(
                f"{name} could not start its threads, for which there is too little memory, or too many processes run: "
                f"it may have {allowed}, or what ulimit -v and ulimit -u leave; raise them, or end other programs"
            )
        if any(sign in one.lower() for sign in ("memory", "bad_alloc") for one in said) or (
            code in (-6, -9, -11) and not said
        ):
            return StoreError(f"{name} needed more than its {allowed} ({last}): make it narrower")
        return StoreError(f"{name} failed: {last}")


@dataclass
class _QueryEnd:
    """When a query is over whatever it has found."""

    request: Request
    at: float
    stop: threading.Event | None

    def check(self, size: int) -> None:
        """Raise `Timeout`, `TooLarge` or `StoreError` if it is over, with a result of so many bytes."""
        name, largest, timeout = self.request.name, self.request.largest, self.request.timeout
        if largest is not None and size > largest:
            raise TooLarge(f"the result of {name} is larger than {largest:,} bytes: add a LIMIT")
        if self.stop is not None and self.stop.is_set():
            raise Stopped(f"{name} was stopped")
        if time.monotonic() > self.at:
            raise Timeout(f"{name} ran longer than {timeout:g} s: make it narrower, or allow more time")


def _blocks(process: subprocess.Popen[bytes], line: bytes, end: _QueryEnd) -> Iterator[bytes]:
    """Yield the blocks of an answer to a line; raises `_WorkerDied` where the process ends before the answer does.

    A wait for the process is a poll, which an interrupt ends at once; a blocking read may be taken up again.
    """
    given, taken = cast(IO[bytes], process.stdin).fileno(), cast(IO[bytes], process.stdout).fileno()
    os.set_blocking(given, False)
    waiting, held, wrong, answering, size = select.poll(), bytearray(), b"", False, 0
    waiting.register(taken, select.POLLIN)
    waiting.register(given, select.POLLOUT)
    while True:
        end.check(size)
        ready = dict(waiting.poll(1000 * _PATIENCE))
        if given in ready:
            with contextlib.suppress(BrokenPipeError):
                line = line[os.write(given, line) :]
            if not line or ready[given] & select.POLLERR:
                waiting.unregister(given)
        if taken not in ready:
            continue
        data = os.read(taken, 1 << 16)
        if not data:
            raise _WorkerDied(answering=answering)
        held += data
        while len(held) >= 4:
            (length,) = struct.unpack(">i", held[:4])
            if length == 0 and wrong:
                said = json.loads(wrong)
                raise {"QueryError": QueryError, "NotAllowed": NotAllowed}.get(said["kind"], StoreError)(said["error"])
            if length == 0:
                return
            if len(held) < 4 + abs(length):
                break
            block = bytes(held[4 : 4 + abs(length)])
            del held[: 4 + abs(length)]
            if length < 0:
                wrong = block
            else:
                size += len(block) if answering else 0  # the first says what the result is
                end.check(size)
                answering, since = True, time.monotonic()
                yield block
                end.at += time.monotonic() - since


class GuardedIndex(Index):
    """An index that is asked through a worker: what a query of a user needs; `notes` gathers what is to be told.

    Only some `graphs` are asked where they are given.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        timeout: float = 600,
        allow_services: Iterable[str] = (),
        graphs: Sequence[str] | None = None,
    ) -> None:
        super().__init__(path)
        self.notes: list[str] = []
        self._worker = Worker()
        self._request = Request(
            "",
            solutions="tsv",
            graph="nt",
            allow_services=tuple(allow_services),
            default_graphs=graphs,
            named_graphs=graphs,
            timeout=timeout,
            memory=8 * GIBIBYTE,
        )

    def __enter__(self) -> GuardedIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()

    def _answer(self, text: str, name: str) -> bytes:
        request = replace(self._request, text=text, name=name)
        if request.default_graphs is not None:
            request = replace(request, predicates=predicates_matched(text))
        with _lend(self._worker) as worker:
            answer = worker.ask(self.path, request)
        self.notes += [note for note in answer.notes if note not in self.notes]
        return answer.body


class Workers:
    """Workers that wait for queries: a query has one for itself while it runs."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextlib.contextmanager
    def lend(self) -> Iterator[Worker]:
        """Give a worker for oneself within the block."""
        with self._lock:
            worker = self._idle.pop() if self._idle else Worker()
        try:
            yield worker
        finally:
            with self._lock:
                kept = not self._closed
                if kept:
                    self._idle.append(worker)
            if not kept:
                worker.close()

    def close(self) -> None:
        """Kill the workers that wait, and each that is given back from now on."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._closed = True
        for worker in idle:
            worker.close()
