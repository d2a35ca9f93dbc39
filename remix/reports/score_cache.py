"""Scores with intervals and tests for pages: computed once for a state of the workspace, and kept in its cache.

What is asked is cut into questions, each of one dataset (or of several together), profile, task, matching and column.
An answer is a file under `cache/scores`, named by the hash of all that can change it, with a hash of its own in it: one
that is damaged is not there. Without intervals and tests it is there in less than a second, so that a server has it
first: the points, which the whole follows. What is missing a server has computed by processes of its own, one question
after the other (`remix.reports.score_queue`).
"""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import polars as pl

from remix import iris
from remix._version import __version__
from remix.errors import Error, UsageError
from remix.files import manifest_beside
from remix.frames import read_each_parquet, read_parquet
from remix.places import aside_of, discard
from remix.question import Question
from remix.reports.score_queue import MEMORY, SECONDS, QueuedQuestion, ScoreQueue
from remix.runs.known import known_runs
from remix.scoring import evaluate_question
from remix.scoring.choice import Choice, choose
from remix.scoring.comparison import compared_inputs
from remix.scoring.inputs.gold import LEARNT
from remix.scoring.inputs.sources import Keeper
from remix.scoring.matching import MATCHINGS
from remix.scoring.profiles import PROFILES
from remix.scoring.statistics.intervals import METHOD
from remix.scoring.statistics.slices import METHOD as OF_SLICES
from remix.scoring.tasks import TASKS
from remix.scoring.together import evaluate_together, is_by_document
from remix.signature import content_hash
from remix.store import Store
from remix.store.cache import KEEPS
from remix.store.worker import Stopped
from remix.systems import SYSTEMS

SAMPLES = 1000
"""Draws by which slices are tested; systems are compared by ten times as many."""
ENTRIES, BYTES = 2000, 200_000_000
"""How many answers are kept, and how large they are in all; beyond that those go that were read longest ago."""
AGAIN = 600.0
"""Seconds after which a question that was ended is asked again."""

_ROWS = "5"
"""The number of what rows tell, another for each change of it: an answer that was kept before tells less."""

_OF_SCORES = ("documents", "mentions", "tp", "precision", "recall", "f1")
"""Columns that rows of scores have where none has a value, as of a task that combines others."""


@dataclass(frozen=True)
class _AnswerFiles:
    """The files of an answer: that of the scores alone, and that with intervals and tests."""

    points: Path
    whole: Path


@dataclass(frozen=True)
class Scored:
    """Scores for pages: the `rows` of `evaluate`, the `pairs` of `compare`, each with what was `asked`, the datasets.

    `done` questions `of` all are answered, and `scored` have scores at least, if without intervals and tests.
    `problems` says why some have none, and `ended` which of these would have some if computing them had not been
    ended, by a limit of time or of memory.
    """

    rows: pl.DataFrame
    pairs: pl.DataFrame
    problems: Sequence[str]
    done: int
    of: int
    ended: Sequence[str] = ()
    scored: int = 0


class ScoreCache:
    """The answers of a workspace. With `waits` those that are missing are computed at once, else by processes.

    These are of the `queue`, which may have begun them already, or of a queue that gives each question so many
    `seconds`.
    """

    def __init__(
        self, keeper: Keeper, *, waits: bool = True, seconds: float = SECONDS, queue: ScoreQueue | None = None
    ) -> None:
        self._keeper = keeper
        self._waits = waits
        self.queue = queue or ScoreQueue(seconds)
        self.queue.fail = _tell_end

    def ask(self, questions: Sequence[Question[str]]) -> Scored:
        """Return the answers that there are, and how many of all questions these are, with intervals and tests."""
        places = self._places(questions)
        if self._waits:
            for one in questions:
                if not _is_answered(places[one].whole):
                    answer(self._keeper, one, places[one].whole)
        elif KEEPS.get() and (jobs := self._list_jobs(questions, places)):
            self.queue.put(jobs)
        done = [file for one in questions if (file := _choose_file(places[one])) is not None]
        for answered, _ in done:
            _touch(answered)
        # It is read once for each state of its files, also while some are missing.
        key = ("scored", *((file.name, _find_time(file)) for file, _ in done))
        found = self._keeper.store.cached(key, lambda: _read_all([file for file, _ in done]), asked=True)
        return replace(found, done=sum(whole for _, whole in done), scored=len(done), of=len(questions))

    def _places(self, questions: Sequence[Question[str]]) -> dict[Question[str], _AnswerFiles]:
        """Return the files of each answer, named by the question and by all of the workspace that can change it."""
        store, kb = self._keeper.store, self._keeper.kb
        known = [
            __version__,
            _ROWS,
            iris.VERSION,
            METHOD,
            OF_SLICES,
            str(SAMPLES),
            kb.version if kb is not None else "",
        ]
        loaded = {entry.name: f"{entry.name} {entry.content} {entry.enrichment}" for entry in store.datasets()}
        learnt = [f"{name} {held.signature}" for entry in store.datasets() for name, held in entry.attached.items()]
        folder, runs = store.own("cache") / "scores", known_runs(store)
        places = {}
        remixes = store.cached("names of remixes", lambda: _name_remixes(store))
        for one in questions:
            # Parts of a column are cut of all that is loaded, and a remix is scored as what its origins say, by runs on
            # these as well.
            plain = remixes.isdisjoint(one.datasets)
            alone = not one.by and plain
            contents = [said for name, said in loaded.items() if not alone or name in one.datasets]
            own = [each.signature for each in runs if not plain or each.run.dataset in one.datasets]
            own += learnt if LEARNT & {*one.by} else []
            name = content_hash(*known, *contents, *own, _spell(one))[:24]
            places[one] = _AnswerFiles(folder / f"{name}-points.parquet", folder / f"{name}.parquet")
        return places

    def _list_jobs(
        self, questions: Sequence[Question[str]], places: dict[Question[str], _AnswerFiles]
    ) -> list[QueuedQuestion]:
        """Return what processes have to do: the points of what has none, and the whole after them."""
        sizes = {entry.name: entry.annotations for entry in self._keeper.store.datasets()}
        runs = [each.run.dataset for each in known_runs(self._keeper.store)]
        folder = str(self._keeper.store.folder.resolve())
        remixes = self._keeper.store.cached("names of remixes", lambda: _name_remixes(self._keeper.store))
        jobs = []
        for one in questions:
            place = places[one]
            if _is_answered(place.whole) or _is_problem(place.points):
                continue
            cost = sum(sizes.get(name, 0) * runs.count(name) for name in one.datasets)
            for rank, file in enumerate((place.points, place.whole)):
                if not _is_answered(file):
                    told = {"folder": folder, "seconds": self.queue.seconds, "asked": one.as_json(), "place": str(file)}
                    line = json.dumps({**told, "points": file == place.points})
                    after = place.points if rank else None
                    alike = "" if rank or len(one.datasets) > 1 or one.datasets[0] in remixes else _say_alike(one)
                    told_as = ", ".join(one.datasets)
                    jobs.append(QueuedQuestion(line, file, told_as, cost, rank, after, together=alike))
        return jobs

    def ask_ahead(self) -> None:
        """Have the points computed of every dataset with a run, by the usual conventions, before anybody asks.

        They are what a page of systems shows first. What cannot be read is said by the page.
        """
        task, match = PROFILES["remix"].headline
        with suppress(Error), self._keeper.store.hold_state():
            answered = {each.run.dataset for each in known_runs(self._keeper.store)}
            names = sorted(answered & {entry.name for entry in self._keeper.store.datasets()})
            asked = [Question(datasets=(name,), profile="remix", task=(task,), match=(match,)) for name in names]
            self.queue.put([job for job in self._list_jobs(asked, self._places(asked)) if job.rank == 0])
        self.queue.end_idle()  # where all of them are kept nothing is left to wait for

    def close(self) -> None:
        """End the processes that compute, and let none begin any more."""
        self.queue.close()


@lru_cache(maxsize=ENTRIES)
def _spell(question: Question[str]) -> str:
    """Return a question as text; a page that waits asks for the same ones many times a minute."""
    return json.dumps(question.as_json())


@lru_cache(maxsize=ENTRIES)
def _say_alike(question: Question[str]) -> str:
    """Return what questions have in common whose points are answered together, nothing where each is alone."""
    with suppress(Error):
        if is_by_document(choose(question)):
            return json.dumps(replace(question, datasets=()).as_json())
    return ""


def _name_remixes(store: Store) -> frozenset[str]:
    """Return the names of the datasets that were loaded with a manifest."""
    files = {entry.name: manifest_beside(store.folder / entry.folder / "data.ttl") for entry in store.datasets()}
    return frozenset(name for name, file in files.items() if file.is_file())


def _choose_file(place: _AnswerFiles) -> tuple[Path, bool] | None:
    """Return the file of an answer that is to be read, and whether it is all that there will be; None without any."""
    if _is_answered(place.whole):
        return place.whole, True
    return (place.points, _is_problem(place.points)) if _is_answered(place.points) else None


def _touch(file: Path) -> None:
    """Keep that an answer was read now, to the minute; a file system need not do so itself."""
    with suppress(OSError):
        state = file.stat()
        if time.time() - state.st_atime >= 60:
            os.utime(file, ns=(time.time_ns(), state.st_mtime_ns))


def _find_time(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _read_all(files: Sequence[Path]) -> Scored:
    """Return what files have of scores, of pairs and of problems; of a whole that was ended the points."""
    found = []
    for file, frame in zip(files, _read_each(files), strict=True):
        if frame is not None:
            found.append(frame)
            points = file.with_name(f"{file.stem}-points.parquet")
            if "problem" in frame.columns and _is_answered(points):
                found += [frame] if (read := _read(points)) is None else [read]
    frames = [frame for frame in found if "problem" not in frame.columns]
    told = [frame for frame in found if "problem" in frame.columns]
    problems = pl.concat([_problem("").clear(), *told], how="diagonal").unique(maintain_order=True)
    none = pl.DataFrame(schema={"kind": pl.String, "asked": pl.String})
    rows = pl.concat([none, *frames], how="diagonal_relaxed")
    parts = (rows.filter(kind=kind).drop("kind") for kind in ("score", "pair"))
    # Columns that only rows of the other kind have are left out.
    scores, pairs = (
        part.select(one.name for one in part if one.null_count() < len(part) or one.name in _OF_SCORES)
        for part in parts
    )
    ended = problems.filter(pl.col("ended").fill_null(False))["problem"].to_list()
    return Scored(scores, pairs, problems["problem"].to_list(), 0, 0, ended)


def _tell_end(job: QueuedQuestion, why: str) -> None:
    """Keep that the process died of a job, unless it has an answer."""
    if not _is_answered(job.place):
        _write(job.place, _problem(f"{job.name}: {why}; `remix evaluate` has no limit", ended=True))


def answer(keeper: Keeper, question: Question[str], place: Path, *, points: bool = False) -> None:
    """Compute the answer to a question and keep it; what cannot be computed is kept as a problem for some minutes."""
    with keeper.store.hold_state():
        _answer(keeper, question, place, points=points)


def _answer(keeper: Keeper, question: Question[str], place: Path, *, points: bool) -> None:
    names = question.datasets
    try:
        choice = choose(question)
        rows = evaluate_question(keeper, choice)[0] if points else _score(keeper, choice)
    except Stopped:
        raise
    except Error as error:
        _write(place, _problem(f"{', '.join(names)}: {error}"))
        return
    parts = [rows.select(pl.lit("score").alias("kind"), pl.all())]
    if not points:
        with suppress(Error):  # there is nothing to compare: one system, or too few documents
            pairs = compared_inputs(keeper, choose(question, headline=True), samples=10 * SAMPLES).pairs
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
    """Keep an answer if it can be written, and let those go that were read longest ago where there are too many."""
    _write_each({place: frame})


def _write_each(answers: Mapping[Path, pl.DataFrame]) -> None:
    """Keep answers as `_write` does."""
    with suppress(Error, OSError):
        for place, frame in answers.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            # `write_whole` waits for the disk as well; of these what is lost is made again.
            with aside_of(place) as aside:
                aside.write_bytes(_seal(frame))
                aside.replace(place)
        found = [
            (file.stat(), file) for folder in {place.parent for place in answers} for file in folder.glob("*.parquet")
        ]
        size = 0
        for number, (state, file) in enumerate(sorted(found, key=lambda one: -one[0].st_atime)):
            size += state.st_size
            if number >= ENTRIES or (size > BYTES and file not in answers):
                discard(file)


def _read_each(places: Sequence[Path]) -> Sequence[pl.DataFrame | None]:
    """Return the answers in files, None in place of one that is gone or damaged."""
    with suppress(Error):
        return read_each_parquet(places)
    return [_read(place) for place in places]


def _read(place: Path) -> pl.DataFrame | None:
    with suppress(Error):
        return read_parquet(place)
    return None


def _is_answered(place: Path) -> bool:
    """Return whether there is an answer; a problem that is old is none, nor is a file that is damaged."""
    problem = _tells_problem(place)
    return problem is False or (problem is True and time.time() - _find_time(place) / 1e9 < AGAIN)


def _is_problem(place: Path) -> bool:
    """Return whether what is kept is why there is no answer, which is not old."""
    return _tells_problem(place) is True and _is_answered(place)


def _tells_problem(place: Path) -> bool | None:
    """Return whether a file is why there is no answer, None where it is not there or damaged."""
    # As long as somebody waits most are not there, which the system says sooner than polars.
    with suppress(OSError, pl.exceptions.PolarsError):
        state = place.stat()
        return _read_problem(place, state.st_ino, state.st_mtime_ns, state.st_size)
    return None


@lru_cache(maxsize=2 * ENTRIES)
def _read_problem(place: Path, *_: int) -> bool:
    """Return the same of a file in one state, of which a page asks five times."""
    content = place.read_bytes()
    if not _is_sealed(content):
        raise OSError(f"{place} is damaged")
    return "problem" in pl.read_parquet_schema(content)


_SEAL, _DIGITS = b"sha256:", 64
"""What stands in the footer of an answer before the hash of the file, which has zeros for these digits then."""


def _seal(frame: pl.DataFrame) -> bytes:
    """Return an answer as Parquet with its own hash: polars has none, and takes a changed byte for another number."""
    written = BytesIO()
    frame.write_parquet(written, metadata={"seal": f"{_SEAL.decode()}{'0' * _DIGITS}"})
    content = written.getvalue()
    at = content.rindex(_SEAL) + len(_SEAL)
    return content[:at] + content_hash(content).encode() + content[at + _DIGITS :]


def _is_sealed(content: bytes) -> bool:
    """Return whether an answer is, to the last bit, what was written."""
    at = content.rfind(_SEAL) + len(_SEAL)
    empty = content[:at] + b"0" * _DIGITS + content[at + _DIGITS :]
    return content_hash(empty).encode() == content[at : at + _DIGITS]


def import_rest() -> None:
    """Import what questions need that is imported where it is needed, in a process that waits for its first one."""
    import remix.measures.enrichment
    import remix.runs.stored  # noqa: F401

    for parts in (MATCHINGS, PROFILES, SYSTEMS, TASKS):
        parts.names()


def answer_line(open_keeper: Callable[[str], Keeper], line: str) -> list[str]:
    """Answer the question that a line tells, in a process that is for nothing else, within its time.

    Of several, which are told with tabs between them, the files are returned of those that are left to be asked alone.
    """
    every = [json.loads(one) for one in line.split("\t")]
    told, left = every[0], []
    keeper = open_keeper(told["folder"])
    os.nice(0 if told["points"] else max(0, 10 - os.nice(0)))  # points are waited for
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # Nobody handles the signal: it ends the process, whatever that is doing.
    signal.setitimer(signal.ITIMER_REAL, told["seconds"])
    with suppress(Stopped):  # who stopped a query of it did not mean the question: the next who asks begins again
        if len(every) > 1:
            left = answer_together(keeper, {Path(one["place"]): Question.of_json(one["asked"]) for one in every})
        else:
            answer(keeper, Question.of_json(told["asked"]), Path(told["place"]), points=told["points"])
    signal.setitimer(signal.ITIMER_REAL, 0)
    return [str(place) for place in left]


def answer_together(keeper: Keeper, questions: Mapping[Path, Question[str]]) -> list[Path]:
    """Compute the points of questions that differ in their dataset alone, keep them, and return those that are left."""
    names = {place: question.datasets[0] for place, question in questions.items()}
    with keeper.store.hold_state():
        whole = replace(next(iter(questions.values())), datasets=tuple(names.values()))
        found = evaluate_together(keeper, choose(whole))
        _write_each({place: _as_answer(found[name], name) for place, name in names.items() if name in found})
    return [place for place, name in names.items() if name not in found]


def _as_answer(rows: pl.DataFrame, asked: str) -> pl.DataFrame:
    """Return the rows of points as they are kept."""
    return rows.select(pl.lit("score").alias("kind"), pl.all()).with_columns(asked=pl.lit(asked))
