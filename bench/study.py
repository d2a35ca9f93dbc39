"""A study of the real datasets: how long it takes at first, again, with one more system, and with that one alone.

python bench/study.py [--to FOLDER]     prints a Markdown table; data from REMIX_REAL_DATA
python bench/study.py --kills 10        ends the study that ships at so many random moments, and compares bytes

The workspace holds the datasets and the answers before anything is timed. The knowledge base is the slice that stands
with the datasets. Alone is a study of that system in a workspace that holds the steps of the others, as the one more
finds it, and then its tests against each of them; what the one more takes beyond both is done anew. Memory is that of
all processes of the study together, looked at ten times a second.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from real import DATA, corpora

from remix.studies import given_study
from remix.studies.checking import check
from remix.studies.planning import plan_of, score_jobs
from remix.studies.preparation import prepare
from remix.studies.running import shelf_of
from remix.studies.scores import differences, read_counts
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


def memory_of(process: int) -> int:
    """Return the bytes that a process and all that it started hold; what several share counts once."""
    with suppress(OSError):
        shares = dict(line.split(":", 1) for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:])
        held = int(shares["Pss"].split()[0]) * 1024
        tasks = Path(f"/proc/{process}/task").iterdir()
        children = {child for task in tasks for child in (task / "children").read_text().split()}
        return held + sum(memory_of(int(child)) for child in children)
    return 0


@contextmanager
def watching() -> Iterator[list[int]]:
    """Hold a list whose one number is the most memory that this process and all that it started held together."""
    most, done = [0], threading.Event()

    def look() -> None:
        while not done.wait(0.1):
            most[0] = max(most[0], memory_of(os.getpid()))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        done.set()
        thread.join()


def kill(times: int) -> None:
    """Print how the study that ships ends after it was ended at random moments: is each byte that of one left alone."""
    random = Random(0)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)

        def command(name: str) -> list[str]:
            place = folder / name
            return [
                sys.executable,
                "-m",
                "remix",
                "study",
                "sample",
                "-w",
                str(place / "ws"),
                "--to",
                str(place / "out"),
            ]

        def files(name: str) -> dict[str, bytes]:
            place = folder / name / "out"
            return {str(file.relative_to(place)): file.read_bytes() for file in place.rglob("*") if file.is_file()}

        begin = time.perf_counter()
        subprocess.run(command("whole"), check=True, stderr=subprocess.DEVNULL)
        took = time.perf_counter() - begin
        print("| after | ended by | state |\n|--:|---|---|")
        for _ in range(times):
            sent, seconds = random.choice((signal.SIGKILL, signal.SIGINT)), random.uniform(0.03, 0.12) * took
            process = subprocess.Popen(command("ended"), stderr=subprocess.DEVNULL, start_new_session=True)
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            state = "done before" if process.returncode == 0 else "ended"
            with suppress(ProcessLookupError):
                os.killpg(process.pid, sent)
            process.wait()
            print(f"| {seconds:.1f} s | {sent.name} | {state} |", flush=True)
        subprocess.run(command("ended"), check=True, stderr=subprocess.DEVNULL)
        one, other = files("whole"), files("ended")
        differing = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
        print(f"\n{len(one)} files; {len(differing)} differ {differing[:5] or ''}".rstrip())
        sys.exit(bool(differing))


def tell(label: str, work: Callable[[], int]) -> None:
    """Print what some work took, and how many steps it says that it did."""
    begin = spent()
    with watching() as most:
        steps = work()
    took = [after - before for before, after in zip(begin, spent(), strict=True)]
    print(f"| {label} | {steps} | {took[0]:.1f} | {took[1]:.1f} | {most[0] / 1e9:.2f} |", flush=True)


def run(workspace: Workspace, asked: dict[str, Any], to: Path) -> int:
    """Return how many steps a study did."""
    return workspace.study(asked, to=to).computed


def run_alone(workspace: Workspace, alone: dict[str, Any], more: dict[str, Any], folder: Path) -> None:
    """Print what the study of one system takes in a copy of the workspace, and its tests against the others of more."""
    shutil.copytree(workspace.folder, folder / "beside" / ".remix")
    apart = Workspace(folder / "beside" / ".remix")
    tell("that system alone", partial(run, apart, alone, folder / "alone"))
    tell("and its tests against each of the others", partial(test_pairs, apart, more))


def test_pairs(workspace: Workspace, asked: dict[str, Any]) -> int:
    """Return how many pairs of systems were tested that were not yet, on all targets of a study that are counted."""
    study, shelf = check(workspace, given_study(asked)), shelf_of(workspace)
    plan = plan_of(workspace, study, prepare(workspace, shelf, study)).without_failures(shelf)
    before = len([*shelf.folder.glob("pair-*")])
    for job in score_jobs(study, plan):
        counts = read_counts(shelf, job.target, job.profile, job.cells)
        differences(job.tests, counts, shelf, parts=job.parts)
    return len([*shelf.folder.glob("pair-*")]) - before


def main() -> None:
    if "--kills" in sys.argv:
        kill(int(sys.argv[sys.argv.index("--kills") + 1]))
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
        late = [*SYSTEMS][-1]
        more = {**study, "runs": {name: {} for name in SYSTEMS}}
        one_part = {**study, "name": "one part", "by": BY[:1]}
        two_systems = {**study, "name": "two systems", "runs": {name: {} for name in [*SYSTEMS][:2]}, "seed": 1}
        four_systems = {**study, "name": "four systems", "seed": 1}
        print("| study | steps | seconds | CPU seconds | GB of all processes |\n|---|--:|--:|--:|--:|")
        for label, asked in (
            (
                f"{len(datasets)} datasets, {len(SYSTEMS) - 1} systems, {len(BY)} partitions, {len(REMIXES)} remixes",
                study,
            ),
            ("the same again", study),
            ("one system more", more),
            ("the first, by one partition", one_part),
            ("the tests of two systems, with another seed", two_systems),
            ("and of four", four_systems),
        ):
            if asked is more:
                run_alone(workspace, {**study, "name": "alone", "runs": {late: {}}}, more, Path(made))
            to = (folder or Path(made) / "out") / str(asked["name"])
            tell(label, partial(run, workspace, asked, to))


if __name__ == "__main__":
    main()
