"""A workspace's pages as a client gets them, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import anyio
import httpx

from remix.web.endpoint import application
from remix.web.explorer import routes
from remix.web.protocol import Limits
from remix.workspace import Workspace

Get = Callable[[str], httpx.Response]


@contextmanager
def pages_of(work: Workspace) -> Iterator[Get]:
    """What gets an address of a workspace's pages, by the application itself, whose queries share their processes."""
    made = application(work.store, Limits(), ("explorer",), routes(work))

    async def ask(place: str) -> httpx.Response:
        transport = httpx.ASGITransport(made)
        async with httpx.AsyncClient(transport=transport, base_url="http://explorer") as client:
            return await client.get(place)

    def get(place: str) -> httpx.Response:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return anyio.run(ask, place)
        # Tests of a browser that ran in this process before have left a loop in its thread.
        with ThreadPoolExecutor(1) as beside:
            return beside.submit(anyio.run, ask, place).result()

    yield get
    made.state.stop()
