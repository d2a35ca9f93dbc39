"""What verbs work on: a loaded dataset by its name, or any file that a format reads."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from remix.errors import StoreError, UnknownName
from remix.formats import read
from remix.frames import Frames
from remix.locks import holding
from remix.store import Store

__all__ = ["Target", "targets"]


@dataclass(frozen=True)
class Target:
    """A dataset, loaded or in a file: its name, its frames, the hash of its content."""

    name: str
    frames: Frames
    content: str


@holding
def targets(store: Store, names: Iterable[str] = ()) -> list[Target]:
    """Return the datasets of these names or files, by default all that are loaded.

    Raises `UnknownName` for what is neither loaded nor a file, `StoreError` where nothing is named or loaded.
    """
    loaded = {entry.name: entry for entry in store.datasets()}
    chosen = list(names) or list(loaded)
    if not chosen:
        raise StoreError("nothing is loaded: `remix load FILE` first, or name a file")
    return [
        Target(name, store.frames([name]), loaded[name].content) if name in loaded else _from_file(name, loaded)
        for name in chosen
    ]


def _from_file(name: str, loaded: Iterable[str]) -> Target:
    if name != "-" and not Path(name).exists():
        beside = sorted(Path(name).parent.glob(f"{glob.escape(Path(name).name)}.*"))
        if beside:
            raise UnknownName("dataset or file", name, (), str(beside[0]), does="is a file beside it")
        raise UnknownName("dataset or file", name, loaded, "remix list datasets")
    reading = read(name)
    return Target(reading.name, reading.frames, reading.content)
