"""The SPARQL 1.1 Protocol for queries, as an ASGI application.

A query comes by GET, as a form or as `application/sparql-query`; updates are refused in every spelling. What a query
may do, and for how long, is the worker's affair; here its errors become status codes: 400 for a query that does not
parse or calls an unknown function, 403 for one that is not allowed, 406 for formats that do not exist, 408 for a
request that does not arrive, 504 after the time limit, 503 where too many queries wait for others. A query runs until
its result is sent: one of up to a mebibyte is sent as a whole, a larger one as it comes, so that it is cut off where it
goes wrong later. What the user should know of an answer is in headers `Remix-Note`. Pages of other origins read an
answer only where that origin is allowed to.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import sys
import threading
from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import anyio.from_thread
import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from remix.errors import Error, NotAllowed, Timeout, UsageError
from remix.store import Store
from remix.store.index import Index
from remix.store.running import Request
from remix.store.state import dump
from remix.store.syntax import NEVER_THE_SAME, keywords
from remix.store.worker import Bounds, Stopped, TooLarge, Workers
from remix.web.description import GRAPHS, SOLUTIONS, describe, negotiate
from remix.web.protocol import Limits, is_of_this_site, read_request
from remix.web.turns import LEFT, STOPPED, RequestRefused, Turns

_LONGEST_REQUEST = 30
"""Seconds within which a request has to arrive, where a query may take as long."""
_LONGEST_TURN = 20
"""Seconds that a query waits for others to end, at most, and half as long as a query may run."""
_HELD = 1 << 20
"""Bytes of a result that are held back to see whether they are all."""
_HEADERS = {"Vary": "Accept", "X-Content-Type-Options": "nosniff"}


def application(
    store: Store, limits: Limits, hosts: Sequence[str] = ("127.0.0.1", "localhost"), pages: Sequence[Route] = ()
) -> Starlette:
    """Return the application: `/sparql` is the endpoint, beside pages; requests for other hosts are refused.

    The check of the host keeps a page whose name was made to point at this machine from reading what is served.
    `state.stop` of the application ends what runs and what waits, `state.give_up` waits for nothing any more; within
    `state.page` a page is made, whose queries are bound as those of the protocol.
    """
    endpoint = _Endpoint(store, limits)
    routes = [
        Route("/sparql", endpoint.respond, methods=["GET", "POST"]),
        Route("/", lambda _: RedirectResponse("/start" if pages else "/sparql"), methods=["GET"]),
        *pages,
    ]
    checks = [Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))]
    if origins := list(limits.allow_origins):
        told = ["ETag", "Remix-Note", "Retry-After"]
        methods = ["GET", "HEAD", "POST"]
        checks.append(
            Middleware(
                CORSMiddleware, allow_origins=origins, allow_methods=methods, allow_headers=["*"], expose_headers=told
            )
        )
    made = Starlette(routes=routes, middleware=checks)
    made.state.stop = endpoint.stop
    made.state.give_up = endpoint.turns.give_up
    made.state.page = endpoint.page
    made.state.wait = endpoint.turns.wait
    return made


def log_defect(error: Exception) -> None:
    """Write what went wrong as one line to the log: the client learns no more than that it was a defect."""
    print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)


class _Endpoint:
    def __init__(self, store: Store, limits: Limits) -> None:
        self.store = store
        self.limits = limits
        self.turns = Turns(limits.concurrent, min(_LONGEST_TURN, limits.timeout / 2))
        self.workers = Workers()
        self.opened: tuple[object, Index, str] | None = None

    async def respond(self, http: HttpRequest) -> Response:
        """Return the answer to a request, or the line that refuses it."""
        with self.turns.allow_giving_up():
            return await self._respond(http)
        return refuse(503, STOPPED)

    async def _respond(self, http: HttpRequest) -> Response:
        seconds = min(_LONGEST_REQUEST, self.limits.timeout)
        try:
            request = await asyncio.wait_for(read_request(http, self.limits), seconds)
            return await (self._answer(http, request) if request else self._description(http))
        except RequestRefused as refusal:
            status, line = refusal.status, str(refusal)
        except Error as error:
            status, line = status_of(error), str(error)
        except (TimeoutError, ClientDisconnect):
            status, line = 408, f"the request did not arrive within {seconds:g} s"
        except Exception as error:
            log_defect(error)
            status, line = 500, "the query could not be answered, which is a defect of remix"
        return refuse(status, line)

    async def _answer(self, http: HttpRequest, request: Request) -> Response:
        accept = http.headers.get("accept", "")
        solutions, graph = negotiate(accept, SOLUTIONS), negotiate(accept, GRAPHS)
        words = keywords(request.text)
        form = next((word for word in words if word in ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")), "SELECT")
        if (solutions if form in ("SELECT", "ASK") else graph) is None:
            known = SOLUTIONS if form in ("SELECT", "ASK") else GRAPHS
            raise RequestRefused(406, f"no such format; known: {', '.join(names[0] for names in known.values())}")
        request = replace(request, solutions=solutions or "json", graph=graph or "ttl")
        index, state = await anyio.to_thread.run_sync(self._current)
        headers = _tag_headers(
            "" if NEVER_THE_SAME.intersection(words) else f"{state}-{request.solutions}-{request.graph}"
        )
        if _is_known(http, headers):
            return Response(status_code=304, headers=headers)
        return await self._begin(http, index, request, headers)

    def _current(self) -> tuple[Index, str]:
        """Return the index of the store's state, and what names that; both are kept until the state is another."""
        sign = self.store.cached.sign()
        kept = self.opened
        if sign is None or kept is None or kept[0] != sign or (kept[1].path and not kept[1].path.is_dir()):
            with self.store.hold_state():
                kept = sign, self.store.index(), hashlib.sha256(dump(self.store.state)).hexdigest()[:16]
            self.opened = kept
        return kept[1], kept[2]

    async def _begin(self, http: HttpRequest, index: Index, request: Request, headers: dict[str, str]) -> Response:
        """Return the answer of a query when it has its turn: with a body that is all there, or one that is to come."""
        stop, over = threading.Event(), contextlib.ExitStack()
        try:
            over.enter_context(self.turns.tell_stop(stop))
            over.callback(asyncio.create_task(_watch_client(http, stop, self.turns)).cancel)
            await self.turns.take(stop)
            over.callback(self.turns.release)
            worker = over.enter_context(self.workers.lend())
            blocks = _AnswerBlocks(worker.blocks(index.path, request, stop), stop)
            over.callback(blocks.close)
            about, held, whole = await anyio.to_thread.run_sync(_first, blocks)
        except BaseException:
            over.close()
            raise
        media = (GRAPHS[request.graph] if about["kind"] == "graph" else SOLUTIONS[request.solutions])[0]
        made = _Answer(held, None if whole else blocks, media, headers, over)
        made.raw_headers += [(b"remix-note", quote(note, safe=_PLAIN).encode()) for note in about["notes"]]
        return made

    @contextlib.asynccontextmanager
    async def page(self, http: HttpRequest) -> AsyncIterator[Bounds]:
        """Hold what the queries of a page may use, while it is made in a thread; the block ends early at a stop."""
        stop = threading.Event()
        with self.turns.allow_giving_up(), self.turns.tell_stop(stop):
            watching = asyncio.create_task(_watch_client(http, stop, self.turns))
            try:
                yield self._bounds(stop, is_of_this_site(http))
            finally:
                watching.cancel()

    def _bounds(self, stop: threading.Event, keeps: bool) -> Bounds:
        """Return what queries of a page may use until `stop`: as those of the protocol."""

        @contextlib.contextmanager
        def turn() -> Iterator[None]:
            """Wait in the endpoint's queue, and hold a place in it within the block."""
            if stop.is_set():
                raise Stopped(STOPPED if self.turns.stopped else LEFT)
            try:
                anyio.from_thread.run(self.turns.take, stop)
            except RequestRefused as refusal:
                ended = self.turns.stopped or stop.is_set()
                raise (Stopped if ended else Timeout)(str(refusal)) from None
            try:
                yield
            finally:
                with contextlib.suppress(RuntimeError):  # the server is over, and its queue with it
                    anyio.from_thread.run_sync(self.turns.release)

        limits = self.limits
        services = tuple(limits.allow_services)
        return Bounds(limits.timeout, limits.memory, limits.largest, stop, turn, self.workers.lend, services, keeps)

    def stop(self) -> None:
        """End what runs and what waits; to be called in the loop."""
        self.turns.stop()
        self.workers.close()

    async def _description(self, http: HttpRequest) -> Response:
        form = negotiate(http.headers.get("accept", ""), GRAPHS) or "ttl"
        _, state = await anyio.to_thread.run_sync(self._current)
        if _is_known(http, headers := _tag_headers(f"{state}-{form}")):
            return Response(status_code=304, headers=headers)
        address = str(http.url.replace(query=""))
        content = await anyio.to_thread.run_sync(describe, self.store.state, address, form)
        return Response(content, media_type=GRAPHS[form][0], headers=headers)


def _tag_headers(tag: str) -> dict[str, str]:
    """Return the headers of an answer that is the same as long as its tag is, where it has one."""
    return {**_HEADERS, "Cache-Control": "no-cache", **({"ETag": f'W/"{tag}"'} if tag else {})}


def _is_known(http: HttpRequest, headers: Mapping[str, str]) -> bool:
    """Return whether a client has said that it has the answer of this tag."""
    known = [one.strip() for one in http.headers.get("if-none-match", "").split(",")]
    return http.method != "POST" and headers.get("ETag") in known


def refuse(status: int, line: str) -> Response:
    """Return an answer that tells in one line why there is none."""
    headers = {**_HEADERS, **({"Retry-After": "1"} if status == 503 else {})}
    return PlainTextResponse(f"{line}\n", status, headers=headers)


async def _watch_client(http: HttpRequest, stop: threading.Event, turns: Turns) -> None:
    """Stop a query, or let it wait no longer for its turn, when the client that asked it is gone."""
    while (await http.receive())["type"] != "http.disconnect":
        pass
    turns.leave(stop)


def status_of(error: Error) -> int:
    """Return the status code of an answer that tells an error."""
    if isinstance(error, NotAllowed):
        return 403
    if isinstance(error, TooLarge | UsageError):
        return 400
    if isinstance(error, Stopped):
        return 503
    return 504 if isinstance(error, Timeout) else 500


_PLAIN = " !#$&'()*+,/:;<=>?@[]{}|\""
"""Characters that a header may hold as they are."""


class _AnswerBlocks:
    """The blocks of a query's answer, which threads take; who closes it ends the query, and waits for that thread."""

    def __init__(self, blocks: Generator[bytes, None, None], stop: threading.Event) -> None:
        self._blocks = blocks
        self._stop = stop
        self._taking = threading.Lock()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        with self._taking:
            return next(self._blocks)

    def close(self) -> None:
        """End the query, where it has not ended."""
        self._stop.set()
        with self._taking:
            self._blocks.close()


def _first(blocks: Iterator[bytes]) -> tuple[dict[str, Any], bytes, bool]:
    """Return what an answer is, the beginning of its result, and whether that is all of it."""
    about, held = json.loads(next(blocks)), bytearray()
    for block in blocks:
        held += block
        if len(held) > _HELD:
            return about, bytes(held), False
    return about, bytes(held), True


class _Answer(Response):
    """A result whose beginning is there; `more` comes after it. When it is sent, or cannot be, `over` is closed."""

    def __init__(
        self,
        begin: bytes,
        more: Iterator[bytes] | None,
        media: str,
        headers: dict[str, str],
        over: contextlib.ExitStack,
    ) -> None:
        super().__init__(begin, media_type=media, headers=headers)
        if more is not None:
            del self.headers["Content-Length"]
        self.more, self.over = more, over

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.over:
            if self.more is None or scope["method"] == "HEAD":
                await super().__call__(scope, receive, send)
                return
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            block: bytes | None = bytes(self.body)
            try:
                while block:
                    await send({"type": "http.response.body", "body": block, "more_body": True})
                    block = await anyio.to_thread.run_sync(next, self.more, None)
            except Error as error:  # the status is sent: that the body has no end tells the client
                print(f"a result was cut off: {error}", file=sys.stderr, flush=True)
                return
            await send({"type": "http.response.body", "body": b""})
