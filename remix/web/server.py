"""The endpoint as a server."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from remix.store import Store
from remix.web.endpoint import application
from remix.web.protocol import Limits

_CONNECTIONS = 1000
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_GRACE = 2.0
"""Seconds after which a server that stops waits for nobody: for clients that read slowly, or pages that are counted."""
_HEAD = 10
"""Seconds within which the head of a request has to arrive, where a query may take as long."""


def serve(
    store: Store,
    listening: socket.socket,
    *,
    host: str = "127.0.0.1",
    limits: Limits,
    pages: Sequence[Route] = (),
    annotators: Sequence[Route] = (),
    begun: Callable[[], None] = lambda: None,
    over: Callable[[], None] = lambda: None,
) -> None:
    """Serve a store at `http://HOST:PORT/sparql`, pages and annotators beside it, until interrupted; these are said.

    The port is that at which the socket is `listening`, which is closed in the end. The client has as long to read a
    result as a query may run. On a loopback address only requests that name this machine are answered. What is to be
    done once it has `begun` is done beside it by a thread, which it does not wait for; what is to be done once it is
    `over` no further signal interrupts.
    """
    local = _is_loopback(host)
    hosts = ["127.0.0.1", "localhost", "[::1]", host] if local else ["*"]
    with listening:
        # What is written goes out at once; else the end of an answer would wait 40 ms until the client says that it has
        # the beginning. Connections that are taken have this of the socket.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}"
        if not local:
            print(f"{host} is no loopback address: everybody who reaches it can query", file=sys.stderr)
        made = application(store, limits, hosts, [*annotators, *pages])
        config = uvicorn.Config(
            made,
            timeout_graceful_shutdown=4,
            timeout_keep_alive=max(1, min(5, int(limits.timeout))),
            log_level="warning",
            access_log=False,
            lifespan="off",
            http=type("Connection", (_Connection,), {"patience": limits.timeout}),
            limit_concurrency=_CONNECTIONS,
            server_header=False,
        )
        places = [f"SPARQL endpoint at {address}/sparql", *([f"explorer at {address}/"] if pages else [])]
        places += [f"NIF web service at {address}{one.path}" for one in annotators]
        before = {one: signal.getsignal(one) for one in _SIGNALS}
        try:
            with contextlib.suppress(KeyboardInterrupt):
                _Server(config, made, places, begun).run(sockets=[listening])
        finally:
            made.state.stop()
            over()
            print("stopped", file=sys.stderr, flush=True)
            if threading.current_thread() is threading.main_thread():
                for number, handler in before.items():
                    signal.signal(number, handler)


class _Connection(H11Protocol):
    """A connection that is cut off when a request does not arrive, or its answer is not read, in time.

    `patience` are the seconds in all that one answer may wait for a client that does not read.
    """

    patience: float = 60

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the head of the first request."""
        super().connection_made(transport)
        self._late: asyncio.TimerHandle | None = self.loop.call_later(min(_HEAD, self.patience), transport.abort)
        self._stuck: asyncio.TimerHandle | None = None
        self._stuck_since = self._waited = 0.0

    def data_received(self, data: bytes) -> None:
        """Take what a client sent, and cut it off where the head of its next request does not come in time."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._waited = 0.0
        if self.cycle is not None and not self.cycle.response_complete:
            self._late = _off(self._late)
        elif self._late is None:
            self._late = self.loop.call_later(min(_HEAD, self.patience), self.transport.abort)

    def pause_writing(self) -> None:
        """Begin to wait for a client that takes nothing any more."""
        super().pause_writing()
        self._stuck_since = self.loop.time()
        left = max(0.0, self.patience - self._waited)
        self._stuck = self.loop.call_later(left, self.transport.abort)

    def resume_writing(self) -> None:
        """Add up how long the client took nothing, which its patience is short of."""
        super().resume_writing()
        self._waited += self.loop.time() - self._stuck_since
        self._stuck = _off(self._stuck)

    def connection_lost(self, exc: Exception | None) -> None:
        """End all waiting for a client that is gone."""
        self._late, self._stuck = _off(self._late), _off(self._stuck)
        super().connection_lost(exc)


def _off(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Stop a timer, and return that there is none."""
    if timer is not None:
        timer.cancel()
    return None


class _Server(uvicorn.Server):
    """A server that ends soon when a signal tells it to, or at once when a second one does.

    What is to be done then is done by the loop, between other things.
    """

    def __init__(
        self, config: uvicorn.Config, made: Starlette, places: Sequence[str], begun: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self.made = made
        self.places = places
        self.begun = begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say where: who reads it may end the server by a signal from now on."""
        await super().startup(sockets)
        for place in self.places:
            print(place, file=sys.stderr, flush=True)
        threading.Thread(target=self.begun, daemon=True).start()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let the loop learn of signals; those that come when it is over change nothing."""
        loop = asyncio.get_running_loop()

        def schedule(*_: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._end)

        if threading.current_thread() is threading.main_thread():
            for one in _SIGNALS:
                signal.signal(one, schedule)
        yield

    def _end(self) -> None:
        if self.should_exit:
            self._cut_off()
        else:
            self.should_exit = True
            self.made.state.stop()
            asyncio.get_running_loop().call_later(_GRACE, self._cut_off)

    def _cut_off(self) -> None:
        """Wait no longer for clients, nor for what threads compute for them."""
        self.made.state.give_up()
        for connection in list(self.server_state.connections):
            if (transport := getattr(connection, "transport", None)) is not None:
                transport.abort()


def _is_loopback(host: str) -> bool:
    """Return whether an address is this machine's own.

    >>> _is_loopback("127.0.0.1"), _is_loopback("localhost"), _is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
