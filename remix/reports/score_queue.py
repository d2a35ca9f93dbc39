"""What computes scores beside a server: two processes, to which it gives one question after the other.

What is asked for last goes first, scores before their intervals and tests, and of these small questions before large
ones. One of the processes takes no large question, so that these never hold up small ones. Scores of several datasets
are answered together where that is quicker. A process ends when nothing waits any more, when a question takes more than
its time or its memory, and with the server. The first ones may be begun ahead of any question, which they wait for;
they import nothing while a page is made that asks no question.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from remix.store.running import STOPS

SECONDS = 600
"""What a question may take in a server."""
MEMORY = 8 * 2**30
"""What each of the processes may take, in bytes."""
LARGE = 60_000
"""Mentions times systems from which on a question with intervals and tests is large."""
LANES = ("any", "small")
TOGETHER = 240_000
"""Mentions times systems up to which questions are answered together, `EACH` for each; that takes about a second."""
EACH = 4_000
"""As many mentions times systems take as long as what each question takes, however small it is: 16 ms to read, count
and write it, 4 µs for each of these (docs/performance.md).
"""
SHARED = 20_000
"""What is answered together is shared among processes where each has so much at least: beginning one takes as long."""
MOST = 2000
"""Questions that wait; of more those go that were asked for longest ago."""

_THREADS = max(1, (os.cpu_count() or 1) // len(LANES))
"""Threads of polars in each process, and of what numpy calls: more than there are processors would wait for each other.
"""
_OF_THREADS = ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
_PATIENCE = 2.0
"""Seconds within which a process that was killed is gone."""
_SAID = "errors.txt"
"""What a process writes on its standard error, in a folder of its own that holds all its temporary files."""
_HOME = Path(__file__).resolve().parents[2]
"""What remix is in: an environment's packages, or a checkout."""
_COMMAND = """
import gc, os, queue, shutil, signal, sys, threading
os.nice(5)  # who asks makes pages meanwhile
gc.disable()  # nothing of what is imported is garbage, and of what is computed hardly anything
signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks is interrupted, and ends this
lines, free = queue.SimpleQueue(), threading.Event()
free.set()
def read():
    for line in sys.stdin:
        if line == "hold\\n":
            free.clear()
            continue
        free.set()
        if line != "go on\\n":
            lines.put(line)
    free.set()
    shutil.rmtree(sys.argv[1], ignore_errors=True)  # who asks has no more, or is gone and can tidy up no more
    os._exit(0)
class Patience:
    def find_spec(*_):
        free.wait()  # before each module: a page that is made meanwhile has the processors
threading.Thread(target=read, daemon=True).start()  # before what takes long to import
sys.meta_path.insert(0, Patience)
from remix.reports.score_cache import answer_line, import_rest
from remix.workspace import Workspace
import_rest()
sys.meta_path.remove(Patience)
gc.freeze()
gc.set_threshold(100_000, 20, 20)
gc.enable()
while True:
    print("\\t".join(answer_line(Workspace, lines.get())), flush=True)
"""
"""What a process runs; workspaces are no business of this module otherwise."""


@dataclass(frozen=True)
class QueuedQuestion:
    """A question to a process: the `line` that says it, the file that the answer goes to, and what goes before it.

    `cost` is about how large it is, `rank` whether it is of scores (0) or of what comes behind them (1). A job waits
    until that of the file `after` is done. `name` is how people are told of it, `asked` the number of who asked last.
    Jobs that have the same in `together`, if anything, may be given to a process at once.
    """

    line: str
    place: Path
    name: str
    cost: int = 0
    rank: int = 0
    after: Path | None = None
    asked: int = 0
    together: str = ""


def choose_next(
    waiting: Sequence[QueuedQuestion], running: Sequence[QueuedQuestion], lane: str = "any"
) -> QueuedQuestion | None:
    """Return the job that a lane takes next, None where there is none for it.

    >>> points = QueuedQuestion("", Path("p"), "points")
    >>> tests = QueuedQuestion("", Path("t"), "tests", 10**9, 1, after=Path("p"))
    >>> [getattr(choose_next(jobs, []), "name", None) for jobs in ([tests, points], [tests], [])]
    ['points', 'tests', None]
    >>> choose_next([tests], [], "small"), choose_next([tests], [points])
    (None, None)
    """
    before = {one.place for one in (*waiting, *running)}
    free = [one for one in waiting if one.after not in before and (lane == "any" or one.rank == 0 or one.cost < LARGE)]
    return min(free, key=lambda one: (one.rank, -one.asked, one.cost), default=None)


def choose_together(waiting: Sequence[QueuedQuestion], first: QueuedQuestion, lanes: int = 1) -> list[QueuedQuestion]:
    """Return the first job with those that go along with it, as many as are not too large together, newest first.

    They are no more than the share of one of so many `lanes` that have nothing else to do.

    >>> costs = {"a": TOGETHER, "b": 3 * SHARED, "c": SHARED, "d": 4}
    >>> jobs = [QueuedQuestion("", Path(name), name, cost, together="A2KB") for name, cost in costs.items()]
    >>> for waiting, lanes in ((jobs, 1), (jobs[1:], 2), (jobs[2:], 2)):
    ...     [one.name for one in choose_together(waiting, jobs[3], lanes)]
    ['d', 'c', 'b']
    ['d', 'c']
    ['d']
    """
    if not first.together:
        return [first]
    alike = [one for one in waiting if one is not first and (one.together, one.rank) == (first.together, first.rank)]
    whole = sum(EACH + one.cost for one in (first, *alike))
    share = min(TOGETHER, max(SHARED, whole / lanes))
    found, cost = [first], EACH + first.cost
    for one in sorted(alike, key=lambda one: (-one.asked, one.cost)):
        if (cost := cost + EACH + one.cost) > share:
            break
        found.append(one)
    return found


class ScoreQueue:
    """The jobs of a workspace, and the processes that do them, each question in so many `seconds`.

    `fail` is told the file and the end of a job of which the process died. What this module imports is so little that
    processes can be begun, which import much, before who asks has imported it.
    """

    def __init__(
        self, seconds: float = SECONDS, fail: Callable[[QueuedQuestion, str], None] = lambda job, why: None
    ) -> None:
        self.seconds = seconds
        self.fail = fail
        self._waiting: dict[Path, QueuedQuestion] = {}
        self._running: dict[str, list[QueuedQuestion]] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._ahead: list[_ScoringProcess] = []
        self._pages = 0
        self._processes: list[_ScoringProcess] = []
        self._asked = 0
        self._closed = False
        self._lock = threading.Lock()

    @property
    def processes(self) -> list[subprocess.Popen[str]]:
        """Return the processes that are there now, without those that wait for a first question."""
        return [one.process for one in self._processes]

    def is_waited_for(self) -> bool:
        """Return whether scores are computed, or wait for it, without which a page has nothing to show."""
        with self._lock:
            return any(one.rank == 0 for one in (*self._waiting.values(), *self._list_running()))

    def begin_ahead(self) -> None:
        """Begin the process of each lane, which takes longer than many a question, before there is any."""
        with self._lock, suppress(OSError):  # where there can be no more processes, who asks is told
            if not self._closed:
                begun = [_ScoringProcess() for _ in LANES[len(self._ahead) :]]
                for one in begun if self._pages else ():
                    one.hold(True)
                self._ahead += begun

    @contextmanager
    def hold_ahead(self) -> Iterator[None]:
        """Let the processes that were begun ahead import nothing within the block, in which a page is made.

        Two that import beside it take a third of the time of a first page more. A question lets its process go on.
        """
        self._count_pages(1)
        try:
            yield
        finally:
            self._count_pages(-1)

    def _count_pages(self, more: int) -> None:
        with self._lock:
            before, self._pages = self._pages, self._pages + more
            if bool(before) != bool(self._pages):
                for one in self._ahead:
                    one.hold(bool(self._pages))

    def end_idle(self) -> None:
        """End the processes that were begun ahead where nothing waits or is computed; a question begins another."""
        with self._lock:
            idle = [] if self._waiting or self._threads else self._ahead
            self._ahead = [] if idle else self._ahead
        for one in idle:
            one.end()

    def put(self, jobs: Sequence[QueuedQuestion]) -> None:
        """Let jobs wait for their turn, before those that were asked for earlier; one that waits or runs is not twice.

        Nothing waits any more once the queue is closed.
        """
        with self._lock:
            self._asked += 1
            busy = {one.place for one in self._list_running()}
            found = [replace(one, asked=self._asked) for one in jobs if one.place not in busy]
            self._waiting |= {one.place: one for one in found}
            for place in sorted(self._waiting, key=lambda place: -self._waiting[place].asked)[MOST:]:
                del self._waiting[place]
            self._begin()

    def _begin(self) -> None:
        """Have each lane work that does not, and for which there is work; the lock is held."""
        for lane in LANES:
            if not self._closed and lane not in self._threads and self._choose(lane) is not None:
                self._threads[lane] = threading.Thread(target=self._work, args=(lane,), daemon=True)
                self._threads[lane].start()

    def _list_running(self) -> list[QueuedQuestion]:
        return [one for jobs in self._running.values() for one in jobs]

    def _choose(self, lane: str) -> QueuedQuestion | None:
        return choose_next([*self._waiting.values()], self._list_running(), lane)

    def _take(self, lane: str) -> list[QueuedQuestion]:
        """Return the next jobs of a lane, which has none before any more; where there is none the lane has ended."""
        with self._lock:
            self._running.pop(lane, None)
            job = None if self._closed else self._choose(lane)
            free = len(LANES) - len({*self._running} & {*LANES})
            jobs = [] if job is None else choose_together([*self._waiting.values()], job, free)
            if not jobs:
                self._threads.pop(lane, None)
            else:
                self._running[lane] = [self._waiting.pop(one.place) for one in jobs]
            self._begin()  # what waited for the job before may be free now
            return jobs

    def _put_back(self, jobs: Sequence[QueuedQuestion]) -> None:
        """Let jobs wait that were given to a process together, each of which is to be answered alone."""
        with self._lock:
            if not self._closed:
                self._waiting |= {one.place: replace(one, together="") for one in jobs}

    def _work(self, lane: str) -> None:
        """Do the jobs of a lane, by a process that is begun again where it died."""
        jobs = self._take(lane)
        try:
            while jobs:
                with self._lock:
                    if self._closed:
                        return
                    self._processes.append(begun := self._take_process())
                try:
                    jobs = self._feed(lane, begun, jobs)
                finally:
                    begun.tidy()
                    with self._lock:
                        self._processes.remove(begun)
        finally:
            with self._lock:
                if self._threads.get(lane) is threading.current_thread():
                    del self._threads[lane], self._running[lane]
            self.end_idle()

    def _take_process(self) -> _ScoringProcess:
        """Return a process that was begun ahead and lives, or a new one; the lock is held."""
        while self._ahead:
            found = self._ahead.pop()
            if found.process.poll() is None:
                return found
            found.end()
        return _ScoringProcess()

    def _feed(self, lane: str, begun: _ScoringProcess, jobs: list[QueuedQuestion]) -> list[QueuedQuestion]:
        """Give a process one job after the other, and return those for the next process, if it has not done all.

        Its input stays open while this process lives, and it ends when the input does. It may have died; and one that
        has computed intervals has little of the processors for ever, so that scores are for another. Of jobs that are
        given at once it says which it has left, and where it died of them each is tried alone.
        """
        process = begun.process
        assert process.stdin is not None and process.stdout is not None
        given, slow, died = jobs, False, False
        with suppress(OSError), process.stdin, process.stdout:
            while given and not (slow and given[0].rank == 0):
                with suppress(OSError):
                    process.stdin.write("\t".join(one.line for one in given) + "\n")
                    process.stdin.flush()
                if died := not (answer := process.stdout.readline()):
                    break
                left = {*answer.rstrip("\n").split("\t")}
                self._put_back([one for one in given if str(one.place) in left])
                slow = slow or given[0].rank > 0
                given = self._take(lane)
        code = process.wait()
        if not given or not died:
            return given
        why = None if self._closed else explain_end(code, begun.read_said(), self.seconds)
        if why and len(given) > 1:
            self._put_back(given)
            return self._take(lane)
        places = {one.place for one in given}
        with self._lock:  # what comes behind it has nothing to stand on
            self._waiting = {place: one for place, one in self._waiting.items() if one.after not in places}
        if why:
            self.fail(given[0], why)
        return self._take(lane)

    def close(self) -> None:
        """End the processes, and let none begin any more."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            threads, processes, ahead = [*self._threads.values()], self.processes, self._ahead
            self._ahead = []
        for process in processes:
            process.kill()
        for one in ahead:
            one.end()
        for thread in threads:
            thread.join(_PATIENCE)


class _ScoringProcess:
    """A process that scores, and a folder of its own that holds its temporary files and what it says of its end."""

    def __init__(self) -> None:
        self._scratch = TemporaryDirectory(prefix="remix-", ignore_cleanup_errors=True)
        self._said = Path(self._scratch.name, _SAID)
        # The folder in which the server was started is no place to take modules from, but remix may be.
        path = os.pathsep.join(filter(None, (str(_HOME), os.environ.get("PYTHONPATH", ""))))
        own = {"PYTHONPATH": path, "TMPDIR": self._scratch.name}
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMMAND, self._scratch.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env={**dict.fromkeys(_OF_THREADS, str(_THREADS)), **os.environ, **own},
                text=True,
            )

    def hold(self, held: bool) -> None:
        """Let the process, of which nothing was asked yet, import nothing more for now, or go on."""
        assert self.process.stdin is not None
        with suppress(OSError):  # it has died, which who takes it finds
            self.process.stdin.write("hold\n" if held else "go on\n")
            self.process.stdin.flush()

    def read_said(self) -> str:
        """Return what the process said on its standard error."""
        return self._said.read_text(errors="replace")

    def tidy(self) -> None:
        """Remove the folder of a process that has ended."""
        self._scratch.cleanup()

    def end(self) -> None:
        """Kill a process that nothing was asked of, unless it has died, and wait until it is gone."""
        self.process.kill()
        with suppress(OSError), self.process:
            pass
        self.tidy()


def explain_end(code: int, said: str, seconds: float) -> str | None:
    """Return why a process that computes scores ended before it was done; None where it was done, or was stopped.

    Who is stopped, as by what stops the server, may be asked again at once: it says nothing of the question.

    >>> explain_end(-signal.SIGKILL, "", 600)
    'the process that computes scores died, as it does where memory does not suffice'
    >>> explain_end(-signal.SIGTERM, "", 600)
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
