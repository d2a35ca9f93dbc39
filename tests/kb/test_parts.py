"""Rows of a sorted part, found one by one or merged with what is asked."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.kb.parts import find_rows

KEYS = [f"k{number:03}" for number in range(120) for _ in range(2)]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pl.LazyFrame:
    file: Path = tmp_path_factory.mktemp("parts") / "part.parquet"
    pl.DataFrame({"key": KEYS, "value": range(240)}).write_parquet(file, row_group_size=50)
    return pl.scan_parquet(file).set_sorted("key")


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("count", [3, 100])
def test_matched_when_few_or_many_are_asked_then_all_of_their_rows_come(
    rows: pl.LazyFrame, count: int, is_sorted: bool
) -> None:
    # Asked in descending order, one null, one unknown; each known key has two rows.
    asked = pl.Series([*KEYS[2 * count - 2 :: -2], "unknown", None])
    found = find_rows(rows, "key", asked, ["value"], is_sorted=is_sorted)
    assert sorted(found["value"].to_list()) == list(range(2 * count))


@given(st.sets(st.integers(0, 200)))
def test_found_when_anything_is_asked_then_it_is_a_plain_join(rows: pl.LazyFrame, numbers: set[int]) -> None:
    asked = pl.Series("key", [*(f"k{n:03}" for n in sorted(numbers, reverse=True)), None], dtype=pl.String)
    places = find_rows(rows, "key", asked, ["value", "key"])
    plain = rows.collect().join(asked.to_frame().with_row_index("place"), on="key")
    assert places.sort("value").equals(plain.select("place", "value", "key").sort("value"))


def test_found_when_the_part_is_empty_or_nothing_is_asked_then_no_row_comes(rows: pl.LazyFrame) -> None:
    many = pl.Series([f"k{number:03}" for number in range(100)])
    for part, asked in ((rows.head(0), many), (rows, many.clear())):
        places = find_rows(part, "key", asked, ["value"])
        assert places.schema == {"place": pl.UInt32, "value": pl.Int64} and places.is_empty()
