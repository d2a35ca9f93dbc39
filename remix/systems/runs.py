"""Runs: one system's answers on one dataset, kept in the workspace as Parquet and exported as NIF."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from remix._version import __version__
from remix.errors import Error, StoreError, UnknownName
from remix.formats.nif import write_frames
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.progress import stage
from remix.store.targets import Target
from remix.systems import SYSTEMS, annotate

__all__ = ["Run", "list_runs", "load_run", "make_runs", "remove_run", "save_run"]


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


def remove_run(folder: Path, run: Run) -> None:
    """Take a run out of the folder; it is gone at once, also where deleting its files is interrupted."""
    try:
        aside = Path(tempfile.mkdtemp(dir=folder, prefix=".run-"))
        (folder / run.folder_name).rename(aside / "old")
    except OSError as error:
        raise Error(f"the run {run.folder_name} cannot be removed from {folder}: {error.strerror or error}") from error
    shutil.rmtree(aside, ignore_errors=True)


def list_runs(folder: Path) -> list[Run]:
    """Return the runs kept in a folder, sorted by name."""
    return [_described(file) for file in sorted(folder.glob("[!.]*/run.json"))]


def _described(file: Path) -> Run:
    try:
        return Run(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{file} is damaged ({error}): remove {file.parent}, and `remix annotate` again") from None


def load_run(folder: Path, system: str, dataset: str, task: str = "A2KB") -> tuple[Run, Frames]:
    """Return a run and its answers; raises `UnknownName` where the system has none for the dataset and task."""
    for run in list_runs(folder):
        if (run.system, run.dataset, run.task) == (system, dataset, task):
            return run, _answers(folder / run.folder_name)
    known = [run.folder_name for run in list_runs(folder)]
    name = f"{system}--{dataset}--{task.lower()}"
    raise UnknownName("run", name, known, f"remix annotate {dataset} --system {system}", does="makes it")


def _answers(folder: Path) -> Frames:
    try:
        return Frames.read(folder)
    except StoreError as error:
        raise StoreError(f"{error}: `remix annotate` makes the run again") from None


def make_runs(
    targets: Iterable[Target],
    systems: Iterable[str],
    kb: KnowledgeBase | None,
    folder: Path,
    *,
    task: str = "A2KB",
    seed: int = 0,
    nif_folder: Path | None = None,
) -> list[dict[str, object]]:
    """Return a row per system and dataset: what was answered, kept in the folder and, where asked for, as NIF.

    Raises as `remix.systems.annotate`; a run that was kept before the error stays.
    """
    names = list(systems)
    for name in names:
        SYSTEMS[name]
    rows: list[dict[str, object]] = []
    for target in targets:
        for name in names:
            with stage(f"{name} on {target.name}"):
                answers = annotate(name, target.frames, kb, task=task, seed=seed)
            version = kb.version if kb is not None else ""
            run = Run(name, target.name, target.content, task, seed, version, __version__)
            save_run(folder, run, answers)
            if nif_folder is not None:
                nif_folder.mkdir(parents=True, exist_ok=True)
                write_frames(answers, nif_folder / f"{run.folder_name}.ttl")
            linked = answers.links["annotation"].n_unique()
            row = {"system": name, "dataset": target.name, "task": task, "documents": answers.documents.height}
            nil = int(answers.annotations["is_nil"].sum())
            rows.append({**row, "answers": answers.annotations.height, "linked": linked, "nil": nil, "seed": seed})
    return rows
