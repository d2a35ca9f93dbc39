"""What of the algebra of SPARQL queries go through: functions of the modules that read, rewrite and write them.

    python bench/algebra.py [--queries FOLDER …]

Each shipped query, and each file of the folders, is asked of the sample corpus as `remix query` does, built as a remix,
and shown as the one CONSTRUCT that it stands for. Printed are, for each module, how many queries pass it on which of
these ways, and the functions that none of them calls.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pyoxigraph as ox

from remix.errors import Error
from remix.store.index import Index
from remix.store.missing import Known, missing
from remix.store.permission import permit
from remix.store.queries import find, shipped_queries
from remix.store.rewrite import construct, plan
from remix.workspace import Workspace

MODULES = {
    (module := importlib.import_module(f"remix.store.{name}")).__file__: name
    for name in ("tree", "rewrite", "serialise", "syntax", "permission", "missing")
}


def called_by(work: Callable[[], object]) -> set[tuple[str, str]]:
    """Return the functions of the modules that some work calls."""
    found: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (name := MODULES.get(frame.f_code.co_filename)):
            found.add((name, frame.f_code.co_name))

    sys.setprofile(note)
    try:
        work()
    except Error as error:
        print(f"  refused: {str(error)[:110]}")
    finally:
        sys.setprofile(None)
    return found


def asked(store: ox.Store, path: Path, text: str) -> None:
    """Ask a query as the process of a worker does."""
    how = plan(permit(text, graphs=[graph.value for graph in store.named_graphs()]))
    if how.selection is not None:
        construct(Index(path, store), how)
    missing(text, Known(store))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", nargs="*", type=Path, default=[])
    options = parser.parse_args()
    queries = {name: find(name) for name in shipped_queries()}
    queries |= {str(file): find(str(file)) for folder in options.queries for file in sorted(folder.glob("*.rq"))}
    ways: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    every: set[tuple[str, str]] = set()
    with tempfile.TemporaryDirectory() as folder:
        work = Workspace(Path(folder))
        work.stats()  # takes the sample corpus
        path = work.store.index().path
        assert path is not None
        store = ox.Store.read_only(str(path))
        for name, query in queries.items():
            print(name, flush=True)
            for way, ask in {
                "asked": lambda query=query: asked(store, path, query.bind({})),
                "built": lambda query=query: work.build(query),
                "shown": lambda name=name: work.show(name, construct=True),
            }.items():
                called = called_by(ask)
                every |= called
                for module in {module for module, _ in called}:
                    ways[module][way].add(name)
    print(f"\n{len(queries)} queries")
    for file, module in MODULES.items():
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        passed = ", ".join(f"{len(names)} {way}" for way, names in ways[module].items())
        print(f"{module}: {passed}; never called: {sorted(defined - {name for one, name in every if one == module})}")


if __name__ == "__main__":
    main()
