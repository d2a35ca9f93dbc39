"""Where precision and recall cross by the threshold of confidence; each number is counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from remix.studies.exhibit import EXHIBITS, ShownFigure, ShownTable
from remix.studies.results import Results
from tests.studies.small import rows, small_results


def thresholds(*given: tuple[str, float | None, float, float, float]) -> Results:
    """The small results with sums at thresholds."""
    names = ("system", "above", "tp", "fp", "fn")
    return replace(
        small_results(), thresholds=rows("thresholds", *(dict(zip(names, one, strict=True)) for one in given))
    )


GIVEN = (
    # Of 10 mentions: 8 of 16 answers are right, then 7 of 12, 6 of 8, and 2 of 2.
    ("One", None, 8.0, 8.0, 2.0),
    ("One", 0.2, 7.0, 5.0, 3.0),
    ("One", 0.5, 6.0, 2.0, 4.0),
    ("One", 0.9, 2.0, 0.0, 8.0),
    # 5 of 6 answers, and 3 of 3.
    ("Two", None, 5.0, 1.0, 5.0),
    ("Two", 0.4, 3.0, 0.0, 7.0),
)


def shown(results: Results) -> tuple[ShownFigure, ShownTable]:
    figure, table = EXHIBITS["thresholds"].show(results)
    assert isinstance(figure, ShownFigure) and isinstance(table, ShownTable)
    return figure, table


def test_they_cross_where_no_more_answers_count_than_there_are_mentions() -> None:
    """One: 8/16 < 8/10, 7/12 < 7/10, 6/8 > 6/10. Its best F1 is 12/18 at 0.5, before 16/26 and 14/22."""
    figure, table = shown(thresholds(*GIVEN))
    one, two = table.frame.to_dicts()
    assert (one["threshold"], one["crossing"]) == (0.5, "above the threshold")
    assert (one["precision"], one["recall"], one["f1"]) == (6 / 8, 6 / 10, pytest.approx(12 / 18))
    assert (one["best threshold"], one["best f1"]) == (0.5, pytest.approx(12 / 18))
    assert (two["threshold"], two["crossing"]) == (None, "nowhere: precision is always the higher")
    assert (two["best threshold"], two["best f1"]) == (None, pytest.approx(10 / 16))
    panel = figure.figure.panels[0]
    assert list(panel.boundaries) == [0.5]
    assert {line.name: (list(line.x), list(line.y)) for line in panel.series}["precision"] == (
        [0.0, 0.2, 0.5, 0.9],
        [8 / 16, 7 / 12, 6 / 8, 1.0],
    )
    assert "Without confidences, and so without thresholds: Three and Prior." in table.notes


def test_as_many_answers_as_mentions_cross_where_every_answer_counts() -> None:
    _, table = shown(thresholds(("One", None, 8.0, 2.0, 2.0), ("One", 0.5, 4.0, 1.0, 6.0)))
    assert table.frame.select("crossing", "threshold", "precision").rows() == [("every answer counts", None, 0.8)]


def test_where_recall_is_always_higher_they_do_not_cross() -> None:
    _, table = shown(thresholds(("One", None, 2.0, 8.0, 2.0), ("One", 0.5, 1.0, 4.0, 3.0)))
    assert table.frame["crossing"].to_list() == ["nowhere: recall is always the higher"]


def test_without_confidences_nothing_is_shown() -> None:
    assert not [*EXHIBITS["thresholds"].show(small_results())]


def test_the_order_of_rows_changes_nothing() -> None:
    results = thresholds(*GIVEN)
    mixed = replace(results, thresholds=results.thresholds.sample(fraction=1, shuffle=True, seed=3))
    assert shown(mixed)[1].frame.equals(shown(results)[1].frame)
