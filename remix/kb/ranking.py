"""The prominence of entities as somebody published it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from remix.frames import write_parquet
from remix.kb.placing import placed

__all__ = ["published"]

SCORES = ("pagerank", "hits", "hub")


def published(highest: Path, to: Path) -> None:
    """Write published scores of entities (entity, pagerank, hits, hub) with their places; a score of 0 is none."""
    positive = (pl.when(pl.col(score) > 0).then(pl.col(score)).alias(score) for score in SCORES)
    scores = pl.read_parquet(highest).with_columns(positive)
    for score in SCORES:
        scores = placed(scores, score)
    _write(scores.with_columns(pl.lit(None, pl.Int64).alias(degree) for degree in ("in_degree", "out_degree")), to)


def _write(scores: pl.DataFrame, to: Path) -> None:
    first = ["entity", "in_degree", "out_degree"]
    aside = to.with_name(f"{to.name}.unfinished")
    write_parquet(scores.select(*first, pl.exclude(first)).sort("entity"), aside)
    aside.rename(to)
