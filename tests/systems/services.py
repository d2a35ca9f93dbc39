"""Services on loopback that answer as a test says, and the pieces that tests ask them with."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from remix.systems.asked import ADAPTERS, Asking, TextAnswer, TextAsked
from remix.systems.asking import Answered, Patience, ask_all
from remix.systems.kept import AnswerLog
from remix.systems.parameters import read_parameters

Said = bytes | str | list[Any] | dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A request that came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode()))


@dataclass(frozen=True)
class Refused:
    """An answer with a status and headers; `length` is what is announced, where that is not what comes."""

    status: int = 200
    body: Said = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None


class Service(ThreadingHTTPServer):
    """Answers requests by a function; `seen` are those that came."""

    daemon_threads = True

    def __init__(self, answer: Callable[[Asked], Said | Refused]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.seen: list[Asked] = []
        self.address = f"http://127.0.0.1:{self.server_port}/"

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # such as a client that does not trust it


class Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Asked(self.command, parts.path, dict(parse_qsl(parts.query)), self.headers, body)
        self.server.seen.append(asked)
        said = self.server.answer(asked)
        said = said if isinstance(said, Refused) else Refused(body=said)
        body = said.body if isinstance(said.body, bytes) else str(said.body).encode()
        if isinstance(said.body, list | dict):
            body = json.dumps(said.body).encode()
        with suppress(OSError):  # the other side has gone
            self.send_response(said.status)
            for name, value in {"Content-Type": "application/json", **said.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) if said.length is None else said.length))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = said.length is not None

    do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(answer: Callable[[Asked], Said | Refused]) -> Iterator[Service]:
    """A service that answers by a function until the block ends."""
    with Service(answer) as made:
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        made.shutdown()


def ask(
    system: str,
    address: str,
    *texts: str | TextAsked,
    task: str = "A2KB",
    seed: int = 0,
    timeout: float = 10,
    log: AnswerLog | None = None,
    patience: Patience | None = None,
    **parameters: str,
) -> Answered:
    """What a system answers to texts, which are documents `0`, `1`, …; nobody waits between tries."""
    adapter = ADAPTERS[system]
    asking = Asking(address, read_parameters(adapter.parameters, parameters, system), task, seed, timeout)
    asked = [one if isinstance(one, TextAsked) else TextAsked(str(n), one) for n, one in enumerate(texts)]
    patience = patience or Patience(parallel=1, pause=lambda _: None)
    return ask_all(adapter, asking, asked, log=log or AnswerLog(None, system), patience=patience)


def told(answer: TextAnswer, text: str) -> list[tuple[str, str | None]]:
    """The forms and the ends of the entities of an answer, in its order."""
    ends = [one.entities[0].rpartition("/")[2] if one.entities else None for one in answer.spans]
    return [(text[one.begin : one.end], end) for one, end in zip(answer.spans, ends, strict=True)]
