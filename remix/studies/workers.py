"""Processes that do the jobs of a study, and end with the one that asks them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any

from remix.errors import Error
from remix.scoring.inputs.sources import Keeper
from remix.studies.jobs import Done, Job, ScoreJob, job_of_json
from remix.studies.shelf import StepShelf

_HOME = Path(__file__).resolve().parents[2]
"""What remix is in: an environment's packages, or a checkout."""
_COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks is interrupted, and ends this
from remix.studies.workers import serve
from remix.workspace import Workspace
serve(Workspace)
"""
"""What a process runs; workspaces are no business of this module otherwise."""


class _Process:
    """A process and the jobs that it is given, one at a time."""

    def __init__(
        self, folder: Path, shelf: StepShelf, threads: int, replies: SimpleQueue[tuple[_Process, Any]]
    ) -> None:
        path = os.pathsep.join(filter(None, (str(_HOME), os.environ.get("PYTHONPATH", ""))))
        self._said: IO[bytes] = TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, "PYTHONPATH": path, "POLARS_MAX_THREADS": str(threads)},
        )
        self._tell({"folder": str(folder.resolve()), "shelf": str(shelf.folder.resolve())})
        self._listening = Thread(target=self._listen, args=(replies,), daemon=True)
        self._listening.start()

    def _tell(self, said: object) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # who is gone says so by the end of what it says
            self._process.stdin.write(json.dumps(said).encode() + b"\n")
            self._process.stdin.flush()

    def _listen(self, replies: SimpleQueue[tuple[_Process, Any]]) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            replies.put((self, json.loads(line)))
        replies.put((self, None))

    def give(self, job: Job | ScoreJob) -> None:
        """Have a job done."""
        self._tell(job.as_json())

    def explain(self) -> str:
        """Return why the process ended."""
        code = self._process.wait()
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return (
            lines[-1] if lines else f"signal {-code}, as where memory does not suffice" if code < 0 else f"code {code}"
        )

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._listening.join()
        with suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._said.close()


def do_jobs(
    keeper: Keeper, folder: Path, shelf: StepShelf, jobs: Sequence[Job | ScoreJob], parallel: int
) -> Iterator[Done]:
    """Do the jobs by so many processes, by this one where that is one, and yield each step that is done.

    Raises `Error` where one of them dies. What is done stays; what runs when this is interrupted is lost.
    """
    if min(parallel, len(jobs)) < 2:
        for job in jobs:
            yield from job.run(keeper, shelf)
        return
    number = min(parallel, len(jobs))
    threads = max(1, (os.cpu_count() or 1) // number)
    replies: SimpleQueue[tuple[_Process, Any]] = SimpleQueue()
    left = [*reversed(jobs)]
    processes = [_Process(folder, shelf, threads, replies) for _ in range(number)]
    try:
        for one in processes:
            one.give(left.pop())
        busy = number
        while busy:
            process, said = replies.get()
            if said is None:
                raise Error(f"a process of the study died ({process.explain()}): run the study again, and it goes on")
            if "done" in said:
                kind, key = said["done"]
                yield kind, key
            elif "error" in said:
                raise Error(said["error"])
            elif left:
                process.give(left.pop())
            else:
                busy -= 1
    finally:
        for one in processes:
            one.end()


def serve(open_keeper: Callable[[str], Keeper]) -> None:
    """Do the jobs that lines of the standard input tell, and say of each step that it is done, until there are none."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed is no reply
    first = json.loads(sys.stdin.readline())
    keeper, shelf = open_keeper(first["folder"]), StepShelf(Path(first["shelf"]))

    def say(said: object) -> None:
        out.write(json.dumps(said) + "\n")
        out.flush()

    for line in sys.stdin:
        try:
            for done in job_of_json(json.loads(line)).run(keeper, shelf):
                say({"done": done})
        except Error as error:
            say({"error": str(error)})
        else:
            say({"ready": True})
