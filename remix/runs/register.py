"""The register of runs: what is known of each, its answers as Parquet, and how it was made, in a folder of its own."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import polars as pl

from remix.errors import Error, StoreError, UnknownName
from remix.frames import Documents, Frames
from remix.names import FAILED
from remix.places import SUMS, discard, folder_written
from remix.scoring.choice import HASHED_BY, frames_hash
from remix.signature import content_hash
from remix.systems import TASKS
from remix.systems.record import RECORD, Record, read_record, write_record

if TYPE_CHECKING:
    from remix.store import Store


@dataclass(frozen=True)
class Run:
    """What is known of a run: its name, on which dataset with which content, the task that it was made for.

    `system` is the name of the run, which is that of the system that made it or what its user calls it. `source` are
    the files that it came from, empty where remix ran the system itself; `seed`, `kb` and `version` are what it ran
    with then. `documents` and `answers` are how many there are, `checksum` is that of the files that keep them.
    `frames_hash` is that of the answers, behind the number of the rule by which it was made and a colon; what an
    earlier version registered has none.
    """

    system: str
    dataset: str
    content: str
    task: str
    seed: int
    kb: str
    version: str
    source: str = ""
    documents: int = 0
    answers: int = 0
    checksum: str = ""
    frames_hash: str = ""

    @property
    def folder_name(self) -> str:
        """Return the name of the folder that keeps the run."""
        # A folder whose name begins with a point is one that is being written.
        name = re.sub(r"^\.", "%2E", quote(self.system, safe=" "))
        return f"{name}--{self.dataset}--{self.task.lower()}"


@dataclass(frozen=True)
class DamagedRun(Run):
    """A run whose description is gone or not what was written, known by the name of its folder alone.

    `damage` says what is wrong and what to do. Its answers cannot be read, as those of a run with a damaged file.
    """

    damage: str = ""


def save_run(folder: Path, run: Run, answers: Frames, record: Record | None = None) -> Path:
    """Return the folder in which the run was put whole, replacing an earlier one of the same system, dataset, task.

    The `record` says how it was made, and with the task and the texts of the answered documents is kept with it; what
    remix made itself (without a source) it made on the texts of the dataset as it is loaded.
    """
    target = folder / run.folder_name
    made = record or Record(run.system, "")
    texts = _hash_texts(answers.documents)
    revision = made.revision or ("" if run.source else run.content)
    told = answers.values.filter(pl.col("term") == FAILED).join(
        answers.documents.select(subject="document"), on="subject", how="semi"
    )
    failed = made.failed or dict(told.select("subject", "text").iter_rows())
    made = replace(made, task=run.task, texts=texts, revision=revision, failed=failed)
    with folder_written(target) as aside:
        answers.write(aside)
        run = replace(
            run,
            documents=answers.documents.height,
            answers=answers.annotations.height,
            checksum=_checksum(aside),
            frames_hash=f"{HASHED_BY}:{frames_hash(answers)}",
        )
        (aside / _DESCRIPTION).write_text(json.dumps(asdict(run), indent=1, sort_keys=True), encoding="utf-8")
        write_record(aside, made)
    return target


def _hash_texts(documents: Documents) -> str:
    return content_hash(*(text or "" for text in documents.sort("document")["text"]))


def has_its_texts(folder: Path, run: Run, now: Documents) -> bool:
    """Return whether a dataset has `now`, among its documents, all texts that a run was registered on."""
    record, answered = read_record(folder / run.folder_name), read_answers(folder, run).documents["document"]
    return record is not None and record.texts == _hash_texts(now.filter(pl.col("document").is_in(answered.implode())))


def remove_run(folder: Path, run: Run) -> None:
    """Take a run out of the folder; it is gone at once, also where deleting its files is interrupted."""
    discard(place := folder / run.folder_name)
    if place.exists():
        raise Error(f"the run {run.folder_name} cannot be removed from {folder}")


def list_runs(folder: Path) -> list[Run]:
    """Return the runs kept in a folder, sorted by name; one whose description is damaged is a `DamagedRun`.

    So it hinders nobody who does not ask for it. Raises `StoreError` where its folder does not tell what it is, either.
    """
    found = []
    for place in _places_of_runs(folder):
        run = _read_run(place)
        if isinstance(run, DamagedRun):  # or replaced, by another process, between two of its files
            run = _read_run(place)
        if not isinstance(run, DamagedRun) or place.exists():
            found.append(run)
    return found


_DESCRIPTION = "run.json"


def _places_of_runs(folder: Path) -> list[Path]:
    """Return the folders of runs, sorted, also of one whose description is gone."""
    places = sorted(folder.glob("[!.]*"))
    return [place for place in places if _told_by_name(place) or (place / _DESCRIPTION).exists()]


def _told_by_name(place: Path) -> tuple[str, str, str] | None:
    """Return name, dataset and task of a run by its folder, None of one that is no run's."""
    # Put together again these are the name of the folder, wherever a name has dashes itself.
    rest, _, task = place.name.rpartition("--")
    name, between, dataset = rest.rpartition("--")
    return (unquote(name), dataset, task.upper()) if between and task.upper() in TASKS else None


def _read_run(place: Path) -> Run:
    """Return the run that a folder keeps."""
    file = place / _DESCRIPTION
    try:
        content = file.read_bytes()
        _refuse_changed(place, content)
        return Run(**json.loads(content))
    except FileNotFoundError as error:
        told = f"{error.filename} is gone"
    except (OSError, ValueError, TypeError) as error:
        told = f"{file} is damaged ({error})"
    except StoreError as error:
        told = str(error)
    known = _told_by_name(place)
    if known is None:
        raise StoreError(f"{told}: remove {place}, and `remix annotate` or `remix run add` again")
    name, dataset, task = known
    run = DamagedRun(name, dataset, "", task, 0, "", "")
    return replace(run, damage=f"{told}: {_say_what_to_do(run)}")


def _refuse_changed(place: Path, content: bytes) -> None:
    """Raise `StoreError` where a description, or the record beside it, is not what was sealed with the run."""
    try:
        sealed = (place / SUMS).read_bytes()
    except FileNotFoundError:
        return
    # `verify` would take five times as long, and there are hundreds of runs.
    for name in (_DESCRIPTION, RECORD):
        if f"  {name}\n".encode() in sealed:
            there = content if name == _DESCRIPTION else (place / name).read_bytes()
            if f"{content_hash(there)}  {name}\n".encode() not in sealed:
                raise StoreError(f"{place / name} is damaged (it is not what was written, by its checksum)")


def _say_what_to_do(run: Run) -> str:
    """Return what to do about a run that is damaged."""
    name = shlex.quote(run.system)
    on = f"--on {shlex.quote(run.dataset)}{f' --task {run.task}' if run.task != 'A2KB' else ''}"
    again = f"`remix run add {name} FILE {on} --replace` registers its answers anew"
    return f"{again}, `remix run drop {name} {on}` takes it out"


def load_run(folder: Path, system: str, dataset: str, task: str = "A2KB") -> tuple[Run, Frames]:
    """Return a run and its answers; raises `UnknownName` where the system has none for the dataset and task."""
    for run in list_runs(folder):
        if (run.system, run.dataset, run.task) == (system, dataset, task):
            return run, read_answers(folder, run)
    known = sorted({run.system for run in list_runs(folder) if (run.dataset, run.task) == (dataset, task)})
    command = f"remix annotate {dataset} --system {system}"
    raise UnknownName(f"run on {dataset} for {task}", system, known, command, does="makes it")


def read_answers(folder: Path, run: Run) -> Frames:
    """Return the answers of a run that the folder keeps.

    Raises `StoreError` where a file is gone, cannot be read, or is not, to the last bit, what was written.
    """
    return read_answers_of(folder, [run])[0]


def read_answers_of(folder: Path, runs: Sequence[Run]) -> list[Frames]:
    """Return the answers of each of several runs, as `read_answers` does."""
    for run in runs:
        place = folder / run.folder_name
        if isinstance(run, DamagedRun):
            raise StoreError(f"run '{run.system}' on {run.dataset}: {run.damage}")
        try:
            if run.checksum and _checksum(place) != run.checksum:
                raise StoreError(f"{place} is damaged (its files are not what was written): {_say_what_to_do(run)}")
        except FileNotFoundError as error:
            raise StoreError(f"{error.filename} is gone: {_say_what_to_do(run)}") from None
    try:
        read = Frames.read_each([folder / run.folder_name for run in runs])
    except StoreError as error:
        raise StoreError(
            f"{error}: `remix run add NAME FILE --on DATASET --replace` registers its answers anew, "
            "`remix run drop NAME --on DATASET` takes it out"
        ) from None
    return [_with_hash(answers, run) for answers, run in zip(read, runs, strict=True)]


def _with_hash(answers: Frames, run: Run) -> Frames:
    """Return answers with the hash that was kept of them, where it is of these files and of the rule of this remix."""
    rule, _, known = run.frames_hash.partition(":")
    return answers.known_as(known) if run.checksum and rule == HASHED_BY else answers


def _checksum(folder: Path) -> str:
    return content_hash(*sorted(folder.glob("*.parquet")))


def records_of(folder: Path, task: str) -> dict[tuple[str, str], Record]:
    """Return the records of the runs for a task by dataset and name, as far as they have one."""
    runs = [run for run in list_runs(folder) if run.task == task and not isinstance(run, DamagedRun)]
    found = {(run.dataset, run.system): read_record(folder / run.folder_name) for run in runs}
    return {key: record for key, record in found.items() if record is not None}


def revision_of(folder: Path, run: Run) -> str:
    """Return the revision of the texts that a run was made on, as its record says it, else nothing."""
    record = read_record(folder / run.folder_name)
    return record.revision if record is not None else ""


def write_answers(store: Store, folder: Path, system: str, dataset: str, to: Path) -> Path:
    """Return the file of NIF, written into the folder `to`, of a run's answers in the texts of a loaded dataset.

    Raises `UnknownName` for a dataset that is not loaded and a run that is not registered on it.
    """
    from remix.formats.nif.writing import write_frames

    store.dataset(dataset)
    _, answers = load_run(folder, system, dataset)
    documents = store.frames([dataset]).documents
    write_frames(replace(answers, documents=documents), target := to / f"{dataset}-{system}.ttl")
    return target
