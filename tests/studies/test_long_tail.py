"""Recall along the columns of the long-tail study; each number is counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

from remix.studies.exhibit import EXHIBITS, ShownFigure, ShownTable
from tests.studies.small import SYSTEMS, count_results, small_mentions, small_results


def test_recall_stands_along_the_columns_that_the_study_has() -> None:
    """Of three mentions of rank 1 One finds all, of two of rank 2 all, of three of rank 5 one; one has no entropy."""
    given = small_mentions().with_columns(
        meaningRank=pl.Series([1, 1, 1, 2, 2, 5, 5, 5]),
        formEntropy=pl.Series([0.0, 0.0, 0.0, 0.5, 0.6, 1.5, 3.0, None]),
    )
    shown = {one.name: one for one in EXHIBITS["long-tail"].show(count_results(given, SYSTEMS))}  # type: ignore[union-attr]
    assert [*shown] == ["long-tail-formEntropy", "long-tail-meaningRank", "long-tail"]
    ranks, entropies = shown["long-tail-meaningRank"], shown["long-tail-formEntropy"]
    assert isinstance(ranks, ShownFigure) and isinstance(entropies, ShownFigure)
    panel = ranks.figure.panels[0]
    assert panel.behind is not None
    assert (list(panel.behind.x), list(panel.behind.y)) == (["≤ 1", "≤ 2", "> 3"], [3 / 8, 2 / 8, 3 / 8])
    lines = {one.name: list(one.y) for one in panel.series}
    assert lines == {"One": [1, 1, 1 / 3], "Two": [2 / 3, 0, 1], "Three": [0, 1, 1 / 3]}
    assert entropies.figure.panels[0].categories == ["unspecified", "≤ 0", "≤ 0.5", "≤ 1", "≤ 2", "> 2"]
    assert entropies.figure.panels[0].apart == ["unspecified"]
    table = shown["long-tail"]
    assert isinstance(table, ShownTable)
    last = table.frame.row(-1, named=True)
    assert (last["part"], last["mentions"], last["share of Two"]) == ("> 3", 3, pytest.approx(1.0))
    assert table.frame["mentions"].sum() == 16


def test_a_study_without_these_columns_shows_nothing_of_them() -> None:
    assert not [*EXHIBITS["long-tail"].show(small_results())]
