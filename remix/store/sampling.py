"""A sample of the documents of frames that are larger than a store, loaded into it."""

from __future__ import annotations

import tempfile
from dataclasses import replace as dataclass_replace
from pathlib import Path

import numpy as np

from remix.errors import UsageError
from remix.files import readable
from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.frames_folder import FramesFolder
from remix.store import Store
from remix.store.loading import Outcome, load

__all__ = ["load_sample", "sample_documents"]


def sample_documents(folder: FramesFolder, count: int, seed: int) -> Frames:
    """Return the frames of so many documents, drawn with a seed; of all where there are no more.

    Raises `UsageError` for a count below 1.
    """
    if count < 1:
        raise UsageError(f"a sample of {count} documents is none: give at least 1")
    names = folder.scan("documents").select("document").collect()["document"].sort()
    chosen = names
    if count < len(names):
        places = np.random.default_rng(seed).choice(len(names), size=count, replace=False)
        chosen = names.gather(np.sort(places))
    return Frames.concat(folder.part(number).keep(documents=chosen) for number in range(folder.parts))


def load_sample(
    store: Store, path: Path, count: int, seed: int, *, name: str | None = None, replace: bool = False
) -> list[Outcome]:
    """Return what became of a sample of a folder of frames: it is loaded as a dataset, by default `<name>-sample`."""
    folder = FramesFolder.open(path)
    frames = sample_documents(folder, count, seed)
    with tempfile.TemporaryDirectory(prefix="remix-") as place:
        file = Path(place) / f"{folder.name}-sample.nt"
        write_frames(frames, file)
        done = load(store, [str(file)], name=name, replace=replace)
    return [Outcome(one.name, one.status, dataclass_replace(one.report, file=readable(path))) for one in done]
