"""What a workspace keeps to be scored: datasets and remixes as gold, the runs of systems on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix.errors import UnknownName
from remix.frames import Frames
from remix.store.targets import Target, targets
from remix.systems.runs import list_runs, load_run

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.store import Store

__all__ = ["kept_gold", "kept_runs", "measured_columns"]


def kept_gold(store: Store, names: Iterable[str]) -> tuple[Frames, list[Target]]:
    """Return the frames of loaded datasets and of files, each a dataset of its name, and the targets themselves."""
    found = targets(store, names)
    parts = []
    for target in found:
        named = pl.lit(target.name).alias("dataset")
        frames = target.frames
        documents = frames.documents.with_columns(named)
        parts.append(replace(frames, documents=documents, annotations=frames.annotations.with_columns(named)))
    return Frames.concat(parts), found


def kept_runs(
    folder: Path, gold: Sequence[Target], systems: Iterable[str] = (), task: str = "A2KB"
) -> dict[str, Frames]:
    """Return the answers that the systems, by default all, gave on these datasets.

    A dataset that a system did not run on, such as a remix, takes its answers on the others: texts are what is matched.
    Raises `UnknownName` for a system without any run.
    """
    runs = [run for run in list_runs(folder) if run.task == task]
    known = {run.system for run in runs}
    names = list(systems) or sorted(known)
    for name in names or ["any system"]:
        if name not in known:
            command = f"remix annotate {gold[0].name} --system prior"
            raise UnknownName("run of a system", name, known, command, does="makes one")
    wanted = {target.name for target in gold}
    found = {}
    for name in names:
        ran = {run.dataset for run in runs if run.system == name}
        chosen = sorted(ran & wanted) if wanted <= ran else sorted(ran)
        found[name] = Frames.concat(load_run(folder, name, dataset, task)[1] for dataset in chosen)
    return found


def measured_columns(
    gold: Frames, kb: KnowledgeBase | None, by: Iterable[str]
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Return the measures of gold's annotations and of its documents that `by` asks for and the data do not have."""
    from remix.measures import compute

    had = {"class", "type", *gold.annotations.columns, *gold.documents.columns}
    had |= {name for term in gold.values["term"].unique() for name in (term, term.rsplit("#", 1)[-1])}
    if not (wanted := set(by) - had):
        return None, None
    found = compute(gold, kb)
    annotations = found.annotations.select("annotation", *(one for one in found.annotations.columns if one in wanted))
    documents = found.documents.select("document", *(one for one in found.documents.columns if one in wanted))
    if unknown := sorted(wanted - {*annotations.columns, *documents.columns}):
        known = {*had, *found.annotations.columns, *found.documents.columns} - {"annotation"}
        raise UnknownName("column", unknown[0], known)
    return annotations, documents
