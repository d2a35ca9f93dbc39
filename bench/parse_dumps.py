"""Time and memory of reading dumps: decompress, parse, make IRIs canonical and keys, write Parquet.

    python bench/parse_dumps.py [--scale full|tenth|hundredth] [--only labels,redirects] [--dumps FOLDER]

Generates labels, redirects and disambiguations (full: 20 million rows together) as .ttl.bz2, reads them as
`remix kb build --from dbpedia` does, and prints a line of JSON for each file and for all: rows a second, and the most
memory that the process has needed so far.
`--dumps` reads a folder that is there, or keeps what is generated in it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from remix.kb.sources import SOURCES, Choices
from remix.kb.staging import Staging

ROWS = {"full": 20_000_000, "tenth": 2_000_000, "hundredth": 200_000}


def generate(folder: Path, rows: int, only: str) -> None:
    """Have the dumps written by a process of its own, so that its memory is not counted."""
    generator = Path(__file__).with_name("generate_dumps.py")
    command = [sys.executable, str(generator), str(folder), "--rows", str(rows), "--only", only]
    subprocess.run(command, check=True, stdout=sys.stderr)


def read(folder: Path) -> None:
    """Read all parts one after another and print what each took."""
    total, seconds, cores = 0, 0.0, 0.0
    for part in SOURCES["dbpedia"].parts(str(folder), Choices(languages=("en",))):
        with tempfile.TemporaryDirectory() as name:
            staging = Staging(Path(name))
            begin, busy = time.perf_counter(), time.process_time()
            part.read(staging)
            took, busy = time.perf_counter() - begin, time.process_time() - busy
        rows = max(staging.rows.values())
        wrong = sum(problem.count for problem in staging.problems.values())
        total, seconds, cores = total + rows, seconds + took, cores + busy
        tell(part.name, rows, took, busy, {"MB on disk": round(part.size / 1e6, 1), "problems": wrong})
    tell("all", total, seconds, cores, {})


def tell(what: str, rows: int, took: float, busy: float, more: dict[str, float]) -> None:
    """Print what reading some rows took."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    used = {"seconds": round(took, 1), "CPU seconds": round(busy, 1), "rows a second": round(rows / took)}
    print(json.dumps({"what": what, "rows": rows, **used, "peak GB": round(peak, 2), **more}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=ROWS, default="tenth")
    parser.add_argument("--only", default="labels,redirects,disambiguations")
    parser.add_argument("--dumps", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.dumps or Path(name)
        if not folder.is_dir() or not any(folder.iterdir()):
            generate(folder, ROWS[options.scale], options.only)
        read(folder)


if __name__ == "__main__":
    main()
