"""What steps of studies found, kept in the workspace's cache: a folder for each, named by a key.

A key is the hash of the content of all that a step reads, of every choice that can change what it finds, and of the
code that computes it. So what is found under a key is what the step would find, and nothing else is looked for.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import polars as pl

from remix.frames import read_parquet
from remix.places import discard, folder_written, is_sound
from remix.resources import entry_points
from remix.signature import content_hash

COMPUTE = (
    *("documents", "endpoints", "expressions", "dense", "formats", "frames", "frames_folder", "iris", "kb"),
    *("measures", "names", "question", "rdf", "remixes", "runs", "schemas", "scoring", "store", "systems"),
    *("vocabularies", "studies/counting", "studies/jobs", "studies/scores", "studies/weaknesses"),
)
"""The packages and modules whose code can change what a step finds; the others show or ask for it."""
_LIBRARIES = ("polars", "numpy", "scipy", "pyoxigraph", "duckdb", "rdflib", "networkx", "rapidfuzz")
_GROUPS = ("remix.measures", "remix.systems", "remix.scoring.profiles", "remix.formats", "remix.queries")
KEEP_BYTES = 4_000_000_000
"""How large the results of all steps may be; beyond that the oldest go at the end of a study."""


@cache
def code_hash(home: Path | None = None) -> str:
    """Return the hash of the code that computes: the source of `COMPUTE`, the versions of libraries, added parts."""
    place = home or Path(__file__).resolve().parent.parent
    parts = []
    for name in COMPUTE:
        folder, module = place / name, place / f"{name}.py"
        for file in sorted(folder.rglob("*.py")) if folder.is_dir() else [module]:
            parts.append(f"{file.relative_to(place).as_posix()}\n{content_hash(file)}\n")
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            parts.append(f"{name} {version(name)}\n")
    for group in _GROUPS:
        for entry in sorted(entry_points(group), key=lambda one: one.name):
            known = entry.dist.version if entry.dist is not None else ""
            parts.append(f"{group} {entry.name} {entry.value} {known}\n")
    return content_hash(*parts)


def key_of(kind: str, read: Mapping[str, object]) -> str:
    """Return the key of a step: of its kind, of all that it reads and that it was asked, and of the code.

    >>> key_of("count", {"seed": 1}) == key_of("count", {"seed": 2})
    False
    """
    return content_hash(code_hash(), json.dumps([kind, read], sort_keys=True, default=str))[:24]


class StepShelf:
    """The results of steps in a folder; `times` are how long steps took, the newest last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, kind: str, key: str) -> Path:
        """Return the folder of what a step found."""
        return self.folder / f"{kind}-{key}"

    def has(self, kind: str, key: str) -> bool:
        """Return whether a step was done, and what it found is as it was written."""
        return is_sound(self.place(kind, key))

    @contextmanager
    def writing(self, kind: str, key: str, what: str = "") -> Iterator[Path]:
        """Hold the folder that takes what a step finds, which is kept whole at the end of the block or not at all.

        How long the block took is told. Raises `Error` where nothing can be written.
        """
        begin = time.perf_counter()
        with folder_written(self.place(kind, key)) as aside:
            yield aside
        self.tell(kind, what, time.perf_counter() - begin)

    def refuse(self, kind: str, key: str, why: str) -> None:
        """Keep why a step has no result, which of the same data it never has."""
        with folder_written(self.place(f"no-{kind}", key)) as aside:
            (aside / "why.txt").write_text(why, encoding="utf-8")

    def why_not(self, kind: str, key: str) -> str:
        """Return why a step has no result, nothing where none was refused."""
        if not self.has(f"no-{kind}", key):
            return ""
        return (self.place(f"no-{kind}", key) / "why.txt").read_text(encoding="utf-8")

    def lacks(self, kind: str, key: str) -> bool:
        """Return whether a step is still to be done: it has no result, and nothing says why."""
        return not self.has(kind, key) and not self.why_not(kind, key)

    def get(self, kind: str, key: str, name: str) -> pl.DataFrame:
        """Return a table that a step found; raises `StoreError` where there is none."""
        return read_parquet(self.find(kind, key, f"{name}.parquet"))

    def find(self, kind: str, key: str, name: str) -> Path:
        """Return a file that a step wrote, which is not among the oldest any more."""
        file = self.place(kind, key) / name
        with suppress(OSError):
            os.utime(file.parent)
        return file

    def keep(self, kind: str, read: Mapping[str, object], make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """Return the table that was made of all that is read, which is made where it is not there yet."""
        key = key_of(kind, read)
        if not self.has(kind, key):
            with self.writing(kind, key) as place:
                write_frames(place, {"table": make()})
        return self.get(kind, key, "table")

    def tell(self, kind: str, what: str, seconds: float) -> None:
        """Write into the log how long a step took."""
        line = json.dumps({"kind": kind, "what": what, "seconds": round(seconds, 3), "at": round(time.time())})
        with suppress(OSError), (self.folder / "times.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")

    def times(self) -> dict[str, float]:
        """Return the seconds that a step of each kind took, on average of the last twenty."""
        found: dict[str, list[float]] = {}
        with suppress(OSError):
            for line in (self.folder / "times.jsonl").read_text(encoding="utf-8").splitlines():
                with suppress(ValueError, KeyError, TypeError):
                    said = json.loads(line)
                    found.setdefault(said["kind"], []).append(float(said["seconds"]))
        return {kind: sum(last := every[-20:]) / len(last) for kind, every in found.items()}

    def tidy(self, kept: Iterable[Path], largest: int = KEEP_BYTES) -> None:
        """Let the oldest results go where all together are too large, but for those of this study."""
        safe = {*kept}
        every = []
        with suppress(OSError):
            for place in self.folder.iterdir():
                if place.is_dir() and not place.name.startswith("."):
                    size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
                    every.append((place.stat().st_mtime, size, place))
        total = sum(size for _, size, _ in every)
        for _, size, place in sorted(every):
            if total <= largest:
                break
            if place not in safe:
                discard(place)
                total -= size


def write_frames(folder: Path, found: Mapping[str, pl.DataFrame]) -> None:
    """Write tables into a folder, each by its name."""
    for name, frame in found.items():
        frame.write_parquet(folder / f"{name}.parquet")
