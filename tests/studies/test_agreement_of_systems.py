"""How far the small systems agree, and how difficult mentions are; each number is counted by hand.

Of the eight mentions the three systems find, in their order: 2 (One, Two), 2 (One, Two), 1 (One), 2 (One, Three),
2 (One, Three), 2 (Two, Three), 2 (One, Two), 1 (Two). The baseline is not asked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from remix.studies.exhibit import EXHIBITS, ShownFigure, ShownTable
from remix.studies.results import Results
from tests.studies.small import SYSTEMS, count_results, small_mentions, small_results


def shown(results: Results, exhibit: str) -> dict[str, ShownTable | ShownFigure]:
    """What an exhibit shows, by name."""
    return {one.name: one for one in EXHIBITS[exhibit].show(results)}  # type: ignore[union-attr, misc]


def table(results: Results, exhibit: str, name: str) -> pl.DataFrame:
    """The frame of a table of an exhibit."""
    found = shown(results, exhibit)[name]
    assert isinstance(found, ShownTable)
    return found.frame


def test_shares_of_all_some_and_none_are_counted_by_dataset_class_and_part() -> None:
    """None is found by all three or by none; a fourth mention set tells the three apart."""
    frame = table(small_results(), "agreement-of-systems", "mentions-that-all-some-none-find")
    assert frame.filter(of="dataset")["part"].to_list() == ["a", "b", "all"]
    assert frame.filter(of="class").select("part", "mentions").rows() == [
        ("organisation", 1),
        ("person", 4),
        ("place", 3),
    ]
    assert frame.filter(part="all").select("share all", "share some", "share none").rows() == [(0.0, 1.0, 0.0)]
    other = small_mentions().with_columns(
        One=pl.Series(list("ccccmmmm")), Two=pl.Series(list("ccmmwwmm")), Three=pl.Series(list("cmmmmmmc"))
    )
    frame = table(count_results(other, SYSTEMS), "agreement-of-systems", "mentions-that-all-some-none-find")
    # a: the first by all, three by some; b: the last by Three alone, three by none.
    assert frame.filter(of="dataset").select("share all", "share some", "share none").rows() == [
        (1 / 4, 3 / 4, 0.0),
        (0.0, 1 / 4, 3 / 4),
        (1 / 8, 4 / 8, 3 / 8),
    ]
    # Confusion up to 3: the first two mentions and the sixth.
    part = frame.filter(of="entities per surface form", part="to-3")
    assert part.select("mentions", "share all", "share some", "share none").rows() == [(3, 1 / 3, 1 / 3, 1 / 3)]
    # Four documents are too few for an interval.
    assert frame["low all"].null_count() == len(frame)


def test_remixes_are_groups_unless_a_system_selected_them() -> None:
    """Persons are the mentions 1, 3, 5 and 7: One, Two find the first, One the third, One, Three the fifth, One, Two 7.

    So 5 of 12 are not found: 1, 2, 1 and 1 of three systems.
    """
    results = small_results()
    frame = table(results, "agreement-of-systems", "mentions-that-all-some-none-find")
    persons = frame.filter(of="remix")
    assert persons.select("part", "mentions", "share all", "share some", "share none").rows() == [
        ("persons", 4, 0.0, 1.0, 0.0)
    ]
    # The remix is of all persons, so that it agrees with the class.
    assert persons.drop("of", "part").equals(frame.filter(of="class", part="person").drop("of", "part"))
    means = table(results, "difficulty", "difficulty").filter(of="remix")
    assert means.select("part", "mentions", "difficulty").rows() == [("persons", 4, pytest.approx(5 / 12))]
    state = pl.when(target="persons", system="One").then(pl.lit("fitted")).otherwise("state")
    fitted = replace(results, scores=results.scores.with_columns(state=state))
    made = shown(fitted, "difficulty")["difficulty"]
    assert isinstance(made, ShownTable)
    assert made.frame.filter(of="remix").is_empty()
    assert any(note.startswith("Not shown: persons, whose mentions were selected") for note in made.notes)


def test_kappa_of_each_two_and_of_all_is_that_of_cohen_and_of_fleiss() -> None:
    """One finds 6 of 8, Two 5, both 3, neither none: they agree on 3/8; chance is 6/8 · 5/8 + 2/8 · 3/8 = 36/64.

    κ = (24/64 - 36/64) / (28/64) = -3/7. Fleiss: pairs agree on 1/3 of each of the eight mentions, as one or two of
    three find it; 14 of 24 are found, so chance is (14/24)² + (10/24)² = 296/576, and κ = (192 - 296) / (576 - 296).
    """
    pairs = table(small_results(), "agreement-of-systems", "agreement-of-systems")
    assert pairs.select("system", "other").rows() == [("One", "Two"), ("One", "Three"), ("Two", "Three")]
    first = pairs.row(0, named=True)
    names = ("share both", "share first alone", "share second alone", "share neither", "share agreed")
    assert [first[name] for name in names] == [3 / 8, 3 / 8, 2 / 8, 0, 3 / 8]
    assert first["kappa"] == pytest.approx(-3 / 7)
    frame = table(small_results(), "agreement-of-systems", "mentions-that-all-some-none-find")
    assert frame.filter(part="all")["kappa"].to_list() == [pytest.approx(-104 / 280)]


def test_difficulty_is_the_share_of_systems_that_do_not_find_a_mention() -> None:
    """10 of 24 are not found, of a's four mentions 5 of 12; two mentions are found by one system and six by two."""
    means = table(small_results(), "difficulty", "difficulty")
    assert means.filter(of="dataset").select("part", "difficulty").rows() == [
        ("a", pytest.approx(5 / 12)),
        ("b", pytest.approx(5 / 12)),
        ("all", pytest.approx(10 / 24)),
    ]
    # Above 30 are the fifth, which two find, and the eighth, which one does.
    assert means.filter(part="above-30")["difficulty"].to_list() == [pytest.approx(3 / 6)]
    spread = shown(small_results(), "difficulty")["difficulty-of-mentions"]
    assert isinstance(spread, ShownFigure)
    (panel,) = spread.figure.panels
    assert {one.name: list(one.y) for one in panel.series}["all"] == [0.0, 2 / 8, 6 / 8, 0.0]
    parts = shown(small_results(), "difficulty")["difficulty-by-ambiguitySurfaceForm-thresholds-3-30"]
    assert isinstance(parts, ShownFigure)
    assert list(parts.figure.panels[0].series[0].x) == ["≤ 3", "≤ 30", "> 30"]
    assert list(parts.figure.panels[0].series[0].y)[2] == pytest.approx(3 / 6)


def test_a_system_that_did_not_answer_all_mentions_is_left_out_and_told() -> None:
    """Three has no outcome of b: what all and none find is asked of One and Two."""
    results = small_results()
    gone = (pl.col("system") == "Three") & (pl.col("mention") > 3)
    lacking = replace(results, outcomes=results.outcomes.filter(~gone))
    found = shown(lacking, "agreement-of-systems")["mentions-that-all-some-none-find"]
    assert "Left out, as they did not answer all mentions: Three." in found.notes
    assert isinstance(found, ShownTable)
    assert found.frame.filter(part="all").select("share all", "share none").rows() == [(3 / 8, 0.0)]


def test_shares_have_intervals_where_ten_documents_hold_the_mentions() -> None:
    """Of 20 documents of two mentions, the first of each is found by both systems: a half, between its bounds."""
    mentions = pl.DataFrame({"dataset": "a", "document": [f"a/{n // 2}" for n in range(40)]}).with_columns(
        entity=pl.concat_str(pl.lit("x:"), pl.int_range(40)),
        **{"class": pl.lit("person"), "ambiguitySurfaceForm": pl.lit(1), "pagerank": pl.lit(0.1)},
        numAnnotations=pl.lit(2),
        One=pl.Series(list("cw") * 20),
        Two=pl.Series(list("cm") * 20),
    )
    results = count_results(mentions, {"One": "system", "Two": "system"}, cuts={}, remixes={})
    row = table(results, "agreement-of-systems", "mentions-that-all-some-none-find").row(0, named=True)
    assert row["share all"] == 0.5
    # Documents differ in nothing, so that 40 mentions tell as much as 40: Wilson's interval of 20 of 40 by t of 19.
    t = 2.093024
    half = t / (1 + t**2 / 40) * np.sqrt(0.25 / 40 + t**2 / 6400)
    assert (row["low all"], row["high all"]) == (
        pytest.approx(0.5 - half, abs=1e-6),
        pytest.approx(0.5 + half, abs=1e-6),
    )
