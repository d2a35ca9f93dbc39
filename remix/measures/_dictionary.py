"""What the dictionary says of a corpus: the entities of its surface forms, and how many forms its entities have.

Dictionary rows that were derived from a dataset are left out where that dataset is measured. Few names have such
rows: only these are put together row by row, for all others the dictionary is taken as it was built.
"""

from __future__ import annotations

import polars as pl

from remix.files import default_name
from remix.kb import KnowledgeBase

__all__ = ["ENTITIES", "derived_from", "entity_forms", "form_entities"]

ENTITIES: dict[str, pl.DataType] = {
    "entity": pl.String(),
    "label": pl.String(),
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
"""What is taken of an entity."""

_PAIRS: dict[str, pl.DataType] = {
    "form_code": pl.UInt32(),
    "entity": pl.String(),
    "count": pl.Int64(),
    "pagerank": pl.Float64(),
}


def form_entities(kb: KnowledgeBase | None, forms: pl.DataFrame, derived: pl.DataFrame) -> pl.DataFrame:
    """Return W_E: form_code, entity, the count of the pair and the PageRank of the entity, in any order.

    `forms` are form_code, scope and key; `derived` are source and scope: which rows do not count in which scope.
    """
    if kb is None:
        return pl.DataFrame(schema=_PAIRS)
    special = _with_rows_of(kb, "key", forms, derived)
    plain = forms.join(special, on="key", how="anti")
    pairs = plain.select("form_code", "key").join(kb.pairs(plain["key"]), on="key").select(list(_PAIRS))
    if special.is_empty():
        return pairs
    rows = kb.rows("surface_forms", "key", special["key"], ["key", "entity", "count", "source"])
    left = forms.join(rows, on="key").join(derived, on=["source", "scope"], how="anti")
    some = left.group_by("form_code", "entity").agg(_total("count"))
    scores = kb.rows("entities", "entity", some["entity"], ["entity", "pagerank"])
    return pl.concat([pairs, some.join(scores, on="entity", how="left").select(list(_PAIRS))])


def entity_forms(kb: KnowledgeBase | None, entities: pl.DataFrame, derived: pl.DataFrame) -> pl.DataFrame:
    """Return entity_code and w_forms, |W_S(e)|, of the entities that have any form, in any order.

    `entities` are entity_code, scope and entity; `derived` as for `form_entities`.
    """
    if kb is None:
        return pl.DataFrame(schema={"entity_code": pl.UInt32, "w_forms": pl.Int64})
    special = _with_rows_of(kb, "entity", entities, derived)
    plain = entities.join(special, on="entity", how="anti")
    counts = kb.form_counts(plain["entity"]).rename({"forms": "w_forms"})
    counted = plain.join(counts, on="entity").select("entity_code", "w_forms")
    if special.is_empty():
        return counted
    rows = kb.rows("surface_forms", "entity", special["entity"], ["key", "entity", "source"])
    left = entities.join(rows, on="entity").join(derived, on=["source", "scope"], how="anti")
    some = left.group_by("entity_code").agg(w_forms=pl.col("key").n_unique().cast(pl.Int64))
    return pl.concat([counted, some])


def _with_rows_of(kb: KnowledgeBase, side: str, asked: pl.DataFrame, derived: pl.DataFrame) -> pl.DataFrame:
    """Return the keys, or entities, among those asked for that have dictionary rows of a derived source."""
    if derived.is_empty():
        return asked.select(side).clear()
    sources = derived["source"].unique()
    rows = kb.scan("surface_forms").filter(pl.col("source").is_in(sources.implode())).select(side)
    return rows.join(asked.lazy().select(side), on=side, how="semi").unique().collect(engine="streaming")


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
