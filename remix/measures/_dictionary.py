"""What the dictionary says of the surface forms of a corpus: their entities, ranked."""

from __future__ import annotations

import polars as pl

from remix.kb import KnowledgeBase

__all__ = ["ENTITIES", "form_entities", "rank_pairs"]

ENTITIES = pl.Schema(
    {
        "number": pl.UInt32(),
        "forms": pl.Int64(),
        **{
            f"{score}{suffix}": kind
            for score in ("pagerank", "hits", "hub")
            for suffix, kind in (
                ("", pl.Float64()),
                ("_rank", pl.Int64()),
                ("_percentile", pl.Float64()),
                ("_segment", pl.String()),
            )
        },
    }
)
"""What is taken of an entity; its number is its place in the knowledge base."""

_PAIRS = pl.Schema({"name_code": pl.UInt32(), "number": pl.UInt32(), "count": pl.Int64(), "pagerank": pl.Float64()})


def form_entities(kb: KnowledgeBase | None, names: pl.DataFrame) -> pl.DataFrame:
    """Return W_E: name_code, number of the entity, count of the pair and PageRank of the entity.

    `names` are name_code and key.
    """
    if kb is None:
        return pl.DataFrame(schema=_PAIRS)
    found = kb.numbered_pairs(names["key"])
    return found.select(names["name_code"].gather(found["place"]), *list(_PAIRS)[1:]).cast(_PAIRS)


def rank_pairs(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return name_code, count, PageRank and more of pairs, with total, prior and rank among those of the name.

    More counts rank first, then a higher PageRank; equals share the better rank. `first` says whether none has a larger
    prior, or without any counts a higher rank. Ranks are taken from the order of the
    rows: window functions over many small groups take many times longer.
    """
    order = ["name_code", "count", "pagerank"]
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    new_name, *new_value = (pl.col(column).ne_missing(pl.col(column).shift()) for column in order)
    first = pl.when(new_name).then(place).forward_fill()
    totals = pairs.group_by("name_code").agg(total=pl.col("count").sum())
    rows = pairs.join(totals, on="name_code", how="left", maintain_order="left").with_columns(
        pl.col("count").fill_null(0), pl.col("pagerank").fill_null(0.0)
    )
    if not _in_order(rows):
        rows = rows.sort(order, descending=[False, True, True])
    rank = pl.when(pl.any_horizontal(new_name, *new_value)).then(place).forward_fill() - first + 1
    largest = pl.when(new_name).then("count").forward_fill()
    return rows.with_columns(
        prior=pl.when(pl.col("total") > 0).then(pl.col("count") / pl.col("total")),
        rank=rank,
        first=pl.when(pl.col("total") > 0).then(pl.col("count") == largest).otherwise(rank == 1),
    )


def _in_order(rows: pl.DataFrame) -> bool:
    """Return whether the rows of each name stand together, those that rank first before others."""
    name, count, score = (pl.col(column) for column in ("name_code", "count", "pagerank"))
    begins = name.ne_missing(name.shift())
    later = (count < count.shift()) | ((count == count.shift()) & (score <= score.shift()))
    found = rows.select(sorted=(begins | later).all(), together=begins.sum() == name.n_unique())
    return all(found.row(0))
