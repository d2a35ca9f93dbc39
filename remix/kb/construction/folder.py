"""The folder in which a knowledge base is built: one builder at a time, each part of a source read once.

A part is read into a folder `<part>.unfinished`, which takes its name when all is read; so is known what need not be
read again when a build is resumed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from remix.errors import BadInput, Error
from remix.kb.sources import READERS, Origin, Part
from remix.kb.staging import TABLES, Staging
from remix.locks import Busy, hold_file
from remix.places import discard, move_folder, scratch_folder
from remix.progress import note, stage

__all__ = [
    "Staged",
    "building_folder",
    "find_unfinished",
    "hold",
    "part_folders",
    "read_part",
    "remove_unfinished",
    "take_over",
]


@dataclass(frozen=True)
class Staged:
    """What was read of a part: files by table, numbers of rows, and what was wrong with it."""

    origin: Origin
    files: dict[str, list[Path]]
    rows: dict[str, int]
    problems: dict[str, dict[str, Any]]

    def describe(self) -> dict[str, object]:
        """Return what a knowledge base says of the part."""
        part = self.origin.part
        of_part = {key: getattr(part, key) for key in ("place", "fingerprint", "date", "licence", "size")}
        more = {"rows": self.rows, "problems": self.problems}
        return {"source": self.origin.kind, "part": part.name, **of_part, **more}


def building_folder(to: Path, name: str, version: str) -> Path:
    """Return the folder in which a version is built; it lies beside the finished ones and is hidden."""
    return to / f".building-{name}-{version[:12]}"


def find_unfinished(to: Path, name: str) -> list[Path]:
    """Return the folders of builds of a name that were not finished."""
    pattern = re.compile(rf"\.building-{re.escape(name)}-[0-9a-f]{{12}}")
    return sorted(path for path in to.glob(".building-*") if path.is_dir() and pattern.fullmatch(path.name))


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Hold a building folder within the block, waiting for whoever builds the same; what is left stays.

    Raises `Error` where the folder cannot be written.
    """
    with ExitStack() as stack:
        file = _lock_file(folder)
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(hold_file(file, wait=True))
        except OSError as error:
            raise Error(f"{folder} cannot be written: {error.strerror or error}") from error
        stack.callback(file.unlink, missing_ok=True)  # who waits for it notices that it has no name any more
        yield


def remove_unfinished(folder: Path) -> bool:
    """Return whether a building folder was removed: it is not while somebody builds in it."""
    file = _lock_file(folder)
    try:
        with hold_file(file):
            discard(folder)
            file.unlink(missing_ok=True)
    except (Busy, OSError):
        return False
    return not folder.exists()


def _lock_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def read_part(origin: Origin, folder: Path, *, strict: bool) -> Staged:
    """Return what is staged of a part in a folder, read now unless that was done before.

    What was read of a part that fails stays in `<folder>.unfinished` until it is tried again; the error says so.
    """
    staged = _find_staged(origin, folder)
    if staged is None or (strict and staged.problems):
        shutil.rmtree(folder, ignore_errors=True)
        with stage(f"{origin.kind} {origin.part.name}"):
            _read(origin.part, folder, strict=strict)
        staged = _find_staged(origin, folder)
    else:
        note(f"{origin.kind} {origin.part.name}: read before")
    assert staged is not None
    return staged


def _read(part: Part, folder: Path, *, strict: bool) -> None:
    aside = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    staging = Staging(aside, strict=strict)
    try:
        part.read(staging)
    except BadInput as error:
        if not staging.rows:
            raise
        kept = f"{error.reason}; the {sum(staging.rows.values())} rows that were read are kept apart in {aside}"
        raise BadInput(error.file, kept, line=error.line, column=error.column) from error
    problems = {kind: asdict(problem) for kind, problem in staging.problems.items()}
    said = {**_read_as(part), "rows": staging.rows, "problems": problems}
    (aside / "part.json").write_text(json.dumps(said), encoding="utf-8")
    aside.rename(folder)


def _read_as(part: Part) -> dict[str, str]:
    """Return what a part that was read must say to be this one: its content, and the readers of this version."""
    return {"fingerprint": part.fingerprint, "readers": READERS}


def _described_part(part: Part, folder: Path) -> dict[str, Any] | None:
    """Return what a folder says of what was read; None where it is of another part or by other readers."""
    try:
        said: dict[str, Any] = json.loads((folder / "part.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return said if _read_as(part).items() <= said.items() else None


def _find_staged(origin: Origin, folder: Path) -> Staged | None:
    said = _described_part(origin.part, folder)
    if said is None:
        return None
    files = {table: sorted((folder / table).glob("*.parquet")) for table in TABLES}
    return Staged(origin, {table: found for table, found in files.items() if found}, said["rows"], said["problems"])


def take_over(origin: Origin, folder: Path, builds: Iterable[Path]) -> None:
    """Link what an unfinished build with other sources or choices has read of a part, unless it is there already.

    So a file that is downloaded again after a failure is the only one that is read again.
    """
    number, _, name = folder.name.partition("-")
    for build in builds:
        for found in () if folder.exists() else sorted(build.glob(f"read/{len(number) * '[0-9]'}-{name}")):
            with suppress(OSError, Error):  # whoever builds there may finish and sweep it meanwhile
                if _described_part(origin.part, found) is not None:
                    with scratch_folder(folder) as aside:
                        shutil.copytree(found, aside, copy_function=os.link, dirs_exist_ok=True)
                        move_folder(aside, folder)


def part_folders(folder: Path, origins: Sequence[Origin]) -> list[Path]:
    """Return a folder for each part, numbered, as several sources may have parts of one name."""
    return [
        folder / f"{number:03d}-{origin.kind}-{re.sub(r'[^A-Za-z0-9._-]+', '-', origin.part.name)[:80]}"
        for number, origin in enumerate(origins)
    ]
