"""The parts of a knowledge base on disk: what each is sorted by, and how rows are found in it."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import or_

import polars as pl

__all__ = ["FORMAT", "SORTED_BY", "found", "matched"]

FORMAT = "6"
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
"""The column that the rows of a part are sorted by. `entities` stand in the order of their numbers, too."""

SLICE, AT_ONCE = 1 << 22, 2
"""How many rows of a part are searched together, and how many such slices at the same time."""


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
    """Return `place`, that of the value among those asked for, and columns of the rows that have it, in their order.

    The rows are sorted by the column, the values asked for all differ. Many are searched for by bisection in the column
    alone, of which some million rows are in memory at a time: a join takes twice as long.
    """
    names = [*select]
    values = pl.DataFrame({column: asked}).with_row_index("place").drop_nulls()
    if values.height <= FEW:
        some = matched(rows, column, values[column], [*dict.fromkeys([column, *names])])
        return some.join(values, on=column, how="left", maintain_order="left").select("place", *names)
    values = values.sort(column)
    height = rows.select(pl.len()).collect().item()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        slices = [rows.slice(first, SLICE) for first in range(0, max(1, height), SLICE)]
        return pl.concat(pool.map(lambda some: _in_slice(some, values, names), slices))


def _in_slice(rows: pl.LazyFrame, asked: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    column = asked.columns[-1]
    keys = rows.select(column).collect()[column]
    if len(keys):  # of what is asked for, only what may be here
        asked = asked.filter(pl.col(column).is_between(pl.lit(keys[0]), pl.lit(keys[-1])))
    first, end = (keys.search_sorted(asked[column], side) for side in ("left", "right"))
    hits = asked.select("place", row=pl.int_ranges(first, end, dtype=pl.UInt32)).explode("row")
    return pl.concat([hits.select("place"), rows.select(names).collect()[hits["row"]]], how="horizontal")
