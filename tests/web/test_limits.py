"""What a client cannot do to the endpoint: keep it busy by not reading or not sending, or fill its log."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

import pytest

from remix.store import Store
from tests.processes import PythonProcess
from tests.web.conftest import client
from tests.web.test_endpoint import resident

# 16 MB, more than the buffers of both ends hold.
LARGE = f'SELECT (CONCAT("{"x" * 10000}", STR(?a)) AS ?x) {{ ?a ?b ?c . ?d ?e ?f }} LIMIT 1600'


@pytest.fixture(scope="module")
def hasty(small_store: Store) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server that runs one query at a time and gives each client one second for everything, and its address."""
    options = ["--port", "0", "--concurrent", "1", "--timeout", "1"]
    command = ["-m", "remix", "serve", "-w", str(small_store.folder), *options]
    with PythonProcess(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        yield process, process.stderr.readline().split()[-1]
        process.kill()


def connected(address: str) -> socket.socket:
    parts = urlsplit(address)
    return socket.create_connection((parts.hostname, parts.port), timeout=60)


def is_cut_off(connection: socket.socket) -> bool:
    """Whether the server closes the connection; what it has sent until then is read."""
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.long
def test_client_that_does_not_read_counts_until_it_is_cut_off(hasty: tuple[subprocess.Popen[str], str]) -> None:
    _, address = hasty
    request = f"GET /sparql?query={quote(LARGE)} HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\n\r\n"
    for _ in range(20):  # where the machine is busy, its second may be over before another client asks
        with connected(address) as idle:
            idle.sendall(request.encode())
            begun = idle.recv(12) == b"HTTP/1.1 200"
            # Its result is ready, and it is the one query that may run.
            if begun and client.get(address, params={"query": "ASK {}"}).status_code == 503:
                for _ in range(1000):
                    if client.get(address, params={"query": "ASK {}"}).status_code == 200:
                        assert is_cut_off(idle)
                        return
                    time.sleep(0.02)
                pytest.fail("the client still counts")
    pytest.fail("no client that does not read ever counted")


@pytest.mark.long
def test_head_of_a_request_that_does_not_arrive_ends_the_connection(hasty: tuple[subprocess.Popen[str], str]) -> None:
    begun = (b"", b"GET /sparql HTTP/1.1\r\nHo", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET /")
    with contextlib.ExitStack() as open_ones:
        slow = [open_ones.enter_context(connected(hasty[1])) for _ in begun]
        for one, sent in zip(slow, begun, strict=True):
            one.sendall(sent)
        assert all(is_cut_off(one) for one in slow)


@pytest.mark.long
def test_body_of_a_request_that_does_not_arrive_is_408(hasty: tuple[subprocess.Popen[str], str]) -> None:
    head = (
        b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\nContent-Length: 9\r\n"
    )
    with connected(hasty[1]) as slow:
        slow.sendall(head + b"\r\nASK")
        assert slow.recv(12) == b"HTTP/1.1 408"


def test_clients_that_do_not_go_on_keep_nobody_else_waiting(address: str) -> None:
    with contextlib.ExitStack() as open_ones:
        for begun in (
            b"GET /sparql HTTP/1.1\r\nHo",
            b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
        ):
            for _ in range(100):
                open_ones.enter_context(connected(address)).sendall(begun)
        assert client.get(address, params={"query": "ASK {}"}).status_code == 200
        assert client.get(address.replace("/sparql", "/datasets")).status_code == 200


@pytest.mark.parametrize(
    "head",
    [
        f"GET /datasets?name={'x' * 200_000} HTTP/1.1",
        f"GET /datasets HTTP/1.1\r\nX: {'x' * 200_000}",
        "GET /" + "a/" * 99_999,
    ],
    ids=["address", "header", "path"],
)
def test_oversized_head_is_refused(address: str, head: str) -> None:
    with connected(address) as sender:
        with contextlib.suppress(ConnectionError):
            sender.sendall(f"{head}\r\nHost: localhost\r\n\r\n".encode())
        with contextlib.suppress(ConnectionError):
            assert sender.recv(12) in (b"", b"HTTP/1.1 400")
    assert client.get(address, params={"query": "ASK {}"}).status_code == 200


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is looked up in /proc")
def test_body_that_nobody_asked_for_is_not_held(hasty: tuple[subprocess.Popen[str], str]) -> None:
    process, address = hasty
    before = resident(process.pid)
    for _ in range(20):  # where the machine is busy, its second may be over before all is sent
        with connected(address) as sender, contextlib.suppress(ConnectionError):
            sender.sendall(b"GET /style.css HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n")
            for _ in range(60):
                sender.sendall(b"x" * 1_000_000)
            assert sender.recv(12) == b"HTTP/1.1 200"
            assert resident(process.pid) - before < 30
            break
    else:
        pytest.fail("the body was never sent in time")
    assert client.get(address, params={"query": "ASK {}"}).status_code == 200


def test_unknown_function_is_400_with_its_name(address: str) -> None:
    answer = client.get(address, params={"query": "SELECT (<urn:mine>(1) AS ?x) {}"})
    assert (answer.status_code, answer.text) == (400, "the query calls the function <urn:mine>, which is not known\n")


def test_log_holds_no_traceback_whatever_clients_send(hasty: tuple[subprocess.Popen[str], str]) -> None:
    process, address = hasty
    query = quote("SELECT (<urn:f>(1) AS ?x) {}")
    for head in (
        "GARBAGE\r\n\r\n",
        f"GET /sparql?query={query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET /sparql?query=%ff%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET http://[/ HTTP/1.1\r\nHost: localhost:x\r\nConnection: close\r\n\r\n",
        "GET /sparql HTTP/1.1\r\nHost: [\r\nConnection: close\r\n\r\n",
        "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
        "Content-Length: 99\r\n\r\n",
    ):
        with connected(address) as sender:
            sender.sendall(head.encode())
            sender.settimeout(0.3)
            with contextlib.suppress(TimeoutError):  # and goes away in the middle
                is_cut_off(sender)
    assert client.get(address, params={"query": "ASK {}"}).status_code == 200
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    log = process.stderr.read()
    assert "Traceback" not in log and "stopped" in log


STARS = "x*" * 50
BOMBS = {
    "product": "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }",
    "groups": "SELECT ?a ?d ?g (SAMPLE(?h) AS ?x) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } GROUP BY ?a ?d ?g",
    "path": "SELECT (COUNT(?d) AS ?n) { ?a (!<u:n>|^!<u:n>)*/(!<u:n>|^!<u:n>)* ?b . ?c !<u:n>* ?d }",
    "expression": f"SELECT (COUNT(*) AS ?n) {{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER REGEX(?c, '({STARS}){{9}}$') }}",
    "order": "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY STR(?c) STR(?f) DESC(STR(?i))",
}


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("name", BOMBS)
def test_query_that_grows_ends_in_its_time_and_the_server_goes_on(address: str, name: str) -> None:
    answer = client.get(address, params={"query": BOMBS[name], "timeout": "0.4"})
    assert answer.status_code in (400, 500, 504) and answer.text.count("\n") == 1
    assert client.get(address, params={"query": "ASK {}"}).status_code == 200


def test_pages_of_queries_that_do_not_end_keep_no_other_page_waiting(address: str) -> None:
    slow = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
    with contextlib.ExitStack() as opened:
        asked = [opened.enter_context(connected(address)) for _ in range(5)]
        for connection in asked:
            connection.sendall(f"GET /query?query={quote(slow)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert client.get(urljoin(address, "/ontology")).status_code == 200
        for connection in asked:
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)


def test_graph_of_a_url_is_not_fetched(address: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/graph.ttl"
        asked = (
            {"query": f"SELECT * FROM <{url}> {{ ?s ?p ?o }}"},
            {"query": f"SELECT * FROM NAMED <{url}> {{ GRAPH ?g {{ ?s ?p ?o }} }}"},
            {"query": "ASK { GRAPH ?g { ?s ?p ?o } }", "named-graph-uri": url},
            {"query": "ASK { ?s ?p ?o }", "default-graph-uri": url},
        )
        for parameters in asked:
            assert client.get(address, params=parameters).status_code in (200, 400)
        with pytest.raises(TimeoutError):
            listening.accept()


@pytest.mark.parametrize(
    "place", ["/sparql/../../etc/passwd", "/sparql/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/.remix/state.json"]
)
def test_no_file_is_reached_by_its_path(address: str, place: str) -> None:
    parts = urlsplit(address)
    with connected(address) as sender:
        sender.sendall(f"GET {place} HTTP/1.1\r\nHost: {parts.hostname}\r\nConnection: close\r\n\r\n".encode())
        assert sender.recv(12) == b"HTTP/1.1 404"


def test_what_a_query_says_makes_no_header_of_its_own(address: str) -> None:
    query = 'SELECT * { ?s nif:anchorOf "x\\r\\nSet-Cookie: a=b" ; <urn:a%0D%0ASet-Cookie:b> ?o }'
    answer = client.get(address, params={"query": query})
    assert answer.status_code == 200 and "remix-note" in answer.headers
    assert "set-cookie" not in answer.headers


@pytest.mark.long
def test_form_of_too_many_parameters_is_told_by_their_number(address: str) -> None:
    form = "&".join(["query=ASK%20%7B%7D", *(f"x{n}=1" for n in range(9_999))])
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answers = [client.post(address, content=form, headers=headers), client.get(address, params="a=&" * 1000 + "b=")]
    assert [answer.status_code for answer in answers] == [400, 400]
    assert [answer.text for answer in answers] == [
        "10,000 parameters are given, and 1,000 may be\n",
        "1,001 parameters are given, and 1,000 may be\n",
    ]


@pytest.mark.long
def test_body_that_is_too_large_is_not_called_a_query(address: str) -> None:
    """A query of 360,000 letters that are all percent-encoded, three bytes each."""
    form = f"query=ASK%20%7B%7D{'%23' * 360_000}"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post(address, content=form, headers=headers)
    assert answer.status_code == 413
    assert answer.text == (
        "the body of the request is larger than 1,048,576 bytes: as application/sparql-query it needs no "
        "percent-encoding\n"
    )
