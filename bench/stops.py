"""Start `remix serve`, ask much of it, and stop it at a random moment: how long that takes, and what is left behind.

python bench/stops.py [--stops 300] [--seed 1] [--limit 6] [--at-once 1]

Each stop is a moment (while it starts; while queries run, or wait for their turn; while clients read slowly; while
pages are made; while scores are computed) and a signal: SIGINT or SIGTERM to the process, or to its group as a terminal
and a service manager send them, or SIGKILL to the process. The exit code is 1 where a stop takes longer than the limit,
where the log has a traceback or speaks of a defect, and where a process or a temporary file is left.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from remix.workspace import Workspace

SLOW = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
LARGE = f'SELECT (CONCAT("{"x" * 10000}", STR(?a)) AS ?x) {{ ?a ?b ?c . ?d ?e ?f }} LIMIT 3000'
PROGRAM = "from remix.__main__ import main; import os; os.write(2, b'remix begins\\n'); main()"
"""What the installed command does; until then Python itself would answer to an interrupt."""
KNOWN = "http://dbpedia.org/resource/"
MOMENTS = {
    "it starts": (),
    "queries run": (f"/sparql?query={quote(SLOW)}",) * 2,
    "queries wait": (f"/sparql?query={quote(SLOW)}",) * 8 + (f"/query?query={quote(SLOW)}",) * 6,
    "clients read slowly": (f"/sparql?query={quote(LARGE)}",) * 3,
    "pages are made": ("/datasets", "/builder", "/overlap", "/dataset?name=news", "/errors?dataset=news&system=good")
    * 2,
    "scores are computed": ("/systems?dataset=news", "/systems?dataset=news&by=words", "/systems?task=C2KB"),
}
SIGNALS = [
    (signal.SIGINT, "process"),
    (signal.SIGTERM, "process"),
    (signal.SIGINT, "group"),
    (signal.SIGTERM, "group"),
    (signal.SIGKILL, "process"),
]
WRONG = re.compile(r"Traceback|defect of remix|Fatal Python error|Exception |already executing")
PATIENCE = 60.0
"""Seconds after which a server that does not end is killed."""
LEFT = 3.0
"""Seconds within which what belongs to a server is gone after it."""


@dataclass(frozen=True)
class Stop:
    """What became of one server."""

    moment: str
    signal: str
    seconds: float
    wrong: str
    processes: int
    files: int


def main() -> None:
    """Stop servers, and print what became of them by moment and by signal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stops", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=6.0, help="seconds that a stop may take")
    parser.add_argument("--at-once", type=int, default=1, help="servers at the same time")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    moments = list(MOMENTS)
    plan = [(moments[n % len(moments)], chance.choice(SIGNALS), chance.random()) for n in range(asked.stops)]

    def stop_some(lane: int) -> list[Stop]:
        found = []
        with tempfile.TemporaryDirectory(prefix="stops-") as place:
            workspace = make_workspace(Path(place))
            for number in range(lane, asked.stops, asked.at_once):
                stop = stop_once(workspace, Path(place), *plan[number])
                found.append(stop)
                if stop.wrong or stop.processes or stop.files or stop.seconds > asked.limit:
                    print(f"{number}: {stop}", file=sys.stderr, flush=True)
        return found

    with ThreadPoolExecutor(asked.at_once) as pool:
        stops = [stop for some in pool.map(stop_some, range(asked.at_once)) for stop in some]
    show(stops, asked.limit)
    failed = [one for one in stops if one.seconds > asked.limit or one.wrong or one.processes or one.files]
    sys.exit(1 if failed else 0)


def make_workspace(place: Path) -> Path:
    """Return a workspace of a dataset of 300 documents and two runs, which are wrong on every tenth and every third."""
    lines = [
        {"document": f"d{n}", "text": "Ada" + " met" * (n % 20 + 1), "begin": 0, "end": 3, "entity": f"{KNOWN}Ada{n}"}
        for n in range(300)
    ]
    work = Workspace(place / "work")
    (place / "news.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    work.load([place / "news.jsonl"])
    for name, every in (("good", 10), ("poor", 3)):
        answers = [{**line, "entity": f"{KNOWN}Bob"} if n % every == 0 else line for n, line in enumerate(lines)]
        (place / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
        work.add_run(name, place / f"{name}.jsonl", on="news")
    return work.folder


def stop_once(workspace: Path, place: Path, moment: str, how: tuple[signal.Signals, str], chance: float) -> Stop:
    """Return what became of a server that was stopped at a moment, so far into it as `chance` says (0 to 1)."""
    scratch, log = place / "scratch", place / "log.txt"
    scratch.mkdir(exist_ok=True)
    for answer in workspace.glob("cache/scores/*"):
        answer.unlink()
    command = [sys.executable, "-c", PROGRAM, "serve", "-w", str(workspace), "--port", "0", "--concurrent", "2"]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command, stderr=errors, start_new_session=True, env={**os.environ, "TMPDIR": str(scratch)}
        )
    try:
        with asking(process, log, MOMENTS[moment]):
            time.sleep((2.5 if MOMENTS[moment] else 1.2) * chance)
            which, whom = how
            begin = time.monotonic()
            (os.killpg if whom == "group" else os.kill)(process.pid, which)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            seconds = time.monotonic() - begin
        until = time.monotonic() + LEFT
        while time.monotonic() < until and (session(process.pid) or left(scratch, workspace)):
            time.sleep(0.05)
        said = log.read_text(errors="replace")
        wrong = said if WRONG.search(said) else ""
        return Stop(
            moment,
            f"{which.name} to the {whom}",
            seconds,
            wrong,
            len(session(process.pid)),
            len(left(scratch, workspace)),
        )
    finally:
        for number in session(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        process.wait(PATIENCE)
        for file in left(scratch, workspace):
            subprocess.run(["rm", "-rf", str(file)], check=True)


@contextlib.contextmanager
def asking(process: subprocess.Popen[bytes], log: Path, paths: tuple[str, ...]) -> Iterator[None]:
    """Hold open requests for these paths, once the server listens; they are read slowly, and to their end.

    Without paths the block begins with the first line of remix, before it has imported anything.
    """
    until = time.monotonic() + PATIENCE
    while not (found := re.search(r"SPARQL endpoint at (\S+)\n" if paths else "(remix begins)", log.read_text())):
        if time.monotonic() > until or process.poll() is not None:
            raise SystemExit(f"the server does not start: {log.read_text()}")
        time.sleep(0.02)
    if not paths:
        yield
        return
    parts = urlsplit(found[1])
    over = threading.Event()

    def ask(path: str) -> None:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((parts.hostname, parts.port), timeout=0.3) as client,
        ):
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            while not over.wait(0.02):
                with contextlib.suppress(TimeoutError):
                    if not client.recv(1 << 12):
                        return

    threads = [threading.Thread(target=ask, args=(path,), daemon=True) for path in paths]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(PATIENCE)


def session(leader: int) -> list[int]:
    """Return the processes of the session of a server: itself and all that it has started, but those that are over."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, of = file.read_text().rpartition(")")[2].split()[:4]
            if int(of) == leader and state not in "ZX":
                found.append(int(file.parent.name))
    return found


def left(scratch: Path, workspace: Path) -> list[Path]:
    """Return the temporary files and folders that are there."""
    return [*scratch.iterdir(), *workspace.rglob(".*.remix-*")]


def show(stops: list[Stop], limit: float) -> None:
    """Print a table of stops by moment, by signal, and of all."""
    rows = [("while " + name, [one for one in stops if one.moment == name]) for name in MOMENTS]
    rows += [(name, [one for one in stops if one.signal == name]) for name in sorted({one.signal for one in stops})]
    print(f"| stop | number | median s | slowest s | over {limit:g} s | tracebacks | processes left | files left |")
    print("|---|---|---|---|---|---|---|---|")
    for name, some in [*rows, ("all", stops)]:
        if some:
            times = [one.seconds for one in some]
            cells = [len(some), f"{statistics.median(times):.2f}", f"{max(times):.2f}"]
            cells += [sum(one.seconds > limit for one in some), sum(bool(one.wrong) for one in some)]
            cells += [sum(one.processes for one in some), sum(one.files for one in some)]
            print(f"| {name} | {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
