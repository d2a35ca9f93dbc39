"""The figures of the remixing paper, as exhibits make them of small results; each number is counted by hand."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from remix.reports.figures import MOST
from remix.studies.exhibit import EXHIBITS, ShownFigure, ShownTable
from remix.studies.results import Results
from tests.studies.small import SYSTEMS, count_results, rows, small_mentions, small_results

CONFUSION = "ambiguitySurfaceForm-thresholds-3-30"


def figure(results: Results, exhibit: str, name: str) -> ShownFigure:
    """A figure of an exhibit by its name."""
    shown = [one for one in EXHIBITS[exhibit].show(results) if isinstance(one, ShownFigure)]
    return next(one for one in shown if one.name == name)


def test_scores_of_parts_stand_over_the_shares_of_mentions() -> None:
    """Of 8 mentions 3, 3 and 2 are in the parts; One has 2 right and 1 wrong of the first: precision and recall 2/3."""
    shown = figure(small_results(), "scores-by-part", f"scores-by-{CONFUSION}")
    first = shown.figure.panels[0]
    assert [panel.title for panel in shown.figure.panels] == [*SYSTEMS]
    assert first.behind is not None
    assert (first.behind.x, first.behind.y) == (["≤ 3", "≤ 30", "> 30"], [3 / 8, 3 / 8, 2 / 8])
    precision, recall, f1 = first.series
    # Of 100, One has one of two right, and no wrong answer to the other: precision 1, recall 1/2, F1 2/3.
    assert precision.y == pytest.approx([2 / 3, 1, 1])
    assert recall.y == pytest.approx([2 / 3, 1, 1 / 2])
    assert f1.y == pytest.approx([2 / 3, 1, 2 / 3])
    assert (f1.low, f1.high) == (
        pytest.approx([2 / 3 - 0.1, 0.9, 2 / 3 - 0.1]),
        pytest.approx([2 / 3 + 0.1, 1, 2 / 3 + 0.1]),
    )


def test_mentions_without_a_value_are_a_part_apart() -> None:
    """3 of 8 mentions have no PageRank: persons 2 and 4, and place 7; One has the first two right."""
    shown = figure(small_results(), "scores-by-part", "f1-by-pagerank-thresholds-0.3")
    (panel,) = shown.figure.panels
    assert (panel.apart, panel.categories) == (["unspecified"], ["unspecified", "≤ 0.3", "> 0.3"])
    assert [one.name for one in panel.series] == [*SYSTEMS]
    assert panel.series[0].y[0] == pytest.approx(4 / 5)  # 2 right of 3, none wrong: 4/(4+0+1)
    assert "3 mentions have no value, and are a part of their own." in shown.notes


def test_a_score_that_is_missing_in_a_part_is_a_gap_and_told() -> None:
    """Two was not scored above 30: its line ends before, and the note says so."""
    results = small_results()
    gone = (pl.col("system") == "Two") & (pl.col("slice") == "above-30")
    shown = figure(replace(results, scores=results.scores.filter(~gone)), "scores-by-part", f"f1-by-{CONFUSION}")
    assert shown.figure.panels[0].series[1].y[2] is None
    assert "There is no F1 of Two in > 30." in shown.notes


def test_many_systems_stand_in_several_figures_of_as_many_panels_as_can_be_seen() -> None:
    """Of thirteen systems twelve stand in the first figure; all names are told."""
    many = {f"System {number:02} with a rather long name": "system" for number in range(MOST + 1)}
    mentions = small_mentions().drop(*SYSTEMS).with_columns(**{name: pl.lit("c") for name in many})
    results = count_results(mentions, many)
    first, second = (figure(results, "scores-by-part", f"scores-by-{CONFUSION}-{n}") for n in (1, 2))
    assert (len(first.figure.panels), len(second.figure.panels)) == (MOST, 1)
    assert [panel.title for one in (first, second) for panel in one.figure.panels] == [*many]


def test_many_parts_are_numbered_and_their_boundaries_told() -> None:
    """Eleven boundaries do not fit under a panel."""
    cuts = {"ambiguitySurfaceForm:thresholds": ("annotation", tuple(range(1, 9)))}
    shown = figure(
        count_results(small_mentions(), SYSTEMS, cuts=cuts), "scores-by-part", "f1-by-ambiguitySurfaceForm-thresholds"
    )
    assert shown.figure.panels[0].categories == [str(number) for number in range(1, 10)]
    assert any(note.startswith("Boundaries of parts: 1: ≤ 1; 2: ≤ 2;") for note in shown.notes)


def test_distributions_have_values_in_order_and_boundaries_on_the_logarithmic_scale() -> None:
    """1, 1, 1, 10, 10, 10, 100, 100: three values of 1, six up to 10, eight up to 100."""
    shown = figure(small_results(), "distributions", f"distribution-{CONFUSION}")
    linear, log = shown.figure.panels
    assert [(one.x.scale, one.y.scale, list(one.levels)) for one in (linear, log)] == [
        ("linear", "linear", []),
        ("linear", "log", [3.0, 30.0]),
    ]
    assert (list(log.series[0].x), list(log.series[0].y)) == ([0, 3, 6, 8], [1, 10, 100, 100])
    ranks = figure(small_results(), "distributions", "distribution-pagerank-thresholds-0.3")
    assert "3 of 8 mentions have no value." in ranks.notes


def test_values_of_documents_are_counted_once() -> None:
    """Four documents have 1, 2, 2 and 3 annotations."""
    shown = figure(small_results(), "distributions", "distribution-numAnnotations-thresholds-1-2")
    line = shown.figure.panels[0].series[0]
    assert (list(line.x), list(line.y)) == ([0, 1, 3, 4], [1, 2, 3, 3])


def test_datasets_are_compared_with_the_highest_on_top() -> None:
    """Confusion is (1 + 1 + 10 + 10)/4 = 5.5 in a, (100 + 1 + 10 + 100)/4 = 52.75 in b."""
    (panel,) = figure(small_results(), "datasets-compared", "confusion-of-datasets").figure.panels
    assert (panel.title, panel.y.scale) == ("entities per surface form", "log")
    assert (panel.series[0].x, panel.series[0].y) == (["b", "a"], [52.75, 5.5])


def test_remixes_are_compared_in_their_order_and_what_speaks_for_few_is_told() -> None:
    """Persons 0, 2, 4, 6 have 1, 10, 100, 10 entities by form: 30.25."""
    results = small_results()
    less = pl.when(pl.col("target") == "persons").then(pl.lit(0.25)).otherwise("coverage")
    results = replace(results, measures=results.measures.with_columns(coverage=less))
    shown = figure(results, "remixes-compared", "confusion-of-remixes")
    (series,) = shown.figure.panels[0].series
    assert (series.x, series.y) == (["all", "persons"], [29.125, 30.25])
    assert series.words == ["", "speaks for 25 %"]
    assert shown.notes == ("What is said of entities per surface form speaks for less than half of persons (25 %).",)


def test_a_dataset_without_a_measure_keeps_its_name() -> None:
    """What is missing is seen to be missing, and told."""
    results = small_results()
    absent = rows(
        "targets", {"target": "c", "kind": "dataset", "state": "absent", "told": "`remix fetch c`", "place": 9}
    )
    results = replace(results, targets=pl.concat([results.targets, absent.select(results.targets.columns)]))
    shown = figure(results, "datasets-compared", "confusion-of-datasets")
    assert shown.figure.panels[0].series[0].y == [52.75, 5.5, None]
    assert shown.notes == ("There is nothing of c (absent): `remix fetch c`.",)
    table = next(one for one in EXHIBITS["datasets-compared"].show(results) if isinstance(one, ShownTable))
    assert table.frame.filter(target="c")["ambiguitySurfaceForm"].to_list() == [None]
