"""NIF that is larger than memory: streaming it into frames on one core, and all measures of the frames.

    python bench/streaming.py [--scale full] [--folder FOLDER]

Generates a million annotations (`--scale full`: ten) of the shape of DBpedia's Wikipedia with a knowledge base that
fits, unless FOLDER has them already. Prints one JSON object: annotations a minute from .bz2 on one core, seconds of
all measures, and the peak of memory of each, which runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generate_wikipedia_nif import generate

from remix import __version__
from remix.formats.nif.streaming import stream
from remix.frames_folder import FramesFolder
from remix.kb import KnowledgeBase, build
from remix.measures import compute_folder

SCALES = {"hundredth": 100_000, "tenth": 1_000_000, "full": 10_000_000}


def stage(name: str, folder: Path) -> dict[str, object]:
    """Return seconds, peak memory and a count of one stage, which runs in this process."""
    begin = time.perf_counter()
    if name == "stream":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        done = stream(sorted(folder.glob("nif-*.bz2")), folder / "frames", replace=True)
        count = done.report.annotations
    else:
        kb = KnowledgeBase.open(next((folder / "kb-built").glob("bench-*")))
        frames = FramesFolder.open(folder / "frames")
        measured = compute_folder(frames, kb)
        count = len(measured.measures)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": round(seconds, 1), "peak MB": round(peak), "count": count}


def alone(name: str, folder: Path) -> dict[str, object]:
    """Return what a stage says that runs in a process of its own."""
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"} if name == "stream" else dict(os.environ)
    command = [sys.executable, __file__, "--stage", name, "--folder", str(folder)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    found: dict[str, object] = json.loads(said)
    return found


def run(scale: str, folder: Path) -> dict[str, object]:
    if not (folder / "nif-text-links_en.ttl.bz2").exists():
        generate(SCALES[scale], folder, processes=os.cpu_count() or 1)
    if not list((folder / "kb-built").glob("bench-*")):
        build([("tables", str(folder / "kb"))], folder / "kb-built", name="bench")
    streaming, measuring = alone("stream", folder), alone("measures", folder)
    annotations, seconds = int(str(streaming["count"])), float(str(streaming["seconds"]))
    return {
        "annotations": annotations,
        "annotations a minute, one core": round(60 * annotations / seconds),
        "streaming": streaming,
        "all measures": measuring,
        "remix": __version__,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load before": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=list(SCALES), default="tenth")
    parser.add_argument("--folder", type=Path, default=None, help="where the files are, or are to be kept")
    parser.add_argument("--stage", choices=["stream", "measures"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stage:
        print(json.dumps(stage(options.stage, options.folder)))
        return
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(run(options.scale, options.folder or Path(place)), indent=1))


if __name__ == "__main__":
    main()
