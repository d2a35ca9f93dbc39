"""Values are numbered as they are met, however many; components of edges are those that scipy finds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from remix.dense import SMALL, components, distinct

EDGES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=20)


@given(EDGES)
def test_edges_are_of_one_component_where_scipy_has_one(edges: list[tuple[int, int]]) -> None:
    left = np.array([one for one, _ in edges], np.int64)
    right = np.array([one for _, one in edges], np.int64)
    found = components(left, right)
    graph = coo_array((np.ones(len(edges)), (left, right + 13)), shape=(26, 26))
    expected = connected_components(graph, directed=False)[1][left]
    for one in set(expected.tolist()):
        # Named by the smallest number on the left, so two components never share a name.
        assert set(found[expected == one].tolist()) == {int(left[expected == one].min())}


def test_long_chain_is_one_component() -> None:
    # 0-0-1-1-2-2-…: every number is linked to its neighbours alone.
    left = np.repeat(np.arange(5000), 2)[1:]
    right = np.repeat(np.arange(5000), 2)[:-1]
    assert set(components(left, right).tolist()) == {0}


@pytest.mark.parametrize("size", [SMALL, SMALL + 1])
def test_values_are_numbered_as_they_are_met(size: int) -> None:
    values = [None if n % 97 == 5 else f"e:{n * n % 1009}" for n in range(size)]
    numbers: dict[str, int] = {}
    expected = [None if one is None else numbers.setdefault(one, len(numbers)) for one in values]
    every, places = distinct(pl.Series(values))
    assert (every.to_list(), places.to_list()) == ([*numbers], expected)
