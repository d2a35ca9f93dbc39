"""Runs: one system's answers on one dataset, kept in the workspace as Parquet and exported as NIF."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from remix.errors import Error, UnknownName
from remix.frames import Frames

__all__ = ["Run", "list_runs", "load_run", "save_run"]


@dataclass(frozen=True)
class Run:
    """What is known of a run: which system, on which dataset with which content, how it was asked."""

    system: str
    dataset: str
    content: str
    task: str
    seed: int
    kb: str
    version: str

    @property
    def folder_name(self) -> str:
        """Return the name of the folder that keeps the run."""
        return f"{self.system}--{self.dataset}--{self.task.lower()}"


def save_run(folder: Path, run: Run, answers: Frames) -> Path:
    """Return the folder in which the run was put whole, replacing an earlier one of the same system, dataset, task."""
    target = folder / run.folder_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=folder, prefix=".run-"))
        try:
            answers.write(aside)
            (aside / "run.json").write_text(json.dumps(asdict(run), indent=1, sort_keys=True), encoding="utf-8")
            if target.exists():
                target.rename(old := aside.with_name(f"{aside.name}-old"))
                aside.rename(target)
                shutil.rmtree(old, ignore_errors=True)
            else:
                aside.rename(target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise Error(f"the run {run.folder_name} cannot be kept in {folder}: {error.strerror or error}") from error
    return target


def list_runs(folder: Path) -> list[Run]:
    """Return the runs kept in a folder, sorted by name."""
    files = sorted(folder.glob("[!.]*/run.json"))
    return [Run(**json.loads(file.read_text(encoding="utf-8"))) for file in files]


def load_run(folder: Path, system: str, dataset: str, task: str = "A2KB") -> tuple[Run, Frames]:
    """Return a run and its answers; raises `UnknownName` where the system has none for the dataset and task."""
    for run in list_runs(folder):
        if (run.system, run.dataset, run.task) == (system, dataset, task):
            return run, Frames.read(folder / run.folder_name)
    known = [run.folder_name for run in list_runs(folder)]
    raise UnknownName(
        "run", f"{system}--{dataset}--{task.lower()}", known, f"remix annotate {dataset} --system {system}"
    )
