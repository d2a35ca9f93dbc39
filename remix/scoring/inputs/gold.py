"""What a workspace keeps to be scored: datasets and remixes as gold, with their measures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from remix.frames import Frames
from remix.names import RMX
from remix.scoring.inputs.columns import unknown_column

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.store import DatasetEntry, Store
    from remix.store.targets import Target

__all__ = ["LEARNT", "kept_gold", "measured_columns"]

LEARNT = frozenset({"systemAgreement", "difficulty"})
"""The columns that are derived from stored runs."""


def kept_gold(store: Store, names: Iterable[str], formats: Iterable[str] = ()) -> tuple[Frames, list[Target]]:
    """Return the frames of loaded datasets and of files, each a dataset of its name, and the targets themselves."""
    from remix.store.targets import targets

    found = targets(store, names, formats)
    loaded = {entry.name: entry for entry in store.datasets()}
    parts = []
    for target in found:
        named = pl.lit(target.name).alias("dataset")
        frames = target.frames
        documents, annotations = frames.documents.with_columns(named), frames.annotations.with_columns(named)
        values = [frames.values, *(_learnt(store, loaded[target.name]) if target.name in loaded else [])]
        parts.append(replace(frames, documents=documents, annotations=annotations, values=pl.concat(values)))
    return Frames.concat(parts), found


def _learnt(store: Store, entry: DatasetEntry) -> list[pl.DataFrame]:
    """Return the values on annotations that were derived from runs, as `Frames.values` has them."""
    from remix.rdf.ntriples import columns
    from remix.store.state import RUN

    found = []
    for name in entry.attached:
        if not name.startswith(RUN):
            rows = columns(store.attachment(entry.name, name)).filter(~pl.col("subject").str.ends_with(f"#{name}>"))
            terms = [
                pl.col(one).str.strip_chars("<>").alias(to) for one, to in (("subject",) * 2, ("predicate", "term"))
            ]
            number = pl.col("object").str.extract('^"(.*)"').cast(pl.Float64)
            found.append(rows.select(*terms, number=number, text=pl.lit(None, pl.String)))
    return found


def measured_columns(
    gold: Frames, kb: KnowledgeBase | None, by: Iterable[str], properties: pl.DataFrame | None = None
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Return the measures of gold's annotations and of its documents that `by` asks for and the data do not have.

    Values that were derived from runs are among them, since they are no part of the data that a signature tells, and
    `properties` (document and columns) among those of documents.
    """
    from remix.measures import compute

    learnt = _learnt_columns(gold, by)

    had = {"class", "type", *gold.annotations.columns, *gold.documents.columns}
    had |= {name for term in gold.values["term"].unique() for name in (term, term.rsplit("#", 1)[-1])}
    had |= {*properties.columns} if properties is not None else set()
    if not (wanted := set(by) - had):
        return learnt, properties
    found = compute(gold, kb)
    annotations = found.annotations.select("annotation", *(one for one in found.annotations.columns if one in wanted))
    documents = found.documents.select("document", *(one for one in found.documents.columns if one in wanted))
    if unknown := sorted(wanted - {*annotations.columns, *documents.columns}):
        raise unknown_column(gold, unknown[0], [*found.annotations.columns, *found.documents.columns])
    if learnt is not None:
        annotations = annotations.join(learnt, on="annotation", how="left", maintain_order="left")
    if properties is not None:
        documents = documents.join(properties, on="document", how="left", maintain_order="left")
    return annotations, documents


def _learnt_columns(gold: Frames, by: Iterable[str]) -> pl.DataFrame | None:
    found: pl.DataFrame | None = None
    for name in sorted({*by} & LEARNT):
        values = gold.values.filter(term=f"{RMX}{name}").select(annotation="subject", **{name: "number"})
        if len(values):
            found = values if found is None else found.join(values, on="annotation", how="full", coalesce=True)
    return found
