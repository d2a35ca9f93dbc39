"""What holds of every connection to others, by SPARQLWrapper and by requests: redirects, credentials, sizes, time."""

from __future__ import annotations

import ast
import inspect
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, urlsplit

import pytest
import SPARQLWrapper

from remix import downloads, sparql
from remix.connections import Failure
from remix.downloads import download
from remix.sparql import ask
from tests.cli.test_start import loaded

JSON = "application/sparql-results+json"


class Server(ThreadingHTTPServer):
    """Says `ok` at `/there`, and behind the other paths what goes wrong; `seen` are path, Authorization and body."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str | None, str]] = []
        self.to = "/there"
        self.released = threading.Event()
        self.written = 0
        self.place = f"127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self.server.seen.append((self.path, self.headers["Authorization"], body))
        with suppress(OSError):  # the other side has gone
            getattr(self, urlsplit(self.path).path.strip("/"))()

    do_POST = do_GET

    def start(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def there(self) -> None:
        self.start(200, Content_Type=JSON, Content_Length="2")
        self.wfile.write(b"ok")

    def led(self) -> None:
        self.start(302, Location=self.server.to, Content_Length="0")

    def endless(self) -> None:
        """Lead on, or refuse, and say more than anybody reads."""
        status = 302 if "redirect" in self.path else 500
        self.start(status, Location="/there", Content_Length=str(1 << 40))
        self.pour(b"x" * 65536, 0.0)

    def letters(self) -> None:
        """Never come to the end of the headers."""
        self.wfile.write(b"HTTP/1.0 200 OK\r\nX-Long: ")
        self.pour(b"x", 0.02)

    def trickle(self) -> None:
        """Never come to the end of the body."""
        self.start(200, Content_Type=JSON, Content_Length="1000000")
        self.pour(b"x", 0.02)

    def garbled(self) -> None:
        """Answer with a long line that begins no answer."""
        self.wfile.write(b"HTTP/1.1 what? " + b"x" * 10_000 + b"\r\n\r\n")

    def repeat(self) -> None:
        """Refuse, and repeat the address as another program spells it."""
        body = b"no GET /repeat?key=a/secret~b"
        self.start(404, Content_Length=str(len(body)))
        self.wfile.write(body)

    def pour(self, block: bytes, pause: float) -> None:
        while not self.server.released.wait(pause):
            self.server.written += self.wfile.write(block)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Server]:
    with Server() as made:
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        made.released.set()
        made.shutdown()


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


def asked(address: str, timeout: float = 60) -> bytes:
    return ask(address, "ASK {}", accept=JSON, timeout=timeout).body


def downloaded(address: str, timeout: float = 60) -> bytes:
    return b"".join(download(address, timeout=timeout))


class Get(Protocol):
    """Asks an address by either package."""

    def __call__(self, address: str, timeout: float = ...) -> bytes: ...


BOTH = pytest.mark.parametrize("get", [asked, downloaded])


@BOTH
def test_headers_that_trickle_are_given_up_in_time(server: Server, get: Get) -> None:
    with pytest.raises(Failure, match=r"did not answer within 0.4 s") as failure:
        get(f"http://{server.place}/letters", timeout=0.4)
    assert failure.value.late


@pytest.mark.long
def test_download_that_trickles_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failure, match=r"gave [0-9]+ bytes in .* s, which is too slow") as failure:
        downloaded(f"http://{server.place}/trickle", timeout=0.4)
    assert failure.value.late
    monkeypatch.setattr(downloads, "LEAST", 1)  # it gives some 50 a second
    with closing(download(f"http://{server.place}/trickle", timeout=0.4)) as stream:
        assert sum(len(next(stream)) for _ in range(40)) >= 40


@BOTH
def test_what_a_redirect_or_a_refusal_says_is_not_read_whole(server: Server, get: Get) -> None:
    assert get(f"http://{server.place}/endless?redirect") == b"ok"
    with pytest.raises(Failure, match="answered 500") as failure:
        get(f"http://{server.place}/endless")
    assert len(failure.value.body) <= 1 << 16


@BOTH
def test_password_of_an_address_goes_to_its_port_alone(server: Server, get: Get) -> None:
    basic = "Basic bWU6QHNlY3JldA=="  # base64 of "me:@secret"
    with serving() as other:
        for to in ("/there", f"http://{server.place}/there", f"http://{other.place}/there"):
            server.to = to
            assert get(f"http://me:%40secret@{server.place}/led") == b"ok"
        assert [seen[1] for seen in server.seen] == [basic] * 5
        assert [seen[1] for seen in other.seen] == [None]


@BOTH
@pytest.mark.parametrize("to", ["http://127.0.0.1:99999/there", "http://127.0.0.1:x/there", "http://["])
def test_redirect_to_a_port_or_host_that_cannot_be_is_a_failure(server: Server, get: Get, to: str) -> None:
    server.to = to
    with pytest.raises(Failure, match="redirects to what is no address"):
        get(f"http://{server.place}/led")


@BOTH
def test_user_that_a_redirect_names_is_not_taken_for_its_host(server: Server, get: Get) -> None:
    server.to = f"http://you:other@{server.place}/there"
    assert get(f"http://me:%40secret@{server.place}/led") == b"ok"
    assert {seen[1] for seen in server.seen} == {"Basic bWU6QHNlY3JldA=="}  # base64 of "me:@secret"


@BOTH
def test_answer_that_cannot_be_read_is_told_in_a_short_line(server: Server, get: Get) -> None:
    with pytest.raises(Failure, match="broke off its answer") as failure:
        get(f"http://{server.place}/garbled")
    assert "\n" not in str(failure.value) and len(str(failure.value)) < 200


@BOTH
def test_passwords_of_other_programs_are_not_sent(
    server: Server, get: Get, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert get(f"http://{server.place}/there") == b"ok"
    assert [seen[1] for seen in server.seen] == [None]


@BOTH
def test_parameter_of_an_address_is_hidden_however_it_is_spelled(server: Server, get: Get) -> None:
    with pytest.raises(Failure, match="/repeat.key=…") as failure:
        get(f"http://{server.place}/repeat?key=a%2Fsecret%7Eb")
    assert "secret" not in str(failure.value) and b"secret" not in failure.value.body


def test_parameters_of_an_address_are_sent_with_short_and_long_queries(server: Server) -> None:
    address = f"http://{server.place}/there?key=a%2Bb&named-graph-uri=urn:g&flag="
    for query in ("ASK {}", "ASK {}" + " " * 2000):
        assert ask(address, query, accept=JSON, timeout=60).body == b"ok"
        path, _, body = server.seen[-1]
        sent = parse_qsl(f"{urlsplit(path).query}&{body}", keep_blank_values=True)
        assert sent == [("key", "a+b"), ("named-graph-uri", "urn:g"), ("flag", ""), ("query", query)]


def test_query_is_never_sent_as_an_update(server: Server) -> None:
    """SPARQLWrapper takes the first one for a LOAD, as a second line of comment hides nothing from it."""
    comment = "# all that we\n# load\nSELECT * {}"
    wrapper = SPARQLWrapper.SPARQLWrapper("http://x/")
    wrapper.setQuery(comment)
    assert wrapper.isSparqlUpdateRequest()
    for text in (comment, "nothing of the kind"):
        assert ask(f"http://{server.place}/there", text, accept=JSON, timeout=60).body == b"ok"
        assert dict(parse_qsl(urlsplit(server.seen[-1][0]).query)) == {"query": text}


def test_redirects_that_go_on_are_an_error(server: Server) -> None:
    server.to = "/led"
    with pytest.raises(Failure, match="redirects more than 10 times"):
        downloaded(f"http://{server.place}/led")


def test_sparqlwrapper_has_the_private_names_that_are_used() -> None:
    """One is replaced, and makes the request by another: a version without them fails here and not at an endpoint."""
    assert SPARQLWrapper.__version__.startswith("2.")
    assert [name for name in vars(sparql._Asking) if name[0] == "_" and name[:2] != "__"] == ["_query"]
    source = ast.parse(inspect.getsource(sparql._Asking))
    names = {node.attr for node in ast.walk(source) if isinstance(node, ast.Attribute) and node.attr[0] == "_"}
    assert names == {"_createRequest"}
    for name in ("_query", "_createRequest"):
        assert list(inspect.signature(getattr(SPARQLWrapper.SPARQLWrapper, name)).parameters) == ["self"]


@pytest.mark.long
def test_verbs_that_ask_nobody_load_no_client(tmp_path: Path) -> None:
    clients = {"SPARQLWrapper", "requests", "urllib3", "ssl"}
    work = ["--workspace", str(tmp_path / "work")]
    for verb in (["list", "datasets"], ["kb", "build", "--help"], ["fetch", "sample-news"], ["info", *work]):
        assert not loaded("--quiet", *verb) & clients
