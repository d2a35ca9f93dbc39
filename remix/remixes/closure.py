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


def limit_documents(documents: pl.DataFrame, limit: int | None, seed: int | None) -> pl.Series:
    """Return at most so many of the documents (document, dataset), sorted by IRI.

    Without a seed they are the first of each dataset by IRI, as many of each as it has and the others leave; with one
    they are a sample of all.

    >>> rows = pl.DataFrame({"document": ["a/3", "a/1", "a/2", "b/1"], "dataset": ["a", "a", "a", "b"]})
    >>> limit_documents(rows, 3, None).to_list()
    ['a/1', 'a/2', 'b/1']

    Raises `UsageError` for a limit below 1, a seed below 0, and a seed without a limit.
    """
    ordered = documents.unique("document").sort("document")
    if seed is not None and limit is None:
        raise UsageError("a seed draws the documents of a limit: give both")
    if seed is not None and seed < 0:
        raise UsageError(f"a seed is 0 or more, not {seed}")
    if limit is not None and limit < 1:
        raise UsageError(f"a limit of {limit} documents leaves nothing: give at least 1")
    if limit is None or limit >= len(ordered):
        return ordered["document"]
    if seed is None:
        nth = pl.int_range(pl.len()).over("dataset")
        return ordered.sort(nth, "dataset", maintain_order=True)["document"].head(limit).sort()
    chosen = np.random.default_rng(seed).choice(len(ordered), size=limit, replace=False)
    return ordered["document"].gather(np.sort(chosen))


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
