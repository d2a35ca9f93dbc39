"""Measure a CONSTRUCT in the papers' shape as Oxigraph runs it and rewritten, and replacing a dataset.

python bench/query.py --triples 200000
python bench/query.py --shipped work/        every shipped query on what a workspace holds; one that does not exist yet
                                             is made of all real data, enriched, with the runs of two systems
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from generate_nif import generate
from real import DATA, corpora

from remix.store import Store
from remix.store.queries import find, shipped_queries
from remix.store.rewrite import construct, plan

Result = TypeVar("Result")

BASIC = """CONSTRUCT { ?d ?dp ?do . ?m ?mp ?mo }
WHERE { ?d ?dp ?do . ?m ?mp ?mo ; nif:referenceContext ?d }"""
LIMITED = """CONSTRUCT { ?d ?dp ?do . ?m ?mp ?mo }
WHERE { ?d ?dp ?do . { SELECT DISTINCT ?d { ?set hfts:referenceDocuments ?d } ORDER BY ?d LIMIT 1000 }
  ?m ?mp ?mo ; nif:referenceContext ?d }"""
FILTERED = """CONSTRUCT { ?d ?dp ?do . ?m ?mp ?mo }
WHERE { ?d ?dp ?do . ?m ?mp ?mo ; nif:referenceContext ?d ; nif:beginIndex ?b .
  FILTER (?b > 100) FILTER EXISTS { ?m itsrdf:taIdentRef ?e } }"""


def timed(what: str, work: Callable[[], Result]) -> tuple[Result, float]:
    """Print how long some work takes, on the clock and on the processor; return the result and the latter."""
    begin, busy = time.perf_counter(), time.process_time()
    result = work()
    took, busy = time.perf_counter() - begin, time.process_time() - busy
    print(f"{what:28} {took:8.2f} s {busy:8.2f} s CPU", flush=True)
    return result, busy


def compared(store: Store, name: str, text: str) -> None:
    """Measure one query both ways; the triples must be the same."""
    index = store.index()
    how = plan(text)
    direct, slow = timed(f"{name}, direct", lambda: sorted(index.triples(how.text)))
    rewritten, fast = timed(f"{name}, rewritten", lambda: construct(index, plan(text)))
    assert rewritten == direct
    print(f"{name}: the same {len(direct):,} triples, with {slow / fast:.1f} times less CPU\n", flush=True)


def replaced(store: Store, file: Path, triples: int) -> None:
    """Measure a file that has changed against loading it the first time, beside a dataset that stays."""
    _, first = timed("load", lambda: store.load(file, name="changing"))
    generate(triples, file, seed=1)
    done, again = timed("load again, changed", lambda: store.load(file, name="changing"))
    assert done.status == "replaced"
    print(f"replacing takes {again / first:.2f} times the loading\n")


def make(workspace: Path) -> None:
    """Load all real data into a workspace, measure them with the real kb, and keep the runs of two systems."""
    modern = [file for file in (DATA / "modern").rglob("*") if file.is_file() and file.suffix != ".md"]
    modern = [file for file in modern if not {"queries", "kgqa"} & set(file.parts) and file.stem != "MANIFEST"]
    others = [*(DATA / "elevant" / "benchmarks").iterdir(), *(DATA / "hipe2022" / "gold").iterdir(), *modern]
    steps: list[list[str]] = [
        ["kb", "build", "--from", "tables", str(DATA / "kb"), "--name", "slice", "--without-source", "gold:*"],
        ["load", *corpora(), *(str(file) for file in sorted(others)), "-o", "json"],
        ["enrich", "-o", "json"],
        ["annotate", "--system", "prior", "--system", "random-candidate"],
        ["evaluate", "--task", "A2KB", "--match", "strong", "--store", "-o", "json"],
    ]
    for step in steps:
        names = [entry.name for entry in Store(workspace).datasets()] if step[0] == "evaluate" else []
        begin = time.perf_counter()
        command = [sys.executable, "-m", "remix", step[0], *names, *step[1:], "-w", str(workspace)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # What is no dataset among the files is refused, which ends the load with 1.
        if done.returncode and step[0] != "load":
            raise SystemExit(done.stderr)
        print(f"{step[0]:28} {time.perf_counter() - begin:8.2f} s", flush=True)


def asked(store: Store) -> None:
    """Measure every shipped query that asks no other endpoint, with its defaults."""
    index = store.index()
    print(f"{len(index):,} triples\n")
    for name in shipped_queries():
        text = find(name).bind({})
        if "SERVICE" not in text:
            how = plan(text)
            timed(name, lambda how=how: construct(index, how) if how.selection else index.frame(how.text))  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=200_000)
    parser.add_argument("--shipped", type=Path, metavar="WORKSPACE")
    options = parser.parse_args()
    if options.shipped:
        if not options.shipped.exists():
            make(options.shipped)
        asked(Store(options.shipped))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = Store(folder / "workspace")
        generate(options.triples, folder / "corpus.ttl")
        timed("load", lambda: store.load(folder / "corpus.ttl"))
        for title, text in (("basic", BASIC), ("limited", LIMITED), ("filtered", FILTERED)):
            compared(store, title, text)
        generate(options.triples, folder / "changing.ttl", seed=2)
        replaced(store, folder / "changing.ttl", options.triples)


if __name__ == "__main__":
    main()
