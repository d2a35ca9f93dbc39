"""The endpoint as a server."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
from collections.abc import Callable, Iterable
from types import FrameType

import uvicorn

from remix.errors import Error
from remix.store import Store
from remix.store.worker import GIBIBYTE
from remix.web.endpoint import Limits, application

__all__ = ["serve"]


def serve(
    store: Store,
    *,
    host: str = "127.0.0.1",
    port: int = 8890,
    timeout: float = 60,
    memory: float = 4,
    concurrent: int = 4,
    largest: int = 256,
    allow_services: Iterable[str] = (),
) -> None:
    """Serve a store at `http://HOST:PORT/sparql` until interrupted; the address is said on standard error.

    `timeout` in seconds, `memory` of a query in GiB, `largest` result in MB; port 0 takes a free one. On a loopback
    address only requests that name this machine are answered.

    Raises `Error` where the address cannot be listened on.
    """
    limits = Limits(timeout, int(memory * GIBIBYTE), largest * 1_000_000, concurrent, tuple(allow_services))
    local = _is_loopback(host)
    hosts = ["127.0.0.1", "localhost", "[::1]", host] if local else ["*"]
    try:
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise Error(f"{host}:{port} cannot be listened on ({reason}): name another --port, or 0") from None
    with listening:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}/sparql"
        if not local:
            print(f"{host} is no loopback address: everybody who reaches it can query", file=sys.stderr)
        print(f"SPARQL endpoint at {address}", file=sys.stderr, flush=True)
        made = application(store, limits, hosts)
        config = uvicorn.Config(
            made,
            timeout_graceful_shutdown=5,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
        )
        with contextlib.suppress(KeyboardInterrupt):
            _Server(config, made.state.stop).run(sockets=[listening])
        print("stopped", file=sys.stderr)


class _Server(uvicorn.Server):
    """A server that does not wait for queries when it is told to end."""

    def __init__(self, config: uvicorn.Config, stop: Callable[[], None]) -> None:
        super().__init__(config)
        self.stop = stop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.stop()
        super().handle_exit(sig, frame)


def _is_loopback(host: str) -> bool:
    """Return whether an address is this machine's own.

    >>> _is_loopback("127.0.0.1"), _is_loopback("localhost"), _is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
