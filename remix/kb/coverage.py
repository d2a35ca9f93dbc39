"""How much of loaded datasets a knowledge base covers."""

from __future__ import annotations

import polars as pl

from remix.frames import Frames
from remix.kb.knowledge import KnowledgeBase

__all__ = ["coverage"]


def coverage(kb: KnowledgeBase, frames: Frames) -> pl.DataFrame:
    """Return a row for each dataset, sorted by name, with what the knowledge base has of it.

    `annotations`, `forms` and `entities` count what is in the dataset, the last two distinct (entities after redirects
    and sameAs links). The others are shares, null where there is nothing to share: `in_dictionary` of the forms;
    `known`, `typed` and `scored` (with a PageRank) of the entities; `reachable` of the distinct pairs of form and
    entity, whose entity is among the dictionary's candidates of the form. Annotations to ignore are left out.
    """
    counted = frames.annotations.filter(pl.col("ignorable").is_null())
    mentions = counted.select("annotation", "dataset", key=kb.normalise(pl.col("surface_form")))
    links = frames.links.select("annotation", "entity").drop_nulls()
    links = links.with_columns(kb.resolve(links["entity"])).join(mentions, on="annotation")
    forms = mentions.select("dataset", "key").drop_nulls().unique()
    entities = links.select("dataset", "entity").unique()
    pairs = links.select("dataset", "key", "entity").drop_nulls().unique()
    found = kb.pairs(forms["key"]).select("key", "entity", reachable=pl.lit(True))
    known = kb.rows("entities", "entity", entities["entity"], ["entity", "pagerank"])
    known = known.select("entity", known=pl.lit(True), scored=pl.col("pagerank").is_not_null())
    typed = kb.rows("types", "entity", entities["entity"], ["entity"]).unique().with_columns(typed=pl.lit(True))
    names = found.select("key", in_dictionary=pl.lit(True)).unique()

    def share(column: str) -> pl.Expr:
        return pl.col(column).fill_null(False).mean().alias(column)

    sizes = (
        mentions.group_by("dataset").agg(annotations=pl.len().cast(pl.Int64)),
        forms.join(names, on="key", how="left")
        .group_by("dataset")
        .agg(share("in_dictionary"), forms=pl.len().cast(pl.Int64)),
        entities.join(known, on="entity", how="left")
        .join(typed, on="entity", how="left")
        .group_by("dataset")
        .agg(*(share(column) for column in ("known", "typed", "scored")), entities=pl.len().cast(pl.Int64)),
        pairs.join(found, on=["key", "entity"], how="left").group_by("dataset").agg(share("reachable")),
    )
    rows = frames.documents.select("dataset").unique()
    for part in sizes:
        rows = rows.join(part, on="dataset", how="left")
    counts = ["annotations", "forms", "entities"]
    shares = ["in_dictionary", "known", "typed", "scored", "reachable"]
    return rows.select("dataset", pl.col(counts).fill_null(0), *shares).sort("dataset")
