"""The parts of a knowledge base on disk: what each is sorted by, and how rows are found in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

import polars as pl

__all__ = ["FEW", "FORMAT", "SORTED_BY", "found", "matched"]

FORMAT = "7"
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
"""The column that the rows of a part are sorted by. `entities` and `types` are sorted by number, too."""


def matched(rows: pl.LazyFrame, column: str, values: pl.Series, select: Iterable[str] = ()) -> pl.DataFrame:
    """Return the rows whose column has one of the values; see `KnowledgeBase.rows`."""
    asked = values.drop_nulls().unique()
    names = [*select] or rows.collect_schema().names()
    if len(asked) <= FEW:
        # Statistics skip row groups for `==`, but not for `is_in`.
        any_of = reduce(or_, [pl.col(column) == value for value in asked], pl.lit(False))
        return rows.filter(any_of).select(names).collect()
    wanted = rows.select(*dict.fromkeys([column, *names]))
    return wanted.join(asked.alias(column).to_frame().lazy(), on=column).select(names).collect(engine="streaming")


def found(rows: pl.LazyFrame, column: str, asked: pl.Series, select: Iterable[str]) -> pl.DataFrame:
    """Return `place`, that of the value among those asked for, and columns of the rows that have it, in any order.

    The rows are sorted by the column, the values asked for all differ. Many are merged with the rows as these stream
    by, which takes a third of the time of a join by hashes, and no memory.
    """
    names = [*select]
    wanted = [*dict.fromkeys([column, *names])]
    values = pl.DataFrame({column: asked.cast(rows.collect_schema()[column])}).with_row_index("place").drop_nulls()
    if values.height <= FEW:
        some = matched(rows, column, values[column], wanted)
        return some.join(values, on=column, maintain_order="left").select("place", *names)
    merged = rows.select(wanted).set_sorted(column).join(values.sort(column).lazy().set_sorted(column), on=column)
    return merged.select("place", *names).collect(engine="streaming")
