"""Loading several files: each is loaded or refused on its own, and reported; or a sample of frames."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from remix import catalog, progress
from remix.catalog import Entry, count_differences
from remix.errors import Error, UsageError
from remix.files import distinct_names, readable
from remix.formats import LoadReport, format_named, read, refusal_report
from remix.formats.nif.writing import write_frames
from remix.frames import Frames
from remix.frames_folder import FramesFolder
from remix.rdf.iris import dataset_iri
from remix.store import BASE_IRI, Loading, Store


@dataclass(frozen=True)
class Outcome:
    """What became of a file: `status` is loaded, unchanged, replaced, read (a dry run) or refused."""

    name: str
    status: str
    report: LoadReport

    def row(self) -> dict[str, object]:
        """Return the outcome as one row of a table."""
        return {"dataset": self.name, "status": self.status, **asdict(self.report)}


def load(
    store: Store,
    files: Iterable[str],
    *,
    dry_run: bool = False,
    name: str | None = None,
    base_iri: str = BASE_IRI,
    format: str | None = None,
    strict: bool = False,
    replace: bool = False,
) -> list[Outcome]:
    """Return what became of each file; a file that is refused does not keep the next from being loaded.

    A file is a path, `-` for standard input, or the name or URL of a catalogue entry, which was fetched. Files of one
    name get names of their own (`remix.files.distinct_names`). What the catalogue counts otherwise is a repair of the
    kind `count`. A dry run reads and reports, and changes nothing.

    Raises `UsageError` for one name for several files, a name, format or beginning of IRIs that is none, and, where
    there is one file alone, for a taken name.
    """
    listed = list(files)
    if name is not None and len(listed) != 1:
        raise UsageError(f"one name for {len(listed)} files: load them one by one, or leave out --name")
    if format is not None:
        format_named(format)
    dataset_iri(name or "dataset", base_iri)
    how: Any = {"base_iri": base_iri, "format": format, "strict": strict}

    def done(path: str, known: Entry | None, own: str, loading: Loading | None) -> Outcome:
        called = name or (known.loaded_name if known else own)
        way = {**how, "format": format or (known.format or None if known else None)}
        if loading is None:
            found = read(path, name=called, **way)
            return Outcome(found.name, "read", _compare(known, found.report))
        made = loading.load(path, name=called, replace=replace, **way)
        return Outcome(made.name, made.status, _compare(known, made.report))

    outcomes = []
    with nullcontext() if dry_run else store.loading() as loading:
        for file, own in progress.track(list(zip(listed, distinct_names(listed), strict=True)), "load"):
            try:
                parts = catalog.local(file)
                if name is not None and len(parts) > 1:
                    raise UsageError(f"one name for the {len(parts)} splits of {file}: load them one by one")
                for path, known in parts:
                    outcomes.append(done(path, known, own, loading))
            except Error as error:
                # What is wrong with one of several files must not hide what became of the others.
                if isinstance(error, UsageError) and len(listed) == 1:
                    raise
                outcomes.append(Outcome(name or readable(Path(file).name), "refused", refusal_report(file, error)))
    return outcomes


def _compare(known: Entry | None, report: LoadReport) -> LoadReport:
    """Return a report with what the catalogue knows otherwise, which is told."""
    other = () if known is None else count_differences(known, asdict(report))
    for difference in other:
        progress.note(difference.example)
    return dataclasses.replace(report, repairs=(*report.repairs, *other)) if other else report


def sample_documents(folder: FramesFolder, count: int, seed: int) -> Frames:
    """Return the frames of so many documents, drawn with a seed; of all where there are no more.

    Raises `UsageError` for a count below 1.
    """
    if count < 1:
        raise UsageError(f"a sample of {count} documents is none: give at least 1")
    names = folder.scan("documents").select("document").collect()["document"].sort()
    chosen = names
    if count < len(names):
        import numpy as np

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
    return [Outcome(one.name, one.status, dataclasses.replace(one.report, file=readable(path))) for one in done]
