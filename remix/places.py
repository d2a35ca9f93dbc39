"""Files and folders that are made aside and then put in their place, so that they appear whole or not at all.

What is under way is called `.NAME.remix-1a2b3c4d` and locked by who makes it. So whatever process comes next can tell
what a killed one has left, and removes it. What is sealed has `SHA256SUMS` in it, which says what each file was,
as `sha256sum -c` reads it: a flipped bit or a file that was emptied would change numbers in silence, so what is read is
compared first.
"""

from __future__ import annotations

import atexit
import math
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from remix.errors import Error, StoreError, UsageError
from remix.locks import Lock
from remix.signature import content_hash

_ASIDE = re.compile(r"\.(.+)\.remix-([0-9a-f]{8}|old)", re.DOTALL)


_FILES = re.compile(
    r"\.(?:ttl|nt|nq|trig|rdf|owl|jsonld|json|jsonl|xml|csv|tsv|conll\w*|txt|parquet|html|md|svg|zip|tar|gz|bz2|xz|zst)$",
    re.IGNORECASE,
)


def refuse_file_name(folder: Path | str) -> None:
    """Raise `UsageError` for a folder that is to be made and is called like a file of data: `out.ttl`."""
    place = Path(folder)
    if _FILES.search(place.name) and not place.is_dir():
        plain = place.with_name(_FILES.sub("", place.name))
        raise UsageError(f"{place} is called like a file, and a folder is written there: name it as {plain}")


@contextmanager
def folder_written(path: Path | str, *, sealed: bool = True) -> Iterator[Path]:
    """Hold a new folder that takes its place at the end of the block, or leaves no trace.

    It is sealed first. A folder that has the name is exchanged for it, at one moment where the system
    can do that, and removed: see before that it may be. Raises `Error` where
    it cannot be written.
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

    It is gone at the end of the block unless it was moved, and where the process ends while a thread is within it, as
    that of a page for which a server that stops waits no longer. What killed commands left there is swept before.
    Raises `OSError`.
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
    process = os.getpid()

    def forget() -> None:
        if os.getpid() == process and aside.exists():  # what is forked from this one has no part in it
            discard(aside)

    atexit.register(forget)
    try:
        if not folder and target.exists():
            aside.chmod(stat.S_IMODE(target.stat().st_mode))
        yield aside
    finally:
        if lock is not None:
            lock.release()
        atexit.unregister(forget)
        forget()


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


SUMS = "SHA256SUMS"


def spell_checksums(known: Mapping[str, str]) -> str:
    """Return the checksums of files by their names as lines, sorted by name."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(known.items()))


def seal(folder: Path, files: Iterable[Path] | None = None) -> None:
    """Write the checksums of these files of a folder, by default of all, into the folder."""
    every = files if files is not None else (file for file in folder.rglob("*") if file.is_file())
    known = {file.relative_to(folder).as_posix(): content_hash(file) for file in every if file.name != SUMS}
    (folder / SUMS).write_text(spell_checksums(known), encoding="utf-8")


def checksums(folder: Path) -> dict[str, str]:
    """Return the checksum of each file of a sealed folder by its name; raises `StoreError` where it has none."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
        return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except (OSError, ValueError):
        raise StoreError(f"{folder} is damaged (its checksums, {SUMS}, are gone or no checksums)") from None


def verify(folder: Path, *names: str, largest: float = math.inf) -> None:
    """Compare files of a sealed folder, by default all, with what they were when it was sealed.

    Of files of more than `largest` bytes it is seen only that they are there. Raises `StoreError` for one that is gone
    or has changed.
    """
    known = checksums(folder)
    for name in names or known:
        file = folder / name
        try:
            same = file.stat().st_size > largest or content_hash(file) == known.get(name)
        except FileNotFoundError:
            raise StoreError(f"{file} is gone") from None
        except OSError as error:
            raise StoreError(f"{file} cannot be read ({error.strerror or error})") from None
        if not same:
            raise StoreError(f"{file} is damaged (it is not what was written, by its checksum)")


def is_sound(folder: Path) -> bool:
    """Return whether a sealed folder is there and holds what was written."""
    try:
        verify(folder)
    except StoreError:
        return False
    return True
