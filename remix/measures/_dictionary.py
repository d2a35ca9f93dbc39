"""What the dictionary says of a corpus: the entities of its surface forms, and how many forms its entities have.

Dictionary rows that were derived from a dataset are left out where that dataset is measured. Few names have such
rows: only these are put together row by row, for all others the dictionary is taken as it was built.
"""

from __future__ import annotations

import polars as pl

from remix.files import default_name
from remix.kb import KnowledgeBase

__all__ = ["ENTITIES", "apart", "derived_from", "entity_forms", "form_entities", "ranked"]

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

_PAIRS = pl.Schema(
    {
        "name_code": pl.UInt32(),
        "number": pl.UInt32(),
        "count": pl.Int64(),
        "pagerank": pl.Float64(),
    }
)


def apart(kb: KnowledgeBase | None, side: str, asked: pl.DataFrame, derived: pl.DataFrame) -> pl.DataFrame:
    """Return what is asked with `apart`, the scope where this has dictionary rows of its own, null for most.

    `asked` are scope and a side, key or entity; `derived` are source and scope: which rows do not count in which scope.
    """
    if kb is None or derived.is_empty():
        return asked.with_columns(apart=pl.lit(None, dtype=pl.String))
    sources = derived["source"].unique()
    rows = kb.scan("surface_forms").filter(pl.col("source").is_in(sources.implode())).select(side)
    special = rows.join(asked.lazy().select(side), on=side, how="semi").unique().collect(engine="streaming")
    own = special.with_columns(own=pl.lit(True))
    joined = asked.join(own, on=side, how="left", maintain_order="left")
    return joined.with_columns(apart=pl.when("own").then("scope")).drop("own")


def form_entities(kb: KnowledgeBase | None, names: pl.DataFrame, derived: pl.DataFrame) -> pl.DataFrame:
    """Return W_E: name_code, number of the entity, count of the pair and PageRank of the entity.

    `names` are name_code, key and apart; `derived` as for `apart`.
    """
    if kb is None:
        return pl.DataFrame(schema=_PAIRS)
    plain = names.filter(pl.col("apart").is_null())
    found = kb.numbered_pairs(plain["key"])
    pairs = found.select(plain["name_code"].gather(found["place"]), *list(_PAIRS)[1:]).cast(_PAIRS)
    if plain.height == names.height:
        return pairs
    left = _rows_left(kb, "key", names, derived, ["key", "entity", "count", "source"])
    some = left.group_by("name_code", "entity").agg(_total("count"))
    scores = kb.rows("entities", "entity", some["entity"], ["entity", "number", "pagerank"])
    own = some.join(scores, on="entity", how="left")
    return pl.concat([pairs, own.select(list(_PAIRS)).cast(_PAIRS)])


def entity_forms(
    kb: KnowledgeBase | None, entities: pl.DataFrame, counts: pl.DataFrame, derived: pl.DataFrame
) -> pl.DataFrame:
    """Return entity_code and w_forms, |W_S(e)|, of the entities that have any form, in any order.

    `entities` are entity_code, target_code, scope and entity; `counts` are target_code and forms, where no rows are
    left out; `derived` as for `apart`.
    """
    if kb is None:
        return pl.DataFrame(schema={"entity_code": pl.UInt32, "w_forms": pl.Int64})
    entities = apart(kb, "entity", entities, derived)
    plain = entities.filter(pl.col("apart").is_null())
    counted = plain.join(counts, on="target_code").select("entity_code", w_forms="forms")
    if plain.height == entities.height:
        return counted
    left = _rows_left(kb, "entity", entities, derived, ["key", "entity", "source"])
    some = left.group_by("entity_code").agg(w_forms=pl.col("key").n_unique().cast(pl.Int64))
    return pl.concat([counted, some])


def ranked(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return name_code, count, PageRank and more of pairs, with total, prior and rank among those of the name.

    More counts rank first, then a higher PageRank; equals share the better rank. Ranks are taken from the order of the
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
    return rows.with_columns(
        prior=pl.when(pl.col("total") > 0).then(pl.col("count") / pl.col("total")),
        rank=pl.when(pl.any_horizontal(new_name, *new_value)).then(place).forward_fill() - first + 1,
    )


def _in_order(rows: pl.DataFrame) -> bool:
    """Return whether the rows of each name stand together, those that rank first before others."""
    name, count, score = (pl.col(column) for column in ("name_code", "count", "pagerank"))
    begins = name.ne_missing(name.shift())
    later = (count < count.shift()) | ((count == count.shift()) & (score <= score.shift()))
    found = rows.select(sorted=(begins | later).all(), together=begins.sum() == name.n_unique())
    return all(found.row(0))


def _rows_left(
    kb: KnowledgeBase, side: str, asked: pl.DataFrame, derived: pl.DataFrame, select: list[str]
) -> pl.DataFrame:
    """Return the dictionary rows of what has rows of its own, without those derived from the dataset it is of."""
    special = asked.drop_nulls("apart")
    rows = kb.rows("surface_forms", side, special[side], select)
    own = derived.select("source", apart="scope")
    return special.join(rows, on=side).join(own, on=["source", "apart"], how="anti")


def _total(column: str) -> pl.Expr:
    return pl.when(pl.col(column).count() > 0).then(pl.col(column).sum())


def derived_from(source: str, dataset: str) -> bool:
    """Return whether dictionary rows of a source were derived from the dataset of that name.

    The source may say before the dataset's name in whose edition it was read.

    >>> [derived_from(s, "rss-500") for s in ("gold:RSS-500", "gold:elevant-rss-500", "gold:RSS-500_wd", "names")]
    [True, True, False, False]
    """
    if not source.startswith("gold:"):
        return False
    return f"-{default_name(source.removeprefix('gold:'))}".endswith(f"-{dataset.lower().replace('_', '-')}")
