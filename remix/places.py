"""Files and folders that are made aside and then put in their place, so that they appear whole or not at all.

What is under way is called `.NAME.remix-1a2b3c4d` and locked by who makes it. So whatever process comes next can tell
what a killed one has left, and removes it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from remix.errors import Error
from remix.locks import Lock
from remix.sealing import seal

__all__ = ["aside_of", "discard", "folder_written", "move_folder", "scratch_folder", "set_aside", "sweep"]

_ASIDE = re.compile(r"\.(.+)\.remix-([0-9a-f]{8}|old)", re.DOTALL)


@contextmanager
def folder_written(path: Path | str, *, sealed: bool = True) -> Iterator[Path]:
    """Hold a new folder that takes its place at the end of the block, or leaves no trace.

    It is sealed first (`remix.sealing`). A folder that has the name is exchanged for it, at one moment where the system
    can do that, and removed: see before that it may be. Raises `Error` as `written`.
    """
    target = Path(path)
    with scratch_folder(target) as aside:
        yield aside
        if sealed:
            seal(aside)
        move_folder(aside, target)


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """Hold a new folder beside a path; it is gone at the end of the block unless it was moved. Raises `Error`."""
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        with aside_of(beside, folder=True) as aside:
            yield aside
    except OSError as error:
        raise Error(f"{beside} cannot be written: {error.strerror or error}") from error


def move_folder(made: Path, to: Path) -> None:
    """Give a finished folder its name; a folder that has it is exchanged for it and removed. Raises `OSError`."""
    if not to.is_dir():
        made.rename(to)
    elif _exchange(made, to):
        discard(made)
    else:
        old = to.with_name(f".{to.name}.remix-old")  # the next writer puts it back if this process ends here
        to.rename(old)
        made.rename(to)
        discard(old)


def discard(place: Path) -> None:
    """Remove a file or folder that remix made; it is gone at once, also where removing its files is interrupted."""
    aside = place.with_name(_aside_name(place))
    with suppress(OSError):
        place.rename(aside)
        place = aside
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with suppress(OSError):
            place.unlink()


def set_aside(place: Path) -> Path:
    """Return where a file or folder is now, out of the way; the next writer sweeps it. Raises `OSError`."""
    return place.rename(place.with_name(_aside_name(place)))


def sweep(folder: Path) -> None:
    """Remove from a folder what commands that were killed had under way there; what is under way stays."""
    with suppress(OSError):
        names = [entry.name for entry in os.scandir(folder)]
        for name, found in ((name, _ASIDE.fullmatch(name)) for name in names):
            if found is None:
                continue
            place, target = folder / name, folder / found[1]
            if found[2] == "old" and not target.exists():
                place.rename(target)
            elif (lock := Lock.on(place)) is not None:
                with lock:
                    discard(place)


@contextmanager
def aside_of(target: Path, *, folder: bool = False) -> Iterator[Path]:
    """Hold an empty file or folder beside a target, locked so that others know that somebody is at work.

    It is gone at the end of the block unless it was moved. What killed commands left there is swept before. Raises
    `OSError`.
    """
    sweep(target.parent)
    lock = None
    for _ in range(10):  # where the system has no locks, it goes without
        aside = target.with_name(_aside_name(target))
        if folder:
            aside.mkdir()
        else:
            os.close(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        lock = Lock.on(aside)
        if lock is not None and aside.exists():  # else it was swept before it was locked
            break
    try:
        if not folder and target.exists():
            aside.chmod(stat.S_IMODE(target.stat().st_mode))
        yield aside
    finally:
        if lock is not None:
            lock.release()
        if aside.exists():
            discard(aside)


def _aside_name(target: Path) -> str:
    return f".{target.name}.remix-{os.urandom(4).hex()}"


def _exchange(one: Path, other: Path) -> bool:
    """Return whether two folders have exchanged their names, which Linux does at one moment."""
    import ctypes

    try:
        rename = ctypes.CDLL(None).renameat2
    except AttributeError:
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return int(rename(here, os.fsencode(one), here, os.fsencode(other), exchange)) == 0
