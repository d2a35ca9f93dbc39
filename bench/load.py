"""Measure loading a clean NIF file: parse, scope, write and bulk load, in triples a second, and peak memory.

python bench/load.py --triples 2000000
python bench/load.py --real      all real datasets by one `remix load`; data from REMIX_REAL_DATA
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pyoxigraph as ox
import zstandard
from generate_nif import generate
from real import DATA

from remix.formats import SourceFile
from remix.formats.nif.blocks import number_subjects
from remix.formats.nif.mentions import extract_tables
from remix.formats.nif.parsing import parse
from remix.formats.nif.scoping import scope
from remix.formats.repairs import RepairTally
from remix.rdf.ntriples import content_hash_of, write_ntriples
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
    tally = RepairTally()
    parsed = timed("parse", triples, lambda: parse(SourceFile(file), tally))
    timed("hash", triples, lambda: content_hash_of(parsed))
    numbered = timed("tell subjects apart", triples, lambda: number_subjects(parsed, tally))
    found = timed("documents, annotations", triples, lambda: extract_tables(numbered, IRI, tally))
    whole = timed("scope", triples, lambda: scope(numbered, found, IRI))
    target = folder / "data.nt.zst"
    timed("write N-Triples", triples, lambda: write_ntriples(whole.data, target))
    store = ox.Store(folder / "bare")
    with zstandard.open(target, "rb") as stream:
        timed("bulk load alone", whole.data.height, lambda: store.bulk_load(stream, format=ox.RdfFormat.N_TRIPLES))


def real_files() -> list[Path]:
    """Return the files whose counts are known, and the gold of ELEVANT, HIPE 2022 and the fine-grained evaluation."""
    found = []
    for name in ("nif_counts", "modern_counts"):
        with (DATA / "published" / f"{name}.csv").open(encoding="utf-8", newline="") as rows:
            found += [DATA / row["file"] for row in csv.DictReader(rows)]
    for pattern in ("elevant/benchmarks/*.benchmark.jsonl*", "hipe2022/gold/*", "emnlp2019/gold/*"):
        found += sorted(DATA.glob(pattern))
    return [file for file in dict.fromkeys(found) if file.exists()]


def load_real(folder: Path) -> None:
    """Load all real files by one command, each under the name of its path, as several have one name."""
    files = real_files()
    links = [folder / "real" / "-".join(file.relative_to(DATA).parts) for file in files]
    (folder / "real").mkdir()
    for link, file in zip(links, files, strict=True):
        link.symlink_to(file)
    call = [sys.executable, "-m", "remix", "load", *map(str, links), "-w", str(folder / "workspace"), "-o", "json"]
    before, begin = os.times(), time.perf_counter()
    done = subprocess.run(call, capture_output=True, text=True)
    took, after = time.perf_counter() - begin, os.times()
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    if not done.stdout:
        raise SystemExit(done.stderr)
    told = json.loads(done.stdout)
    refused = [one["error"] for one in told if one["error"]]
    documents, annotations = (sum(one[name] for one in told) for name in ("documents", "annotations"))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{len(told) - len(refused)} files, {documents:,} documents, {annotations:,} annotations: {took:.1f} s,")
    print(f"{busy:.1f} s CPU, {peak:,.0f} MB peak; {len(refused)} files are refused:", *refused, sep="\n  ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=2_000_000)
    parser.add_argument("--file", type=Path, default=None)
    parser.add_argument("--stages", action="store_true", help="the stages one by one instead of the whole load")
    parser.add_argument("--real", action="store_true", help="all real datasets by one command")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.real:
            load_real(folder)
            return
        file = options.file or folder / "synthetic.ttl"
        triples = options.triples if options.file else generate(options.triples, file)
        if options.stages:
            stages(file, triples, folder)
        else:
            timed("whole load", triples, lambda: Store(folder / "workspace").load(file))


if __name__ == "__main__":
    main()
