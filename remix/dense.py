"""Values as dense integers, and joins on these: what is numbered from 0 is looked up, not searched for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

if TYPE_CHECKING:
    # Imported where it is used: strings of small tables are numbered without it, and its import takes as long as that.
    import numpy as np
    import numpy.typing as npt

Numbers: TypeAlias = "npt.NDArray[np.int64]"

SMALL = 1 << 16
"""Up to so many rows are told apart by polars, in less time than numpy's import takes; more by a table of numpy's."""


def distinct(values: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the different values of a column, as they are met, and for each of the column the place among them.

    >>> [series.to_list() for series in distinct(pl.Series(["b", None, "a", "b"]))]
    [['b', 'a'], [0, None, 1, 0]]
    """
    first, known = first_rows(values.to_frame()), values.is_not_null()
    own = known & (first == pl.int_range(len(first), dtype=pl.UInt32, eager=True))
    places = (own.cum_sum() - 1).cast(pl.UInt32).gather(first)
    if not known.all():
        places = pl.select(pl.when(known).then(places)).to_series()
    return values.filter(own), places.alias("place")


def first_rows(rows: pl.DataFrame) -> pl.Series:
    """Return for each row the first one that is the same.

    Rows are told apart by their hashes, which takes a third of the time or less; that these do so is then verified.

    >>> first_rows(pl.DataFrame({"x": ["a", "b", "a"], "y": [1, 1, 1]})).to_list()
    [0, 1, 0]
    """
    found = (_firsts(rows.hash_rows(seed)) for seed in count())
    return next(one for one in found if rows[one].equals(rows))


def stack(tables: Sequence[pl.DataFrame], number: str) -> pl.DataFrame:
    """Return the rows of tables of the same columns one after another, below a number the place of their table from 0.

    As a column made of pieces it takes a tenth of the time of an expression for each table.

    >>> stack([pl.DataFrame({"x": ["a", "b"]}), pl.DataFrame({"x": ["c"]})], "nth").rows()
    [('a', 0), ('b', 0), ('c', 1)]
    """
    places = [pl.Series(number, [nth], pl.Int64).new_from_index(0, len(table)) for nth, table in enumerate(tables)]
    return pl.concat(tables).hstack([pl.concat(places, rechunk=True)])


def look_up(rows: pl.DataFrame, key: str, table: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """Return the rows whose key is in the table, in their order, with the columns of the table.

    `key` holds numbers from 0 that are unique in the table; both sides have it under one name.

    >>> pairs = pl.DataFrame({"g": [2, 0, 1]})
    >>> look_up(pairs, "g", pl.DataFrame({"g": [0, 2], "size": [5, 7]}), ["size"]).rows()
    [(2, 7), (0, 5)]
    """
    import numpy as np

    known, asked = table[key].to_numpy(), rows[key].to_numpy()
    size = max(int(known.max(initial=-1)), int(asked.max(initial=-1))) + 1
    places = np.full(size, -1, np.int64)
    places[known] = np.arange(len(known))
    found = places[asked]
    if len(found) and found.min() < 0:
        rows, found = rows.filter(found >= 0), found[found >= 0]
    return rows.hstack(table[columns][found])


def mark(numbers: pl.Series, size: int) -> npt.NDArray[np.bool_]:
    """Return an array of that size that is true at the numbers.

    >>> mark(pl.Series([2, 2]), 4).tolist()
    [False, False, True, False]
    """
    import numpy as np

    found = np.zeros(size, np.bool_)
    found[numbers.to_numpy()] = True
    return found


def counts(numbers: pl.Series) -> Numbers:
    """Return for each row how many rows have its number.

    >>> counts(pl.Series([4, 0, 4])).tolist()
    [2, 1, 2]
    """
    import numpy as np

    values = numbers.to_numpy()
    every: Numbers = np.bincount(values)[values] if len(values) else np.zeros(0, np.int64)
    return every


def components(left: Numbers, right: Numbers) -> Numbers:
    """Return for each edge between a number on the left and one on the right its component.

    A component is named by the smallest number on its left. (scipy has this too, but takes longer to import.)

    >>> import numpy as np
    >>> components(np.array([0, 3, 1, 3]), np.array([7, 5, 5, 8])).tolist()
    [0, 1, 1, 1]
    """
    import numpy as np

    labels = np.arange(left.max(initial=-1) + 1)
    while True:
        least = np.full(right.max(initial=-1) + 1, len(labels))
        np.minimum.at(least, right, labels[left])
        found = labels.copy()
        np.minimum.at(found, left, least[right])
        # The name of the component's name is its name, too: long chains take few rounds.
        found = found[found]
        if (found == labels).all():
            every: Numbers = labels[left]
            return every
        labels = found


def _firsts(hashes: pl.Series) -> pl.Series:
    """Return for each row the first of the same hash.

    >>> _firsts(pl.Series([7, 9, 7], dtype=pl.UInt64)).to_list()
    [0, 1, 0]
    """
    if len(hashes) <= SMALL:
        rows = pl.DataFrame({"hash": hashes}).with_row_index("first")
        return rows.select(pl.col("first").first().over("hash")).to_series()
    import numpy as np

    keys = hashes.to_numpy()
    left = np.arange(len(keys), dtype=np.uint32)
    found = left.copy()
    while len(left):
        # Of the rows of one place in a table the first one stays; those of other hashes try again by other bits.
        bits = len(left).bit_length() + 1
        slots = (keys[left] >> np.uint64(64 - bits)).astype(np.int64)
        table = np.empty(1 << bits, np.uint32)
        table[slots[::-1]] = left[::-1]
        found[left] = table[slots]
        left = left[keys[found[left]] != keys[left]]
        keys = keys * np.uint64(0x9E3779B97F4A7C15)
    return pl.Series("first", found)
