"""The parts of a knowledge base on disk: what each is sorted by, and how rows are found in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

import polars as pl

__all__ = ["FORMAT", "SORTED_BY", "joined", "matched"]

FORMAT = "5"
"""Part of every version; grows when a knowledge base of the same sources would come out differently."""

FEW = 50
"""Up to so many values are looked up one by one, which skips the row groups of a sorted part that hold none."""
SORTED_BY = {
    "dictionary": "key",
    "dictionary_by_entity": "entity",
    "disambiguations": "page",
    "entities": "entity",
    "redirects": "redirect",
    "resolution": "iri",
    "resolution_by_entity": "entity",
    "sameas": "wikidata",
    "subclasses": "class",
    "surface_forms": "key",
    "types": "entity",
}
"""The column that the rows of a part are sorted by. What is sorted on both sides is merged as it streams by, which
takes a third of the time of a join by hashes, and no memory."""


def matched(rows: pl.LazyFrame, column: str, values: pl.Series, select: Iterable[str] = ()) -> pl.DataFrame:
    """Return the rows whose column has one of the values; see `KnowledgeBase.rows`."""
    asked = values.drop_nulls().unique()
    names = [*select] or rows.collect_schema().names()
    if len(asked) <= FEW:
        # Statistics skip row groups for `==`, but not for `is_in`.
        any_of = reduce(or_, [pl.col(column) == value for value in asked], pl.lit(False))
        return rows.filter(any_of).select(names).collect()
    found = _merged(rows.select(*dict.fromkeys([column, *names])), asked.alias(column).to_frame(), column)
    return found.select(names).collect(engine="streaming")


def joined(rows: pl.LazyFrame, column: str, asked: pl.DataFrame, select: Iterable[str]) -> pl.LazyFrame:
    """Return what is asked with columns of the rows, lazily; see `KnowledgeBase.joined`."""
    names = [*select]
    wanted = [column, *names]
    few = asked.height <= FEW
    found = matched(rows, column, asked[column], wanted).lazy() if few else rows.select(wanted)
    others = [name for name in asked.columns if name != column]
    return _merged(found, asked.drop_nulls(column), column).select(*others, *names)


def _merged(rows: pl.LazyFrame, asked: pl.DataFrame, column: str) -> pl.LazyFrame:
    return rows.join(asked.sort(column).lazy().set_sorted(column), on=column)
