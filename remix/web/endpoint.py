"""The SPARQL 1.1 Protocol for queries, as an ASGI application.

A query comes by GET, as a form or as `application/sparql-query`; updates are refused in every spelling. What a query
may do, and for how long, is the worker's affair; here its errors become status codes: 400 for a query that does not
parse or calls an unknown function, 403 for one that is not allowed, 406 for formats that do not exist, 408 for a
request that does not arrive, 504 after the time limit, 503 while too many queries run. A query runs until its result
is sent. What the user should know of an answer is in headers `Remix-Note`. No header lets pages of other origins
read an answer.
"""

from __future__ import annotations

import asyncio
import functools
import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, quote

import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from remix.errors import Error, NotAllowed, QueryError, Timeout
from remix.store import Store
from remix.store.syntax import keywords
from remix.store.worker import GIBIBYTE, Answer, Request, TooLarge, Workers
from remix.web.description import described
from remix.web.negotiation import GRAPHS, SOLUTIONS, chosen

__all__ = ["Limits", "application"]

_LARGEST_QUERY = 1 << 20
_LONGEST_REQUEST = 30
"""Seconds within which a request has to arrive, where a query may take as long."""
_HEADERS = {"Vary": "Accept", "X-Content-Type-Options": "nosniff"}


@dataclass(frozen=True)
class Limits:
    """What a query may use: seconds, bytes of memory and of its result; and how many may run at the same time."""

    timeout: float = 60
    memory: int = 4 * GIBIBYTE
    largest: int = 256 * 1000 * 1000
    concurrent: int = 4
    allow_services: Sequence[str] = ()


@dataclass(frozen=True)
class _Asked:
    """What a client asks: the query, null where it gives none, and the dataset that the protocol names."""

    query: str | None
    default_graphs: list[str]
    named_graphs: list[str]


class _Refused(Exception):
    """A request that is answered with a status code and one line."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status = status


def application(
    store: Store, limits: Limits, hosts: Sequence[str] = ("127.0.0.1", "localhost"), pages: Sequence[Route] = ()
) -> Starlette:
    """Return the application: `/sparql` is the endpoint, beside pages; requests for other hosts are refused.

    The check of the host keeps a page whose name was made to point at this machine from reading what is served.
    `state.stop` of the application ends the queries that run.
    """
    endpoint = _Endpoint(store, limits)
    routes = [
        Route("/sparql", endpoint.respond, methods=["GET", "POST"]),
        Route("/", lambda _: RedirectResponse("/datasets" if pages else "/sparql"), methods=["GET"]),
        *pages,
    ]
    made = Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))])
    made.state.stop = endpoint.stop
    return made


class _Endpoint:
    def __init__(self, store: Store, limits: Limits) -> None:
        self.store = store
        self.limits = limits
        self.running: set[threading.Event] = set()
        self.workers = Workers()

    async def respond(self, http: HttpRequest) -> Response:
        """Return the answer to a request, or the line that refuses it."""
        seconds = min(_LONGEST_REQUEST, self.limits.timeout)
        try:
            asked = await asyncio.wait_for(_asked(http), seconds)
            if asked.query is None:
                return await self._description(http)
            return await self._answered(http, asked, asked.query)
        except _Refused as refusal:
            status, line = refusal.status, str(refusal)
        except Error as error:
            status, line = _status(error), str(error)
        except (TimeoutError, ClientDisconnect):
            status, line = 408, f"the request did not arrive within {seconds:g} s"
        except Exception as error:  # a defect: the client learns that, the log what it was
            print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
            status, line = 500, "the query could not be answered, which is a defect of remix"
        headers = {**_HEADERS, **({"Retry-After": "1"} if status == 503 else {})}
        return PlainTextResponse(f"{line}\n", status, headers=headers)

    async def _answered(self, http: HttpRequest, asked: _Asked, query: str) -> Response:
        accept = http.headers.get("accept", "")
        solutions, graph = chosen(accept, SOLUTIONS), chosen(accept, GRAPHS)
        words = keywords(query)
        form = next((word for word in words if word in ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")), "SELECT")
        if (solutions if form in ("SELECT", "ASK") else graph) is None:
            known = SOLUTIONS if form in ("SELECT", "ASK") else GRAPHS
            raise _Refused(406, f"no such format; known: {', '.join(names[0] for names in known.values())}")
        own = bool(asked.default_graphs or asked.named_graphs)
        request = Request(
            query,
            solutions=solutions or "json",
            graph=graph or "ttl",
            allow_services=tuple(self.limits.allow_services),
            default_graphs=asked.default_graphs if own else None,
            named_graphs=asked.named_graphs if own else None,
        )
        if len(self.running) >= self.limits.concurrent:
            raise _Refused(503, f"{len(self.running)} queries are running, as many as may: try again")
        stop = threading.Event()
        self.running.add(stop)
        try:
            answer = await self._run(http, request, stop)
        except BaseException:
            self.running.discard(stop)
            raise
        names = GRAPHS[request.graph] if answer.kind == "graph" else SOLUTIONS[request.solutions]
        return _Sent(answer, names[0], lambda: self.running.discard(stop))

    def stop(self) -> None:
        """Let every query that runs end now."""
        for query in tuple(self.running):
            query.set()
        self.workers.close()

    async def _run(self, http: HttpRequest, request: Request, stop: threading.Event) -> Answer:
        watching = asyncio.create_task(_gone(http, stop))
        try:
            index = await anyio.to_thread.run_sync(self.store.index)
            asking = functools.partial(
                self.workers.ask,
                index.path,
                request,
                timeout=self.limits.timeout,
                memory=self.limits.memory,
                largest=self.limits.largest,
                stop=stop,
            )
            return await anyio.to_thread.run_sync(asking)
        finally:
            stop.set()
            watching.cancel()

    async def _description(self, http: HttpRequest) -> Response:
        form = chosen(http.headers.get("accept", ""), GRAPHS) or "ttl"
        address = str(http.url.replace(query=""))
        content = await anyio.to_thread.run_sync(described, self.store.state, address, form)
        return Response(content, media_type=GRAPHS[form][0], headers=_HEADERS)


async def _gone(http: HttpRequest, stop: threading.Event) -> None:
    """Stop a query when the client that asked it is gone."""
    while (await http.receive())["type"] != "http.disconnect":
        pass
    stop.set()


async def _asked(http: HttpRequest) -> _Asked:
    """Return what a request asks; raises `_Refused` for what the protocol does not know."""
    parameters = _form(http.url.query)
    if http.method == "POST":
        media = http.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = await _body(http)
        if media == "application/x-www-form-urlencoded":
            for name, values in _form(body).items():
                parameters.setdefault(name, []).extend(values)
        elif media == "application/sparql-query":
            parameters.setdefault("query", []).append(body)
        elif media == "application/sparql-update":
            raise _Refused(403, "this endpoint is read-only: updates are refused")
        else:
            raise _Refused(415, "send application/x-www-form-urlencoded or application/sparql-query")
    if "update" in parameters or "using-graph-uri" in parameters:
        raise _Refused(403, "this endpoint is read-only: updates are refused")
    queries = parameters.get("query", [])
    if len(queries) > 1 or (http.method == "POST" and not queries):
        raise _Refused(400, f"one query is expected, and there are {len(queries)}")
    graphs = [parameters.get(f"{kind}-graph-uri", []) for kind in ("default", "named")]
    if wrong := [
        iri for iri in graphs[0] + graphs[1] if not re.fullmatch(r"[A-Za-z][^:]*:[^\x00-\x20<>\"{}|^`\\]*", iri)
    ]:
        raise _Refused(400, f"'{wrong[0]}' is no IRI of a graph")
    return _Asked(queries[0] if queries else None, *graphs)


def _form(text: str) -> dict[str, list[str]]:
    try:
        return parse_qs(text, keep_blank_values=True, errors="strict", max_num_fields=1000)
    except ValueError:
        raise _Refused(400, "the parameters cannot be read: they are not percent-encoded UTF-8") from None


async def _body(http: HttpRequest) -> str:
    body = b""
    async for block in http.stream():
        body += block
        if len(body) > _LARGEST_QUERY:
            raise _Refused(413, f"the query is larger than {_LARGEST_QUERY:,} bytes")
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise _Refused(400, "the query is not UTF-8") from None


def _status(error: Error) -> int:
    if isinstance(error, NotAllowed):
        return 403
    if isinstance(error, QueryError | TooLarge):
        return 400
    return 504 if isinstance(error, Timeout) else 500


class _Sent(Response):
    """An answer that is sent in blocks; when that is over, however it went, `done` is called."""

    def __init__(self, answer: Answer, media: str, done: Callable[[], None]) -> None:
        size = answer.body.seek(0, 2)
        answer.body.seek(0)
        super().__init__(media_type=media, headers={**_HEADERS, "Content-Length": str(size)})
        notes = [(b"remix-note", quote(note, safe=" !#$&'()*+,/:;<=>?@[]{}|\"").encode()) for note in answer.notes]
        self.raw_headers.extend(notes)
        self.answer, self.done = answer, done

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self.answer.body as body:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                while block := body.read(1 << 16):
                    await send({"type": "http.response.body", "body": block, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
        finally:
            self.done()
