"""Fixtures that several tests share."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import gc
import http.server
import itertools
import linecache
import os
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyoxigraph as ox
import pytest
from filelock import FileLock
from hypothesis import Phase, settings
from xdist.scheduler import LoadScopeScheduling, Scheduling

from remix.kb import KnowledgeBase, build
from remix.runs.stored import take_shipped_runs
from remix.sample import ensure_sample
from remix.store import Store
from remix.store.worker import Bounds, Workers, limit_queries
from remix.workspace import Workspace
from tests.workspaces import copy_workspace

if TYPE_CHECKING:
    from xdist.remote import Producer

# The tests at hand draw the same examples each time, so that what passed once passes again on the same code, where the
# same files are collected: hypothesis takes constants of the modules that are loaded among its examples, of all modules
# with all files and of some with one file, and of none in a checkout below a folder called `test` or `tests`. The other
# profiles draw others each time, so that a property is looked at more closely with every run; one that fails prints how
# to repeat it. How long an example takes says more of the machine than of the code. What fails is told at once: making
# it smaller may take longer than a test may, and is asked for by `HYPOTHESIS_PROFILE=shrink`.
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
_PROFILES = {"quick": (15, _PHASES), "further": (8, _PHASES), "thorough": (30, _PHASES), "shrink": (60, tuple(Phase))}
for name, (examples, phases) in _PROFILES.items():
    options = {"deadline": None, "print_blob": True, "derandomize": name == "quick", "phases": phases}
    settings.register_profile(name, max_examples=examples, **options)  # type: ignore[arg-type]
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_configure() -> None:
    """Keep a worker on a processor of its own: polars and Python then hand work to each other without waking one.

    Who hands work over goes on until it waits, as nobody is to answer at once: that halves the changes from one to the
    other. Garbage is looked for between tests (`pytest_runtest_logfinish`), and not while they are collected.
    """
    gc.disable()
    if (worker := os.environ.get("PYTEST_XDIST_WORKER")) and hasattr(os, "sched_setaffinity"):
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[int(worker.removeprefix("gw")) % len(processors)]})
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


_SAID = {"long": ("mark.long", "mark.at_hand"), "extra": ("mark.extra",), "hypothesis": ("hypothesis",)}
"""What the file of a test with a mark says: by that `.ci/run` finds the files that it collects."""


_UNSAID = pytest.StashKey[list[str]]()


def _says_marks(item: pytest.Item, text: str) -> bool:
    drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)  # is marked so after this
    marks = [mark for mark in _SAID if item.get_closest_marker(mark) or (mark == "hypothesis" and drawn)]
    return all(any(word in text for word in _SAID[mark]) for mark in marks)


@pytest.fixture
def unsaid(request: pytest.FixtureRequest) -> list[str]:
    """The tests, of all that were collected, with a mark that their file does not say."""
    return request.config.stash[_UNSAID]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test of many cases keep the first at hand, as many as it says, and let the others be long."""
    read = functools.cache(lambda path: path.read_text(encoding="utf-8"))
    cases: Counter[tuple[Path, str]] = Counter()
    for item in items:
        if at_hand := item.get_closest_marker("at_hand"):
            function = (item.path, item.nodeid.partition("[")[0])
            cases[function] += 1
            if cases[function] > at_hand.args[0]:
                item.add_marker("long")
    config.stash[_UNSAID] = [item.nodeid for item in items if not _says_marks(item, read(item.path))]
    drawn = {item: _is_drawn(item) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if not drawn[item]])
    items[:] = [item for item in items if drawn[item]]


def _is_drawn(item: pytest.Item) -> bool:
    """Whether a test is in the sample that `REMIX_SAMPLE` asks for: `3:abc` is a third of those that take long.

    The word behind the number draws which: `.ci/run` gives the commit, so that each time it is another one.
    """
    parts, _, seed = os.environ.get("REMIX_SAMPLE", "1").partition(":")
    takes_long = item.get_closest_marker("long") or item.get_closest_marker("extra")
    return takes_long is None or zlib.crc32(f"{seed} {item.nodeid}".encode()) % int(parts) == 0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Let one process run the tests of a folder, which share a browser or a session of Spark, where groups are asked.

    pytest-xdist 3.8 tells groups by names that it writes into tests, which pytest 9.2 does not take from it.
    """
    return FolderScheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


class FolderScheduling(LoadScopeScheduling):
    """Gives all tests of a folder to one process, and the folders with the most tests first."""

    def _split_scope(self, nodeid: str) -> str:
        """Return the folder of a test."""
        return nodeid.partition("::")[0].rpartition("/")[0]


def pytest_collection_finish() -> None:
    """Look for garbage in what tests make, not among the modules and tests that stay to the end.

    Sources that collecting has read are let go of: each doctest asks whether one of them has changed.
    """
    gc.freeze()
    linecache.clearcache()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test that says that it may take longer do so: its process, too, ends later than those of others."""
    if own := item.get_closest_marker("timeout"):
        faulthandler.dump_traceback_later(own.args[0] + 50, exit=True, file=sys.__stderr__)


def pytest_runtest_logfinish() -> None:
    """Take garbage away by the thread that runs tests: no other may drop the triples that Oxigraph has answered.

    It is looked for in what was made since the last time, and every tenth time in all that tests have made.
    """
    if gc.get_count()[0] > 100_000:
        gc.collect(1 if next(_LOOKS) % 10 else 2)


_LOOKS = itertools.count(1)


def pytest_unconfigure() -> None:
    """Let go of what stayed to the end, so that no library complains of what it made and nobody released."""
    gc.unfreeze()
    gc.collect()


CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets: `REMIX_REAL_DATA`, by default `../shared/data` beside the checkout."""
    if os.environ.get("REMIX_REAL_DATA") == "none":
        pytest.skip("REMIX_REAL_DATA=none says that the real datasets are not here")
    folder = Path(os.environ.get("REMIX_REAL_DATA", CHECKOUT.parent / "shared" / "data"))
    if not folder.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail(f"no real data at {folder}: CI needs it")
        pytest.skip(f"no real data at {folder}; set REMIX_REAL_DATA to test against it")
    return folder


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Two datasets of three documents each, with measures written by hand (`tests/remixes/small`); not to be changed.

    news/1: Anna, Michael, David, Alice (persons), Paris; news/2: Mercury, NASA, Jordan; news/3: no annotation.
    posts/1: Python, Java, Mr Nobody (NIL); posts/2: python, Thriller, Rebecca, Apple; posts/3: Lisbon.
    """
    store = Store(tmp_path_factory.mktemp("small") / ".remix")
    folder = CHECKOUT / "tests" / "remixes" / "small"
    graphs: dict[str, Path | bytes] = {}
    for name in ("news", "posts"):
        store.load(folder / f"{name}.ttl")
        measures = ox.parse((folder / f"{name}.measures.ttl").read_bytes(), format=ox.RdfFormat.TURTLE)
        graphs[name] = ox.serialize(measures, format=ox.RdfFormat.N_TRIPLES) or b""
    store.enrich(graphs, "by hand")
    return store


@pytest.fixture(scope="session")
def run_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One document with the runs of two systems stored beside it (`tests/runs/small`); not to be changed.

    Gold: Ada, Alan (both persons, Alan rare), Bob (NIL), New York City. System a: Ada right, another Alan, Bob linked,
    New York instead of New York City. System b: Ada and Alan, both right, nothing else.
    """
    workspace = Workspace(tmp_path_factory.mktemp("runs") / ".remix")
    folder = CHECKOUT / "tests" / "runs" / "small"
    workspace.load([folder / "gold.ttl"])
    iri = workspace.store.frames().annotations.filter(surface_form="Alan")["annotation"].item()
    rare = f'<{iri}> <https://w3id.org/nel-remix/ns#isRare> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .\n'
    workspace.store.enrich({"gold": rare.encode()}, "by hand")
    workspace.store_runs(["gold"], run=[f"{name}={folder / name}.ttl" for name in "ab"])
    return workspace.store


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """The processes of queries that tests lend each other; not to be closed."""
    workers = Workers()
    yield workers
    workers.close()


@pytest.fixture(autouse=True)
def lent(workers: Workers) -> Iterator[None]:
    """Lets a process that waits answer the queries of a test, as in a server: one of its own starts in 90 to 400 ms.

    Tests of such processes have a fixture of this name that does nothing.
    """
    with limit_queries(Bounds(60, 1 << 30, 1 << 28, threading.Event(), contextlib.nullcontext, workers.lend)):
        yield


Build = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Gives the folder of a name, which the first of all processes of the run fills: `once("sample", fill)`."""
    own = tmp_path_factory.getbasetemp()
    place = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"
    place.mkdir(exist_ok=True)

    def folder(name: str, fill: Callable[[Path], object]) -> Path:
        with FileLock(place / f"{name}.lock"):
            if not (done := place / f"{name}.done").exists():
                fill(place / name)
                done.touch()
        return place / name

    return folder


@pytest.fixture(scope="session")
def sample_store(once: Build) -> Store:
    """The sample corpus, enriched, with the knowledge base that ships with it; not to be changed."""

    def fill(folder: Path) -> None:
        assert ensure_sample(Store(folder / ".remix"))

    return Store(once("sample", fill) / ".remix")


@pytest.fixture(scope="session")
def sample_workspace(sample_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Workspace]:
    """Makes a workspace that holds the sample corpus and is the test's own."""

    def made() -> Workspace:
        return copy_workspace(sample_store.folder, tmp_path_factory.mktemp("own") / ".remix")

    return made


@pytest.fixture(scope="session")
def answered_sample(once: Build, sample_store: Store) -> Workspace:
    """The sample corpus as a first `remix evaluate` leaves it, with the answers that ship; not to be changed."""

    def fill(folder: Path) -> None:
        workspace = copy_workspace(sample_store.folder, folder / ".remix")
        take_shipped_runs(workspace.store, workspace.kb, workspace.runs_folder)

    return Workspace(once("answered", fill) / ".remix")


@pytest.fixture(scope="session")
def real_kb(real_data: Path, once: Build) -> KnowledgeBase:
    """The knowledge base of the slice that stands with the real datasets; not to be changed."""

    def fill(folder: Path) -> None:
        build([("tables", str(real_data / "kb"))], folder, name="slice", engine="polars")

    [built] = once("real_kb", fill).glob("slice-*")
    return KnowledgeBase.open(built)


@pytest.fixture(scope="session")
def sample_kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    """The knowledge base that ships with remix; not to be changed."""
    return build(
        [("tables", str(CHECKOUT / "datasets" / "kb"))], tmp_path_factory.mktemp("kb"), name="sample", engine="polars"
    )


@pytest.fixture(scope="session")
def kb_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., KnowledgeBase]:
    """The knowledge base of tables, given by name as texts: `kb_of({"surface_forms.tsv": …})`; not to be changed.

    One of the same tables and choices is built once.
    """
    place = tmp_path_factory.mktemp("kb")
    built: dict[str, KnowledgeBase] = {}

    def kb(tables: Mapping[str, str], *, engine: str = "polars", complete: bool = False) -> KnowledgeBase:
        asked = repr((sorted(tables.items()), engine, complete))
        if asked not in built:
            folder = place / f"tables-{len(built)}"
            folder.mkdir()
            for name, text in tables.items():
                (folder / name).write_text(text, encoding="utf-8")
            to = place / f"kb-{len(built)}"
            built[asked] = build([("tables", str(folder))], to, name="small", engine=engine, complete=complete)
        return built[asked]

    return kb


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder whose files a server on loopback hands out, and the server's address."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
