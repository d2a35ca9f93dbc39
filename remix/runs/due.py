"""Outcomes that are still to be made, as what they are derived of changed and the work ended before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from remix.errors import BadInput, UsageError

_DUE = ".outcomes"
"""How the files in the folder of runs begin that say whose outcomes are still to be made."""


@contextmanager
def outcomes_due(folder: Path, datasets: Iterable[str] = ()) -> Iterator[None]:
    """Keep a note, while answers to these datasets change, that their outcomes are to be made anew.

    Without names it is those that are missing after datasets change. The work within makes them; where it ends sooner,
    as by a signal or on a full disk, whoever reads outcomes next does (see `refresh_outcomes`). What is refused
    has changed nothing. A note that was there before is of other outcomes as well, and stays.
    """
    wanted = [_note(folder, name) for name in datasets] or [folder / _DUE]
    notes = [note for note in wanted if not note.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for note in notes:
        note.touch()
    try:
        yield
    except (BadInput, UsageError):
        forget(notes)
        raise
    forget(notes)


def leave_due(folder: Path, datasets: Iterable[str], due: Mapping[Path, str]) -> None:
    """Keep of the notes that are `due` those on these datasets alone, whose outcomes could not be made."""
    left = [_note(folder, name) for name in datasets]
    for note in left:
        note.touch()
    forget(due.keys() - {*left})


def _note(folder: Path, dataset: str) -> Path:
    return folder / f"{_DUE}--{dataset}"


def notes_of(folder: Path) -> dict[Path, str]:
    """Return the notes of outcomes that are still to be made, each with the dataset that it names, or none."""
    return {note: note.name.removeprefix(_DUE).removeprefix("--") for note in sorted(folder.glob(f"{_DUE}*"))}


def forget(notes: Iterable[Path]) -> None:
    """Take notes away whose outcomes were made."""
    for note in notes:
        note.unlink(missing_ok=True)
