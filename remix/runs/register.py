"""The register of runs: answers on a dataset, kept in the workspace as Parquet under the name of the run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import quote

from remix.errors import Error, StoreError, UnknownName
from remix.frames import Frames
from remix.places import discard, folder_written
from remix.signature import content_hash

__all__ = ["Run", "list_runs", "load_run", "read_answers", "remove_run", "save_run"]


@dataclass(frozen=True)
class Run:
    """What is known of a run: its name, on which dataset with which content, the task that it was made for.

    `system` is the name of the run, which is that of the system that made it or what its user calls it. `source` are
    the files that it came from, empty where remix ran the system itself; `seed`, `kb` and `version` are what it ran
    with then. `documents` and `answers` are how many there are, `checksum` is that of the files that keep them.
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

    @property
    def folder_name(self) -> str:
        """Return the name of the folder that keeps the run."""
        # A folder whose name begins with a point is one that is being written.
        name = (
            quote(self.system, safe=" ").replace(".", "%2E", 1)
            if self.system[0] == "."
            else quote(self.system, safe=" ")
        )
        return f"{name}--{self.dataset}--{self.task.lower()}"


def save_run(folder: Path, run: Run, answers: Frames) -> Path:
    """Return the folder in which the run was put whole, replacing an earlier one of the same system, dataset, task."""
    target = folder / run.folder_name
    with folder_written(target) as aside:
        answers.write(aside)
        run = replace(
            run,
            documents=answers.documents.height,
            answers=answers.annotations.height,
            checksum=_checksum(aside),
        )
        (aside / "run.json").write_text(json.dumps(asdict(run), indent=1, sort_keys=True), encoding="utf-8")
    return target


def remove_run(folder: Path, run: Run) -> None:
    """Take a run out of the folder; it is gone at once, also where deleting its files is interrupted."""
    discard(place := folder / run.folder_name)
    if place.exists():
        raise Error(f"the run {run.folder_name} cannot be removed from {folder}")


def list_runs(folder: Path) -> list[Run]:
    """Return the runs kept in a folder, sorted by name; raises `StoreError` for one whose description is damaged."""
    return [_described(file) for file in sorted(folder.glob("[!.]*/run.json"))]


def _described(file: Path) -> Run:
    try:
        return Run(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{file} is damaged ({error}): remove {file.parent}, {_AGAIN}") from None


_AGAIN = "and `remix annotate` or `remix run add` again"


def load_run(folder: Path, system: str, dataset: str, task: str = "A2KB") -> tuple[Run, Frames]:
    """Return a run and its answers; raises `UnknownName` where the system has none for the dataset and task."""
    for run in list_runs(folder):
        if (run.system, run.dataset, run.task) == (system, dataset, task):
            return run, read_answers(folder, run)
    known = [run.folder_name for run in list_runs(folder)]
    name = f"{system}--{dataset}--{task.lower()}"
    raise UnknownName("run", name, known, f"remix annotate {dataset} --system {system}", does="makes it")


def read_answers(folder: Path, run: Run) -> Frames:
    """Return the answers of a run that the folder keeps.

    Raises `StoreError` where a file is gone, cannot be read, or is not, to the last bit, what was written.
    """
    place = folder / run.folder_name
    try:
        if run.checksum and _checksum(place) != run.checksum:
            raise StoreError(f"{place} is damaged (its files are not what was written)")
        return Frames.read(place)
    except FileNotFoundError as error:
        raise StoreError(f"{error.filename} is gone: remove {place}, {_AGAIN}") from None
    except StoreError as error:
        raise StoreError(f"{error}: remove {place}, {_AGAIN}") from None


def _checksum(folder: Path) -> str:
    return content_hash(*sorted(folder.glob("*.parquet")))
