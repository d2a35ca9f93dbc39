"""A workspace's state and index made again from its folders, each of which says what it holds (`MADE`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from remix.errors import StoreError
from remix.places import SUMS, is_sound, verify
from remix.store.generations import build_generation
from remix.store.state import MADE, Attached, DatasetEntry, State, clean, lock_workspace, read_state, write_state

_TABLE = ["what", "name", "status", "do"]
_Rows = list[tuple[str, str, str, str]]
_WRONG = (StoreError, TypeError, KeyError, AttributeError, ValueError)
"""What is raised of a folder that does not hold what it says, or says nothing."""


def rebuild(folder: Path) -> pl.DataFrame:
    """Return a row for each dataset and graph of a workspace, after its state and index were made again.

    `status` is 'kept', or what is wrong with it and where it was put, `do` what brings it back. Every file is compared
    with its checksum. A state that can be read says what the workspace holds; else its folders do, the newest of a
    name, and a damaged state stays beside the new one. Raises `StoreError` where remix has made nothing in the folder,
    or where another process writes.
    """
    try:
        before = read_state(folder)
        if before == State():
            raise StoreError(f"there is no workspace in {folder}: `remix load FILE -w {folder}` makes one")
        named = {Path(file).parent.as_posix() for file, _ in before.graphs().values()}
    except StoreError:
        before, named = State(), None
        if not any(_list_made(folder, "datasets", None)):
            raise
    rows: _Rows = []
    with lock_workspace(folder):
        new = State(kb=before.kb if named is not None else _only_kb(folder))
        for kind, add in (("datasets", _with_dataset), ("enrichments", _with_graph)):
            for place, said in _list_made(folder, kind, named):
                new = add(new, place, said, rows)
        if new.kb and (folder / new.kb / SUMS).exists() and not is_sound(folder / new.kb):
            rows.append(("knowledge base", Path(new.kb).name, "damaged, and stays attached", "remix kb build …"))
        if named is None:
            _put_by(folder / "state.json", "damaged")
        # Nothing of an index that may be damaged is taken over.
        write_state(folder, built := build_generation(folder, State(), new))
        clean(folder, built)
    for entry in before.datasets.values():
        if entry.name not in new.datasets and not any(row[:2] == ("dataset", entry.name) for row in rows):
            rows.append(("dataset", entry.name, f"{entry.folder} is gone", f"remix load {entry.source}"))
    return pl.DataFrame(sorted(rows), schema=_TABLE, orient="row")


def _list_made(folder: Path, kind: str, named: set[str] | None) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield what remix made of a kind, of that what is named if a state is there, with what it says of itself."""
    found = [file for file in (folder / kind).glob(f"*/{MADE[kind]}") if not file.parent.name.startswith(".")]
    for file in sorted(found, key=lambda file: (file.stat().st_mtime_ns, file)):
        if named is None or f"{kind}/{file.parent.name}" in named:
            try:
                said = json.loads(file.read_bytes())
            except (OSError, ValueError):
                said = {}
            yield file.parent, said if isinstance(said, dict) else {}


def _with_dataset(state: State, place: Path, said: dict[str, Any], rows: _Rows) -> State:
    try:
        verify(place)
        entry = DatasetEntry.of(said)
    except _WRONG as error:
        source, name = said.get("source"), str(said.get("name", place.name))
        rows.append(("dataset", name, _set_aside(place, error), f"remix load {source or 'FILE'} --name {name}"))
        return state
    _keep("dataset", entry.name, rows)
    return state.put(entry)


def _with_graph(state: State, place: Path, said: dict[str, Any], rows: _Rows) -> State:
    name, graph = str(said.get("dataset", place.name)), str(said.get("graph", "enrichment"))
    try:
        verify(place)
        held = Attached(f"enrichments/{place.name}/graph.nt.zst", int(said["triples"]), str(said["signature"]))
    except _WRONG as error:
        again = "remix enrich" if graph == "enrichment" else f"remix evaluate {name} --store"
        rows.append(("graph", f"{name}#{graph}", _set_aside(place, error), again))
        return state
    entry = state.datasets.get(name)
    if entry is None or (entry.content, entry.iri) != (said.get("content"), said.get("iri")):
        return state
    _keep("graph", f"{name}#{graph}", rows)
    return state.put(entry.beside(graph, held))


def _keep(what: str, name: str, rows: _Rows) -> None:
    """Add the row of what is kept, in the place of an older one of its name."""
    rows[:] = [row for row in rows if row[:3] != (what, name, "kept")] + [(what, name, "kept", "")]


def _set_aside(place: Path, error: Exception) -> str:
    """Return what is wrong with a folder, which has a name now under which nobody removes it."""
    return f"{str(error).partition(': `')[0]}; it is in {_put_by(place, 'damaged')}"


def _put_by(place: Path, ending: str) -> Path:
    if not place.exists():
        return place
    names = (place.with_name(f"{place.name}.{ending}{number}") for number in ("", *range(2, 1000)))
    return place.rename(next(name for name in names if not name.exists()))


def _only_kb(folder: Path) -> str | None:
    """Return the knowledge base of a workspace where there is one, not more."""
    found = sorted((folder / "kb").glob("*/kb.json"))
    return found[0].parent.relative_to(folder).as_posix() if len(found) == 1 else None
