"""The index of a workspace, built: Oxigraph stores that are built once, named, and never changed.

A generation is a copy of the one before (hard links, milliseconds) with graphs removed and added, or is loaded
afresh from the workspace's files where much goes: removing a triple costs about three times as much as loading one.

    index/g000007/generation.json   the state that it belongs to; who reads the generation shares a lock on it
    index/g000007/SHA256SUMS        of the small files on which all others hang
    index/g000007/oxigraph/
"""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import pyoxigraph as ox

from remix.errors import Error, StoreError
from remix.files import open_bytes
from remix.places import folder_written, seal, verify
from remix.rdf.parsing import ShortLines, parse_long
from remix.store.problems import disk_error, guard, open_index
from remix.store.state import DATA, MADE, STATED, State, dump

_REMOVAL_COST = 3
_THREADS = 4
"""Graphs that are loaded at once, each of which holds up to a million triples in memory."""


def generation_of(folder: Path, state: State) -> Path | None:
    """Return the folder of the index of a state, None where it is gone.

    Raises `StoreError` where it is damaged, as far as its checksums tell.
    """
    place = folder / "index" / str(state.generation)
    if not (place / MADE["index"]).is_file() or not (place / "oxigraph" / "CURRENT").is_file():
        return None
    try:
        verify(place)
    except StoreError as error:
        raise StoreError(f"{error}: `remix rebuild -w {folder}` makes the index again from the datasets") from None
    return place / "oxigraph"


def build_generation(folder: Path, old: State, new: State) -> State:
    """Return the new state with the generation of the index that holds it; that of the old state is its beginning.

    Nothing of a generation that fails is left. Raises `StoreError` where the disk is full or a file is damaged.
    """
    graphs = new.graphs()
    if not graphs:
        return replace(new, generation=None)
    before = generation_of(folder, old) if old.generation else None
    held = old.graphs() if before else {}
    removed = [iri for iri in held if graphs.get(iri) != held[iri]]
    added = [iri for iri in graphs if held.get(iri) != graphs[iri]]
    cost = _REMOVAL_COST * sum(held[iri][1] for iri in removed)
    afresh = before is None or cost > sum(graphs[iri][1] for iri in graphs if iri not in added)
    by_size = sorted(graphs, key=lambda iri: (-graphs[iri][1], iri))
    made = _number(folder / "index", new)
    try:
        with folder_written(folder / "index" / str(made.generation), sealed=False) as place, guard("the index"):
            target = str(place / "oxigraph")
            if not afresh:
                open_index(before).backup(target)
            store = ox.Store(target)
            for iri in [] if afresh else removed:
                store.remove_graph(ox.NamedNode(iri))
            _bulk_load(store, {iri: folder / graphs[iri][0] for iri in by_size if afresh or iri in added})
            store.flush()
            del store
            (place / MADE["index"]).write_bytes(dump(made))
            seal(place, [place / MADE["index"], *(place / "oxigraph").glob("[CM]*")])  # CURRENT, MANIFEST
    except (OSError, SyntaxError, RuntimeError, Error) as error:
        raise StoreError(f"the workspace {folder} cannot be written: {disk_error(error)}; it is as it was") from None
    return made


def _number(folder: Path, state: State) -> State:
    """Return the state with a generation that there never was."""
    found = [re.fullmatch(r"g([0-9]{6,})", place.name) for place in folder.glob("g*")]
    number = max([state.generations, *(int(one[1]) for one in found if one)]) + 1
    return replace(state, generation=f"g{number:06d}", generations=number)


def _bulk_load(store: ox.Store, files: Mapping[str, Path]) -> None:
    """Load each file into the graph of its IRI; the larger ones should come first.

    Oxigraph sorts a graph of less than a million triples in one thread, so several graphs are loaded at once.
    """

    def load(iri: str) -> None:
        verify(files[iri].parent, files[iri].name)
        graph, long = ox.NamedNode(iri), list[bytes]()
        with open_bytes(files[iri], own=True) as stream:
            try:
                short = cast(BinaryIO, ShortLines(stream, long.append))
                store.bulk_load(short, ox.RdfFormat.N_TRIPLES, to_graph=graph, lenient=True)
                said = map(parse_long, long)
                store.bulk_extend(ox.Quad(one.subject, one.predicate, one.object, graph) for one in said)
            except OSError as error:  # else it would be taken for one of reading the file
                raise StoreError(disk_error(error)) from None
        # What is stated besides is in the same graph, and in no file that is exported.
        if files[iri].name == DATA and (stated := files[iri].with_name(STATED)).exists():
            verify(stated.parent, stated.name)
            with open_bytes(stated, own=True) as stream:
                store.bulk_load(stream, ox.RdfFormat.N_TRIPLES, to_graph=graph, lenient=True)

    # A graph that is loaded takes 200 MB of addresses, whatever its size.
    limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    with ThreadPoolExecutor(1 if limited else min(_THREADS, os.cpu_count() or 1)) as pool:
        for _ in pool.map(load, files):
            pass
