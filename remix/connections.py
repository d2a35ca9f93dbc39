"""What holds of each connection to a server of others, whichever package opens it.

Which addresses can be asked, where a redirect may lead and what it takes along, how long an answer may take, what is
shown of an address, and how a request fails.
"""

from __future__ import annotations

import base64
import ipaddress
import re
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar
from urllib.parse import parse_qsl, quote, quote_plus, unquote, unquote_plus, urlsplit

from remix._version import __version__
from remix.errors import UsageError

Answer = TypeVar("Answer")

BLOCK = 1 << 20
"""The bytes that are read at once."""
REFUSAL = 1 << 16
"""The bytes of a refusal that are read: what says why stands at its beginning."""


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


def name_agent(package: str) -> str:
    """Return what requests that a package sends say of who asks."""
    return f"nel-remix/{__version__} ({package})"


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


def hide_parameters(body: bytes, address: str) -> bytes:
    """Return a message without what the parameters of an address say, where it repeats the address, however spelled.

    >>> hide_parameters(b"no GET /sparql?key=secret&query=ASK", "https://example.org/sparql?key=secret").decode()
    'no GET /sparql?key=…&query=ASK'
    >>> hide_parameters(b"no GET /sparql?key=a/b", "https://example.org/sparql?key=a%2Fb").decode()
    'no GET /sparql?key=…'
    """
    for name, _, value in (pair.partition("=") for pair in urlsplit(address).query.split("&")):
        plain = unquote_plus(value)
        spellings = {value, plain, quote(plain), quote_plus(plain), quote_plus(plain, safe="/")}
        if plain and name != "query" and not name.endswith("graph-uri"):
            for one in sorted(spellings, key=len, reverse=True):
                body = body.replace(f"{name}={one}".encode(), f"{name}=…".encode())
    return body


def split_credentials(address: str) -> tuple[str, dict[str, str]]:
    """Return an address without user, password and fragment, and the header that sends these as HTTP Basic.

    >>> split_credentials("http://me:%40secret@example.org/sparql#part")
    ('http://example.org/sparql', {'Authorization': 'Basic bWU6QHNlY3JldA=='})
    """
    parts = urlsplit(address)
    person, _, host = parts.netloc.rpartition("@")
    basic = base64.b64encode(unquote(person).encode()).decode()
    return parts._replace(netloc=host, fragment="").geturl(), {"Authorization": f"Basic {basic}"} if person else {}


def is_same_place(old: str, new: str) -> bool:
    """Return whether two addresses are of one host and port, asked alike: what authorises goes nowhere else."""
    before, after = urlsplit(old), urlsplit(new)
    return (before.scheme, before.hostname, before.port) == (after.scheme, after.hostname, after.port)


def is_on_host(old: str, new: str) -> bool:
    """Return whether a redirect stays on its host, and in the web; never is it followed out of https."""
    before, after = urlsplit(old), urlsplit(new)
    return is_in_web(old, new) and before.hostname == after.hostname


def is_in_web(old: str, new: str) -> bool:
    """Return whether a redirect leads to an address of the web, and not out of https."""
    before, after = urlsplit(old).scheme, urlsplit(new).scheme
    return after in ("http", "https") and (before, after) != ("https", "http")


def is_public(address: str) -> bool:
    """Return whether each number of the host of an address is one of the public network.

    >>> [is_public(f"http://{host}/") for host in ("127.0.0.1", "10.1.2.3", "8.8.8.8", "a..b")]
    [False, False, True, False]
    """
    try:
        found = socket.getaddrinfo(urlsplit(address).hostname or "", None)
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(str(one[4][0]).partition("%")[0]).is_global for one in found)


def finish_within(seconds: float, call: Callable[[], Answer]) -> Answer:
    """Return what a call returns, or raise what it raises; `Failure` where it has done neither after so many seconds.

    The time limits of sockets are those of one packet: a server that sends a header letter by letter keeps them for
    ever. So the call has a thread of its own, which is left alone where it is late; nobody waits for it at the end.
    """
    done: SimpleQueue[tuple[Answer | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((call(), None))
        except BaseException as error:  # noqa: B036 whatever it is, it is raised where the call was made
            done.put((None, error))

    Thread(target=run, daemon=True).start()
    try:
        answer, error = done.get(timeout=seconds)
    except Empty:
        raise tell_late(seconds) from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]


def tell_late(seconds: float) -> Failure:
    """Return the failure of an answer that was not there in time."""
    return Failure(f"did not answer within {seconds:g} s", late=True)


def tell_unreached(reason: object) -> Failure:
    """Return the failure of a connection that did not come about."""
    lost = isinstance(reason, socket.gaierror) and reason.errno == socket.EAI_NONAME
    return Failure(f"cannot be reached: {'there is no such host' if lost else reason}", lost=lost, unreached=True)


def tell_broken(error: object) -> Failure:
    """Return the failure of an answer that ended before its end."""
    return Failure(f"broke off its answer: {_shorten(str(error)) or type(error).__name__}", broken=True)


def tell_refusal(status: int, reason: object, body: bytes, after: float = 0) -> Failure:
    """Return the failure of an answer with a status of 300 and above, of which this is the beginning."""
    line = f"answered {status} {_shorten(str(reason))}: {first_line(body)}".rstrip(": ")
    return Failure(line, status=status, body=body, after=after)


def read_retry_after(text: str) -> float:
    """Return the seconds that a `Retry-After` asks for, which is a number or a date; 0 for what is neither.

    >>> read_retry_after("7"), read_retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), read_retry_after("soon")
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
    return _shorten(text)


def _shorten(text: str) -> str:
    """Return the beginning of what a server says, on one line."""
    return " ".join(text.split())[:160]
