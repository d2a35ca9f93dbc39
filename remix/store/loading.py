"""Loading several files: each is loaded or refused on its own, and reported; what is loaded is one change."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from remix import catalog, progress
from remix.errors import Error, UsageError
from remix.files import distinct_names, readable
from remix.formats import FORMATS, LoadReport, read, refusal_report
from remix.rdf.iris import dataset_iri
from remix.store import BASE_IRI, Loading, Store

__all__ = ["Outcome", "load"]


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

    A file is a path, `-` for standard input, or the name or URL of a catalogue entry. Files of one name get names of
    their own (`remix.files.distinct_names`). A dry run reads and reports, and changes nothing.

    Raises `UsageError` for one name for several files, a name, format or beginning of IRIs that is none, and, where
    there is one file alone, for a taken name.
    """
    listed = list(files)
    if name is not None and len(listed) != 1:
        raise UsageError(f"one name for {len(listed)} files: load them one by one, or leave out --name")
    if format is not None:
        FORMATS[format]
    dataset_iri(name or "dataset", base_iri)
    how: Any = {"base_iri": base_iri, "format": format, "strict": strict}

    if dry_run and any(not Path(file).exists() for file in listed):  # a known dataset is kept in the cache
        store.own("cache")

    def done(file: str, own: str | None, loading: Loading | None) -> Outcome:
        path, known = catalog.local(file, store.folder / "cache")
        called = name or known or own
        if loading is None:
            found = read(path, name=called, **how)
            return Outcome(found.name, "read", found.report)
        made = loading.load(path, name=called, replace=replace, **how)
        return Outcome(made.name, made.status, made.report)

    outcomes = []
    with nullcontext() if dry_run else store.loading() as loading:
        for file, own in progress.track(list(zip(listed, distinct_names(listed), strict=True)), "load"):
            try:
                outcomes.append(done(file, own, loading))
            except Error as error:
                # What is wrong with one of several files must not hide what became of the others.
                if isinstance(error, UsageError) and len(listed) == 1:
                    raise
                outcomes.append(Outcome(name or readable(Path(file).name), "refused", refusal_report(file, error)))
    return outcomes
