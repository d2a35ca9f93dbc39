"""Copies of a workspace that fixtures made once, and indexes without one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyoxigraph as ox

from remix.store.index import Index
from remix.workspace import Workspace


def index_of(graphs: Mapping[str, bytes]) -> Index:
    """Return an index of graphs that are on no disk: IRI to N-Triples."""
    store = ox.Store()
    for iri, triples in graphs.items():
        store.load(triples, ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode(iri))
    return Index(None, store)


def copy_workspace(folder: Path, to: Path) -> Workspace:
    """Return a copy of a workspace that a test may change.

    The tables of an index are most of its bytes and never written again, so the copy has links to them.
    """
    shutil.copytree(folder, to, copy_function=_link_table)
    return Workspace(to)


def _link_table(source: str, target: str) -> str:
    if source.endswith(".sst"):
        os.link(source, target)
        return target
    return shutil.copy2(source, target)
