"""The process that runs a query: it ends when it is told to, keeps to the user's limits, and is used again."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from remix.errors import QueryError, StoreError, Timeout
from remix.remixes import build
from remix.store import Store, running
from remix.store.answers import answer
from remix.store.index import Index
from remix.store.queries import Query
from remix.store.running import Request
from remix.store.worker import Answer, GuardedIndex, Stopped, Worker, Workers, ask
from tests.commands import run_process
from tests.processes import PythonProcess

SLOW = "SELECT ?annotation { ?annotation ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l FILTER (?c = ?f && ?i = ?l && ?l = 0) }"
NUMBER = "SELECT (COUNT(?a) AS ?n) { ?a a nif:Phrase }"


def text_of(found: Answer) -> str:
    return found.body.decode()


@pytest.fixture(autouse=True)
def lent() -> None:
    """Here each query has a process of its own, as on the command line."""


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("verb", [("query", SLOW), ("build", "--query", SLOW)], ids=lambda verb: verb[0])
def test_interrupt_ends_query_and_build_at_once(small_store: Store, verb: tuple[str, ...]) -> None:
    command = ["-m", "remix", *verb, "-w", str(small_store.folder), "--timeout", "300"]
    with PythonProcess(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            if not children.exists():
                pytest.skip("children are looked up in /proc")
            while not children.read_text() and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 130
            assert process.stderr is not None and "interrupted" in process.stderr.read()
        finally:
            process.kill()


@pytest.mark.long
def test_build_runs_its_query_under_a_time_limit(small_store: Store) -> None:
    with pytest.raises(Timeout, match=r"ran longer than 0\.5 s"):
        build(small_store, Query.parse(SLOW), timeout=0.5)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the address space")
def test_worker_starts_where_the_users_own_limits_are_lower(small_store: Store) -> None:
    program = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
from pathlib import Path
from remix.store.running import Request
from remix.store.worker import ask
print(ask(Path(sys.argv[1]), Request(sys.argv[2], solutions="csv")).body.decode())
"""
    command = [sys.executable, "-c", program, str(small_store.index().path), NUMBER]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["n", "16"]), done.stderr


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the address space")
def test_load_enrich_and_build_run_where_the_user_allows_one_gibibyte(tmp_path: Path, rivers: Path) -> None:
    query = tmp_path / "phrases.rq"
    query.write_text("SELECT ?annotation { ?annotation a nif:Phrase }")
    for verb in (("load", str(rivers)), ("enrich",), ("build", "--query", str(query))):
        done = run_process(
            *verb, folder=tmp_path, prepare=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the address space")
@pytest.mark.parametrize("mebibytes", [64, 160])
def test_query_that_cannot_start_for_want_of_memory_says_so(small_store: Store, mebibytes: int) -> None:
    with pytest.raises(StoreError, match=r"could not start its threads.* too little memory.* ulimit -v"):
        ask(small_store.index().path, Request(NUMBER, memory=mebibytes << 20))


def test_worker_answers_one_query_after_another_in_the_same_process(small_store: Store) -> None:
    request = Request("SELECT * { VALUES ?x { 1 } }", solutions="csv")
    with Worker() as worker:
        assert text_of(worker.ask(None, request)).split() == ["x", "1"]
        first = worker._process
        with pytest.raises(QueryError, match="does not parse"):
            worker.ask(None, Request("SELECT * { ?s ?p }"))
        path = small_store.index().path
        assert text_of(worker.ask(path, Request(NUMBER, solutions="csv"))).split() == ["n", "16"]
        assert worker._process is first


@pytest.mark.long
def test_worker_goes_on_after_its_process_ended_or_was_stopped(small_store: Store) -> None:
    path = small_store.index().path
    with Worker() as worker:
        worker.ask(path, Request("ASK {}"))
        assert worker._process is not None
        os.kill(worker._process.pid, signal.SIGKILL)
        assert "true" in text_of(worker.ask(path, Request("ASK {}")))
        stop = threading.Event()
        stop.set()
        with pytest.raises(StoreError, match="was stopped"):
            worker.ask(path, Request(SLOW), stop=stop)
        with pytest.raises(Timeout):
            worker.ask(path, Request(SLOW, timeout=0.2))
        assert "true" in text_of(worker.ask(path, Request("ASK {}")))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_query_whose_process_was_stopped_is_told_so(small_store: Store, number: signal.Signals) -> None:
    """A signal to the whole group of a server reaches the processes of queries, too: they did not fail."""
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip(f"{number.name} is ignored here, as it is under nohup")
    with Worker() as worker, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(worker.ask, small_store.index().path, Request(SLOW))
        patience = time.monotonic() + 20
        while worker._process is None and time.monotonic() < patience:
            time.sleep(0.01)
        assert worker._process is not None
        time.sleep(0.3)
        worker._process.send_signal(number)
        with pytest.raises(Stopped, match="the query was stopped"):
            asked.result(20)


def test_process_of_a_query_starts_without_polars() -> None:
    command = [sys.executable, "-X", "importtime", "-P", running.__file__]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert "pyoxigraph" in done.stderr and "polars" not in done.stderr


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process has loaded")
def test_query_that_is_not_rewritten_loads_no_polars_either() -> None:
    shown = {"SELECT * { VALUES ?x { 1 } }": False, "SELECT * { { SELECT ?x { VALUES ?x { 1 } } LIMIT 1 } }": True}
    for text, loads in shown.items():
        with Worker() as worker:
            assert '"1"' in text_of(worker.ask(None, Request(text, rewrite=True, ordered=True)))
            assert worker._process is not None
            loaded = Path(f"/proc/{worker._process.pid}/maps").read_text()
            assert "pyoxigraph" in loaded and ("polars" in loaded) is loads


def test_workers_that_wait_are_taken_again(small_store: Store) -> None:
    workers = Workers()
    for _ in range(3):
        with workers.lend() as worker:
            assert b"true" in worker.ask(small_store.index().path, Request("ASK {}")).body
    assert len(workers._idle) == 1
    workers.close()


def test_worker_finds_an_index_from_where_the_question_is_asked(
    small_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_store.index().path
    assert path is not None
    with Worker() as worker:
        for folder in (tmp_path, path.parent):
            monkeypatch.chdir(folder)
            assert "true" in text_of(worker.ask(Path(os.path.relpath(path)), Request("ASK { ?a a nif:Phrase }")))


@pytest.mark.long
def test_worker_sees_an_index_that_was_built_anew_in_its_place(tmp_path: Path, rivers: Path) -> None:
    store = Store(tmp_path / "again")
    with Worker() as worker:
        for text, name in ((NUMBER, "one"), (NUMBER, "two")):
            store.load(rivers, name=name)
            path = store.index().path
            assert path is not None and path.parent.name == "g000001"
            rows = text_of(worker.ask(path, Request(text.replace("COUNT(?a)", "MIN(STR(?a))"), solutions="csv")))
            assert f"dataset:{name}/" in rows
            shutil.rmtree(store.folder)


def test_unknown_function_is_an_error_of_the_query_with_its_name(small_store: Store) -> None:
    for text in ("SELECT (<urn:f>(?s) AS ?x) { ?s ?p ?o }", "SELECT * { ?s ?p ?o FILTER (<urn:f>(?o)) }"):
        with pytest.raises(QueryError, match="the query calls the function <urn:f>, which is not known"):
            answer(small_store, Query.parse(text))
        with pytest.raises(QueryError, match="<urn:f>"):
            small_store.index().frame(text)


@pytest.mark.parametrize("damage", ["cut", "zeros"])
def test_damaged_index_is_one_line_that_says_what_to_do(tmp_path: Path, rivers: Path, damage: str) -> None:
    store = Store(tmp_path / "work")
    store.load(rivers)
    path = store.index().path
    assert path is not None
    for file in path.glob("*.sst"):
        content = file.read_bytes()
        file.unlink()  # it is a hard link
        file.write_bytes(content[: len(content) // 2] if damage == "cut" else bytes(len(content)))
    with pytest.raises(StoreError, match=r"cannot be opened|damaged") as worker:
        answer(store, Query.parse("SELECT * { ?s ?p ?o }"))
    assert "`remix rebuild`" in str(worker.value) and "\n" not in str(worker.value)
    with pytest.raises(StoreError, match="`remix rebuild`"):
        Index(path).frame("SELECT * { ?s ?p ?o }")


def test_index_whose_graphs_cannot_be_listed_is_damaged(small_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Damaged:
        def named_graphs(self) -> None:
            raise RuntimeError("Corruption: properties unsorted")

    index = small_store.index()
    monkeypatch.setattr(index, "_store", Damaged())
    with pytest.raises(StoreError, match="the index: Corruption.*`remix rebuild`"):
        index.graphs()


def test_guarded_index_answers_as_the_index_does(small_store: Store) -> None:
    path = small_store.index().path
    text = "SELECT ?a ?b ?c { ?a nif:beginIndex ?b OPTIONAL { ?a itsrdf:taIdentRef ?c } } ORDER BY ?a ?b ?c"
    with GuardedIndex(path) as index:
        assert index.frame(text).equals(Index(path).frame(text))
        graph = "CONSTRUCT WHERE { ?a a nif:Phrase }"
        assert sorted(index.triples(graph)) == sorted(Index(path).triples(graph))
        assert index.is_true("ASK { ?a a nif:Phrase }")
