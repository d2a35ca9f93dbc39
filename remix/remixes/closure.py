"""Closing a selection: what a remix holds beside the documents and annotations that a query selected."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from remix.errors import UsageError
from remix.frames import Frames

__all__ = ["Closed", "close", "limit_documents"]


@dataclass(frozen=True)
class Closed:
    """A selection with all that belongs to it.

    `frames` hold the kept documents with every annotation that stays, the dropped ones as ignorable; `kept` are the
    annotations that stay as gold, `dropped` those that the selection left out of kept documents.
    """

    frames: Frames
    kept: pl.Series
    dropped: pl.Series

    @property
    def ignorable(self) -> pl.DataFrame:
        """Return the rows of the annotations that were dropped and stay as ignorable ones."""
        return self.frames.annotations.filter(pl.col("annotation").is_in(self.dropped.implode()))


def limit_documents(documents: pl.Series, limit: int | None, seed: int | None) -> pl.Series:
    """Return at most so many documents: the first by IRI, or with a seed a sample, sorted by IRI.

    >>> limit_documents(pl.Series(["c", "a", "b"]), 2, None).to_list()
    ['a', 'b']

    Raises `UsageError` for a limit below 1, a seed below 0, and a seed without a limit.
    """
    ordered = documents.unique().sort()
    if seed is not None and limit is None:
        raise UsageError("a seed draws the documents of a limit: give both")
    if seed is not None and seed < 0:
        raise UsageError(f"a seed is 0 or more, not {seed}")
    if limit is None:
        return ordered
    if limit < 1:
        raise UsageError(f"a limit of {limit} documents leaves nothing: give at least 1")
    if seed is None or limit >= len(ordered):
        return ordered.head(limit)
    chosen = np.random.default_rng(seed).choice(len(ordered), size=limit, replace=False)
    return ordered.gather(np.sort(chosen))


def close(origin: Frames, documents: pl.Series, annotations: pl.Series | None, *, drop: bool = False) -> Closed:
    """Return the documents with their annotations, those that were not selected as ignorable or, with `drop`, gone.

    A group is kept when any of its annotations is, since it counts once; what was ignorable before stays as it was.
    Without `annotations` all annotations of the documents are kept.
    """
    within = origin.annotations.filter(pl.col("document").is_in(documents.implode()))
    gold = pl.col("ignorable").is_null()
    selected = pl.lit(True) if annotations is None else pl.col("annotation").is_in(annotations.implode())
    # A column of its own: within a window the list of the selected would be copied for each group.
    chosen = within.with_columns(keep=selected & gold)
    marked = chosen.with_columns(keep=~gold | pl.col("keep").any().over("document", "group"))
    dropped = marked.filter(~pl.col("keep"))["annotation"]
    kept = marked.filter(pl.col("keep") & gold)["annotation"]
    staying = marked.filter("keep") if drop else marked
    frames = origin.keep(documents=documents, annotations=staying["annotation"])
    ignorable = pl.when(pl.col("annotation").is_in(dropped.implode())).then(pl.lit("dropped"))
    frames = replace(
        frames,
        annotations=frames.annotations.with_columns(ignorable.otherwise(pl.col("ignorable")).alias("ignorable")),
    )
    return Closed(frames, kept, dropped)
