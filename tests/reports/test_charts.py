"""Figures of tables: what of a table is drawn, in which order, and what of holes in it."""

from __future__ import annotations

import polars as pl
import pytest

from remix.errors import UnknownName, UsageError
from remix.reports.charts import (
    figure_of_datasets,
    figure_of_distributions,
    figure_of_pairs,
    figure_of_parts,
    figure_of_ranks,
)
from remix.reports.figures import Axis

PARTS = pl.DataFrame(
    {
        "panel": ["one"] * 6,
        "series": ["P"] * 3 + ["R"] * 3,
        "part": ["0: unspecified", "1: to-3", "2: above-3"] * 2,
        "value": [0.5, 0.6, float("nan"), 0.1, 0.2, 0.3],
        "low": [0.4, 0.5, None, 0.0, 0.1, 0.2],
        "high": [0.6, 0.7, None, 0.2, 0.3, 0.4],
        "share": [0.1, 0.7, 0.2] * 2,
        "mentions": [10, 70, 20] * 2,
    }
)


def test_parts_have_their_shares_behind_and_what_has_no_value_stands_apart() -> None:
    (panel,) = figure_of_parts(PARTS, label="score").panels
    assert panel.places == {"0: unspecified": 0.0, "1: to-3": 1.5, "2: above-3": 2.5}
    assert [point.y for point in panel.shares] == [0.1, 0.7, 0.2]
    # A line leads neither from what stands apart nor over a part without a value.
    precision, recall = panel.drawn
    assert [[point.y for point in run] for run in panel.runs(precision)] == [[0.5], [0.6]]
    assert [[point.y for point in run] for run in panel.runs(recall)] == [[0.1], [0.2, 0.3]]
    assert recall[0].words == "R; 0: unspecified: 0.1 (0 to 0.2); 10 mentions"


def test_datasets_are_sorted_by_their_first_value_and_what_has_none_is_last() -> None:
    cells = pl.DataFrame(
        {
            "dataset": ["a", "b", "c"] * 2,
            "panel": ["first"] * 3 + ["second"] * 3,
            "value": [float("nan"), 1.0, 2.0, 9.0, 8.0, 7.0],
        }
    )
    panels = figure_of_datasets(cells, label="x").panels
    assert [panel.categories for panel in panels] == [["c", "b", "a"]] * 2
    assert [[point.y for point in panel.drawn[0]] for panel in panels] == [[2.0, 1.0], [7.0, 8.0, 9.0]]
    assert figure_of_datasets(cells, ordered=True).panels[0].categories == ["a", "b", "c"]


def test_distributions_are_boxes_shares_or_ranks() -> None:
    values = {"a": pl.Series([0, 1, 1, 10]), "none": pl.Series([None], dtype=pl.Float64)}
    boxes = figure_of_distributions(values, label="x").panels[0]
    assert boxes.categories == ["a", "none"] and [len(boxes.drawn[0]), boxes.drawn[0][0].y] == [1, 1.0]
    shares = figure_of_distributions(values, label="x", shown="shares", scale="log").panels[0]
    # Half of four values, of which 0 has no logarithm, are at most 1; all are at most 10.
    assert [(point.x, point.y) for point in shares.drawn[0]] == [(1.0, 0.5), (10.0, 0.75)]
    ranks = figure_of_distributions(values, label="x", shown="ranks", boundaries=[3]).panels[0]
    assert [(point.x, point.y) for point in ranks.drawn[0]] == [(0.0, 0.0), (1.0, 1.0), (3.0, 10.0), (4.0, 10.0)]
    assert ranks.levels == [3]
    log = figure_of_distributions(values, label="x", shown="ranks", scale="log").panels[0]
    # The lowest has no logarithm: the others stand where they stood.
    assert [(point.x, point.y) for point in log.drawn[0]] == [(1.0, 1.0), (3.0, 10.0), (4.0, 10.0)]
    with pytest.raises(UnknownName, match="no view of a distribution named 'box'.*'boxes'"):
        figure_of_distributions(values, shown="box")


def test_pairs_leave_out_what_has_no_second_score() -> None:
    cells = pl.DataFrame({"x": [1, 2, 3], "y": [1.0, float("nan"), 3.0], "name": ["a", "b", "c"], "series": "s"})
    panel = figure_of_pairs(cells, x=Axis("P"), y=Axis("R"), naming=True).panels[0]
    assert [(point.x, point.y, point.name) for point in panel.drawn[0]] == [(1.0, 1.0, "a"), (3.0, 3.0, "c")]


def test_equal_values_share_a_rank_and_a_hole_has_none() -> None:
    cells = pl.DataFrame(
        {"series": ["a", "b", "c"] * 2, "part": ["x"] * 3 + ["y"] * 3, "value": [0.5, 0.5, 0.1, 0.2, None, 0.3]}
    )
    panel = figure_of_ranks(cells).panels[0]
    assert [(one.name, one.y) for one in panel.series] == [("a", [1, 2]), ("b", [1, None]), ("c", [3, 1])]
    assert [text for _, text in panel.y.ticks(*panel.spans[1])] == ["1", "2", "3"]
    slopes = figure_of_ranks(cells, ranked=False, label="F1").panels[0]
    assert slopes.series[0].y == [0.5, 0.2] and not slopes.y.falling


def test_columns_that_a_figure_needs_are_named() -> None:
    with pytest.raises(UsageError, match="needs the columns part, value"):
        figure_of_parts(pl.DataFrame({"series": ["a"]}))
