"""What verbs work on: a loaded dataset by its name, any file that a format reads, or one that was fetched."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from remix.catalog import local_file
from remix.errors import StoreError, UnknownName, UsageError
from remix.formats import read
from remix.formats.identifiers import given_iris, rename_terms
from remix.formats.nif.writing import write_frames
from remix.formats.settings import format_for
from remix.frames import Frames
from remix.frames_folder import FramesFolder, is_frames_folder
from remix.rdf.ntriples import columns
from remix.rdf.turtle import turtle
from remix.store import Store, in_one_state


@dataclass(frozen=True)
class Target:
    """A dataset, loaded or in a file: its name, its frames, the hash of its content."""

    name: str
    frames: Frames
    content: str
    loaded: bool = False


@in_one_state
def targets(store: Store, names: Iterable[str] = (), formats: Iterable[str] = ()) -> list[Target]:
    """Return the datasets of these names or files, by default all that are loaded.

    `formats` are those of files, as `remix.formats.settings.format_for` has them.

    Raises `UnknownName` for what is neither loaded nor a file, `StoreError` where nothing is named or loaded.
    """
    loaded = {entry.name: entry for entry in store.datasets()}
    chosen = list(names) or list(loaded)
    if not chosen:
        raise StoreError("nothing is loaded: `remix load FILE` first, or name a file")
    return [
        Target(name, store.frames([name]), loaded[name].content, loaded=True)
        if name in loaded
        else _from_file(name, loaded, format_for(name, formats))
        for name in chosen
    ]


def named_targets(store: Store, names: Iterable[str] = (), formats: Iterable[str] = ()) -> Frames:
    """Return the frames of datasets together, each called by its name; raises as `targets`.

    Raises `UsageError` for two datasets of one name, whose annotations could not be told apart.
    """
    found = targets(store, names, formats)
    if twice := [one.name for one in found if [other.name for other in found].count(one.name) > 1]:
        raise UsageError(f"two datasets are called '{twice[0]}': load one under another name with --name")
    return Frames.concat(one.frames.in_dataset(one.name) for one in found)


def is_stored(store: Store, name: str) -> bool:
    """Return whether a dataset is loaded or a folder of frames, rather than a file of a format."""
    return name in store.state.datasets or is_frames_folder(name)


def write_out(store: Store, name: str, folder: Path) -> Path:
    """Return a file of NIF in a folder: of a loaded dataset, with the IRIs as they were given, or of frames."""
    if name not in store.state.datasets:
        opened = FramesFolder.open(name)
        write_frames(opened.read(range(opened.parts)), target := folder / f"{opened.name}.ttl")
        return target
    entry = store.dataset(name)
    triples = rename_terms(
        columns(store.triples(f"{entry.folder}/data.nt.zst")), given_iris(store.frames([name]))
    ).unique()
    (target := folder / f"{name}.ttl").write_bytes(turtle(triples))
    return target


def _from_file(name: str, loaded: Iterable[str], format: str | None) -> Target:
    path, known = local_file(name)
    if known is not None:
        reading = read(path, name=known.loaded_name, format=format or known.format or None)
        return Target(reading.name, reading.frames, reading.content)
    if name != "-" and not Path(name).exists():
        beside = sorted(Path(name).parent.glob(f"{glob.escape(Path(name).name)}.*"))
        if beside:
            raise UnknownName("dataset or file", name, (), str(beside[0]), does="is a file beside it")
        raise UnknownName("dataset or file", name, loaded, "remix list datasets")
    if is_frames_folder(name):
        folder = FramesFolder.open(name)
        return Target(folder.name, folder.read(range(folder.parts)), folder.content)
    reading = read(name, format=format)
    return Target(reading.name, reading.frames, reading.content)
