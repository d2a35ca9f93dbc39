"""Nobody loses a file: whose a folder is, what is done about damage, and what readers see while others write."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from remix.errors import StoreError
from remix.store import Store
from remix.store.loading import load
from remix.store.rebuilding import rebuild
from remix.workspace import Workspace
from tests.commands import run_verb
from tests.processes import PythonProcess

TRIPLE = b"<urn:a> <urn:b> <urn:c> .\n"


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    """A folder of the user's that has folders of the names that a workspace has."""
    folder = tmp_path / "project"
    for name in ("datasets/a.ttl", "index/notes/b.txt", "enrichments/c.nt.zst", "runs/d.txt"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("mine")
    return folder


def test_folder_that_is_no_workspace_is_refused_by_writers_and_readers(own_folder: Path, rivers: Path) -> None:
    before = files(own_folder)
    workspace = Workspace(own_folder)
    for verb in (
        lambda: workspace.load([rivers]),
        lambda: workspace.query("ASK {}"),
        lambda: workspace.drop(["rivers"]),
        lambda: workspace.attach_kb(),
        lambda: workspace.annotate([], ["prior"]),
        lambda: rebuild(own_folder),
        workspace.datasets,
    ):
        with pytest.raises(StoreError, match=r"project is no workspace .* other things: name another .*/\.remix"):
            verb()
    assert files(own_folder) == before


def test_state_of_another_program_is_no_workspace(own_folder: Path, rivers: Path) -> None:
    for content in ('{"version": 1, "datasets": []}', "{}", "[]", "text", "7"):
        (own_folder / "state.json").write_text(content)
        with pytest.raises(StoreError, match="no workspace|earlier version"):
            Store(own_folder).load(rivers)
    assert (own_folder / "datasets" / "a.ttl").read_text() == "mine"


def test_file_that_is_named_as_workspace_is_refused(rivers: Path) -> None:
    with pytest.raises(StoreError, match="is a file: name a folder with -w"):
        Store(rivers).datasets()


def test_refused_load_into_an_empty_folder_leaves_a_workspace_that_can_be_used(
    tmp_path: Path, store: Store, rivers: Path
) -> None:
    store.folder.mkdir()
    bad = tmp_path / "bad.ttl"
    bad.write_text("<a> <b")
    assert [one.status for one in load(store, [str(bad)])] == ["refused"]
    assert store.load(rivers).status == "loaded"


def test_missing_state_is_an_error_that_says_how_to_recover_and_nothing_is_removed(store: Store, rivers: Path) -> None:
    store.load(rivers)
    (store.folder / "state.json").unlink()
    before = files(store.folder)
    for verb in (store.datasets, store.index, lambda: store.load(rivers), lambda: store.drop("rivers")):
        with pytest.raises(StoreError, match=r"state\.json is gone, and datasets are beside it: `remix rebuild -w "):
            verb()
    assert files(store.folder) == before


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("damage", ["gone", "cut short", "a bit flipped", "index gone as well"])
def test_rebuild_makes_the_state_again_from_the_folders(
    damage: str, store: Store, rivers: Path, make_corpus: Callable[..., Path]
) -> None:
    store.load(rivers)
    store.load(make_corpus("hills", {"d1": "A Jura hill."}, Jura="Jura_Mountains"))
    store.enrich({"rivers": TRIPLE}, "first")
    store.enrich({"rivers": TRIPLE + b"<urn:a> <urn:b> <urn:d> .\n"}, "second")
    store.attach({"hills": {"run-a": (TRIPLE, "s")}})
    before, count = store.state, len(store.index())
    file = store.folder / "state.json"
    content = file.read_bytes()
    file.write_bytes(content[:-100] if damage == "cut short" else content.replace(b'"second"', b'"secone"'))
    if damage.endswith(("gone", "well")):
        file.unlink()
    if damage == "index gone as well":
        shutil.rmtree(store.folder / "index")
    with pytest.raises(StoreError, match="remix rebuild"):
        store.datasets()
    table = rebuild(store.folder)
    assert table.select("what", "name", "status").rows() == [
        ("dataset", "hills", "kept"),
        ("dataset", "rivers", "kept"),
        ("graph", "hills#run-a", "kept"),
        ("graph", "rivers#enrichment", "kept"),
    ]
    assert store.state.datasets == before.datasets
    assert len(store.index()) == count
    assert (store.folder / "state.json.damaged").exists() == (not damage.endswith(("gone", "well")))


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("damage", [flip, empty, Path.unlink])
@pytest.mark.parametrize(
    "name", ["datasets/*/data.nt.zst", "datasets/*/annotations.parquet", "datasets/*/load.json", "enrichments/*/*.zst"]
)
def test_damaged_file_of_a_workspace_is_an_error_that_says_what_to_do(
    name: str, damage: Callable[[Path], None], store: Store, rivers: Path
) -> None:
    store.load(rivers)
    store.enrich({"rivers": TRIPLE}, "s")
    (file,) = store.folder.glob(name)
    damage(file)
    entry = store.dataset("rivers")
    reads = {
        "data.nt.zst": lambda: store.triples(f"{entry.folder}/data.nt.zst"),
        "annotations.parquet": store.frames,
        "load.json": lambda: store.report("rivers"),
        "graph.nt.zst": lambda: store.triples(str(entry.enrichment_file)),
    }
    with pytest.raises(StoreError, match=rf"{file.name} is (damaged|gone).*`remix rebuild -w .*`"):
        reads[file.name]()
    (row,) = rebuild(store.folder).filter(pl.col("status") != "kept").rows(named=True)
    assert row["what"] == ("graph" if file.name == "graph.nt.zst" else "dataset")
    assert ".damaged" in row["status"]
    assert row["do"].startswith("remix enrich" if row["what"] == "graph" else f"remix load {rivers}")
    assert store.load(rivers).status == ("unchanged" if row["what"] == "graph" else "loaded")
    assert store.frames().annotations.height == 3


def test_loading_a_file_again_mends_its_damaged_dataset(store: Store, rivers: Path) -> None:
    store.load(rivers)
    (file,) = store.folder.glob("datasets/*/annotations.parquet")
    flip(file)
    assert store.load(rivers).status == "replaced"
    assert store.frames().annotations.height == 3


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("damage", [flip, empty, Path.unlink])
@pytest.mark.parametrize("name", ["CURRENT", "MANIFEST-*", "*.sst"])
def test_damaged_index_never_ends_in_another_librarys_error(
    name: str, damage: Callable[[Path], None], store: Store, rivers: Path
) -> None:
    store.load(rivers)
    index = store.index()
    for file in (store.folder / "index" / "g000001" / "oxigraph").glob(name):
        damage(file)
    del index
    try:
        for query in ("SELECT * { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }"):
            Workspace(store.folder).query(query)
            store.index().triples(query)
    except StoreError as error:
        assert "remix rebuild" in str(error)
    rebuild(store.folder)
    assert len(store.index()) > 20


def test_several_files_are_one_write(store: Store, rivers: Path, make_corpus: Callable[..., Path]) -> None:
    more = [make_corpus(name, {"d1": f"The {name} hill."}, **{name: name}) for name in ("Jura", "Rigi", "Napf")]
    outcomes = load(store, [str(file) for file in (rivers, *more)])
    assert [one.status for one in outcomes] == ["loaded"] * 4
    assert store.state.generation == "g000001"
    assert len(store.datasets()) == 4


@pytest.mark.long
def test_generation_lives_while_somebody_reads_it(
    store: Store, rivers: Path, make_corpus: Callable[..., Path], python: Callable[..., subprocess.Popen[str]]
) -> None:
    store.load(rivers)
    # The other process holds the state, and reads index and frames only after the dataset was dropped.
    program = """import sys
from remix.store import Store
store = Store(sys.argv[1])
with store.hold_state():
    index = store.index()
    print("reading", flush=True)
    sys.stdin.readline()
    print(len(index), store.frames().annotations.height, flush=True)
"""
    command = ["-c", program, str(store.folder)]
    with PythonProcess(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdin is not None and reader.stdout is not None
        assert reader.stdout.readline() == "reading\n"
        count = len(store.index())
        store.drop("rivers")
        store.load(make_corpus("hills", {"d1": "A Jura hill."}, Jura="Jura_Mountains"))
        assert sorted(place.name for place in (store.folder / "index").iterdir()) == ["g000001", "g000002"]
        print("go on", file=reader.stdin, flush=True)
        assert reader.stdout.readline() == f"{count} 3\n"
    store.drop("hills")
    assert not list((store.folder / "index").iterdir())
    assert not list((store.folder / "datasets").iterdir())


def test_state_is_one_throughout_a_block_that_holds_it(store: Store, rivers: Path) -> None:
    store.load(rivers)
    other = Store(store.folder)
    with store.hold_state():
        assert len(store.datasets()) == 1
        other.drop("rivers")
        assert store.frames().annotations.height == 3
    assert store.datasets() == []


@pytest.mark.long
def test_queries_beside_a_writer_all_answer(
    store: Store, rivers: Path, make_corpus: Callable[..., Path], python: Callable[..., subprocess.Popen[str]]
) -> None:
    store.load(rivers)
    hills = make_corpus("hills", {"d1": "A Jura hill."}, Jura="Jura_Mountains")
    program = """import sys
from remix.store import Store
store = Store(sys.argv[1])
for _ in range(4):
    store.load(sys.argv[2])
    store.drop("hills")
"""
    with python(program, store.folder, hills) as writer:
        found = []
        while writer.poll() is None:
            answer = Workspace(store.folder).query("SELECT (COUNT(?a) AS ?n) { ?a a nif:Phrase }")
            found.append(answer.table["n"][0])
        assert writer.returncode == 0
    assert set(found) <= {3, 4}


def test_rebuild_command_says_what_is_damaged_and_what_brings_it_back(store: Store, rivers: Path) -> None:
    store.load(rivers)
    (file,) = store.folder.glob("datasets/*/links.parquet")
    empty(file)
    done = run_verb("rebuild", "-w", str(store.folder), "-o", "json")
    (row,) = json.loads(done.stdout)
    assert (row["name"], row["do"]) == ("rivers", f"remix load {rivers} --name rivers")
    assert done.returncode == 1
    assert "0 datasets and graphs are kept, 1 are damaged" in done.stderr
