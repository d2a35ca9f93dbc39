"""Requests to services over HTTP, by requests: a whole answer within its time, or the reason why there is none."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests
from urllib3.exceptions import HTTPError, ProtocolError

from remix import connections
from remix.connections import REFUSAL, Failure, without_secrets

_LARGEST = 1 << 26
"""The bytes of an answer to one text."""
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Received:
    """The body of what a service answered with a status below 300, and its media type without parameters."""

    body: bytes
    media: str

    def json(self) -> Any:
        """Return the JSON of the body; raises `Failure` where it is none, with its first words."""
        try:
            return json.loads(self.body.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            raise Failure(f"answered what is no JSON: {connections.first_line(self.body) or 'nothing'}") from None


class Connection:
    """A connection to one address, kept open between requests.

    No redirect is followed: who moved says where to, and the user names that. Users and passwords are those of the
    address alone. `secrets` are taken out of whatever a service repeats of them.
    """

    def __init__(self, address: str, *, timeout: float, secrets: tuple[str, ...] = ()) -> None:
        connections.check_address(address)
        self.address, self._timeout = address, timeout
        self._secrets = [one for one in secrets if one]
        self._place, self._authorisation = connections.split_credentials(address)
        self._session = _open_session()

    def send(
        self,
        method: str = "POST",
        *,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        body: bytes | Mapping[str, str] | None = None,
        parts: Mapping[str, str] | None = None,
    ) -> Received:
        """Return what is answered to a request; raises `Failure`.

        `query` are parameters of the address, `body` is bytes or the fields of a form, `parts` those of a form in
        several parts (multipart).
        """
        own = {**self._authorisation, **(headers or {})}
        files = None if parts is None else {name: (None, value) for name, value in parts.items()}
        asked: dict[str, Any] = {"headers": own, "params": query, "data": body, "files": files}
        try:
            return connections.finish_within(self._timeout, lambda: self._send(self._session, method, asked))
        except Failure as failure:
            self._session = _open_session()  # whatever is still to come would come there
            raise self._without_secrets(failure) from None

    def _send(self, session: requests.Session, method: str, asked: dict[str, Any]) -> Received:
        try:
            response = session.request(
                method, self._place, timeout=self._timeout, stream=True, allow_redirects=False, **asked
            )
        except requests.Timeout:
            raise connections.tell_late(self._timeout) from None
        except requests.exceptions.SSLError as error:
            reason = f"has a certificate that cannot be trusted: {_cause_of(error)}"
            raise Failure(reason, lost=True, unreached=True) from None
        except requests.ConnectionError as error:
            if error.args and isinstance(error.args[0], ProtocolError):
                raise connections.tell_broken(_cause_of(error)) from None
            raise connections.tell_unreached(_cause_of(error)) from None
        except (requests.RequestException, HTTPError, ValueError) as error:
            raise Failure(f"cannot be asked: {error}") from None
        with response:
            return _receive(response)

    def _without_secrets(self, failure: Failure) -> Failure:
        line = connections.hide_parameters(str(failure).encode(), self.address).decode("utf-8", "replace")
        for secret in self._secrets:
            line = line.replace(secret, "…")
        failure.args = (line,)
        return failure

    def close(self) -> None:
        """End the connection."""
        self._session.close()


def _open_session() -> requests.Session:
    session = requests.Session()
    session.auth = lambda request: request  # else requests looks into ~/.netrc
    session.headers.update({"User-Agent": connections.name_agent("requests")})
    return session


def _receive(response: requests.Response) -> Received:
    if 300 <= response.status_code < 400:
        to = without_secrets(response.headers.get("Location", "nowhere"))
        raise Failure(f"redirects to {to}: name the address where it is", status=response.status_code, lost=True)
    most = _LARGEST if response.status_code < 300 else REFUSAL
    blocks, size = [], 0
    try:
        for block in response.iter_content(_BLOCK):
            blocks.append(block)
            size += len(block)
            if size > most:
                break
    except (requests.RequestException, HTTPError, OSError) as error:
        raise connections.tell_broken(_cause_of(error)) from None
    body = b"".join(blocks)
    if response.status_code >= 300:
        after = connections.read_retry_after(response.headers.get("Retry-After", ""))
        raise connections.tell_refusal(response.status_code, response.reason, body, after)
    if size > most:
        raise Failure(f"answered with more than {most:,} bytes", large=True)
    return Received(body, response.headers.get("Content-Type", "").partition(";")[0].strip().lower())


def _cause_of(error: BaseException) -> BaseException:
    """Return the first cause of an error, or the one of TLS: what the packages around it say of it is long."""
    while (cause := error.__cause__ or error.__context__) is not None and not isinstance(error, ssl.SSLError):
        error = cause
    return error
