"""What is claimed of studies in which weaknesses are planted, and of flat ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from bench.planted import claims, shipped_mentions, simulate, study_of
from remix.reports.figures import Figure, Panel, Series
from remix.studies.claims import findings
from remix.studies.exhibit import Sentence, ShownTable
from remix.studies.exhibits.in_words import FINDINGS, _tell_next, _tell_turns
from remix.studies.output import draw_kept
from remix.studies.results import Results
from remix.studies.shelf import StepShelf
from remix.studies.weaknesses import weaknesses
from tests.studies.small import SYSTEMS, count_results, shuffle, small_mentions, small_results


@pytest.fixture(scope="module")
def mentions(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The mentions of the shipped corpus."""
    return shipped_mentions(tmp_path_factory.mktemp("planted"))


def words(results: object) -> list[Sentence]:
    """The sentences of a study."""
    return [one for one in FINDINGS.show(results) if isinstance(one, Sentence)]  # type: ignore[arg-type]


def test_a_study_of_four_documents_tests_nothing_and_says_so() -> None:
    said = [one.text for one in words(small_results())]
    assert "Of the systems One has the highest micro-F1, 0.800 (0.700 to 0.900)." in said
    assert "Nothing was tested: no part, and no pair of systems, is held by ten documents." in said


def test_systems_that_are_level_with_the_first_are_named_together() -> None:
    """Two answers as One does: both have 0.8, Three has 0.462, and nothing says that one of the two is ahead."""
    said = [one.text for one in words(count_results(small_mentions().with_columns(Two="One"), SYSTEMS))]
    level = "One (0.700 to 0.900) and Two (0.700 to 0.900) have the same micro-F1, which is the highest: 0.800."
    assert f"Of the systems {level}" in said
    assert not any("has the highest" in text or "ahead of" in text for text in said)


def test_words_do_not_depend_on_the_order_of_rows() -> None:
    assert words(shuffle(small_results(), 1)) == words(small_results())


@pytest.mark.long
def test_samples_that_are_too_few_for_any_share_are_told(mentions: pl.DataFrame) -> None:
    """Of k pairs and two kinds of tests the least p is 2k / (samples + 1), no more than 0.05 from 40k - 1 samples."""
    random = np.random.default_rng(0)
    study = study_of(mentions, {name: random.random(len(mentions)) < 0.7 for name in ("One", "Two")}, samples=1000)
    pairs = findings(study).tests[1]
    enough = 2 * pairs * 20 - 1
    few, many = ([one.text for one in words(replace(study, samples=samples))] for samples in (enough - 1, enough))
    assert any(f"{enough:,} samples are the least that could tell smaller ones" in text for text in few)
    assert not any("samples" in text for text in many)


@pytest.mark.long
def test_tests_of_a_system_are_kept_by_its_own_outcomes_and_by_the_parts(
    mentions: pl.DataFrame, tmp_path: Path
) -> None:
    """Of two systems two are made, with a third one more; of other parts, or other outcomes, those of each anew."""
    random = np.random.default_rng(0)
    right = {name: random.random(len(mentions)) < 0.7 for name in ("One", "Two", "Three")}

    def kept(results: Results) -> tuple[pl.DataFrame, int]:
        found = weaknesses(replace(results, kept=StepShelf(tmp_path).keep))
        return found, len([*tmp_path.glob("weaknesses-*")])

    assert kept(study_of(mentions, {name: right[name] for name in ("One", "Two")}))[1] == 2
    results = study_of(mentions, right)
    found, number = kept(results)
    assert number == 3
    assert_frame_equal(found, weaknesses(results))
    assert kept(study_of(mentions, {**right, "Two": ~right["Two"]}))[1] == 4
    assert kept(replace(results, columns=results.columns[:1]))[1] == 7
    assert kept(results)[1] == 7


@pytest.mark.long
def test_figure_is_drawn_once_for_all_that_it_says(tmp_path: Path) -> None:
    draw = draw_kept(StepShelf(tmp_path))
    figures = [Figure("F", [Panel("P", "lines", [Series("s", [1, 2], [1.0, y])])]) for y in (2.0, 3.0)]
    once = draw(figures[0])
    assert once.startswith(b"%PDF") and draw(figures[0]) == once
    assert len([*tmp_path.glob("figure-*")]) == 1
    assert draw(figures[1]) != once
    assert len([*tmp_path.glob("figure-*")]) == 2


@pytest.mark.long
@pytest.mark.parametrize("world", ["planted", "planted by frequency", "confounded", "confounded by frequency"])
def test_planted_weaknesses_are_found_and_the_confounded_one_vanishes_within_segments(
    mentions: pl.DataFrame, world: str
) -> None:
    found = [claims(world, simulate(world, mentions, seed)) for seed in range(4)]
    assert sum(one["weakness"] for one in found) >= 3
    assert sum(one["within"] for one in found) <= 1


@pytest.mark.long
def test_flat_systems_give_hardly_a_finding(mentions: pl.DataFrame) -> None:
    assert sum(claims("flat", simulate("flat", mentions, seed))["anything"] for seed in range(4)) <= 2


@pytest.mark.long
def test_each_sentence_with_a_cell_stands_in_a_table_that_is_shown(mentions: pl.DataFrame) -> None:
    rare = ((mentions["class"] == "Person") & (mentions["pagerankSegment"] == "tail")).fill_null(value=False).to_numpy()
    random = np.random.default_rng(3)
    found = {
        "Weak": random.random(len(mentions)) < np.where(rare, 0.3, 0.85),
        "Even": random.random(len(mentions)) < 0.7,
    }
    results = study_of(mentions, found)
    assert not findings(results).claims.is_empty()
    shown = [*FINDINGS.show(results)]
    tables = {one.name: one.frame for one in shown if isinstance(one, ShownTable)}
    told = [one for one in shown if isinstance(one, Sentence) and one.cell]
    assert any("Weak finds" in one.text and "class Person and pagerankSegment tail" in one.text for one in told)
    for one in told:
        for cell in (one.cell, *one.beside):
            assert tables[one.table].filter(**dict(cell)).height == 1, one.text


def test_a_difference_whose_interval_leaves_0_out_is_not_said_to_be_chance_when_it_is_only_not_claimed() -> None:
    """The words of the same numbers, claimed, corrected away, and with 0 inside; a turn needs two sides without 0."""
    results = small_results()
    found = findings(results)
    row = {"system": "One", "other": "Two", "column": "", "slice": "", "difference": 0.05, "p": 0.03, "p_family": 0.3}
    said = {}
    for low, claimed in ((0.01, True), (0.01, False), (-0.01, False)):
        pairs = pl.DataFrame([{**row, "low": low, "high": 0.09, "claimed": claimed}])
        [one] = _tell_next("One", "Two", replace(found, pairs=pairs))
        said[low, claimed] = one.text.partition(": ")[2]
    assert said == {
        (0.01, True): "more than chance.",
        (0.01, False): "not claimed once it is corrected for all tests, though 0 is outside its interval.",
        (-0.01, False): "no more than chance could make.",
    }
    for least, number in ((0.02, 1), (-0.02, 0)):  # behind by -0.09 to -0.01 on one part, ahead from `least` on another
        parts = [
            {**row, "column": "class", "slice": "a", "low": least, "high": 0.09, "claimed": True},
            {**row, "column": "class", "slice": "b", "difference": -0.05, "low": -0.09, "high": -0.01, "claimed": True},
        ]
        assert len([*_tell_turns(replace(found, pairs=pl.DataFrame(parts)))]) == number
