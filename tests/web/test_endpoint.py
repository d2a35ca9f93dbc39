"""The SPARQL 1.1 Protocol, spoken by raw HTTP, SPARQLWrapper and rdflib against a real server."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx
import pyoxigraph as ox
import pytest
from rdflib import Graph
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from SPARQLWrapper import JSON, TURTLE, SPARQLWrapper

from remix.names import PREFIXES
from remix.store import Store
from tests.processes import PythonProcess
from tests.web.conftest import client, serving

COUNT = "SELECT (COUNT(?a) AS ?n) { ?a a nif:Phrase }"
FULL_COUNT = f"PREFIX nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> {COUNT}"
SLOW = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
UPDATES = [
    "DROP ALL",
    "CLEAR GRAPH <urn:a>",
    "CREATE GRAPH <urn:a>",
    "COPY <urn:a> TO DEFAULT",
    "LOAD <http://127.0.0.1:9/data.ttl>",
    "LOAD SILENT <file:///etc/passwd> INTO GRAPH <urn:a>",
    "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
    "WITH <urn:a> DELETE { ?s ?p ?o } INSERT { ?s ?p 1 } WHERE { ?s ?p ?o }",
    "prefix a: <urn:a> delete where { ?s ?p ?o }",
]
Serve = Callable[..., AbstractContextManager[str]]


def number(answer: httpx.Response) -> int:
    """The one number that an answer in JSON holds."""
    assert answer.status_code == 200, answer.text
    return int(answer.json()["results"]["bindings"][0]["n"]["value"])


@pytest.fixture(scope="module")
def phrases(small_store: Store) -> int:
    """How many annotations the small store holds, by its frames."""
    return small_store.frames().gold().annotations.height


def test_three_forms_of_the_protocol_give_the_same_answer(address: str, phrases: int) -> None:
    as_get = client.get(address, params={"query": COUNT})
    as_form = client.post(address, data={"query": COUNT})
    as_body = client.post(address, content=COUNT, headers={"Content-Type": "application/sparql-query; charset=utf-8"})
    assert [number(answer) for answer in (as_get, as_form, as_body)] == [phrases] * 3


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", "application/sparql-results+json"),
        ("*/*", "application/sparql-results+json"),
        ("application/sparql-results+xml", "application/sparql-results+xml"),
        ("text/csv", "text/csv"),
        ("text/tab-separated-values", "text/tab-separated-values"),
        ("text/csv;q=0.4, application/sparql-results+xml;q=0.9, */*;q=0.1", "application/sparql-results+xml"),
        ("application/sparql-results+json;q=0, text/*", "application/sparql-results+xml"),
    ],
)
def test_solutions_come_in_the_format_that_is_wanted_most(address: str, accept: str, media: str) -> None:
    answer = client.get(address, params={"query": "SELECT * { ?s a nif:Phrase } LIMIT 2"}, headers={"Accept": accept})
    assert answer.headers["content-type"].split(";")[0] == media
    form = ox.QueryResultsFormat.from_media_type(media)
    if media != "text/csv":  # which loses what is an IRI, so it is not read back
        assert form is not None and len(list(ox.parse_query_results(answer.content, form))) == 2  # type: ignore[arg-type]
    else:
        assert len(answer.text.splitlines()) == 3


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", "text/turtle"),
        ("application/n-triples", "application/n-triples"),
        ("application/rdf+xml", "application/rdf+xml"),
        ("application/ld+json", "application/ld+json"),
        ("application/rdf+xml;q=0.2,text/turtle;q=0.1", "application/rdf+xml"),
    ],
)
def test_graphs_come_in_the_format_that_is_wanted_most(address: str, accept: str, media: str) -> None:
    query = "CONSTRUCT { ?s a nif:Phrase } WHERE { ?s a nif:Phrase }"
    answer = client.get(address, params={"query": query}, headers={"Accept": accept})
    assert answer.headers["content-type"].split(";")[0] == media
    form = ox.RdfFormat.from_media_type(media)
    assert form is not None
    assert len(list(ox.parse(answer.content, form))) == number(client.get(address, params={"query": COUNT}))


def test_format_that_does_not_exist_is_406(address: str) -> None:
    for query in ("ASK {}", "DESCRIBE <urn:a>"):
        answer = client.get(address, params={"query": query}, headers={"Accept": "image/png"})
        assert answer.status_code == 406
    # Turtle is for graphs, not for solutions.
    assert client.get(address, params={"query": COUNT}, headers={"Accept": "text/turtle"}).status_code == 406


def test_ask_is_answered_as_boolean(address: str) -> None:
    assert client.get(address, params={"query": "ASK { ?s a nif:Phrase }"}).json()["boolean"] is True
    xml = client.get(address, params={"query": "ASK { ?s a <urn:x> }"}, headers={"Accept": "application/xml"})
    assert "<boolean>false</boolean>" in xml.text


def test_dataset_of_the_protocol_replaces_the_union(address: str, small_store: Store) -> None:
    news = client.get(address, params={"query": COUNT, "default-graph-uri": "urn:remix:dataset:news"})
    assert number(news) == small_store.frames(["news"]).gold().annotations.height
    named = client.get(
        address,
        params={
            "query": "SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } }",
            "named-graph-uri": ["urn:remix:dataset:news", "urn:remix:dataset:posts"],
        },
    )
    assert number(named) == 2
    # Without a default graph of its own, the dataset has an empty one.
    assert number(client.get(address, params={"query": COUNT, "named-graph-uri": "urn:remix:dataset:news"})) == 0


def test_from_in_the_query_replaces_the_union(address: str, small_store: Store) -> None:
    query = "SELECT (COUNT(?a) AS ?n) FROM <urn:remix:dataset:posts> { ?a a nif:Phrase }"
    expected = small_store.frames(["posts"]).gold().annotations.height
    assert number(client.get(address, params={"query": query})) == expected
    refused = client.get(address, params={"query": "ASK FROM <http://example.org/data.ttl> {}"})
    assert refused.status_code == 400 and "no graph of the workspace" in refused.text


def test_syntax_error_is_400_with_its_place(address: str) -> None:
    answer = client.get(address, params={"query": "SELECT * {\n ?s ?p"})
    assert answer.status_code == 400
    assert answer.text.startswith("the query:2:") and answer.text.count("\n") == 1


@pytest.mark.parametrize("update", UPDATES)
def test_updates_are_refused_in_every_spelling(address: str, update: str) -> None:
    answers = [
        client.get(address, params={"query": update}),
        client.get(address, params={"update": update}),
        client.post(address, data={"update": update}),
        client.post(address, content=update, headers={"Content-Type": "application/sparql-update"}),
        client.post(address, content=update, headers={"Content-Type": "application/sparql-query"}),
    ]
    assert [answer.status_code for answer in answers] == [403] * 5
    assert client.put(address, content=update).status_code == 405


@pytest.mark.parametrize(
    "pattern",
    [
        "SERVICE <http://127.0.0.1:9/> { ?s ?p ?o }",
        "SERVICE <http://[::1]:9/> { ?s ?p ?o }",
        "SERVICE <http://2130706433:9/> { ?s ?p ?o }",
        "SERVICE <http://169.254.169.254/latest/meta-data/> { ?s ?p ?o }",
        "SERVICE <http://metadata.google.internal/computeMetadata/v1/> { ?s ?p ?o }",
        "SERVICE <file:///etc/passwd> { ?s ?p ?o }",
        "service silent <http://127.0.0.1:9/> { ?s ?p ?o }",
        "?s ?p trueSERVICE<http://127.0.0.1:9/>{}",
        "SERVICESILENT<http://127.0.0.1:9/>{}",
        "# a comment that a carriage return ends\rSERVICE<http://127.0.0.1:9/>{}",
        "FILTER EXISTS { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "{ SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } } }",
        "VALUES ?e { <http://127.0.0.1:9/> } SERVICE ?e { ?s ?p ?o }",
        "FILTER (?a<'x>') SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } # '",
    ],
)
def test_service_is_refused_in_every_spelling(address: str, pattern: str) -> None:
    answer = client.post(
        address, content=f"SELECT * {{ {pattern} }}", headers={"Content-Type": "application/sparql-query"}
    )
    assert answer.status_code in (400, 403), answer.text
    assert "SERVICE" in answer.text


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"method": "POST", "content": "ASK {}", "headers": {"Content-Type": "text/plain"}}, 415),
        ({"method": "POST", "data": {"other": "ASK {}"}}, 400),
        ({"method": "GET", "params": [("query", "ASK {}"), ("query", "ASK {}")]}, 400),
        ({"method": "GET", "params": b"query=%ff"}, 400),
        ({"method": "POST", "content": b"\xff", "headers": {"Content-Type": "application/sparql-query"}}, 400),
        ({"method": "POST", "content": b"#" * 1_100_000, "headers": {"Content-Type": "application/sparql-query"}}, 413),
    ],
)
def test_requests_outside_the_protocol_are_refused(address: str, request_: dict[str, Any], status: int) -> None:
    assert client.request(url=address, **request_).status_code == status


@pytest.fixture(scope="module")
def narrow(small_store: Store) -> Iterator[str]:
    """The address of a server that runs one query at a time, for a second."""
    with serving(small_store.folder, "--timeout", "1", "--concurrent", "1") as address:
        yield address


@pytest.mark.long
def test_slow_query_is_504_whatever_time_it_asks_for_and_the_server_goes_on(narrow: str, phrases: int) -> None:
    answer = client.get(narrow, params={"query": SLOW, "timeout": "999"})
    assert answer.status_code == 504 and "ran longer than 1 s" in answer.text
    # Where the machine is busy, the second may be over before the process that answers has begun.
    assert eventually(lambda: client.get(narrow, params={"query": "ASK {}"}).status_code == 200)
    assert number(client.get(narrow, params={"query": COUNT})) == phrases


@pytest.mark.long
def test_too_many_queries_at_once_are_503(narrow: str) -> None:
    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(client.get, narrow, params={"query": SLOW}) for _ in range(3)]
        answers = [one.result() for one in running]
    assert sorted(answer.status_code for answer in answers) == [503, 503, 504]
    assert all(answer.headers["retry-after"] == "1" for answer in answers if answer.status_code == 503)


@pytest.mark.long
def test_too_large_result_is_400(small_store: Store, serve: Serve) -> None:
    with serve(small_store.folder, "--largest", "1") as address:
        # Every triple with every other: more than 1 MB.
        large = client.get(address, params={"query": "SELECT * { ?a ?b ?c . ?d ?e ?f }"})
    assert large.status_code == 400 and "larger than 1,000,000 bytes" in large.text


def test_without_query_the_service_describes_itself(address: str, small_store: Store) -> None:
    answer = client.get(address)
    assert answer.headers["content-type"].startswith("text/turtle")
    graph = ox.Store()
    graph.load(answer.content, ox.RdfFormat.TURTLE)
    names = graph.query(
        "PREFIX sd: <http://www.w3.org/ns/sparql-service-description#> SELECT ?g { ?s sd:name ?g } ORDER BY ?g"
    )
    assert [solution["g"].value for solution in names] == small_store.index().graphs()  # type: ignore[union-attr]
    found = graph.query(
        "SELECT ?name ?n ?a { ?g dcterms:title ?name ; void:documents ?n ; void:classPartition ?p ."
        " ?p void:class nif:Phrase ; void:entities ?a } ORDER BY ?name",
        prefixes=PREFIXES,
    )
    loaded = [(entry.name, str(entry.documents), str(entry.annotations)) for entry in small_store.datasets()]
    assert [tuple(one[name].value for name in ("name", "n", "a")) for one in found] == loaded  # type: ignore[union-attr]
    assert client.get(address, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    as_json = client.get(address, headers={"Accept": "application/ld+json"})
    assert json.loads(as_json.text)


def test_pages_of_other_origins_get_no_permission(address: str) -> None:
    origin = {"Origin": "http://evil.example"}
    answer = client.get(address, params={"query": "ASK {}"}, headers=origin)
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert client.options(address, headers={**origin, "Access-Control-Request-Method": "POST"}).status_code == 405
    # A name that was made to point at this machine is not this machine's name.
    assert client.get(address, headers={"Host": "evil.example"}).status_code == 400


@pytest.mark.long
def test_new_datasets_are_seen_without_restart(serve: Serve, small_store: Store, tmp_path: Any) -> None:
    source = small_store.dataset("news").source
    store = Store(tmp_path / "work")
    store.load(source)
    with serve(store.folder) as address:
        before = number(client.get(address, params={"query": COUNT}))
        store.load(small_store.dataset("posts").source)
        assert number(client.get(address, params={"query": COUNT})) > before
        store.drop("news")
        store.drop("posts")
        assert number(client.get(address, params={"query": COUNT})) == 0


def test_sparqlwrapper_asks_and_constructs(address: str, phrases: int) -> None:
    wrapper = SPARQLWrapper(address)
    wrapper.setQuery(FULL_COUNT)
    wrapper.setReturnFormat(JSON)
    for method in ("GET", "POST"):
        wrapper.setMethod(method)
        answer = wrapper.queryAndConvert()
        assert int(answer["results"]["bindings"][0]["n"]["value"]) == phrases
    wrapper.setQuery("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o } LIMIT 3")
    wrapper.setReturnFormat(TURTLE)
    assert len(Graph().parse(data=wrapper.queryAndConvert(), format="turtle")) == 3


def test_rdflib_store_reads_through_the_endpoint(address: str, phrases: int) -> None:
    graph = Graph(SPARQLStore(address))
    rows = list(graph.query(FULL_COUNT))
    assert int(rows[0][0]) == phrases


@pytest.mark.long
def test_federated_query_reaches_allowed_endpoint_only(
    address: str, small_store: Store, serve: Serve, phrases: int
) -> None:
    query = (
        f"SELECT ?n {{ VALUES ?endpoint {{ <{address}> }} SERVICE ?endpoint {{ {FULL_COUNT.partition('> ')[2]} }} }}"
    )
    refused = client.get(address, params={"query": query})
    assert refused.status_code == 403 and "--allow-service" in refused.text
    with serve(small_store.folder, "--allow-service", address) as allowing:
        assert number(client.get(allowing, params={"query": query})) == phrases
        other = query.replace(address, address + "/other")
        assert client.get(allowing, params={"query": other}).status_code == 403


def workers() -> set[str]:
    """The processes on this machine that answer queries, those of other tests included."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"store/running.py" in (folder / "cmdline").read_bytes():
                found.add(folder.name)
    return found


def of(parent: int) -> set[str]:
    """The workers that a process has started."""
    mine = set()
    for number in workers():
        with contextlib.suppress(OSError):
            status = Path("/proc", number, "status").read_text()
            if f"PPid:\t{parent}\n" in status:
                mine.add(number)
    return mine


def resident(process: int) -> float:
    """The MB of memory that a process has."""
    found = re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether a condition comes true within some seconds."""
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def server(small_store: Store) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server whose queries may take long, and its address."""
    command = ["-m", "remix", "serve", "-w", str(small_store.folder), "--port", "0"]
    with PythonProcess(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        yield process, process.stderr.readline().split()[-1]
        process.kill()


@pytest.mark.at_hand(1)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("asked", ["/sparql", "/query"])
def test_query_of_a_client_that_went_away_is_stopped(server: tuple[subprocess.Popen[str], str], asked: str) -> None:
    process, address = server
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as goes:
        goes.sendall(f"GET {asked}?{urlencode({'query': SLOW})} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert eventually(lambda: bool(of(process.pid)))
    assert eventually(lambda: not of(process.pid))
    assert client.get(address, params={"query": "ASK {}"}).status_code == 200


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are looked up in /proc")
def test_interrupted_server_ends_at_once_with_its_queries(server: tuple[subprocess.Popen[str], str]) -> None:
    process, address = server
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.get, address, params={"query": SLOW})
        assert eventually(lambda: bool(of(process.pid)))
        running = of(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
        assert process.stderr is not None
        explorer, stopped = process.stderr.read().splitlines()
        assert explorer.startswith("explorer at ") and stopped == "stopped"
        assert slow.result().status_code == 503
    assert not running & workers()


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_queries_of_a_server_that_was_killed_end_too(server: tuple[subprocess.Popen[str], str]) -> None:
    process, address = server
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.get, address, params={"query": SLOW})
        assert eventually(lambda: bool(of(process.pid)))
        running = of(process.pid)
        process.kill()
        assert isinstance(slow.exception(), httpx.RemoteProtocolError)
    assert eventually(lambda: not running & workers())


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are looked up in /proc")
def test_query_that_is_killed_or_timed_out_frees_its_memory_and_leaves_no_process(
    server: tuple[subprocess.Popen[str], str],
) -> None:
    """Strings that double grow to gigabytes until the time is over; what is left is the memory of the server itself."""
    process, address = server
    doubled = " ".join(f"BIND(CONCAT(?{one}, ?{one}) AS ?{next_one})" for one, next_one in pairwise("pqrstuvwxyz"))
    grows = f"SELECT (STRLEN(?z) AS ?n) {{ ?a ?b ?c . ?d ?e ?f BIND(STR(?a) AS ?p) {doubled}"
    before = resident(process.pid)
    for _ in range(3):
        answer = client.get(address, params={"query": f"{grows} }} ORDER BY ?z", "timeout": "0.5"})
        assert answer.status_code in (200, 400, 500, 504)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.get, address, params={"query": SLOW})
        assert eventually(lambda: bool(of(process.pid)))
        for worker in of(process.pid):
            os.kill(int(worker), signal.SIGKILL)
        assert slow.result().status_code == 500
    assert eventually(lambda: not of(process.pid))
    assert resident(process.pid) - before < 30
    assert client.get(address, params={"query": "ASK {}"}).status_code == 200


def test_head_is_answered_without_a_body(address: str) -> None:
    head = client.head(address, params={"query": COUNT})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == "application/sparql-results+json"


@pytest.mark.long
def test_graph_of_the_protocol_that_is_no_iri_is_400(address: str) -> None:
    for name in ("default-graph-uri", "named-graph-uri"):
        answer = client.get(address, params={"query": "ASK {}", name: "no iri"})
        assert (answer.status_code, answer.text) == (400, "'no iri' is no IRI of a graph\n")


@pytest.mark.long
def test_what_nothing_has_is_told_in_a_header(address: str) -> None:
    answer = client.get(address, params={"query": "SELECT * { ?s nif:anchorOff ?o }"})
    assert answer.headers["remix-note"] == "nothing in the workspace has nif:anchorOff; did you mean nif:anchorOf?"
    assert "remix-note" not in client.get(address, params={"query": COUNT}).headers
