"""Enriching a workspace: the measures of all its datasets, kept as RDF beside the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from remix.errors import StoreError
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.locks import holding
from remix.measures import compute, prepared, signature_of
from remix.progress import stage
from remix.signature import Signature, content_hash
from remix.store import Store

__all__ = ["enrich", "named_frames"]


@holding
def enrich(
    store: Store,
    kb: KnowledgeBase | None,
    *,
    reference: str = "dataset",
    case_sensitive: bool = False,
    without_sources: Iterable[str] = (),
    with_gold: bool = False,
) -> pl.DataFrame:
    """Return dataset, status, annotations, triples and signature after enriching every dataset of the store.

    All are measured together, since percentiles compare them: a new dataset changes those of the others. Where
    nothing has changed, nothing is written and the status is 'unchanged'. Raises `StoreError` for an empty store.
    """
    before = {entry.name: entry for entry in store.datasets()}
    if not before:
        raise StoreError("nothing is loaded: `remix load FILE` first")
    contents = content_hash(*(f"{name}:{entry.content}\n" for name, entry in sorted(before.items())))
    kb = prepared(kb, case_sensitive, without_sources, with_gold)
    fields = signature_of(kb, reference, case_sensitive).fields
    signature = str(Signature({**fields, "datasets": contents[:12]}))
    if any(entry.enrichment != signature for entry in before.values()):
        with stage("measures"):
            measured = compute(named_frames(store), kb, reference=reference, case_sensitive=case_sensitive)
        with stage("triples"):
            graphs = {name: measured.triples(name, entry.iri) for name, entry in before.items()}
        store.enrich(graphs, signature)
    return pl.DataFrame(
        [
            (
                entry.name,
                "unchanged" if before[entry.name].enrichment == signature else "enriched",
                entry.annotations,
                entry.enrichment_triples,
                signature,
            )
            for entry in store.datasets()
        ],
        schema={
            "dataset": pl.String,
            "status": pl.String,
            "annotations": pl.Int64,
            "triples": pl.Int64,
            "signature": pl.String,
        },
        orient="row",
    )


@holding
def named_frames(store: Store, names: Iterable[str] | None = None) -> Frames:
    """Return the frames of these datasets, by default of all, with the datasets called by their names.

    Raises `UnknownName` for a dataset that is not loaded, `StoreError` where none is.
    """
    entries, names = store.datasets(), None if names is None else [*names]
    if not entries and not names:
        raise StoreError("nothing is loaded: `remix load FILE` first")
    frames = store.frames(names)
    name = pl.col("dataset").replace({entry.iri: entry.name for entry in entries})
    return replace(
        frames, documents=frames.documents.with_columns(name), annotations=frames.annotations.with_columns(name)
    )
