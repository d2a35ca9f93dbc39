"""The measures of a remix and its documents, computed afresh on what it holds."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures import compute
from remix.measures._dictionary import derived_from
from remix.rdf.ntriples import columns

__all__ = ["fresh", "without_origins"]


def fresh(frames: Frames, name: str, iri: str, kb: KnowledgeBase | None) -> pl.DataFrame:
    """Return the triples of the measures of the dataset and its documents; those of annotations are not among them."""
    measured = compute(frames, kb, reference="dataset")
    subjects = pl.concat([frames.documents["document"], pl.Series([iri])]).to_frame("iri")
    return columns(measured.triples(name, iri)).filter(
        pl.col("subject").is_in(subjects.select(pl.format("<{}>", "iri")).to_series().implode())
    )


def without_origins(kb: KnowledgeBase, names: Collection[str]) -> KnowledgeBase:
    """Return the knowledge base without what was derived from the origins, whose name the remix does not bear."""
    sources = kb.scan("surface_forms").select("source").unique().collect()["source"].drop_nulls().to_list()
    derived = [source for source in sources if any(derived_from(source, name) for name in names)]
    return kb.without_sources(derived) if derived else kb
