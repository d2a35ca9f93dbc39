"""The one HTTP client: SPARQL endpoints of others, by the SPARQL 1.1 Protocol, and downloads.

It is urllib's public interface. SPARQLWrapper would hide what is needed here: it follows redirects to any host, and
keeps the headers of a failure to itself.
"""

from __future__ import annotations

import base64
import http.client
import ipaddress
import re
import socket
import time
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from remix._version import __version__
from remix.errors import Error, StoreError, UsageError

_LARGEST = 512 * 1000 * 1000
_LONG = 1500
_BLOCK = 1 << 20
_NAME = {"User-Agent": f"nel-remix/{__version__} (urllib)"}


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


class Failure(Exception):
    """What went wrong with a request, in words that follow an address: 'answered 503 Busy', 'cannot be reached: …'.

    - `status` and `body`: those of a refusal (the beginning of the body), 0 and empty where there was none;
    - `after`: the seconds that a `Retry-After` asks for; `late`: whether there was no answer in time;
    - `large`: whether there was more to answer than came or is taken; `lost`: whether there is no such host;
      `unreached`: whether there was no connection; `broken`: whether the answer ended before its end.
    """

    def __init__(self, line: str, *, status: int = 0, body: bytes = b"", after: float = 0, **kinds: bool) -> None:
        super().__init__(line)
        self.status, self.body, self.after = status, body, after
        self.late, self.large, self.lost, self.unreached, self.broken = (
            kinds.get(kind, False) for kind in ("late", "large", "lost", "unreached", "broken")
        )


def check_address(address: str) -> None:
    """Raise `UsageError` for an address of an endpoint that is not http or https, or that no request can have."""
    try:
        parts = urlsplit(address)
        web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is no number
        raise UsageError("the address of the endpoint has a host or a port that cannot be") from None
    shown = without_secrets(address)
    if not web:
        raise UsageError(f"'{shown}' is no address of an endpoint: it begins with http:// or https://")
    if not re.fullmatch(r"[!-~]+", address):
        raise UsageError(f"'{shown}' is no address of an endpoint: letters beyond ASCII and spaces are percent-encoded")


def without_secrets(address: str) -> str:
    """Return an address as it may be shown: without user, password and what its parameters say but for graphs.

    >>> without_secrets("https://me:secret@example.org/sparql?key=secret&default-graph-uri=urn:g")
    'https://example.org/sparql?key=…&default-graph-uri=urn:g'
    """
    parts = urlsplit(address)
    told = [(name, value if name.endswith("graph-uri") else "…") for name, value in parse_qsl(parts.query)]
    query = "&".join(f"{name}={value}" for name, value in told)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query, fragment="").geturl()


def _hide_parameters(body: bytes, address: str) -> bytes:
    """Return a message without what the parameters of an address say, where it repeats the address.

    >>> _hide_parameters(b"no GET /sparql?key=secret&query=ASK", "https://example.org/sparql?key=secret").decode()
    'no GET /sparql?key=…&query=ASK'
    """
    for name, _, value in (pair.partition("=") for pair in urlsplit(address).query.split("&")):
        if value and name != "query" and not name.endswith("graph-uri"):
            body = body.replace(f"{name}={value}".encode(), f"{name}=…".encode())
    return body


def ask(address: str, query: str, *, accept: str, timeout: float) -> Reply:
    """Return what a SPARQL endpoint answers to a query, within so many seconds for all of it.

    A short query is sent by GET, a long one by POST. User and password in the address are sent as HTTP Basic
    authentication. Redirects lead to the same host only. Raises `Failure`, and `StoreError` for a redirect to another
    host.
    """
    form, parts = urlencode({"query": query}), urlsplit(address)
    person, _, host = parts.netloc.rpartition("@")
    place = parts._replace(netloc=host, fragment="").geturl()
    short, mark = len(query) <= _LONG, "&" if parts.query else "?"
    where, sent = (f"{place}{mark}{form}", None) if short else (place, form.encode())
    request = Request(where, data=sent, headers={"Accept": accept, **_NAME})
    if person:
        request.add_header("Authorization", f"Basic {base64.b64encode(unquote(person).encode()).decode()}")
    deadline = time.monotonic() + timeout
    with _open(request, timeout, _SameHost(address)) as response:
        reply = Reply(response.status, response.headers, _read(response, deadline))
    return replace(reply, body=_hide_parameters(reply.body, address)) if "html" in reply.media else reply


def download(address: str, *, timeout: float) -> Iterator[bytes]:
    """Yield what is at an address, block by block; raises `Failure`, also where less comes than was announced.

    A redirect may lead to another public host: compare what came with the hash that is known of it.
    """
    with _open(Request(address, headers=_NAME), timeout, _PublicHosts()) as response:
        left = response.length
        while block := response.read(_BLOCK):
            left = None if left is None else left - len(block)
            yield block
        if left:
            raise http.client.IncompleteRead(b"", left)


@contextmanager
def _open(request: Request, timeout: float, *handlers: HTTPRedirectHandler) -> Iterator[Any]:
    """Hold the response to a request; raises `Failure`, also for what fails within the block."""
    late = Failure(f"did not answer within {timeout:g} s", late=True)
    try:
        with build_opener(*handlers).open(request, timeout=timeout) as response:
            yield response
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(error, request.full_url) from None
    except TimeoutError:
        raise late from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise late from None
        lost = isinstance(error.reason, socket.gaierror) and error.reason.errno == socket.EAI_NONAME
        said = "there is no such host" if lost else error.reason
        raise Failure(f"cannot be reached: {said}", lost=lost, unreached=True) from None
    except (OSError, http.client.HTTPException) as error:
        raise Failure(f"broke off its answer: {error or type(error).__name__}", broken=True) from None
    except ValueError as error:
        raise Failure(f"redirects to what is no address: {error}", status=302) from None


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
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        open_now = (old.scheme, new.scheme) == ("https", "http")
        if new.scheme not in ("http", "https") or new.hostname != old.hostname or open_now:
            shown, to = without_secrets(self.address), without_secrets(newurl)
            raise StoreError(f"{shown} redirects to {to}: name that address if you trust it")
        moved = (old.scheme, old.netloc) != (new.scheme, new.netloc)
        kept = {name: value for name, value in req.headers.items() if not (moved and name == "Authorization")}
        return Request(newurl, data=req.data, headers=kept)


class _PublicHosts(HTTPRedirectHandler):
    """Follows a redirect to the same host or a public one, to none of this network, and never out of https."""

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in ("http", "https") or (old.scheme, new.scheme) == ("https", "http"):
            raise Failure(f"redirects to {newurl}, which is not followed out of https://")
        if new.hostname != old.hostname and not _is_public(new.hostname or ""):
            raise Failure(f"redirects to {newurl}, a host of this network, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_public(host: str) -> bool:
    """Return whether each address of a host is one of the public network.

    >>> _is_public("127.0.0.1"), _is_public("10.1.2.3"), _is_public("8.8.8.8"), _is_public("[")
    (False, False, True, False)
    """
    try:
        found = socket.getaddrinfo(host, None)
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(str(one[4][0]).partition("%")[0]).is_global for one in found)


def _read(response: Any, deadline: float) -> bytes:
    """Return the body; raises `TimeoutError` when it is not there in time, however steadily it trickles."""
    blocks: list[bytes] = []
    size = 0
    # `read1` returns what is there, so the deadline is looked at even where little comes at a time.
    while block := response.read1(_BLOCK):
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
        body = _hide_parameters(error.read(1 << 16), address)
    except (OSError, http.client.HTTPException):
        body = b""
    line = f"answered {error.code} {' '.join(str(error.reason).split())}: {first_line(body)}".rstrip(": ")
    return Failure(line, status=error.code, body=body, after=_seconds(error.headers.get("Retry-After", "")))


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


def first_line(body: bytes) -> str:
    """Return what a body says in one short line, of HTML without its tags.

    >>> first_line(b"<html><title>Down</title><p>for repair</p>")
    'Down for repair'
    >>> first_line(b"no graph <urn:x>")
    'no graph <urn:x>'
    """
    text = body[:2000].decode("utf-8", "replace")
    if re.search(r"<(!doctype|html|head|body|title|h1|p)\b", text, re.IGNORECASE):
        text = re.sub(r"<[^>]*>", " ", text)
    return " ".join(text.split())[:160]
