"""One request to a SPARQL endpoint: the whole result of a query as a frame, or what went wrong.

An endpoint fails in many ways that look like an answer: a page of HTML, half a JSON, the part of a result that was
ready when its time was over.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
import time
import urllib.error
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import polars as pl

from remix._version import __version__
from remix.errors import StoreError

__all__ = ["Failure", "request"]

_LARGEST = 512 * 1000 * 1000
_LONG = 1500
_PASSING = (408, 425, 429, 500, 502, 503, 504)
# What Virtuoso, Blazegraph, QLever and Fuseki say when a query takes too long for them.
_OUT_OF_TIME = re.compile(rb"estimated execution time|execution timeout|TimeoutException|timed? ?out|S1TAT", re.I)


class Failure(Exception):
    """A failure that may pass: what to say of the endpoint, and how many seconds to wait at least.

    `heavy`: asked for less, the endpoint may have answered; `late`: it did not answer in time.
    """

    def __init__(self, line: str, *, after: float = 0, heavy: bool = False, late: bool = False) -> None:
        super().__init__(line)
        self.after = after
        self.heavy = heavy
        self.late = late


def request(address: str, query: str, variables: Sequence[str], timeout: float) -> tuple[pl.DataFrame, int | None]:
    """Return the rows that an endpoint selects, as text, and the limit of rows that it names in its headers.

    A short query is sent by GET, a long one by POST. Raises `Failure` for what may pass, `StoreError` for what will
    not: a query that is refused, a page of HTML, a redirect to another host.
    """
    deadline = time.monotonic() + timeout
    late = Failure(f"did not answer within {timeout:g} s", heavy=True, late=True)
    try:
        with build_opener(_SameHost(address)).open(_prepared(address, query), timeout=timeout) as response:
            body = _read(response, deadline)
            _check(address, response.status, response.headers, body)
            limit = response.headers.get("X-SPARQL-MaxRows", "")
            return _table(body, variables), int(limit) if limit.isdecimal() else None
    except urllib.error.HTTPError as error:
        with error:
            _refused(address, error)
    except TimeoutError:
        raise late from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise late from None
        if isinstance(error.reason, socket.gaierror) and error.reason.errno == socket.EAI_NONAME:
            raise StoreError(f"{address} cannot be reached: there is no such host") from None
        raise Failure(f"cannot be reached: {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise Failure(f"broke off its answer: {error or type(error).__name__}") from None


class _SameHost(HTTPRedirectHandler):
    """Follows a redirect to the same host, with the query; to any other, or to what is no web address, none."""

    def __init__(self, address: str) -> None:
        self.address = address

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request:
        new = urlsplit(newurl)
        if new.scheme not in ("http", "https") or new.hostname != urlsplit(self.address).hostname:
            raise StoreError(f"{self.address} redirects to {newurl}: name that address if you trust it")
        return Request(newurl, data=req.data, headers=dict(req.headers))


def _prepared(address: str, query: str) -> Request:
    from SPARQLWrapper import GET, JSON, POST, SPARQLWrapper

    wrapper = SPARQLWrapper(address, agent=f"nel-remix/{__version__} (SPARQLWrapper)")
    wrapper.setQuery(query)
    wrapper.setReturnFormat(JSON)
    wrapper.setOnlyConneg(True)
    wrapper.setMethod(POST if len(query) > _LONG else GET)
    # Opened by ourselves: the wrapper follows redirects to anywhere, and hides the headers of a 500.
    prepared: Request = wrapper._createRequest()
    return prepared


def _read(response: Any, deadline: float) -> bytes:
    """Return the body; raises `TimeoutError` when it is not there in time, however steadily it trickles."""
    blocks: list[bytes] = []
    size = 0
    # `read1` returns what is there, so the deadline is looked at even where little comes at a time.
    while block := response.read1(1 << 20):
        blocks.append(block)
        size += len(block)
        if time.monotonic() > deadline:
            raise TimeoutError
        if size > _LARGEST:
            raise Failure(f"answered with more than {_LARGEST:,} bytes", heavy=True)
    expected = response.headers.get("Content-Length", "")
    # `read1` takes a connection that was closed too early for the end.
    if expected.isdecimal() and size < int(expected):
        raise http.client.IncompleteRead(b"", int(expected) - size)
    return b"".join(blocks)


def _check(address: str, status: int, headers: Any, body: bytes) -> None:
    """Raise for what says of itself that it is no answer, or not the whole of it."""
    media = headers.get_content_type()
    if state := headers.get("X-SQL-State") or headers.get("X-SPARQL-Anytime"):
        said = f"{state} {headers.get('X-SQL-Message', '')}".strip()
        raise Failure(f"answered with a part of the result ({said})", heavy=True)
    if status != 200:
        raise Failure(f"answered {status}, which is not the whole result", heavy=status == 206)
    if media in ("text/html", "application/xhtml+xml"):
        raise StoreError(f"{address} answered with a page of HTML, not with a result: {_line(body)}")
    if media not in ("application/sparql-results+json", "application/json"):
        raise Failure(f"answered with {media}, not with a result in JSON: {_line(body)}")


def _refused(address: str, error: urllib.error.HTTPError) -> NoReturn:
    try:
        body = error.read(1 << 16)
    except (OSError, http.client.HTTPException):
        body = b""
    line = f"answered {error.code} {error.reason}: {_line(body)}".rstrip(": ")
    heavy = error.code in (413, 504) or bool(_OUT_OF_TIME.search(body))
    if error.code in _PASSING or heavy:
        raise Failure(line, after=_seconds(error.headers.get("Retry-After", "")), heavy=heavy, late=error.code == 504)
    raise StoreError(f"{address} {line}") from None


def _table(body: bytes, variables: Sequence[str]) -> pl.DataFrame:
    """Return the solutions in a body of SPARQL 1.1 Query Results JSON; raises `Failure` for half of one, or none.

    >>> _table(b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "uri", "value": "urn:a"}}]}}', "x")
    shape: (1, 1)
    ...
    """
    bindings = pl.List(pl.Struct(dict.fromkeys(variables, pl.Struct({"type": pl.String, "value": pl.String}))))
    schema = {"head": pl.Struct({"vars": pl.List(pl.String)}), "results": pl.Struct({"bindings": bindings})}
    known: set[str] | None = None
    try:
        read = pl.read_json(io.BytesIO(body), schema=schema)
        if read.height == 1 and not read["results"].struct.field("bindings").null_count():
            known = set(read["head"].struct.field("vars").explode().drop_nulls())
    except (pl.exceptions.PolarsError, ValueError):
        pass
    if known is None:
        raise Failure(f"answered with {len(body):,} bytes that are no whole result in JSON: {_line(body)}")
    if missing := sorted(set(variables) - known):
        raise Failure(f"answered without the variable ?{missing[0]} that was asked for")
    rows = read["results"].struct.field("bindings").explode(empty_as_null=False).struct.unnest()
    # A blank node is nobody's name: what it stands for cannot be asked about.
    return rows.select(
        pl.when(pl.col(name).struct.field("type") != "bnode").then(pl.col(name).struct.field("value")).alias(name)
        for name in variables
    )


def _seconds(text: str) -> float:
    """Return the seconds that a `Retry-After` asks for, which is a number or a date; 0 for what is neither.

    >>> _seconds("7"), _seconds("Wed, 21 Oct 2015 07:28:00 GMT"), _seconds("soon")
    (7.0, 0.0, 0.0)
    """
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0


def _line(body: bytes) -> str:
    """Return what a body says in one short line, without tags.

    >>> _line(b"<html><title>Down</title><p>for repair</p>")
    'Down for repair'
    """
    text = re.sub(r"<[^>]*>", " ", body[:2000].decode("utf-8", "replace"))
    return " ".join(text.split())[:160]
