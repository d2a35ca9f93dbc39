"""Measure loading a clean NIF file: parse, scope, write and bulk load, in triples a second, and peak memory.

python bench/load.py --triples 2000000
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pyoxigraph as ox
import zstandard
from generate_nif import generate

from remix.formats import SourceFile
from remix.formats.nif.blocks import number_subjects
from remix.formats.nif.mentions import extract_tables
from remix.formats.nif.parsing import content_hash_of, parse
from remix.formats.nif.scoping import scope
from remix.rdf.ntriples import write_ntriples
from remix.store import Store

Result = TypeVar("Result")
IRI = "urn:remix:dataset:bench"


def timed(what: str, triples: int, work: Callable[[], Result]) -> Result:
    """Print how many triples a second some work handles, and how much memory the process has needed so far."""
    begin, busy = time.perf_counter(), time.process_time()
    result = work()
    took, busy = time.perf_counter() - begin, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{what:24} {took:7.2f} s {busy:7.2f} s CPU {triples / took:12,.0f} triples/s {peak:8,.0f} MB peak", flush=True
    )
    return result


def stages(file: Path, triples: int, folder: Path) -> None:
    """Measure the stages one by one."""
    text = timed("parse", triples, lambda: parse(SourceFile(file)))
    timed("hash", triples, lambda: content_hash_of(text.triples))
    numbered = timed("tell subjects apart", triples, lambda: number_subjects(text.triples))
    found = timed("documents, annotations", triples, lambda: extract_tables(numbered, IRI, text.mends))
    whole = timed("scope", triples, lambda: scope(numbered, found, IRI))
    target = folder / "data.nt.zst"
    timed("write N-Triples", triples, lambda: write_ntriples(whole.data, target))
    store = ox.Store(folder / "bare")
    with zstandard.open(target, "rb") as stream:
        timed("bulk load alone", whole.data.height, lambda: store.bulk_load(stream, format=ox.RdfFormat.N_TRIPLES))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=2_000_000)
    parser.add_argument("--file", type=Path, default=None)
    parser.add_argument("--stages", action="store_true", help="the stages one by one instead of the whole load")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = options.file or folder / "synthetic.ttl"
        triples = options.triples if options.file else generate(options.triples, file)
        if options.stages:
            stages(file, triples, folder)
        else:
            timed("whole load", triples, lambda: Store(folder / "workspace").load(file))


if __name__ == "__main__":
    main()
