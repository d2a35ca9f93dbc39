"""Seen in training or not: which forms, entities and pairs of both a training set has, as columns to slice by."""

from __future__ import annotations

import polars as pl

from remix import progress
from remix.frames import Frames

__all__ = ["SEEN", "seen_in", "with_seen"]

SEEN = ("seenForm", "seenEntity", "seenPair")


def seen_in(training: Frames, gold: Frames) -> pl.DataFrame:
    """Return annotation, `seenForm`, `seenEntity` and `seenPair` of gold's annotations.

    A form is seen where the training set has an annotation of it, whatever its case and white space; an entity where
    one links to it, under any form; a pair where one form is linked to it. Of several acceptable links one is enough.
    Entity and pair are null for NIL. Ignorable annotations of the training set count, since a system saw them.
    """
    known, asked = _pairs(training), _pairs(gold)
    pairs = known.select("form", "entity", seenPair=pl.lit(True)).drop_nulls().unique()
    found = asked.join(pairs, on=["form", "entity"], how="left", maintain_order="left").with_columns(
        seenForm=pl.col("form").is_in(known["form"].drop_nulls().unique().implode()),
        seenEntity=pl.col("entity").is_in(known["entity"].drop_nulls().unique().implode()),
        seenPair=pl.when(pl.col("entity").is_not_null()).then(pl.col("seenPair").fill_null(False)),
    )
    return found.group_by("annotation", maintain_order=True).agg(_any(name) for name in SEEN)


def with_seen(columns: pl.DataFrame | None, training: Frames, gold: Frames) -> pl.DataFrame:
    """Return the columns of annotations to slice by, if there are any, with those of `seen_in` added."""
    found = seen_in(training, gold)
    if not found["seenForm"].any() and not found["seenEntity"].any():
        progress.note("no form and no entity of gold is in the training set: does it link to another knowledge base?")
    if columns is None:
        return found
    # Either may lack annotations that the other has: what was learnt of some, what a run gets wrong.
    return columns.join(found, on="annotation", how="full", coalesce=True, maintain_order="left_right")


def _pairs(frames: Frames) -> pl.DataFrame:
    """Return annotation, form and entity; forms that a format has not are cut out of the texts."""
    from remix.kb.forms import normalise

    texts = frames.documents.select("document", "text")
    cut = pl.col("text").str.slice(pl.col("begin"), pl.col("end") - pl.col("begin"))
    rows = frames.annotations.join(texts, on="document", how="left", maintain_order="left")
    rows = rows.select("annotation", form=normalise(pl.coalesce("surface_form", cut)))
    return rows.join(frames.links.select("annotation", "entity"), on="annotation", how="left", maintain_order="left")


def _any(name: str) -> pl.Expr:
    """Return whether one link says so, null where none says anything."""
    return pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).any()).alias(name)
