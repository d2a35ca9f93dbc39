"""The measures of a remix and its documents, computed afresh on what it holds."""

from __future__ import annotations

import polars as pl

from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures import compute
from remix.rdf.ntriples import columns

__all__ = ["fresh"]


def fresh(frames: Frames, name: str, iri: str, kb: KnowledgeBase | None) -> pl.DataFrame:
    """Return the triples of the measures of the dataset and its documents; those of annotations are not among them."""
    measured = compute(frames, kb, reference="dataset")
    subjects = pl.concat([frames.documents["document"], pl.Series([iri])]).to_frame("iri")
    return columns(measured.triples(name, iri)).filter(
        pl.col("subject").is_in(subjects.select(pl.format("<{}>", "iri")).to_series().implode())
    )
