"""What a client asks by the SPARQL 1.1 Protocol, and how much it may."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.requests import Request as HttpRequest

from remix.errors import UsageError
from remix.files import readable
from remix.store.running import GIBIBYTE, Request
from remix.web.turns import RequestRefused

_LARGEST_BODY = 1 << 20
_PARAMETERS = 1000


@dataclass(frozen=True)
class Limits:
    """What a query may use: seconds, bytes of memory and of its result; and how many may run at the same time."""

    timeout: float = 60
    memory: int = 4 * GIBIBYTE
    largest: int = 256 * 1000 * 1000
    concurrent: int = 4
    allow_services: Sequence[str] = ()
    allow_origins: Sequence[str] = ()


async def read_request(http: HttpRequest, limits: Limits) -> Request | None:
    """Return what a client asks, None where it has no query.

    Raises `RequestRefused` for what the protocol does not know.
    """
    parameters = _form(http.url.query)
    if http.method == "POST":
        media = http.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = await _body(http, form=media.endswith("urlencoded"))
        if media == "application/x-www-form-urlencoded":
            for name, values in _form(body).items():
                parameters.setdefault(name, []).extend(values)
        elif media == "application/sparql-query":
            parameters.setdefault("query", []).append(body)
        elif media == "application/sparql-update":
            raise RequestRefused(403, "this endpoint is read-only: updates are refused")
        else:
            raise RequestRefused(415, "send application/x-www-form-urlencoded or application/sparql-query")
    if "update" in parameters or "using-graph-uri" in parameters:
        raise RequestRefused(403, "this endpoint is read-only: updates are refused")
    queries = parameters.get("query", [])
    if len(queries) > 1 or (http.method == "POST" and not queries):
        raise RequestRefused(400, f"one query is expected, and there are {len(queries)}")
    graphs = [parameters.get(f"{kind}-graph-uri", []) for kind in ("default", "named")]
    if wrong := [
        iri for iri in graphs[0] + graphs[1] if not re.fullmatch(r"[A-Za-z][^:]*:[^\x00-\x20<>\"{}|^`\\]*", iri)
    ]:
        raise RequestRefused(400, f"'{wrong[0]}' is no IRI of a graph")
    timeout = read_timeout(parameters["timeout"][-1]) if "timeout" in parameters else limits.timeout
    default, named = graphs if any(graphs) else (None, None)
    services = tuple(limits.allow_services)
    if not queries:
        return None
    return Request(
        "".join(queries),
        allow_services=services,
        default_graphs=default,
        named_graphs=named,
        timeout=min(timeout, limits.timeout),
        memory=limits.memory,
        largest=limits.largest,
    )


def read_timeout(text: str) -> float:
    """Return the seconds that a parameter `timeout` says; raises `UsageError` where it says none."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text, re.ASCII) or not float(text):
        raise UsageError(f"timeout={readable(text)} is no number of seconds, such as timeout=10")
    return float(text)


def is_of_this_site(http: HttpRequest) -> bool:
    """Return whether a request is one that a page of this server, a person or a program made.

    The others are made by pages of other sites in a browser that shows them (`Sec-Fetch-Site`), as images say, and as
    many as they like; but where a person follows a link from there (`Sec-Fetch-User`), it is that person who asks.
    """
    said = http.headers.get("sec-fetch-site", "none")
    return said in ("none", "same-origin") or http.headers.get("sec-fetch-user") == "?1"


def _form(text: str) -> dict[str, list[str]]:
    if (count := text.count("&") + 1) > _PARAMETERS:
        raise RequestRefused(400, f"{count:,} parameters are given, and {_PARAMETERS:,} may be")
    try:
        return parse_qs(text, keep_blank_values=True, errors="strict")
    except ValueError:
        raise RequestRefused(400, "the parameters cannot be read: they are not percent-encoded UTF-8") from None


async def _body(http: HttpRequest, *, form: bool) -> str:
    body = b""
    async for block in http.stream():
        body += block
        if len(body) > _LARGEST_BODY:
            advice = ": as application/sparql-query it needs no percent-encoding" if form else ""
            raise RequestRefused(413, f"the body of the request is larger than {_LARGEST_BODY:,} bytes{advice}")
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise RequestRefused(400, "the body of the request is not UTF-8") from None
