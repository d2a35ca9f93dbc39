"""Endpoints to test against: a slice of a knowledge base, a Virtuoso of one's own, and a server that misbehaves."""

from __future__ import annotations

import http.server
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pyoxigraph as ox
import pytest

HUB_LINKS = 130

_PREFIXES = """
@prefix dbo: <http://dbpedia.org/ontology/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix r: <http://dbpedia.org/resource/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <http://schema.org/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix vrank: <http://purl.org/voc/vrank#> .
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
"""

DBPEDIA = (
    _PREFIXES
    + r"""
r:Anna_Karst rdfs:label "Anna Karst"@en , "Анна Карст"@ru ; foaf:name "Anna K."@en ; rdf:type dbo:Person ;
    owl:sameAs wd:Q900001 , <http://example.org/anna> ;
    dbo:wikiPageWikiLink r:Hub , r:Anna_Bell , <http://dbpedia.org/resource/Category:People> ;
    vrank:hasRank _:rank .
_:rank vrank:rankValue 3.5 .
r:Anna_Bell rdfs:label "Anna Bell"@en ; foaf:name "Bell" .
r:Karst__Anna rdfs:label "Karst, Anna"@en ; dbo:wikiPageRedirects r:Anna_Karst .
r:A_Karst rdfs:label "A Karst"@en ; dbo:wikiPageRedirects r:Karst__Anna .
<http://dbpedia.org/resource/Anna_(disambiguation)> rdfs:label "Anna (disambiguation)"@en ;
    dbo:wikiPageDisambiguates r:Anna_Karst , r:Anna_Bell .
r:Anne rdfs:label "Anne"@en ; dbo:wikiPageRedirects <http://dbpedia.org/resource/Anna_(disambiguation)> .
dbo:Anna rdfs:label "Anna"@en .
dbo:Person rdfs:subClassOf dbo:Agent . dbo:Agent rdfs:subClassOf owl:Thing , [] .
<http://dbpedia.org/resource/Who%3F> rdfs:label "Who?"@en .
<http://dbpedia.org/resource/The_%22Q%22> rdfs:label "The \"Q\" \\ back"@en .
r:Köln rdfs:label "Köln"@en ; owl:sameAs wd:Q900002 ; dbo:demonym "Kölner; Colognian"@en , "Кёльнец"@ru .
r:Hub rdfs:label "Hub"@en .
"""
    + "\n".join(f"r:Page_{number:03} dbo:wikiPageWikiLink r:Hub ." for number in range(HUB_LINKS))
)
"""Of DBpedia: A_Karst is a redirect of a redirect, Who? is spelled with %3F, Hub has more links than fit an answer."""

WIKIDATA = (
    _PREFIXES
    + """
wd:Q900001 rdfs:label "Anna Karst"@en , "Anna Karst (de)"@de ; skos:altLabel "Anna the Elder"@en ;
    wdt:P1549 "Karstian"@en , "Karster"@de ; wdt:P31 wd:Q900005 ; wdt:P19 wd:Q900003 ; wdt:P569 "1900" .
<https://en.wikipedia.org/wiki/Anna_Karst> schema:about wd:Q900001 ; schema:name "Anna Karst"@en ;
    schema:isPartOf <https://en.wikipedia.org/> .
<https://en.wikisource.org/wiki/Anna> schema:about wd:Q900001 ; schema:name "Anna"@en ;
    schema:isPartOf <https://en.wikisource.org/> .
wd:Q900003 rdfs:label "Karstadt"@mul .
wd:Q900004 owl:sameAs wd:Q900001 .
wd:Q900005 wdt:P279 wd:Q900006 . wd:Q900006 wdt:P279 wd:Q900005 .
wd:Q900007 rdfs:label "Anna Karst"@en ; wdt:P31 wd:Q4167410 .
wd:Q900008 rdfs:label "Anna"@en ; wdt:P40 wd:Q900001 .
"""
)
"""Of Wikidata: Q900004 is a redirect, Q900007 a disambiguation page, the classes go in a circle."""


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


_INI = """
[Database]
DatabaseFile = virtuoso.db
TransactionFile = virtuoso.trx
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
xa_persistent_file = virtuoso.pxa
[TempDatabase]
DatabaseFile = temporary.db
TransactionFile = temporary.trx
[Parameters]
ServerPort = 127.0.0.1:{sql}
DirsAllowed = .
NumberOfBuffers = 4000
ServerThreads = 10
[HTTPServer]
ServerPort = 127.0.0.1:{http}
[SPARQL]
ResultSetMaxRows = {cap}
"""


@contextmanager
def virtuoso(folder: Path, cap: int, **graphs: str) -> Iterator[str]:
    """The address of a Virtuoso of our own that holds some graphs and answers no more than `cap` rows, silently."""
    for program in ("virtuoso-t", "isql-vt"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}: install the Debian package virtuoso-opensource-7-bin")
    sql, web = _free_port(), _free_port()
    (folder / "virtuoso.ini").write_text(_INI.format(sql=sql, http=web, cap=cap))
    # Loaded by one thread and without a log: so little gains nothing by several, which wait for each other.
    statements = ["log_enable(2);"]
    for name, turtle in graphs.items():
        (folder / f"{name}.ttl").write_text(turtle, encoding="utf-8")
        statements.append(f"DB.DBA.TTLP(file_to_string_output('{name}.ttl'), '', 'urn:{name}', 0);")
    script = "\n".join([*statements, "checkpoint;", ""])
    address = f"http://127.0.0.1:{web}/sparql"
    command = ["virtuoso-t", "+foreground", "+configfile", "virtuoso.ini"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(process, address)
            load = ["isql-vt", f"127.0.0.1:{sql}", "dba", "dba", "ERRORS=stdout"]
            done = subprocess.run(load, input=script, cwd=folder, capture_output=True, text=True, timeout=200)
            assert done.returncode == 0 and "Error" not in done.stdout, f"{done.stdout}\n{done.stderr}"
            yield address
        except BaseException as error:
            with suppress(subprocess.TimeoutExpired):  # it may be ending while its answer is missed
                error.add_note(f"virtuoso-t ended by itself with {process.wait(1)}:\n{_last_lines(folder)}")
            raise
        finally:
            process.kill()


def _wait_for(process: subprocess.Popen[bytes], address: str) -> None:
    """Wait until a Virtuoso answers queries, not only listens; where others compute it takes a minute to start."""
    for _ in range(1200):
        assert process.poll() is None, "virtuoso-t ended before it answered"
        try:
            with urlopen(f"{address}?query=ASK%7B%7D", timeout=60):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("virtuoso-t did not answer within two minutes")


def _last_lines(folder: Path) -> str:
    """What a Virtuoso wrote last of itself."""
    log = folder / "virtuoso.log"
    return "\n".join(log.read_text(errors="replace").splitlines()[-30:]) if log.exists() else "it wrote no log"


Behaviour = Callable[["Handler", "str"], None]


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers a query from `store`, or does what the next of `behaviours` does instead."""

    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_GET(self) -> None:
        self._respond(urlsplit(self.path).query)

    def do_POST(self) -> None:
        self._respond(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _respond(self, form: str) -> None:
        query = parse_qs(form).get("query", [""])[0]
        self.server.asked.append(query)
        self.server.agents.add(self.headers["User-Agent"])
        self.server.authorisations.append(self.headers["Authorization"])
        behaviours = self.server.behaviours
        (behaviours.pop(0) if behaviours else answer)(self, query)

    def send(self, status: int, body: bytes, media: str = "application/sparql-results+json", **headers: str) -> None:
        self.send_response(status)
        headers = {"Content_Type": media, "Content_Length": str(len(body)), **headers}
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


class Endpoint(http.server.ThreadingHTTPServer):
    """What is asked is in `asked`; no answer has more than `cap` rows, and nothing says so."""

    daemon_threads = True

    def __init__(self, *graphs: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.store = ox.Store()
        for turtle in graphs:
            self.store.load(turtle.encode(), format=ox.RdfFormat.TURTLE)
        self.cap: int | None = None
        self.behaviours: list[Behaviour] = []
        self.asked: list[str] = []
        self.agents: set[str] = set()
        self.authorisations: list[str | None] = []
        self.address = f"http://127.0.0.1:{self.server_port}/sparql"
        self.released = threading.Event()

    def result(self, query: str) -> bytes:
        """The answer to a query, cut at the limit of rows; what has no order comes in another one every other time."""
        import json

        solutions: Any = self.store.query(query)
        body = solutions.serialize(format=ox.QueryResultsFormat.JSON)
        if self.cap is None:
            return bytes(body)
        read = json.loads(body)
        if "results" not in read:
            return bytes(body)
        if "ORDER BY" not in query and len(self.asked) % 2:
            read["results"]["bindings"].reverse()
        read["results"]["bindings"] = read["results"]["bindings"][: self.cap]
        return json.dumps(read).encode()


def answer(handler: Handler, query: str) -> None:
    handler.send(200, handler.server.result(query))


def half(handler: Handler, query: str) -> None:
    body = handler.server.result(query)
    handler.send(200, body[: len(body) // 2])


def broken_off(handler: Handler, query: str) -> None:
    body = handler.server.result(query)
    handler.send(200, body[: len(body) // 2], Content_Length=str(len(body)))


def empty(handler: Handler, query: str) -> None:
    handler.send(200, b"")


def error_text(handler: Handler, query: str) -> None:
    handler.send(200, b"Virtuoso 42000 Error SQ156: out of memory", "text/plain")


def truth_value(handler: Handler, query: str) -> None:
    handler.send(200, b'{"head": {}, "boolean": true}')


def part(handler: Handler, query: str) -> None:
    handler.send(200, handler.server.result(query), X_SQL_State="S1TAT", X_SQL_Message="Returning incomplete results")


def announced(limit: int) -> Behaviour:
    """So many rows of an answer, as a Virtuoso says in a header that there are no more than that."""

    def behave(handler: Handler, query: str) -> None:
        handler.server.cap, before = limit, handler.server.cap
        handler.send(200, handler.server.result(query), X_SPARQL_MaxRows=str(limit))
        handler.server.cap = before

    return behave


def html(handler: Handler, query: str) -> None:
    handler.send(200, b"<html><title>Down for repair</title></html>", "text/html; charset=utf-8")


def hanging(handler: Handler, query: str) -> None:
    handler.server.released.wait(10)
    handler.close_connection = True


def trickling(handler: Handler, query: str) -> None:
    handler.send(200, b"{", Content_Length="1000")
    while not handler.server.released.wait(0.02):
        try:
            handler.wfile.write(b" ")
        except OSError:
            return


def status(code: int, body: bytes = b"", media: str = "text/plain", **headers: str) -> Behaviour:
    return lambda handler, query: handler.send(code, body, media, **headers)


@contextmanager
def endpoint(*graphs: str) -> Iterator[Endpoint]:
    """A server in a thread that answers over some Turtle, until it is told to misbehave."""
    with Endpoint(*graphs) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.released.set()
        server.shutdown()
