"""A server that is stopped ends, whatever it does at that moment, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from remix.store import Store
from remix.store.running import Request
from remix.store.worker import Workers
from remix.web.endpoint import application
from remix.web.explorer import routes
from remix.web.protocol import Limits
from remix.web.turns import RequestRefused, Turns
from remix.workspace import open_workspace
from tests.web.conftest import client
from tests.web.test_endpoint import SLOW, eventually, of, workers

LIMIT = 20
"""Seconds that a test waits for the end of a server."""
in_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are looked up in /proc")


@contextmanager
def started(program: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server that a program starts, and its address; it is killed at the end."""
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "SPARQL endpoint at " in line, line + process.stderr.read()
            yield process, line.split()[-1]
        finally:
            process.kill()


def serving(folder: Path, *options: str, before: str = "") -> str:
    """The program of a server over a workspace, in which something is done before."""
    arguments = ["remix", "serve", "-w", str(folder), "--port", "0", *options]
    return f"import sys\n{before}\nsys.argv = {arguments!r}\nfrom remix.cli import main\nmain()"


def count_sockets(process: int) -> int:
    """How many sockets a process has open."""
    links = []
    for one in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):  # it was closed meanwhile
            links.append(str(one.readlink()))
    return sum(link.startswith("socket:") for link in links)


def said_after(process: subprocess.Popen[str]) -> str:
    """What a server wrote after its address until it ended, with the exit code 0."""
    assert process.wait(LIMIT) == 0 and process.stderr is not None
    return process.stderr.read()


SIGNAL_IN_LOCK = """
import signal
from remix.store.worker import Workers
made = Workers.__init__
class Signalling:
    def __init__(self, lock):
        self.lock, self.signals = lock, [signal.{}]
    def __enter__(self):
        self.lock.acquire()
        if self.signals:
            signal.raise_signal(self.signals.pop())
    def __exit__(self, *_):
        self.lock.release()
def make(self):
    made(self)
    self._lock = Signalling(self._lock)
Workers.__init__ = make
"""


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("which", ["SIGTERM", "SIGINT"])
def test_signal_that_comes_while_the_loop_holds_a_lock_of_the_workers_stops_the_server(
    small_store: Store, which: str
) -> None:
    """The first query takes the lock, and the signal comes before it is given back."""
    with started(serving(small_store.folder, before=SIGNAL_IN_LOCK.format(which))) as (process, address):
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(client.get, address, params={"query": SLOW}, timeout=LIMIT)
            log = said_after(process)
            assert asked.exception() is None and asked.result().status_code == 503
        assert log.splitlines()[-1] == "stopped" and "Traceback" not in log


@pytest.mark.long
@in_proc
@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
def test_queries_that_wait_for_their_turn_are_refused_at_the_stop_and_do_not_begin(
    small_store: Store, which: signal.Signals
) -> None:
    """One query may run, for 600 s; two of the protocol and one of a page wait, for 20 s at most."""
    with (
        started(serving(small_store.folder, "--concurrent", "1", "--timeout", "600")) as (process, address),
        ThreadPoolExecutor(4) as pool,
    ):
        running = pool.submit(client.get, address, params={"query": SLOW})
        assert eventually(lambda: len(of(process.pid)) == 1)
        places = [address, address, address.replace("/sparql", "/query")]
        before = count_sockets(process.pid)
        waiting = [pool.submit(client.get, place, params={"query": f"{SLOW} # {n}"}) for n, place in enumerate(places)]
        # Beside other tests it may take seconds until all of them are there, and then a moment until they are read.
        assert eventually(lambda: count_sockets(process.pid) >= before + len(places))
        time.sleep(0.5)
        begun = of(process.pid)
        process.send_signal(which)
        log = said_after(process)
        assert [one.result().status_code for one in (running, *waiting)] == [503] * 4
        assert [one.result().text for one in waiting if "is being stopped" not in one.result().text] == []
        assert log.splitlines()[1:] == ["stopped"]  # after the address of the explorer
        assert not begun & workers()


@pytest.mark.long
@in_proc
def test_page_that_is_still_being_counted_does_not_keep_a_server_that_stops(small_store: Store) -> None:
    """A thread that counts for 600 s cannot be interrupted."""
    counting = (
        "import time\nfrom remix.reports import statistics\nstatistics.measure_store = lambda *_: time.sleep(600)"
    )
    with (
        started(serving(small_store.folder, before=counting)) as (process, address),
        ThreadPoolExecutor(1) as pool,
    ):
        page = pool.submit(client.get, address.replace("/sparql", "/datasets"))
        time.sleep(0.5)
        process.terminate()
        log = said_after(process)
        assert log.splitlines()[1:] == ["stopped"]
        assert isinstance(page.exception(), httpx.TransportError) or page.result().status_code == 503


@pytest.mark.long
@in_proc
def test_what_is_made_ready_for_pages_does_not_keep_a_server_that_stops(small_store: Store) -> None:
    """A step begins half a second after the first page; this one takes 600 s, and nobody waits for it."""
    preparing = (
        "import sys, time\nfrom remix.web import preparation\n"
        "preparation.frames_of = lambda *_: (print('a step', file=sys.stderr, flush=True), time.sleep(600))"
    )
    with started(serving(small_store.folder, before=preparing)) as (process, address):
        assert client.get(address.replace("/sparql", "/start")).status_code == 200
        assert process.stderr is not None
        while "a step" not in process.stderr.readline():
            pass
        process.terminate()
        assert said_after(process).splitlines() == ["stopped"]


@pytest.mark.long
def test_client_that_does_not_read_does_not_keep_a_server_that_stops(small_store: Store) -> None:
    large = f'SELECT (CONCAT("{"x" * 10000}", STR(?a)) AS ?x) {{ ?a ?b ?c . ?d ?e ?f }} LIMIT 1600'
    with (
        started(serving(small_store.folder, "--timeout", "600")) as (process, address),
        client.stream("GET", address, params={"query": large}) as answer,
    ):
        assert answer.status_code == 200
        process.send_signal(signal.SIGINT)
        log = said_after(process)
        assert log.splitlines()[-1] == "stopped" and "Traceback" not in log


@pytest.mark.long
def test_second_signal_while_a_server_stops_is_no_error(small_store: Store) -> None:
    with started(serving(small_store.folder)) as (process, _):
        for _ in range(20):
            process.send_signal(signal.SIGINT)
            time.sleep(0.005)
        assert process.wait(LIMIT) == 0 and process.stderr is not None
        assert "Traceback" not in process.stderr.read()


@in_proc
def test_request_that_is_given_up_while_its_query_runs_ends_the_query(small_store: Store) -> None:
    """A thread takes the blocks of the answer at that moment: closing waits for it ('generator already executing')."""

    async def give_up() -> None:
        made = application(small_store, Limits(timeout=600), ["testserver"])
        transport = httpx.ASGITransport(made)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as asks:
            before = of(os.getpid())
            request = asyncio.create_task(asks.get("/sparql", params={"query": SLOW}))
            while not of(os.getpid()) - before:
                await asyncio.sleep(0.02)
            request.cancel()
            with pytest.raises(asyncio.CancelledError):
                await request
        made.state.stop()
        assert eventually(lambda: not of(os.getpid()) - before)

    asyncio.run(asyncio.wait_for(give_up(), LIMIT))


def test_turns_are_refused_after_a_stop_and_those_who_wait_are_told() -> None:
    async def wait() -> list[str]:
        turns = Turns(1, 600)
        await turns.take(threading.Event())
        waiting = [asyncio.create_task(turns.take(threading.Event())) for _ in range(3)]
        await asyncio.sleep(0)
        turns.stop()
        found = await asyncio.gather(*waiting, turns.take(threading.Event()), return_exceptions=True)
        assert all(isinstance(one, RequestRefused) and one.status == 503 for one in found)
        stop = threading.Event()
        with turns.tell_stop(stop):  # what begins afterwards is told at once
            assert stop.is_set()
        return [str(one) for one in found]

    assert set(asyncio.run(asyncio.wait_for(wait(), LIMIT))) == {
        "the server is being stopped: ask again when it is back"
    }


def test_one_that_is_left_waits_no_longer_and_others_keep_their_places() -> None:
    async def wait() -> None:
        turns, gone, patient = Turns(1, 600), threading.Event(), threading.Event()
        await turns.take(threading.Event())
        left, kept = (asyncio.create_task(turns.take(one)) for one in (gone, patient))
        await asyncio.sleep(0)
        turns.leave(gone)
        with pytest.raises(RequestRefused, match="the query was stopped"):
            await left
        assert gone.is_set() and not kept.done() and not patient.is_set()
        turns.release()
        await kept
        with pytest.raises(RequestRefused):  # nor does it begin to wait
            await turns.take(gone)

    asyncio.run(asyncio.wait_for(wait(), LIMIT))


@pytest.mark.parametrize("place", ["/sparql", "/query"])
def test_queued_query_whose_client_is_gone_leaves_the_queue_at_once(small_store: Store, place: str) -> None:
    """One query runs and has no end; what waits behind it is given up, and ends though the first still runs."""

    async def give_up() -> None:
        work = open_workspace(small_store.folder)
        made = application(work.store, Limits(timeout=600, concurrent=1), ["testserver"], routes(work))
        ended = asyncio.Event()

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            """Answer, after which a client that asks in vain is gone as soon as `leave` is set."""
            first = scope["query_string"].startswith(b"query=ASK")

            async def receive_or_leave() -> Message:
                if not first:
                    return await receive()
                await leave.wait()
                return {"type": "http.disconnect"}

            await made(scope, receive_or_leave, send)
            if first:
                ended.set()

        leave = asyncio.Event()
        transport = httpx.ASGITransport(watched)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as asks:
            before = of(os.getpid())
            running = asyncio.create_task(asks.get("/sparql", params={"query": SLOW}))
            while not of(os.getpid()) - before:
                await asyncio.sleep(0.02)
            queued = asyncio.create_task(asks.get(place, params={"query": "ASK {}"}))
            await asyncio.sleep(0.5)
            assert not ended.is_set()  # it waits
            leave.set()
            await ended.wait()
            assert not running.done()
            running.cancel()
            queued.cancel()
            await asyncio.gather(running, queued, return_exceptions=True)
        made.state.stop()

    asyncio.run(asyncio.wait_for(give_up(), LIMIT))


def test_worker_that_is_given_back_after_the_close_is_killed() -> None:
    pool = Workers()
    with pool.lend() as worker:
        worker.ask(None, Request("ASK {}"))
        process = worker._process
        pool.close()
    assert process is not None and process.wait(LIMIT) == -signal.SIGKILL
