"""Numbers for strings: what is counted is grouped, joined and looked up by them.

A string has the same number in all frames that share a `Numbers`, and numbers have no gaps: a table with a row for
each is asked by taking rows, not by a join.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

import polars as pl

MANY = 1 << 32
"""More than there are numbers of anything: two numbers are put together as one of 64 bits."""


class Numbers:
    """Gives strings their numbers, from 0, in the order in which they are met first; null has none.

    >>> numbers = Numbers()
    >>> numbers.of(pl.Series(["b", None, "a", "b"])).to_list(), numbers.of(pl.Series(["c", "a"])).to_list()
    ([0, None, 1, 0], [2, 1])
    """

    def __init__(self) -> None:
        self._kind = pl.Categorical(pl.Categories.random("remix"))
        # polars forgets the numbers when the last column that has them is gone.
        self._kept = pl.Series([], dtype=self._kind)
        self._one = Lock()

    def of(self, strings: pl.Series) -> pl.Series:
        """Return the numbers of a column of strings; of one column at a time, lest numbers are left out."""
        with self._one:
            return strings.rechunk().cast(self._kind).to_physical()


@dataclass(frozen=True)
class Codes:
    """The numbers of forms and of entities, each with its scope, of entities in any scope, of links and documents."""

    forms: Numbers = field(default_factory=Numbers)
    entities: Numbers = field(default_factory=Numbers)
    targets: Numbers = field(default_factory=Numbers)
    links: Numbers = field(default_factory=Numbers)
    documents: Numbers = field(default_factory=Numbers)


def by_number(rows: pl.DataFrame, number: str) -> pl.DataFrame:
    """Return one row of each number, in the order of the numbers; rows without a number are left out."""
    return rows.filter(pl.col(number).is_not_null() & pl.col(number).is_first_distinct()).sort(number)


def take_rows(table: pl.DataFrame, numbers: pl.Series) -> pl.DataFrame:
    """Return for each number the row of the table that stands there; nulls for null."""
    return table.select(pl.all().gather(numbers))


def pair_codes(rows: pl.DataFrame, first: str, second: str) -> pl.Series:
    """Return one number for two of each row, in the order of both; null where one of them is null.

    >>> pair_codes(pl.DataFrame({"a": [0, 1, 2], "b": [7, 3, None]}), "a", "b").to_list()
    [7, 4294967299, None]
    """
    return rows.select((pl.col(first).cast(pl.UInt64) * MANY + pl.col(second)).alias("pair")).to_series()


def places_in(column: pl.Series, values: pl.Series) -> pl.Series:
    """Return where each value stands in a column that is sorted and has none twice; null where it does not.

    >>> places_in(pl.Series([3, 5, 9]), pl.Series([9, 4, None, 3])).to_list()
    [2, None, None, 0]
    """
    # In their order, values are looked up in a fraction of the time: what they are compared with is at hand.
    order = values.arg_sort()
    place = column.search_sorted(values.gather(order)).gather(order.arg_sort())
    there = column.gather(place, null_on_oob=True) == values
    return pl.select(pl.when(there).then(place)).to_series().alias("place")


def places_of(numbers: pl.Series, below: int) -> pl.Series:
    """Return for each number below where it stands in a column that has none twice; null where it does not.

    >>> places_of(pl.Series([3, 0]), 4).to_list()
    [1, None, None, 0]
    """
    places = pl.repeat(None, below, dtype=pl.UInt32, eager=True)
    return places.scatter(numbers, pl.int_range(len(numbers), dtype=pl.UInt32, eager=True)).alias("place")
