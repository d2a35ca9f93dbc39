"""Time of a first enrichment: all real NIF and the EMNLP 2019 gold, with the real slice of a knowledge base.

    python bench/enrich.py [--data FOLDER] [--runs 3]

Prints one JSON object with the seconds (median of the runs) of building the knowledge base and, after the store is
open, of reading the frames, of the measures and of the triples. The dictionary leaves out what came from gold.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from remix import __version__
from remix.errors import Error
from remix.kb import KnowledgeBase, build
from remix.measures import Measured, compute
from remix.measures.enrichment import named_frames
from remix.store import Store

Result = TypeVar("Result")
CHECKOUT = Path(__file__).resolve().parent.parent
SUFFIXES = (".ttl", ".nt", ".nif", ".rdf", ".ttl.gz", ".nt.gz", ".ttl.bz2")


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    begin = time.perf_counter()
    made = work()
    return time.perf_counter() - begin, made


def load_all(store: Store, data: Path) -> list[str]:
    refused = []
    files = [*(data / "nif").rglob("*"), *(data / "emnlp2019" / "gold").iterdir()]
    for file in sorted(path for path in files if path.name.endswith(SUFFIXES) and path.parent.name != "not-nif"):
        name = f"{file.parent.name}-{file.name.split('.')[0]}".lower().replace("_", "-").replace(" ", "-")
        try:
            store.load(file, name=name)
        except Error as error:
            refused.append(f"{file.name}: {error}"[:200])
    return refused


def enriched(store: Store, kb: Path) -> tuple[Measured, list[bytes], dict[str, float]]:
    fresh = KnowledgeBase.open(kb)  # nothing of it is read yet
    reading, frames = timed(lambda: named_frames(store))
    measuring, measured = timed(lambda: compute(frames, fresh))
    writing, graphs = timed(lambda: [measured.triples(entry.name, entry.iri) for entry in store.datasets()])
    taken = {"frames": reading, "measures": measuring, "triples": writing, "all": reading + measuring + writing}
    return measured, graphs, taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("REMIX_REAL_DATA", CHECKOUT.parent / "shared" / "data")
    )
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        workspace = Path(place) / ".remix"
        building, kb = timed(
            lambda: build(
                [("tables", str(options.data / "kb"))], Path(place) / "kb", name="slice", without_sources=["gold:*"]
            )
        )
        store = Store(workspace)
        refused = load_all(store, Path(options.data))
        seconds: dict[str, list[float]] = {"frames": [], "measures": [], "triples": [], "all": []}
        for _ in range(options.runs):
            measured, graphs, taken = enriched(store, kb.folder)
            for name, value in taken.items():
                seconds[name].append(value)
        names = [entry.name for entry in store.datasets()]
        storing, _ = timed(lambda: store.enrich(dict(zip(names, graphs, strict=True)), "bench"))
    found = {
        "datasets": len(graphs),
        "annotations": measured.annotations.height,
        "triples written": sum(graph.count(b"\n") for graph in graphs),
        "knowledge base": round(building, 2),
        **{name: round(statistics.median(values), 2) for name, values in seconds.items()},
        "storing": round(storing, 2),
        "refused": refused,
        "remix": __version__,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
