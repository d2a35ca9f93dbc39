"""The prominence of entities as a knowledge base keeps it: computed over its links, or as somebody published it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from remix.frames import write_parquet
from remix.kb.prominence import placed, prominence

__all__ = ["computed", "published"]

SCORES = ("pagerank", "hits", "hub")


def computed(links: Sequence[Path], resolution: Path, work: Path, to: Path, damping: float, tolerance: float) -> None:
    """Write the prominence of every node of a link graph, its redirects folded into their targets."""
    if not links:
        links_frame = pl.DataFrame(schema={"source": pl.String, "target": pl.String})
    else:
        links_frame = pl.read_parquet(list(links), columns=["source", "target"])
    stands_for = pl.read_parquet(resolution)
    for column in ("source", "target"):
        moves = stands_for.rename({"iri": column, "entity": "_to"})
        moved = links_frame.join(moves, on=column, how="left")
        links_frame = moved.with_columns(pl.coalesce("_to", column).alias(column)).drop("_to")
    scores = prominence(links_frame, damping=damping, tolerance=tolerance)
    edges = links_frame.unique().filter(pl.col("source") != pl.col("target"))
    for column, degree in (("target", "in_degree"), ("source", "out_degree")):
        degrees = edges.group_by(pl.col(column).alias("entity")).agg(pl.len().cast(pl.Int64).alias(degree))
        scores = scores.join(degrees, on="entity", how="left").with_columns(pl.col(degree).fill_null(0))
    _write(scores, to)


def published(highest: Path, to: Path) -> None:
    """Write published scores of entities (entity, pagerank, hits, hub) with their ranks, percentiles and segments."""
    scores = pl.read_parquet(highest)
    for score in SCORES:
        scores = placed(scores, score)
    _write(scores.with_columns(pl.lit(None, pl.Int64).alias(degree) for degree in ("in_degree", "out_degree")), to)


def _write(scores: pl.DataFrame, to: Path) -> None:
    first = ["entity", "in_degree", "out_degree"]
    aside = to.with_name(f"{to.name}.unfinished")
    write_parquet(scores.select(*first, pl.exclude(first)).sort("entity"), aside)
    aside.rename(to)
