"""Sums and means that are the same in however many pieces a column is kept."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.expressions import mean, sum_up
from tests.pieces import cut_at_random

SHARES = st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=60)
"""Of three values 0.1 + (0.2 + 0.3) is 0.6, and (0.1 + 0.2) + 0.3 is 0.6000000000000001."""


@given(SHARES, st.integers(0, 1000))
def test_mean_is_the_same_to_the_last_digit_however_a_column_is_kept(values: list[float | None], seed: int) -> None:
    column = pl.Series(values, dtype=pl.Float64)
    whole = mean(column)
    assert mean(cut_at_random(column, seed)) == whole
    known = [value for value in values if value is not None]
    assert whole == (pytest.approx(sum(known) / len(known)) if known else None)


@given(SHARES, st.integers(0, 1000))
def test_sums_of_groups_are_the_same_to_the_last_digit_however_a_frame_is_kept(
    values: list[float | None], seed: int
) -> None:
    value = pl.col("value")
    sums = {"sum": value.sum(), "mean": value.mean(), "deviation": value.std(), "some": value.filter(value > 0).mean()}
    rows = pl.DataFrame({"group": [place % 3 for place in range(len(values))], "value": values}, strict=False)
    rows = rows.cast({"value": pl.Float64})
    assert sum_up(cut_at_random(rows, seed), "group", **sums).equals(sum_up(rows, "group", **sums))


def test_means_of_numbers_and_of_what_is_no_number_are_floats() -> None:
    assert mean(pl.Series([1, 2])) == 1.5
    assert mean(pl.Series([True, False])) == 0.5
    assert mean(pl.Series([None, None], dtype=pl.Float64)) is None
