"""The SPARQL 1.1 Protocol: one query to an endpoint of others, sent by SPARQLWrapper.

SPARQLWrapper writes the request. How it is sent is replaced (`_query`), as by itself it follows a redirect to any host
and sends the password there, reads a refusal whole, however large, and keeps its headers to itself.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
from contextlib import closing
from dataclasses import dataclass, replace
from email.message import Message
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from SPARQLWrapper import POST, SELECT, SPARQLWrapper

from remix import connections
from remix.connections import BLOCK, REFUSAL, Failure, without_secrets
from remix.errors import Error, StoreError

_LARGEST = 512 * 1000 * 1000
_LONG = 1500


@dataclass(frozen=True)
class Reply:
    """The body of what was answered with a status below 300, and its headers."""

    status: int
    headers: Message
    body: bytes

    @property
    def media(self) -> str:
        """Return the media type that the headers say."""
        return self.headers.get_content_type()


def ask(address: str, query: str, *, accept: str, timeout: float) -> Reply:
    """Return what a SPARQL endpoint answers to a query, within so many seconds for all of it.

    A short query is sent by GET, a long one by POST. User and password in the address are sent as HTTP Basic
    authentication. Redirects lead to the same host only. Raises `Failure`, and `StoreError` for a redirect to another
    host.
    """
    place, authorisation = connections.split_credentials(address)
    asking = _Asking(place, agent=connections.name_agent("SPARQLWrapper"))
    # `setQuery` would guess the kind by a pattern, warn where it finds none, and send an update where it finds one.
    asking.queryString, asking.queryType = query, SELECT
    asking.onlyConneg = True
    asking.limit = timeout
    if len(query) > _LONG:
        asking.setMethod(POST)
    else:  # to a GET it adds parameters of its own, behind a question mark
        parts = urlsplit(place)
        asking.endpoint = parts._replace(query="").geturl()
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            asking.addParameter(name, value)
    for name, value in {"Accept": accept, **authorisation}.items():
        asking.addCustomHttpHeader(name, value)
    reply = connections.finish_within(timeout, lambda: _reply(asking, address, time.monotonic() + timeout))
    return replace(reply, body=connections.hide_parameters(reply.body, address)) if "html" in reply.media else reply


class _Asking(SPARQLWrapper):
    """A query on its way, which leads nowhere but to the host that it is for; `limit` are the seconds of a packet."""

    limit: float

    def _query(self) -> tuple[Any, str]:
        """Return the response to the request that SPARQLWrapper makes; its body is not read yet."""
        opener = build_opener(_SameHost(self.endpoint))
        return opener.open(self._createRequest(), timeout=self.limit), self.returnFormat


class _SameHost(HTTPRedirectHandler):
    """Follows a redirect to the same host, with the query; to any other, out of https, or to no web address, none.

    What authenticates goes to the same port alone.
    """

    def __init__(self, address: str) -> None:
        self.address = address

    def http_error_302(self, req: Request, fp: Any, code: int, msg: str, headers: Any) -> Any:
        """Follow a redirect, or close what redirects where it is not followed."""
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except (Error, ValueError):
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request:
        """Return the request of a redirect on the same host; what authorises goes to the same port alone."""
        fp.close()  # else all of what it says would be read, however much that is
        if not connections.is_on_host(req.full_url, newurl):
            shown, to = without_secrets(self.address), without_secrets(newurl)
            raise StoreError(f"{shown} redirects to {to}: name that address if you trust it")
        place, _ = connections.split_credentials(newurl)
        same = connections.is_same_place(req.full_url, place)
        kept = {name: value for name, value in req.headers.items() if same or name != "Authorization"}
        return Request(place, data=req.data, headers=kept)


def _reply(asking: _Asking, address: str, deadline: float) -> Reply:
    """Return the answer to a query, read whole; raises `Failure`."""
    try:
        with asking.query().response as response:
            return Reply(response.status, response.headers, _read(response, deadline))
    except urllib.error.HTTPError as error:
        with closing(error):
            raise _refusal(error, address) from None
    except TimeoutError:
        raise connections.tell_late(asking.limit) from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise connections.tell_late(asking.limit) from None
        raise connections.tell_unreached(error.reason) from None
    except (OSError, http.client.HTTPException) as error:
        raise connections.tell_broken(error) from None
    except ValueError as error:
        raise Failure(f"redirects to what is no address: {error}", status=302) from None


def _read(response: Any, deadline: float) -> bytes:
    """Return the body; raises `TimeoutError` when it is not there in time, however steadily it trickles."""
    blocks: list[bytes] = []
    size = 0
    # `read1` returns what is there, so the deadline is looked at even where little comes at a time.
    while block := response.read1(BLOCK):
        blocks.append(block)
        size += len(block)
        if time.monotonic() > deadline:
            raise TimeoutError
        if size > _LARGEST:
            raise Failure(f"answered with more than {_LARGEST:,} bytes", large=True)
    expected = response.headers.get("Content-Length", "")
    # `read1` takes a connection that was closed too early for the end.
    if expected.isdecimal() and size < int(expected):
        raise http.client.IncompleteRead(b"", int(expected) - size)
    return b"".join(blocks)


def _refusal(error: urllib.error.HTTPError, address: str) -> Failure:
    try:
        body = connections.hide_parameters(error.read(REFUSAL), address)
    except (OSError, http.client.HTTPException):
        body = b""
    return connections.tell_refusal(
        error.code, error.reason, body, connections.read_retry_after(error.headers.get("Retry-After", ""))
    )
