"""Downloads by requests: what is at an address, block by block, with our rules of redirects, credentials and time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urljoin

import requests
from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError

from remix import connections
from remix.connections import BLOCK, REFUSAL, Failure, without_secrets

LEAST = 1000
"""The bytes a second, on the average of each time limit, below which a download is given up."""
_REDIRECTS = 10


def download(address: str, *, timeout: float, begin: int = 0) -> Iterator[bytes]:
    """Yield what is at an address, block by block, as it is sent; raises `Failure`, also where it ends too early.

    With `begin` it is what follows so many bytes; raises `Failure` with the status 416 where a server gives all anew.

    `timeout` are the seconds without an answer, and those in which at least `LEAST` bytes a second come. A redirect may
    lead to another public host: compare what came with the hash that is known of it. Users and passwords are those of
    the address alone, not of the files in which others keep theirs, and go to its host and port only.
    """
    with _Session() as session:
        session.auth = lambda request: request  # else requests looks into ~/.netrc
        session.headers.update({"User-Agent": connections.name_agent("requests"), "Accept-Encoding": "identity"})
        if begin:
            session.headers["Range"] = f"bytes={begin}-"
        with closing(connections.finish_within(timeout, lambda: _open(session, address, timeout))) as response:
            if begin and not response.headers.get("Content-Range", "").startswith(f"bytes {begin}-"):
                raise Failure("does not go on where a download ended", status=416)
            since, size = time.monotonic(), 0
            while block := _read(response, timeout):
                yield block
                size += len(block)
                if (passed := time.monotonic() - since) > timeout:
                    if size < LEAST * passed:
                        raise Failure(f"gave {size:,} bytes in {passed:.0f} s, which is too slow", late=True)
                    since, size = time.monotonic(), 0


class _Session(requests.Session):
    """Follows no redirect by itself, as it would read all of what a redirect says, and follow it anywhere."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return nothing: where a redirect leads is judged first."""


def _open(session: requests.Session, address: str, timeout: float) -> requests.Response:
    """Return the response to a request, whose body is not read yet, behind all redirects; raises `Failure`."""
    place, authorisation = connections.split_credentials(address)
    at, deadline = place, time.monotonic() + timeout
    for _ in range(_REDIRECTS):
        kept = authorisation if connections.is_same_place(place, at) else {}
        response = _send(session, at, kept, timeout)
        if not response.is_redirect:
            break
        response.close()  # else all of what it says would be read, however much that is
        at = _follow(at, response.headers["Location"])
    else:
        raise Failure(f"redirects more than {_REDIRECTS} times")
    if time.monotonic() > deadline:  # nobody waits any more, and would close it
        response.close()
        raise connections.tell_late(timeout)
    if response.status_code >= 300:
        with response:
            body = connections.hide_parameters(_read(response, timeout, REFUSAL), address)
            raise connections.tell_refusal(response.status_code, response.reason, body)
    return response


def _send(session: requests.Session, address: str, headers: dict[str, str], timeout: float) -> requests.Response:
    try:
        return session.get(address, headers=headers, timeout=timeout, stream=True)
    except requests.Timeout:
        raise connections.tell_late(timeout) from None
    except requests.ConnectionError as error:
        if error.args and isinstance(error.args[0], ProtocolError):
            raise connections.tell_broken(_cause_of(error)) from None
        raise connections.tell_unreached(_cause_of(error)) from None
    except (requests.RequestException, HTTPError, ValueError) as error:
        raise Failure(f"cannot be asked: {error}") from None


def _follow(old: str, location: str) -> str:
    """Return where a redirect leads; raises `Failure` where it is not followed: out of https, into this network."""
    try:
        new = urljoin(old, location.encode("latin-1").decode("utf-8", "replace"))
        shown, in_web = without_secrets(new), connections.is_in_web(old, new)
        on_host = connections.is_on_host(old, new)
        connections.is_same_place(old, new)  # which raises where the port is none
    except ValueError as error:
        raise Failure(f"redirects to what is no address: {error}", status=302) from None
    if not in_web and new.startswith("http:"):
        raise Failure(f"redirects to {shown}, which is not followed out of https://")
    if not in_web:
        raise Failure(f"redirects out of the web: '{shown}' is not allowed")
    if not on_host and not connections.is_public(new):
        raise Failure(f"redirects to {shown}, a host of this network, which is not followed")
    return new


def _read(response: requests.Response, timeout: float, most: int = BLOCK) -> bytes:
    """Return what of a body is there, none at its end; raises `Failure` where it comes too late or breaks off."""
    try:
        block: bytes = response.raw.read1(most, decode_content=False)
    except ReadTimeoutError:
        raise connections.tell_late(timeout) from None
    except (HTTPError, OSError) as error:
        raise connections.tell_broken(_cause_of(error)) from None
    return block


def _cause_of(error: BaseException) -> BaseException:
    """Return the first cause of an error: what the packages around it say of it is long, and names objects."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error
