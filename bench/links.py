"""Time and memory of page links from text to prominence, as `remix kb build --from dbpedia` goes through them.

    python bench/links.py [--scale full|tenth|hundredth] [--dumps FOLDER] [--suffix .ttl.bz2] [--memory 3GB]

Generates redirects and page links (full: 200 million rows between 12 million entities; `--dumps` keeps or has them),
reads them into Parquet, gives each IRI its number, and computes PageRank and HITS until they settle. Prints one line
of JSON for each stage; all run in one process, whose peak of memory so far each line says. Files of 200 million rows
are written as .zst: compressing as many as .bz2 takes an hour of a core, reading them 9 minutes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from remix.kb import relations
from remix.kb.engines import ENGINES, height
from remix.kb.prominence.graph import number_graph, rank_nodes
from remix.kb.sources import SOURCES, Choices
from remix.kb.staging import Staging

SCALES = {"full": 1, "tenth": 10, "hundredth": 100}
ROWS, LINKS, NODES = 20_000_000, 200_000_000, 12_000_000
"""Labels, redirects and disambiguations together, of which a quarter are redirects; page links; entities."""


def generate(folder: Path, share: int, suffix: str) -> None:
    """Have the dumps written by a process of its own, so that its memory is not counted."""
    sizes = {"--rows": ROWS // share, "--links": LINKS // share, "--nodes": NODES // share}
    options = [str(word) for option in sizes.items() for word in option]
    generator = str(Path(__file__).with_name("generate_dumps.py"))
    command = [sys.executable, generator, str(folder), *options, "--only", "redirects,links", "--suffix", suffix]
    subprocess.run(command, check=True, stdout=sys.stderr)


@contextmanager
def told(what: str) -> Iterator[dict[str, int]]:
    """Print what the block took; it says how many rows it was."""
    begin, busy, found = time.perf_counter(), time.process_time(), dict[str, int]()
    yield found
    took, cores = time.perf_counter() - begin, time.process_time() - busy
    rate = {"rows a second": round(found["rows"] / took)} if "rows" in found else {}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    used = {"seconds": round(took, 1), "CPU seconds": round(cores, 1), **rate, "peak GB": round(peak, 2)}
    print(json.dumps({"what": what, **found, **used}), flush=True)


def work(dumps: Path, folder: Path, memory: str) -> None:
    """Go through the stages in a folder."""
    staged: dict[str, list[Path]] = {}
    with told("all"):
        for part in SOURCES["dbpedia"].parts(str(dumps), Choices(languages=("en",))):
            staging = Staging(folder / part.name)
            with told(f"read {part.name}") as found:
                part.read(staging)
                found["rows"] = max(staging.rows.values())
            for table in staging.rows:
                staged[table] = sorted((folder / part.name / table).glob("*.parquet"))
        resolution, nodes, edges = (folder / f"{name}.parquet" for name in ("resolution", "nodes", "edges"))
        with ENGINES["duckdb"].open(folder, memory) as session:
            # One in twenty leads to a redirect again, which a build follows; the joins are the same without.
            with told("redirects"):
                first = relations.first_targets(session.scan(staged["redirects"]))
                session.write(first, resolution, ["iri"])
            with told("numbers of IRIs") as found:
                found["rows"] = sum(height(file) for file in staged["links"])
                number_graph(session, session.scan(staged["links"]), resolution, folder, nodes, edges)
            with told("PageRank, HITS, ranks") as found:
                rank_nodes(session, staged["links"], resolution, folder)
                found |= {"nodes": height(nodes), "edges": height(edges)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=SCALES, default="tenth")
    parser.add_argument("--dumps", type=Path, help="where the generated files are, or are to be kept")
    parser.add_argument("--suffix", help="of the files: .ttl.bz2, at the full scale .ttl.zst")
    parser.add_argument("--memory", default="3GB", help="what the engine may use")
    parser.add_argument("--folder", type=Path, help="where what is made goes; by default a temporary folder")
    options = parser.parse_args()
    suffix = options.suffix or (".ttl.zst" if options.scale == "full" else ".ttl.bz2")
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        dumps = options.dumps or Path(place) / "dumps"
        if not dumps.is_dir() or not any(dumps.iterdir()):
            generate(dumps, SCALES[options.scale], suffix)
        work(dumps, Path(place), options.memory)


if __name__ == "__main__":
    main()
