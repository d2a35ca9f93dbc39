"""What is counted of documents alone: their mentions, and the words of what is annotated of them."""

from __future__ import annotations

import polars as pl

from remix.frames import Frames

__all__ = ["DISTRIBUTED", "counted_documents"]

DISTRIBUTED = ("mentions", "all_mentions", "region_words", "density")
"""The columns of documents that have percentiles."""


def counted_documents(frames: Frames) -> pl.DataFrame:
    """Return the documents, sorted, with mentions, all_mentions (ignorable ones as well), region_words and density."""
    groups = (
        frames.one_layer()
        .group_by("document")
        .agg(
            mentions=pl.col("group").filter(pl.col("ignorable").is_null()).n_unique(),
            all_mentions=pl.col("group").n_unique(),
        )
    )
    return (
        frames.documents.join(_region_words(frames), on="document", how="left")
        .join(groups, on="document", how="left")
        .with_columns(
            pl.col("mentions", "all_mentions").fill_null(0).cast(pl.Int64),
            region_words=pl.coalesce("region_words", "words"),
        )
        .with_columns(density=pl.when(pl.col("region_words") > 0).then(pl.col("mentions") / pl.col("region_words")))
        .sort("document")
    )


def _region_words(frames: Frames) -> pl.DataFrame:
    texts = frames.documents.select("document", "text")
    part = pl.col("text").str.slice(pl.col("begin"), pl.col("end") - pl.col("begin"))
    counted = frames.regions.join(texts, on="document").with_columns(part.str.count_matches(r"\S+"))
    return counted.group_by("document").agg(region_words=pl.col("text").sum().cast(pl.Int64))
