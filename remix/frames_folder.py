"""Frames that are larger than memory: a folder of Parquet files in parts, each of which holds whole documents.

    DIR/manifest.json              what it holds; written last
    DIR/documents/part-00000.parquet, annotations/…, links/…, …      the columns of `remix.frames`

A frame without rows has no file. A document is in one part with all that is said of it, so parts are counted one by
one; sets of the whole dataset are not (see `remix.measures._parts`).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from remix._version import __version__
from remix.errors import Error, StoreError, UsageError
from remix.files import write_whole
from remix.frames import SCHEMAS, Frames, read_parquet, write_parquet
from remix.locks import Busy, lock_file
from remix.places import move_folder, refuse_file_name
from remix.signature import content_hash

FORMAT = 1
_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class FramesFolder:
    """A dataset as a folder of frames: `manifest` has name, iri, parts, documents, annotations, inputs and repairs."""

    path: Path
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, path: Path | str) -> FramesFolder:
        """Return the frames of a folder; raises `StoreError` where it holds none or was written by a newer remix."""
        try:
            manifest = json.loads((Path(path) / _MANIFEST).read_text(encoding="utf-8"))
            known = int(manifest["format"]) <= FORMAT and {"name", "iri", "parts"} <= set(manifest)
        except (OSError, ValueError, KeyError, TypeError):
            raise StoreError(f"{path} holds no frames: `remix load --to frames {path} FILE` writes them") from None
        if not known:
            raise StoreError(f"{path} was written by a newer remix: update it, or load the files again")
        return cls(Path(path), manifest)

    @property
    def name(self) -> str:
        """Return the name of the dataset."""
        return str(self.manifest["name"])

    @property
    def parts(self) -> int:
        """Return the number of parts."""
        return int(self.manifest["parts"])

    @property
    def content(self) -> str:
        """Return the hash of the files of all parts."""
        return content_hash(*sorted(self.path.glob("*/part-*.parquet")))

    def part(self, number: int, *, without: Collection[str] = ()) -> Frames:
        """Return the frames of one part; raises `StoreError` for a damaged file.

        Columns `without` which one can do are not read, and null.
        """
        found = {}
        for name, schema in SCHEMAS.items():
            file = self.path / name / part_name(number)
            found[name] = read_parquet(file, without=without) if file.exists() else pl.DataFrame(schema=schema)
        return Frames.of(**found)

    def read(self, numbers: Iterable[int], *, without: Collection[str] = ()) -> Frames:
        """Return the frames of several parts together; see `part`."""
        return Frames.concat(self.part(number, without=without) for number in numbers)

    def batches(self, annotations: int) -> Iterator[range]:
        """Yield the numbers of parts that together have about so many annotations, in their order."""
        begin = held = 0
        for number in range(self.parts):
            file = self.path / "annotations" / part_name(number)
            held += pl.scan_parquet(file).select(pl.len()).collect().item() if file.exists() else 0
            if held >= annotations or number == self.parts - 1:
                yield range(begin, number + 1)
                begin, held = number + 1, 0

    def scan(self, frame: str) -> pl.LazyFrame:
        """Return one frame of all parts as a lazy frame."""
        files = sorted((self.path / frame).glob("part-*.parquet"))
        return pl.scan_parquet(files) if files else pl.LazyFrame(schema=SCHEMAS[frame])


def is_frames_folder(path: Path | str) -> bool:
    """Return whether a path is a folder that `FramesFolder.open` may read."""
    return (Path(path) / _MANIFEST).is_file() and (Path(path) / "documents").is_dir()


def part_name(number: int) -> str:
    """Return the file name of a part.

    >>> part_name(7)
    'part-00007.parquet'
    """
    return f"part-{number:05d}.parquet"


def write_part(folder: Path, number: int, frames: Frames) -> None:
    """Write the frames of a part, which does not count until the manifest is there; raises `Error`."""
    every: dict[str, pl.DataFrame] = {name: getattr(frames, name) for name in SCHEMAS}
    filled = {name: rows for name, rows in every.items() if rows.height}
    for name in filled:
        (folder / name).mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as threads:
        files = [folder / name / part_name(number) for name in filled]
        list(threads.map(write_parquet, filled.values(), files))


@contextmanager
def under_way(to: Path, plan: Mapping[str, Any], *, replace: bool = False) -> Iterator[Path]:
    """Hold the folder in which frames are written before they take the place of `to` (see `finish`).

    It stays when the work is interrupted: what has the same plan goes on there, another plan begins anew. Raises
    `UsageError` where `to` is called like a file, is there already and is not to be replaced, or holds something else,
    `StoreError` where another process writes it.
    """
    refuse_file_name(to)
    if to.exists() and not (to.is_dir() and not any(to.iterdir())):
        if not is_frames_folder(to):
            raise UsageError(f"{to} is there already and holds no frames: name a new folder")
        if not replace:
            raise UsageError(f"{to} holds frames already: name a new folder, or give --replace")
    place = to.with_name(f".{to.name}.partial")
    try:
        place.mkdir(parents=True, exist_ok=True)
        with lock_file(place / "lock"):
            _write_plan(place, plan)
            yield place
    except Busy:
        raise StoreError(f"{to} is being written by another process") from None
    except OSError as error:
        raise Error(f"{place} cannot be written: {error.strerror or error}") from error


def _write_plan(place: Path, plan: Mapping[str, Any]) -> None:
    file = place / "plan.json"
    text = json.dumps(plan, sort_keys=True)
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return
    for old in place.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
        elif old.name != "lock":
            old.unlink()
    with write_whole(file) as stream:
        stream.write(text.encode())


def finish(place: Path, to: Path, manifest: Mapping[str, Any]) -> FramesFolder:
    """Return the frames that were written under way, in their place: the manifest comes last, then a rename."""
    for name in ("plan.json", "lock"):
        (place / name).unlink(missing_ok=True)
    (place / "documents").mkdir(exist_ok=True)
    with write_whole(place / _MANIFEST) as stream:
        stream.write(
            json.dumps({"format": FORMAT, "remix": __version__, **manifest}, indent=1, ensure_ascii=False).encode()
        )
    move_folder(place, to)
    return FramesFolder.open(to)
