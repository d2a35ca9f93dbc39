"""How long the dictionary of a knowledge base takes, from staged rows to sorted Parquet, and how much memory.

`python bench/assemble_kb.py` generates rows with Zipf-distributed names and entities at a tenth of the size of DBpedia
English (`--scale full`: 20 million rows), assembles them in a process of its own, and prints a line of JSON.
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

import numpy as np
import polars as pl

from remix.kb.construction.assembly import Assembly, Rules
from remix.kb.engines import ENGINES, height
from remix.kb.staging import Staging

ROWS = {"full": 20_000_000, "tenth": 2_000_000, "hundredth": 200_000}
CHUNK = 1_000_000


def generate(folder: Path, rows: int, seed: int = 7) -> None:
    """Stage rows: a label for each entity, further names by popularity, counts for two rows in five."""
    random = np.random.default_rng(seed)
    entities = rows * 6 // 10
    staging = Staging(folder)
    for begin in range(0, rows, CHUNK):
        count = min(CHUNK, rows - begin)
        number = np.arange(begin, begin + count)
        drawn = (entities * random.random(count) ** 3).astype(np.int64)
        entity = np.where(number < entities, number, drawn)
        name = np.where(number < entities, number // 2, (rows * random.random(count) ** 4).astype(np.int64))
        counts = np.where(random.random(count) < 0.4, random.zipf(1.6, count).clip(1, 10**6), 0)
        made = pl.DataFrame({"entity": entity, "name": name, "count": counts}).select(
            surface_form=pl.format("Name of thing {} Ünïcode", "name"),
            entity=pl.format("http://dbpedia.org/resource/Thing_{}_of_this_world", "entity"),
            count=pl.when(pl.col("count") > 0).then("count"),
            source=pl.when(pl.col("count") > 0).then(pl.lit("anchor")).otherwise(pl.lit("label")),
        )
        staging.write("surface_forms", made)
    redirects = entities // 10
    target = random.integers(0, entities, redirects)
    staging.write(
        "redirects",
        pl.DataFrame({"a": np.arange(redirects), "b": target}).select(
            redirect=pl.format("http://dbpedia.org/resource/Thing_{}_of_this_world", "a"),
            target=pl.format("http://dbpedia.org/resource/Thing_{}_of_this_world", "b"),
            source=pl.lit("redirect"),
        ),
    )


def assemble(folder: Path, memory: str, engine: str) -> None:
    """Assemble what is staged; print rows, seconds and peak memory of this process."""
    staged = {table: sorted((folder / "staged" / table).glob("*.parquet")) for table in ("surface_forms", "redirects")}
    work, to = folder / "work", folder / "kb"
    work.mkdir()
    to.mkdir()
    begin, busy = time.perf_counter(), time.process_time()
    with ENGINES[engine].open(work, memory) as session:
        Assembly(session, staged, work, to, Rules()).run()
    took, busy = time.perf_counter() - begin, time.process_time() - busy
    rows = sum(height(file) for file in staged["surface_forms"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    used = {"seconds": round(took, 1), "CPU seconds": round(busy, 1), "rows a second": round(rows / took)}
    print(json.dumps({"what": f"dictionary by {engine}", "rows": rows, **used, "peak GB": round(peak, 2)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", choices=ROWS, default="tenth")
    parser.add_argument("--memory", default="3GB")
    parser.add_argument("--engine", choices=ENGINES.names(), default="duckdb")
    parser.add_argument("--folder", type=Path, help="where the files go; by default a temporary folder")
    parser.add_argument("--only", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        assemble(options.only, options.memory, options.engine)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        (Path(name) / "staged").mkdir()
        generate(Path(name) / "staged", ROWS[options.scale])
        own = ["--memory", options.memory, "--engine", options.engine]
        subprocess.run([sys.executable, __file__, "--only", name, *own], check=True)


if __name__ == "__main__":
    main()
