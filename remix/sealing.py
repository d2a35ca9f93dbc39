"""Folders that are sealed: `SHA256SUMS` in them says what each file was, as `sha256sum -c` reads it.

A flipped bit or a file that was emptied would change numbers in silence; so what is read is compared first.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from pathlib import Path

from remix.errors import StoreError

__all__ = ["SUMS", "checksums", "file_hash", "is_sound", "seal", "verify"]

SUMS = "SHA256SUMS"


def file_hash(file: Path) -> str:
    """Return the SHA-256 of a file as it is on the disk, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def seal(folder: Path, files: Iterable[Path] | None = None) -> None:
    """Write the checksums of these files of a folder, by default of all, into the folder."""
    every = files if files is not None else (file for file in folder.rglob("*") if file.is_file())
    names = sorted(file.relative_to(folder).as_posix() for file in every if file.name != SUMS)
    lines = "".join(f"{file_hash(folder / name)}  {name}\n" for name in names)
    (folder / SUMS).write_text(lines, encoding="utf-8")


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
            same = file.stat().st_size > largest or file_hash(file) == known.get(name)
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
