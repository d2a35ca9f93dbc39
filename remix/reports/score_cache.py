"""Scores with intervals and tests for pages: computed once for a state of the workspace, and kept in its cache.

What is asked is cut into questions, each of one dataset (or of several together), profile, task, matching and column.
An answer is a file under `cache/scores`, named by the hash of all that can change it. A server has the answers that are
missing computed by one process of its own, which ends with it, has a limit of time and of memory for each question, and
is started again by the next who asks: so nothing waits and nothing piles up.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from remix import iris
from remix._version import __version__
from remix.errors import Error, UsageError
from remix.files import write_whole
from remix.frames import read_parquet
from remix.places import discard
from remix.question import Question
from remix.reports.scores import Scored
from remix.runs.registration import list_runs, revision_of
from remix.scoring import evaluate_question
from remix.scoring.choice import Choice, choose
from remix.scoring.comparison import compared_inputs
from remix.scoring.inputs.gold import LEARNT
from remix.scoring.inputs.sources import Keeper
from remix.scoring.statistics.intervals import METHOD
from remix.scoring.statistics.slices import METHOD as OF_SLICES
from remix.signature import content_hash
from remix.store.cache import KEEPS
from remix.store.worker import STOPS, Stopped

SAMPLES = 1000
"""Draws by which slices are tested; systems are compared by ten times as many."""
ENTRIES, BYTES = 1000, 200_000_000
"""How many answers are kept, and how large they are in all; beyond that the oldest go."""
SECONDS, MEMORY = 600, 8 * 2**30
"""What a question may take in a server."""
AGAIN = 600.0
"""Seconds after which a question that failed is asked again."""

_PATIENCE = 2.0
"""Seconds within which a process that was killed is gone."""
_SAID = "errors.txt"
"""What the process writes on its standard error, in a folder of its own that holds all its temporary files."""

_OF_SCORES = ("documents", "mentions", "tp", "precision", "recall", "f1")
"""Columns that rows of scores have where none has a value, as of a task that combines others."""

_HOME = Path(__file__).resolve().parents[2]
"""What remix is in: an environment's packages, or a checkout."""
_COMMAND = """
import os, shutil, signal, sys, threading
signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks is interrupted, and ends this
def end():
    sys.stdin.read()  # until who asks is gone, and can tidy up no more
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    os._exit(1)
line = sys.stdin.readline() or end()
threading.Thread(target=end, daemon=True).start()  # before what takes long to import
from remix.reports.score_cache import answer_all
from remix.workspace import Workspace
answer_all(Workspace, line)
"""
"""What the process runs; workspaces are no business of this module otherwise."""


class ScoreCache:
    """The answers of a workspace. With `waits` those that are missing are computed at once, else by a process."""

    def __init__(self, keeper: Keeper, *, waits: bool = True, seconds: float = SECONDS) -> None:
        self._keeper = keeper
        self._waits = waits
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._watching: threading.Thread | None = None
        self._closed = False
        self._lock = threading.Lock()

    def ask(self, questions: Sequence[Question[str]]) -> Scored:
        """Return the answers that there are, and how many of all questions these are."""
        places = self._places(questions)
        missing = [one for one in questions if not _is_answered(places[one])]
        if self._waits:
            for one in missing:
                answer(self._keeper, one, places[one])
        elif missing and KEEPS.get():
            self._start(missing, places)
        found = {one: frame for one in questions if (frame := _read(places[one])) is not None}
        frames = [frame for frame in found.values() if "problem" not in frame.columns]
        told = [frame for frame in found.values() if "problem" in frame.columns]
        problems = pl.concat([_problem("").clear(), *told], how="diagonal")
        none = pl.DataFrame(schema={"kind": pl.String, "asked": pl.String})
        rows = pl.concat([none, *frames], how="diagonal_relaxed")
        parts = (rows.filter(kind=kind).drop("kind") for kind in ("score", "pair"))
        # Columns that only rows of the other kind have are left out.
        scores, pairs = (
            part.select(one.name for one in part if one.null_count() < len(part) or one.name in _OF_SCORES)
            for part in parts
        )
        said, ended = problems["problem"].to_list(), problems.filter("ended")["problem"].to_list()
        return Scored(scores, pairs, said, len(found), len(questions), ended)

    def _places(self, questions: Sequence[Question[str]]) -> dict[Question[str], Path]:
        """Return the file of each answer, named by the question and by all of the workspace that can change it."""
        store, kb = self._keeper.store, self._keeper.kb
        known = [__version__, iris.VERSION, METHOD, OF_SLICES, str(SAMPLES), kb.version if kb is not None else ""]
        known += [f"{entry.name} {entry.content} {entry.enrichment}" for entry in store.datasets()]
        learnt = [f"{name} {held.signature}" for entry in store.datasets() for name, held in entry.attached.items()]
        folder, kept = store.own("cache") / "scores", store.folder / "runs"
        runs = list_runs(kept)
        places = {}
        for one in questions:
            own = [f"{asdict(run)} {revision_of(kept, run)}" for run in runs if run.dataset in one.datasets]
            own += learnt if LEARNT & {*one.by} else []
            places[one] = folder / f"{content_hash(*known, *own, json.dumps(one.as_json()))[:24]}.parquet"
        return places

    def _start(self, missing: Sequence[Question[str]], places: dict[Question[str], Path]) -> None:
        """Have a process answer the questions, unless it is busy with those of others."""
        with self._lock:
            if self._process is not None or self._closed:
                return
            # The folder in which the server was started is no place to take modules from, but remix may be.
            scratch = TemporaryDirectory(prefix="remix-", ignore_cleanup_errors=True)
            command = [sys.executable, "-P", "-c", _COMMAND, scratch.name]
            path = os.pathsep.join(filter(None, (str(_HOME), os.environ.get("PYTHONPATH", ""))))
            with Path(scratch.name, _SAID).open("wb") as said:
                self._process = process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=said,
                    env={**os.environ, "PYTHONPATH": path, "TMPDIR": scratch.name},
                )
            asked = [[one.as_json(), str(places[one])] for one in missing]
            folder = str(self._keeper.store.folder.resolve())
            told = {"folder": folder, "seconds": self._seconds, "asked": asked}
            self._watching = threading.Thread(target=self._watch, args=(process, scratch, told), daemon=True)
            self._watching.start()

    def _watch(
        self, process: subprocess.Popen[bytes], scratch: TemporaryDirectory[str], told: dict[str, object]
    ) -> None:
        """Tell the process what is asked, wait for its end, and say of the question that it died of that it did.

        Its input stays open while this process lives, and it ends when the input does.
        """
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.write(json.dumps(told).encode() + b"\n")
            process.stdin.flush()
        code = process.wait()
        with suppress(OSError):
            process.stdin.close()
        with scratch:
            said = Path(scratch.name, _SAID).read_text(errors="replace")
        why = None if self._closed else _explain_end(code, said, self._seconds)
        asked = told["asked"]
        assert isinstance(asked, list)
        if why and (left := [(one, Path(place)) for one, place in asked if not _is_answered(Path(place))]):
            one, place = left[0]
            said = f"{', '.join(one['datasets'])}: {why}; `remix evaluate` has no limit"
            _write(place, _problem(said, ended=True))
        with self._lock:
            self._process = None

    def close(self) -> None:
        """End the process that computes, and let none begin any more."""
        with self._lock:
            self._closed = True
            process, watching = self._process, self._watching
        if process is not None:
            process.kill()
        if watching is not None:
            watching.join(_PATIENCE)


def _explain_end(code: int, said: str, seconds: float) -> str | None:
    """Return why a process that computes scores ended before it was done; None where it was done, or was stopped.

    Who is stopped, as by what stops the server, may be asked again at once: it says nothing of the question.

    >>> _explain_end(-signal.SIGKILL, "", 600)
    'the process that computes scores died, as it does where memory does not suffice'
    >>> _explain_end(-signal.SIGTERM, "", 600)
    """
    if code == 0 or code in STOPS:
        return None
    if code == -signal.SIGALRM:
        return f"the scores took longer than {seconds} s"
    died, lines = "the process that computes scores died", said.strip().splitlines()
    memory = any(sign in said.lower() for sign in ("memory", "bad_alloc"))
    if memory or (code in (-signal.SIGKILL, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS) and not lines):
        return f"{died}, as it does where memory does not suffice"
    return f"{died} ({lines[-1] if lines else f'signal {-code}' if code < 0 else f'exit code {code}'})"


def answer(keeper: Keeper, question: Question[str], place: Path) -> None:
    """Compute the answer to a question and keep it; what cannot be computed is kept as a problem for some minutes."""
    names = question.datasets
    try:
        choice = choose(question)
        rows = _score(keeper, choice)
    except Stopped:
        raise
    except Error as error:
        _write(place, _problem(f"{', '.join(names)}: {error}"))
        return
    parts = [rows.select(pl.lit("score").alias("kind"), pl.all())]
    with suppress(Error):  # there is nothing to compare: one system, or too few documents
        pairs = compared_inputs(keeper, choice, samples=10 * SAMPLES).pairs
        parts.append(pairs.select(pl.lit("pair").alias("kind"), pl.all()))
    whole = pl.lit(", ".join(names)).alias("asked")
    _write(place, pl.concat(parts, how="diagonal_relaxed").with_columns(whole))


def _score(keeper: Keeper, choice: Choice) -> pl.DataFrame:
    """Return scores with their intervals, and without where there are too few documents for any."""
    try:
        return evaluate_question(keeper, replace(choice, intervals=True, samples=SAMPLES))[0]
    except UsageError:
        return evaluate_question(keeper, choice)[0]


def _problem(said: str, *, ended: bool = False) -> pl.DataFrame:
    return pl.DataFrame({"problem": [said], "ended": [ended]})


def _write(place: Path, frame: pl.DataFrame) -> None:
    """Keep an answer if it can be written, and let the oldest go where there are too many."""
    with suppress(Error, OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with write_whole(place) as stream:
            frame.write_parquet(stream)
        found = [(file.stat(), file) for file in place.parent.glob("*.parquet")]
        size = 0
        for number, (state, file) in enumerate(sorted(found, key=lambda one: -one[0].st_mtime)):
            size += state.st_size
            if number >= ENTRIES or (size > BYTES and file != place):
                discard(file)


def _read(place: Path) -> pl.DataFrame | None:
    with suppress(Error):
        return read_parquet(place)
    return None


def _is_answered(place: Path) -> bool:
    """Return whether there is an answer; a problem that is old is none, nor is a file that is damaged."""
    try:
        columns = pl.read_parquet_schema(place)
        return "problem" not in columns or time.time() - place.stat().st_mtime < AGAIN
    except (OSError, pl.exceptions.PolarsError):
        return False


def answer_all(open_keeper: Callable[[str], Keeper], line: str) -> None:
    """Answer the questions that a line tells, in a process of its own, and end it."""
    told = json.loads(line)
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    keeper = open_keeper(told["folder"])
    for asked, place in told["asked"]:
        # Nobody handles the signal: it ends the process, whatever that is doing.
        signal.setitimer(signal.ITIMER_REAL, told["seconds"])
        with suppress(Stopped):  # who stopped a query of it did not mean the question: the next who asks begins again
            answer(keeper, Question.of_json(asked), Path(place))
    os._exit(0)
