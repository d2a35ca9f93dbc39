"""Offsets in a text as offsets in the same text with other white space, by the characters that both have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from remix.formats.offsets import Integers, _sums, _Texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLANK = (*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
"""The code points that Unicode calls white space, as `\\s` does."""


def letters_of(text: pl.Expr) -> pl.Expr:
    """Return a text without its white space.

    >>> pl.DataFrame({"t": ["U.S.\\u00a0a\\n"]}).select(letters_of(pl.col("t")))["t"].to_list()
    ['U.S.a']
    """
    return text.str.replace_all(r"\s", "")


def move_to_spacing(rows: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return the rows with begin and end in `text` as those in `other`, which differs from it in white space alone.

    `key` is the column that is the same for the same texts. A span begins and ends at the characters that it has, which
    are no white space; one of white space alone is empty before the next of them. What is outside a text stays outside
    by as much.

    >>> rows = pl.DataFrame({"name": ["d"] * 3, "text": ["do n't go"] * 3, "other": ["don't  go"] * 3})
    >>> rows = rows.with_columns(begin=pl.Series([0, 3, 7]), end=pl.Series([6, 6, 9]))
    >>> move_to_spacing(rows, "name").select("begin", "end").rows()
    [(0, 5), (2, 5), (7, 9)]
    """
    own, other = _Texts.of(rows, key), _Texts.of(rows.select(key, text="other"), key)
    numbered = own.number(rows)
    counts, places = _letters(own.points)[0], _letters(other.points)
    begin, end = (_move(numbered, name, own, other, counts, places) for name in ("begin", "end"))
    empty = pl.col("end") <= pl.col("begin")
    moved = rows.with_columns(begin=begin, end=end)
    return moved.with_columns(
        end=pl.when(pl.lit(rows.select(empty).to_series()) | empty).then("begin").otherwise("end")
    )


def _letters(points: NDArray[np.uint32]) -> tuple[Integers, Integers]:
    """Return how many letters stand before each character, and where each letter is."""
    import numpy as np

    letter = ~np.isin(points, np.array(_BLANK, dtype=points.dtype))
    return _sums(letter.astype("int64")), np.flatnonzero(letter)


def _move(
    rows: pl.DataFrame, name: str, own: _Texts, other: _Texts, counts: Integers, letters: tuple[Integers, Integers]
) -> pl.Series:
    """Return begins or ends in the one text as those in the other: at the next letter, or behind the last one."""
    import numpy as np

    first, last, offset = own._bounds(rows, name)
    number = rows["_text"].to_numpy()
    start, stop = other.starts[number], other.starts[number + 1]
    size = last - first
    nth = counts[first + offset.clip(0, size)] - counts[first]
    before, places = letters
    after_last = 0 if name == "begin" else 1
    at = (before[start] + nth - after_last).clip(0, max(len(places) - 1, 0))
    found = (places[at] if len(places) else at) + after_last - start
    # What has no letter behind it begins at the end of the text, what has none before it ends at its beginning.
    none = nth >= before[stop] - before[start] if name == "begin" else nth == 0
    found = np.where(none, (stop - start) * (1 - after_last), found)
    outside = (offset - size).clip(min=0) + offset.clip(max=0)
    found = np.where(offset > size, stop - start, found) + outside
    return rows.select(pl.when(pl.col(name).is_not_null()).then(pl.lit(pl.Series(found)))).to_series()
