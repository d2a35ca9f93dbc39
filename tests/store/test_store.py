"""Loading, replacing, dropping and enriching datasets; what is left when that goes wrong."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pyoxigraph as ox
import pytest

from remix.errors import StoreError, UnknownName, UsageError
from remix.store import Store
from remix.store.cache import KEEPS, StateCache, size_of

COUNT = "SELECT (COUNT(?a) AS ?n) { ?a a nif:Phrase }"
LOAD = "import sys; from remix.store import Store; Store(sys.argv[1]).load(sys.argv[2])"


def annotations(store: Store) -> int:
    """How many annotations the index holds, in all datasets."""
    term = store.index().frame(COUNT)["n"][0]
    return int(term.split('"')[1])


def content(folder: Path) -> dict[str, int]:
    """Every file of a workspace with the time of its last change."""
    return {str(file): file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}


def test_store_without_folder_is_empty(store: Store) -> None:
    assert store.datasets() == []
    assert store.frames().documents.is_empty()
    assert annotations(store) == 0
    assert not store.folder.exists()


@pytest.mark.long
def test_load_puts_data_into_index_and_frames(store: Store, rivers: Path) -> None:
    done = store.load(rivers)
    assert (done.name, done.status) == ("rivers", "loaded")
    assert (done.entry.documents, done.entry.annotations) == (2, 3)
    assert annotations(store) == 3
    assert store.frames(["rivers"]).annotations["surface_form"].to_list() == ["Rhine", "Basel", "Basel"]
    assert store.index().graphs() == ["urn:remix:dataset:rivers"]
    assert store.report("rivers")["documents"] == 2


def test_load_of_same_content_changes_nothing(store: Store, rivers: Path) -> None:
    store.load(rivers)
    before = content(store.folder)
    assert store.load(rivers).status == "unchanged"
    assert content(store.folder) == before


def test_load_of_same_content_in_another_syntax_changes_nothing(store: Store, rivers: Path) -> None:
    store.load(rivers)
    triples = rivers.with_suffix(".nt")
    triples.write_bytes(ox.serialize((q.triple for q in ox.parse(path=rivers)), format=ox.RdfFormat.N_TRIPLES) or b"")
    assert store.load(triples).status == "unchanged"


@pytest.mark.long
def test_load_of_same_content_under_default_name_of_copy_is_recognised(store: Store, rivers: Path) -> None:
    store.load(rivers)
    copy = rivers.with_name("copy.ttl")
    copy.write_bytes(rivers.read_bytes())
    done = store.load(copy)
    assert (done.name, done.status) == ("rivers", "unchanged")
    assert store.load(copy, name="second").status == "loaded"
    assert [entry.name for entry in store.datasets()] == ["rivers", "second"]


def test_load_of_changed_file_replaces_its_dataset(
    store: Store, rivers: Path, make_corpus: Callable[..., Path]
) -> None:
    store.load(rivers)
    make_corpus("rivers", {"d1": "Basel again."}, Basel="Basel")
    assert store.load(rivers).status == "replaced"
    assert annotations(store) == 1
    assert store.frames().documents.height == 1


def test_load_of_other_file_under_taken_name_is_refused_with_suggestion(
    store: Store, rivers: Path, make_corpus: Callable[..., Path]
) -> None:
    store.load(rivers)
    other = make_corpus("other", {"d1": "Basel again."}, Basel="Basel")
    with pytest.raises(UsageError, match=r"'rivers' with other content .* --name rivers-2, or --replace"):
        store.load(other, name="rivers")
    assert annotations(store) == 3
    assert store.load(other, name="rivers", replace=True).status == "replaced"
    assert annotations(store) == 1


@pytest.mark.long
def test_load_of_same_content_under_another_base_iri_replaces_it(store: Store, rivers: Path) -> None:
    store.load(rivers)
    assert store.load(rivers, base_iri="http://corpus.org/").status == "replaced"
    assert store.index().graphs() == ["http://corpus.org/rivers"]
    assert annotations(store) == 3
    assert store.load(rivers, base_iri="http://corpus.org/").status == "unchanged"


@pytest.mark.parametrize("name", ["", "a b", "../x", "a/b", ".hidden", "x\n", "é"])
def test_load_under_name_that_is_none_is_refused(store: Store, rivers: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a dataset"):
        store.load(rivers, name=name)


@pytest.mark.long
def test_drop_removes_dataset_with_its_enrichment(store: Store, rivers: Path, make_corpus: Callable[..., Path]) -> None:
    store.load(rivers)
    store.load(make_corpus("hills", {"d1": "A Jura hill."}, Jura="Jura_Mountains"))
    store.enrich({"rivers": b"<urn:a> <urn:b> <urn:c> .\n"}, "s")
    store.drop("rivers")
    assert [entry.name for entry in store.datasets()] == ["hills"]
    assert annotations(store) == 1
    assert store.index().graphs() == ["urn:remix:dataset:hills"]
    store.drop("hills")
    assert annotations(store) == 0


def test_drop_of_unknown_dataset_names_the_nearest(store: Store, rivers: Path) -> None:
    store.load(rivers)
    with pytest.raises(UnknownName, match="did you mean 'rivers'"):
        store.drop("river")


@pytest.mark.long
def test_enrich_replaces_and_twice_changes_nothing(store: Store, rivers: Path) -> None:
    store.load(rivers)
    store.enrich({"rivers": b"<urn:a> <urn:b> <urn:c> .\n"}, "first")
    before = store.state
    store.enrich({"rivers": b"<urn:a> <urn:b> <urn:c> .\n"}, "first")
    assert store.state == before
    store.enrich({"rivers": b"<urn:a> <urn:b> <urn:d> .\n"}, "second")
    found = store.index().frame("SELECT ?o { GRAPH <urn:remix:dataset:rivers#enrichment> { ?s ?p ?o } }")
    assert found["o"].to_list() == ["<urn:d>"]
    assert store.dataset("rivers").enrichment == "second"


def test_replacing_dataset_drops_its_enrichment(store: Store, rivers: Path, make_corpus: Callable[..., Path]) -> None:
    store.load(rivers)
    store.enrich({"rivers": b"<urn:a> <urn:b> <urn:c> .\n"}, "first")
    make_corpus("rivers", {"d1": "Basel again."}, Basel="Basel")
    store.load(rivers)
    assert store.dataset("rivers").enrichment is None
    assert store.index().frame("SELECT * { <urn:a> ?p ?o }").is_empty()


def test_next_writer_removes_what_no_state_names(store: Store, rivers: Path) -> None:
    store.load(rivers)
    store.enrich({"rivers": b"<urn:a> <urn:b> <urn:c> .\n"}, "s")
    # What a writer leaves that was killed just before it would have written the state, or while it wrote aside.
    for kind, name in (("datasets", "old-0123456789ab"), ("enrichments", "old-0123456789ab"), ("index", "g000009")):
        (made,) = (store.folder / kind).iterdir()
        shutil.copytree(made, store.folder / kind / name)
        (store.folder / kind / ".new.remix-89abcdef").mkdir()
    store.drop("rivers")
    assert not [place for kind in ("datasets", "enrichments", "index") for place in (store.folder / kind).iterdir()]
    store.load(rivers)
    assert [place.name for place in (store.folder / "index").iterdir()] == [store.state.generation]
    assert [place.name for place in (store.folder / "datasets").iterdir()] == [
        Path(store.dataset("rivers").folder).name
    ]
    assert list((store.folder / "enrichments").iterdir()) == []


def test_writer_leaves_what_it_did_not_make(store: Store, rivers: Path) -> None:
    store.load(rivers)
    mine = [store.folder / name for name in ("datasets/mine", "datasets/mine-0123456789ab", "index/g000009", "runs")]
    for folder in mine:
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")
    (store.folder / "enrichments").mkdir()
    (store.folder / "enrichments" / "old.nt.zst").write_bytes(b"mine")
    store.drop("rivers")
    store.load(rivers)
    assert [(folder / "notes.txt").read_text() for folder in mine] == ["mine"] * 4
    assert (store.folder / "enrichments" / "old.nt.zst").read_bytes() == b"mine"


def test_reader_keeps_what_it_opened_while_datasets_change(store: Store, rivers: Path) -> None:
    store.load(rivers)
    index = store.index()
    assert len(index) > 0
    store.drop("rivers")
    store.load(rivers, name="again")
    store.drop("again")
    assert index.frame(COUNT)["n"][0].startswith('"3"')


def test_attached_kb_is_remembered(store: Store, tmp_path: Path) -> None:
    assert store.kb_folder is None
    store.attach_kb(tmp_path / "kb")
    assert Store(store.folder).kb_folder == tmp_path / "kb"


def test_second_process_reads_while_one_writes_and_second_writer_is_refused(
    store: Store, rivers: Path, python: Callable[..., subprocess.Popen[str]]
) -> None:
    store.load(rivers)
    # The other process holds the lock until its input ends, as a long load would.
    program = """import sys, time
from pathlib import Path
from remix.store.state import writing
with writing(Path(sys.argv[1])):
    print("writing", flush=True)
    time.sleep(60)
"""
    with python(program, store.folder) as writer:
        try:
            assert writer.stdout is not None and writer.stdout.readline() == "writing\n"
            assert annotations(store) == 3
            with pytest.raises(StoreError, match="another process is writing to the workspace .* try again"):
                store.load(rivers)
        finally:
            writer.kill()
    assert store.load(rivers).status == "unchanged"


@pytest.mark.long
def test_kill_at_any_moment_of_a_load_leaves_old_state_or_new(
    store: Store,
    rivers: Path,
    make_corpus: Callable[..., Path],
    python: Callable[..., subprocess.Popen[str]],
) -> None:
    store.load(rivers)
    texts = {f"d{n}": "The Aare and the Rhine." for n in range(600)}
    many = make_corpus("many", texts, Aare="Aare", Rhine="Rhine")
    for delay in (0.0, 0.05, 0.1, 0.2, 0.4):
        with python(LOAD, store.folder, many) as loading:
            # Counted from the moment when the load has begun to write.
            while loading.poll() is None and not list((store.folder / "datasets").glob(".many.remix-*")):
                time.sleep(0.005)
            time.sleep(delay)
            loading.send_signal(signal.SIGKILL)
        names = [entry.name for entry in store.datasets()]
        assert names in (["rivers"], ["many", "rivers"])
        assert annotations(store) == (3 if names == ["rivers"] else 1203)
        assert store.frames().annotations.height == annotations(store)
        if names != ["rivers"]:
            store.drop("many")
    assert store.load(many).status == "loaded"
    assert annotations(store) == 1203


@pytest.mark.long
def test_full_disk_during_load_ends_in_one_line_with_old_state(
    store: Store, rivers: Path, make_corpus: Callable[..., Path], python: Callable[..., subprocess.Popen[str]]
) -> None:
    store.load(rivers)
    texts = {f"d{n}": f"The Aare and the Rhine, {n * 7919}." for n in range(2000)}
    many = make_corpus("many", texts, Aare="Aare", Rhine="Rhine")
    # No file may grow beyond 20 kB: to the process that is a disk that is full.
    program = f"""import resource, signal, sys
from remix.errors import Error
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import remix.store
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    {LOAD.partition("; ")[2].replace("; ", chr(10) + "    ")}
except Error as error:
    print(error)
"""
    with python(program, store.folder, many) as loading:
        said, errors = loading.communicate(timeout=60)
    assert said.count("\n") == 1, (said, errors)
    assert "cannot be written" in said
    assert [entry.name for entry in store.datasets()] == ["rivers"]
    assert annotations(store) == 3
    assert store.load(many).status == "loaded"


@pytest.mark.long
def test_read_only_workspace_is_read_and_its_change_refused_in_one_line(
    store: Store, rivers: Path, python: Callable[..., subprocess.Popen[str]]
) -> None:
    store.load(rivers)
    # Root may write anywhere, so the process becomes nobody, after its imports: nobody may not read those.
    program = f"""import os, sys
import importlib, pkgutil
import filelock, remix.formats, remix.store
for module in pkgutil.walk_packages(remix.store.__path__, "remix.store."):
    importlib.import_module(module.name)
from remix.errors import Error
from remix.store import Store
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    print(Store(sys.argv[1]).index().frame("{COUNT}")["n"][0])
    {LOAD.partition("; ")[2].partition("; ")[2]}
except Error as error:
    print(error)
"""
    places = [store.folder, *store.folder.rglob("*")]
    outer = [place for place in rivers.parents if place.stat().st_uid == os.geteuid() and place != Path("/")]
    modes = {place: place.stat().st_mode for place in [*places, *outer]}
    try:
        for place in outer:
            place.chmod(place.stat().st_mode | 0o055)
        for place in places:
            place.chmod(0o555 if place.is_dir() else 0o444)
        with python(program, store.folder, rivers) as reading:
            said, errors = reading.communicate(timeout=60)
    finally:
        for place, mode in modes.items():
            place.chmod(mode)
    count, refusal = said.splitlines() or [errors, ""]
    assert count.startswith('"3"')
    assert "cannot be written" in refusal and "-w" in refusal
    assert store.load(rivers).status == "unchanged"


def test_damaged_state_is_named(store: Store, rivers: Path) -> None:
    store.load(rivers)
    (store.folder / "state.json").write_text("{")
    with pytest.raises(StoreError, match=r"state\.json is damaged .* `remix rebuild -w .*work`"):
        store.datasets()


def test_state_of_later_version_is_refused(store: Store, rivers: Path) -> None:
    store.load(rivers)
    file = store.folder / "state.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": 99}))
    with pytest.raises(StoreError, match="later version"):
        store.datasets()


def test_graph_beside_a_dataset_is_replaced_and_goes_with_it(store: Store, rivers: Path) -> None:
    store.load(rivers)
    iri = "urn:remix:dataset:rivers#run-a"
    store.attach({"rivers": {"run-a": (b"<urn:x> <urn:p> <urn:y> .\n", "first")}})
    assert store.index().graphs() == ["urn:remix:dataset:rivers", iri]
    before = store.state
    store.attach({"rivers": {"run-a": (b"<urn:x> <urn:p> <urn:y> .\n", "first")}})
    assert store.state == before
    store.attach({"rivers": {"run-a": (b"<urn:x> <urn:p> <urn:z> .\n", "second")}})
    assert store.index().frame(f"SELECT ?o {{ GRAPH <{iri}> {{ ?s ?p ?o }} }}")["o"].to_list() == ["<urn:z>"]
    assert store.attachment("rivers", "run-a") == b"<urn:x> <urn:p> <urn:z> .\n"
    assert store.attachment("rivers", "run-b") == b""
    assert Store(store.folder).dataset("rivers").attached["run-a"].signature == "second"
    assert annotations(store) == 3
    with pytest.raises(UnknownName, match="no dataset named 'river'; did you mean 'rivers'"):
        store.attach({"river": {}})
    store.drop("rivers")
    assert store.index().graphs() == []
    store.load(rivers)
    assert list((store.folder / "enrichments").iterdir()) == []


def test_error_of_what_was_computed_lets_go_of_all_that_it_came_by(store: Store) -> None:
    class Held:
        pass

    gone: list[weakref.ref[Held]] = []

    def fail() -> None:
        held = Held()
        gone.append(weakref.ref(held))
        raise UsageError("no")

    collecting = gc.isenabled()
    gc.disable()
    try:
        with contextlib.suppress(UsageError):
            store.cached("failing", fail)
        assert gone[0]() is None
    finally:
        if collecting:
            gc.enable()


def test_what_is_computed_of_a_state_is_computed_once_for_it_however_many_ask(store: Store, rivers: Path) -> None:
    begun, asked = threading.Event(), list[int]()

    def compute() -> int:
        begun.wait(10)
        asked.append(len(store.datasets()))
        return asked[-1]

    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(store.cached, "datasets", compute) for _ in range(4)]
        begun.set()
        assert [one.result() for one in waiting] == [0] * 4 and asked == [0]
    store.load(rivers)
    assert store.cached("datasets", compute) == 1
    with pytest.raises(ZeroDivisionError):
        store.cached("wrong", lambda: 1 // 0)
    assert store.cached("wrong", lambda: 7) == 7


def test_only_the_last_answers_stay(tmp_path: Path) -> None:
    """Of two that stay, the one that was asked for last outlives a third."""
    once = StateCache(tmp_path / "state.json", most=2)
    assert [once("a", lambda: 1), once("b", lambda: 2), once("a", lambda: 3), once("c", lambda: 4)] == [1, 2, 1, 4]
    assert [once("a", lambda: 5), once("b", lambda: 6)] == [1, 6]


def test_what_users_ask_for_has_so_much_room_in_bytes(tmp_path: Path) -> None:
    """Five answers of 200 kB need no more than a megabyte, beside what is the workspace's own."""
    once, computed = StateCache(tmp_path / "state.json", room=1_000_000), list[str]()

    def ask(key: str, size: int, *, asked: bool = True) -> None:
        def compute() -> bytes:
            computed.append(key)
            return b"x" * size

        assert len(once(key, compute, asked=asked)) == size

    ask("own", 5_000_000, asked=False)
    for key in "abcde":
        ask(key, 200_000)
    ask("large", 300_000)  # more than a quarter of the room: who asks has it, and it is not kept
    computed.clear()
    for key in ("own", "e", "d", "c", "b"):
        ask(key, 5_000_000 if key == "own" else 200_000, asked=key != "own")
    assert computed == []
    ask("a", 200_000)
    ask("large", 300_000)
    assert computed == ["a", "large"]


def test_all_that_is_kept_has_so_much_room_in_bytes(tmp_path: Path) -> None:
    """Of four answers of 400 kB two have room in a megabyte: those that were asked for last."""
    once = StateCache(tmp_path / "state.json", own_room=1_000_000)
    for key in "abcacd":
        once(key, lambda: b"x" * 400_000)
    assert [*once.sizes()] == ["c", "d"] and 800_000 <= sum(once.sizes().values()) <= 1_000_000
    once("large", lambda: b"x" * 1_600_000)
    assert [*once.sizes()] == ["large"]
    # An object that several have counts once, and one that has itself has an end.
    own: list[object] = [text := "x" * 1000, text]
    own.append(own)
    assert 1000 < size_of(own) < 1500


def test_what_another_site_makes_a_browser_ask_is_not_kept(tmp_path: Path) -> None:
    once, answers = StateCache(tmp_path / "state.json"), iter(range(9))
    token = KEEPS.set(False)
    try:
        assert [once("key", lambda: next(answers), asked=True) for _ in range(2)] == [0, 1]
        assert [once("own", lambda: next(answers)) for _ in range(2)] == [2, 2]
    finally:
        KEEPS.reset(token)
    assert [once("key", lambda: next(answers), asked=True) for _ in range(2)] == [3, 3]


def test_errors_take_no_place_of_answers(tmp_path: Path) -> None:
    """A hundred requests for what there is not let go of nothing."""
    once, answers = StateCache(tmp_path / "state.json", most=2), iter(range(9))
    once("key", lambda: next(answers))
    for number in range(100):
        with pytest.raises(ZeroDivisionError):
            once(number, lambda: 1 // 0)
    assert once("key", lambda: next(answers)) == 0


def test_who_waits_for_an_answer_that_fails_computes_it(tmp_path: Path) -> None:
    """The first begins, the second comes and waits; the first is stopped, as where its reader leaves."""
    once, begun, stop = StateCache(tmp_path / "state.json"), threading.Event(), threading.Event()

    def fail() -> int:
        begun.set()
        stop.wait(10)
        raise StoreError("stopped")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(once, "key", fail)
        begun.wait(10)
        second = pool.submit(once, "key", lambda: 2)
        wait([second], timeout=0.05)
        stop.set()
        assert second.result(10) == 2
        with pytest.raises(StoreError, match="stopped"):
            first.result(10)
