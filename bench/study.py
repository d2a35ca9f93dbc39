"""A study of the real datasets: how long it takes at first, again, and with one more system; and its memory.

python bench/study.py [--to FOLDER]     prints a Markdown table; data from REMIX_REAL_DATA

The workspace holds the datasets and the answers before anything is timed. The knowledge base is the slice that stands
with the datasets.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from real import DATA, corpora

from remix.workspace import Workspace

SYSTEMS = {
    "prior": ("prior-nil", {}),
    "weights": ("coherence", {"rank": False}),
    "PageRank": ("coherence", {}),
    "random": ("random-candidate", {}),
    "late": ("coherence", {"product": True}),
}
"""The system and its parameters, by the name of the run; the last is scored later."""
BY = (
    "pagerankSegment",
    "pagerank:log-deciles",
    "ambiguitySurfaceForm:log-deciles",
    "ambiguityEntity:log-deciles",
    "density:quantiles:4",
    "numAnnotations:log-deciles",
)
"""The measures of the remixing paper's Table 4, as far as its knowledge base reaches."""
REMIXES = ("persons", "persons_hard", "places", "easy", "difficult", "pagerank_tail")


def spent() -> tuple[float, float]:
    """Return the seconds of the clock, and those of the processors by this process and those that it started."""
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in own)


def main() -> None:
    folder = Path(sys.argv[sys.argv.index("--to") + 1]) if "--to" in sys.argv else None
    with tempfile.TemporaryDirectory() as made:
        workspace = Workspace(Path(made) / ".remix")
        workspace.load(corpora())
        workspace.build_kb([("tables", str(DATA / "kb"))], name="slice")
        workspace.enrich()
        for name, (system, parameters) in SYSTEMS.items():
            workspace.annotate(system=system, task="D2KB", name=name, parameter=parameters)
        datasets = [entry.name for entry in workspace.datasets()]
        study: dict[str, Any] = {
            "name": "real",
            "datasets": datasets,
            "tasks": ["D2KB"],
            "matchings": ["strong"],
            "by": BY,
            "remixes": {name: {"query": f"{name}.rq"} for name in REMIXES},
            "runs": {name: {} for name in [*SYSTEMS][:-1]},
        }
        more = {**study, "runs": {name: {} for name in SYSTEMS}}
        one_part = {**study, "name": "one part", "by": BY[:1]}
        print("| study | steps | seconds | CPU seconds |\n|---|--:|--:|--:|")
        for label, asked in (
            (
                f"{len(datasets)} datasets, {len(SYSTEMS) - 1} systems, {len(BY)} partitions, {len(REMIXES)} remixes",
                study,
            ),
            ("the same again", study),
            ("one system more", more),
            ("the first, by one partition", one_part),
        ):
            begin = spent()
            done = workspace.study(asked, to=(folder or Path(made) / "out") / str(asked["name"]))
            took = [after - before for before, after in zip(begin, spent(), strict=True)]
            print(f"| {label} | {done.computed} | {took[0]:.1f} | {took[1]:.1f} |", flush=True)
        peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        print(f"\nPeak memory: {peaks[0] / 1e6:.2f} GB here, {peaks[1] / 1e6:.2f} GB in the largest of its processes.")


if __name__ == "__main__":
    main()
