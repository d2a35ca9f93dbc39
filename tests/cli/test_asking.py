"""The verbs that ask, list and drop: what they print, and how they fail."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest

from remix.store import Store
from tests.commands import run_verb

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(small_store: Store) -> Run:
    """Runs a verb on the small store, which it must not change."""

    def start(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        return run_verb(*arguments, "-w", str(folder or small_store.folder))

    return start


def test_query_prints_a_table_in_any_format(run: Run) -> None:
    done = run("query", "SELECT (COUNT(?a) AS ?n) { ?a a nif:Phrase }", "-o", "json")
    assert json.loads(done.stdout) == [{"n": 16}], done.stderr


def test_query_writes_a_graph_by_the_suffix_of_its_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "found.nt"
    assert run("query", "basic", "--to", str(file)).returncode == 0
    lines = file.read_bytes().splitlines()
    assert lines == sorted(set(lines)) and len(list(ox.parse(path=file))) == len(lines) > 0


def test_query_explains_on_standard_error(run: Run) -> None:
    done = run("query", "basic", "--explain", "--set", "min_recall=0.5", "-o", "nt")
    assert done.stderr.startswith("SELECT DISTINCT ?document ?annotation")
    assert "VALUES ?min_recall { 0.5 }" in done.stderr


@pytest.mark.at_hand(3)
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("query", "DROP ALL"), 2, "DROP would change data"),
        (("query", "persns_hard"), 2, "did you mean 'persons_hard'"),
        (("query", "SELECT * { ?s ?p }"), 2, "the query:1:"),
        (("query", "basic", "--set", "min_recal=1"), 2, "did you mean 'min_recall'"),
        (("query", "basic", "--set", "min_recall=much"), 2, "takes a number"),
        (("query", "basic", "--set-from", "table5"), 2, "no parameter set named 'table5'"),
        (("query", "ASK {}", "-o", "ttl"), 2, "is for graphs"),
        (("query", "basic", "-o", "csv"), 2, "no output format 'csv' of a graph"),
        (("query", "SELECT * { SERVICE <http://b.org/> { ?s ?p ?o } }"), 2, "--allow-service http://b.org/"),
        (("query", "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", "--timeout", "0.2"), 1, "ran longer than 0.2 s"),
        (("drop", "nws"), 2, "did you mean 'news'"),
        (("show", "densty"), 2, "did you mean 'density'"),
        (("list", "quries"), 2, "queries"),
    ],
)
def test_mistakes_end_in_one_clear_line(run: Run, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr


def test_list_and_show_tell_what_there_is(run: Run) -> None:
    assert {"news", "posts"} <= {row["name"] for row in json.loads(run("list", "datasets", "-o", "json").stdout)}
    sets = json.loads(run("list", "sets", "-o", "json").stdout)
    assert any(row["query"] == "persons_hard" and row["set"] == "table4" for row in sets)
    assert "annotations: 8" in run("show", "news").stdout
    shown = run("show", "persons_hard").stdout
    assert "--set-from table4" in shown and "SELECT ?document ?annotation" in shown
    info = {row["what"]: row["value"] for row in json.loads(run("info", "-o", "json").stdout)}
    assert info["datasets"] == "2"


def test_drop_takes_a_dataset_out(run: Run, small_store: Store, tmp_path: Path) -> None:
    store = Store(tmp_path / "work")
    store.load(small_store.dataset("news").source)
    done = run("drop", "news", folder=store.folder)
    assert done.returncode == 0 and done.stderr.startswith("news is dropped")
    assert store.datasets() == []
