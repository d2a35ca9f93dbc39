"""A workspace's pages as a client gets them, without a server, and what it sends by their forms."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html.parser import HTMLParser
from urllib.parse import urlencode

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


class _FirstForm(HTMLParser):
    """The first form in the main part of a page: where it leads, and what it sends as it stands."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.action, self.fields = "", list[tuple[str, str]]()
        self._inside, self._select = False, ""
        self.feed(text[text.index("<main") :])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        if tag == "form" and not self.action:
            self._inside, self.action = True, told["action"]
        if not self._inside:
            return
        if tag == "select":
            self._select = told["name"]
        elif tag == "option" and self._select and "selected" in told:
            self.fields.append((self._select, told["value"]))
        elif tag == "input" and (told.get("type") != "checkbox" or "checked" in told):
            self.fields.append((told["name"], told["value"]))

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"
        self._select = "" if tag == "select" else self._select


def send(get: Get, place: str, **chosen: str) -> str:
    """Return the page to which the form at the top of a page leads, with these choices made in it."""
    form = _FirstForm(get(place).text)
    asked = [(name, value) for name, value in form.fields if name not in chosen]
    answer = get(f"{form.action}?{urlencode([*asked, *chosen.items()])}")
    assert answer.status_code == 200
    return answer.text
