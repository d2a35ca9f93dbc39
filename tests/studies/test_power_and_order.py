"""How many documents differences need, and how sure the order of systems is, recomputed by another path."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from remix.scoring.statistics.power import ALPHA, POWER, difference_found, documents_needed, power_of, times_needed
from remix.studies.exhibit import EXHIBITS, ShownFigure, ShownTable
from remix.studies.results import Results
from tests.studies.small import count_results, small_results

DOCUMENTS = 12


def results_of(one: str, two: str, confusion: list[int], three: str = "") -> Results:
    """A study of twelve documents, each with as many mentions as letters of systems, of these confusions."""
    letters = {"One": one, "Two": two} | ({"Three": three} if three else {})
    number = DOCUMENTS * len(confusion)
    given = pl.DataFrame({"dataset": ["a"] * number}).with_columns(
        document=pl.Series([f"a/{place // len(confusion):02}" for place in range(number)]),
        entity=pl.Series([f"x:{place}" for place in range(number)]),
        **{"class": pl.lit("person"), "pagerank": pl.lit(0.1), "numAnnotations": pl.lit(len(confusion))},
        ambiguitySurfaceForm=pl.Series(confusion * DOCUMENTS),
        **{name: pl.Series(list((said * number)[:number])) for name, said in letters.items()},
    )
    cuts = {"ambiguitySurfaceForm:thresholds:3": ("annotation", (3.0,))}
    return count_results(given, dict.fromkeys(letters, "system"), cuts=cuts, remixes={})


def table(results: Results, exhibit: str, name: str) -> ShownTable:
    """A table of an exhibit."""
    found = next(one for one in EXHIBITS[exhibit].show(results) if one.name == name)  # type: ignore[union-attr]
    assert isinstance(found, ShownTable)
    return found


def test_power_is_the_share_of_t_tests_that_find_a_difference() -> None:
    """Of 20,000 samples of 20 pairs that differ by half a standard deviation in the mean."""
    drawn = np.random.default_rng(0).normal(0.5, 1.0, (20_000, 20))
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * np.sqrt(20)
    assert power_of(1.0, 0.5, 20) == pytest.approx((np.abs(t) >= 2.093024).mean(), abs=0.01)
    # Where t is taken for normal nothing jumps.
    assert power_of(1.0, 0.09, 999) == pytest.approx(power_of(1.0, 0.09, 1000), abs=0.002)


def test_documents_of_one_of_many_tests_are_so_many_times_as_many() -> None:
    """Of many documents; the times are those of the level that Bonferroni leaves to each of 40 tests."""
    alone, corrected = (documents_needed(1.0, 0.01, alpha=level) for level in (ALPHA, ALPHA / 40))
    assert alone is not None and corrected is not None
    assert times_needed(40) == pytest.approx(corrected / alone, rel=1e-3)


@pytest.mark.parametrize(("spread", "difference"), [(0.2, 0.05), (0.2, 0.02), (0.1, 0.3), (1.0, 0.01), (0.3, 0.05)])
def test_needed_is_the_first_number_that_is_enough(spread: float, difference: float) -> None:
    needed = documents_needed(spread, difference)
    assert needed is not None
    assert power_of(spread, difference, needed) >= POWER
    assert needed == 2 or power_of(spread, difference, needed - 1) < POWER
    # What so many documents find is no more than what they were asked for.
    found = difference_found(spread, needed)
    assert found is not None
    assert found <= difference
    assert documents_needed(spread, difference, alpha=ALPHA / 100) > needed  # type: ignore[operator]


def test_documents_needed_follow_from_leaving_each_document_out() -> None:
    """F1 is that of tp, wrong and missed, so of c right and w wrong of n mentions 2c / (c + w + n)."""
    one, two = "ccwcmccccwcm" * 3, "cwccmwccmccc" * 3
    results = results_of(one, two, [1, 10, 100])
    mentions = [(one[place], two[place]) for place in range(36)]

    def f1(left_out: int | None, side: int) -> float:
        own = [said[side] for place, said in enumerate(mentions) if place // 3 != left_out]
        right = own.count("c")
        return 2 * right / (2 * right + own.count("w") + len(own) - right)

    whole = f1(None, 0) - f1(None, 1)
    changes = [f1(out, 0) - f1(out, 1) - whole for out in range(12)]
    spread = (11 * sum(change**2 for change in changes)) ** 0.5
    row = table(results, "power", "documents-needed-by-pair").frame.row(0, named=True)
    assert row["spread"] == pytest.approx(spread)
    assert [row[f"needed {points}"] for points in (1, 2, 5)] == [
        documents_needed(spread, points / 100) for points in (1, 2, 5)
    ]
    assert row["needed 1"] > row["needed 2"] > row["needed 5"]
    first = table(results, "power", "documents-needed").frame.row(0, named=True)
    assert (first["documents"], first["pairs"], first["5"]) == (12, 1, row["needed 5"])


def test_systems_of_equal_counts_are_no_pair_and_few_documents_tell_no_power() -> None:
    shown = table(results_of("cwm", "cwm", [1, 10, 100], three="ccwcmccccwcm" * 3), "power", "documents-needed")
    assert shown.frame.row(0, named=True)["pairs"] == 2
    assert not [*EXHIBITS["power"].show(small_results())]


def test_an_order_that_every_document_shows_is_the_same_in_every_draw() -> None:
    """In each document One has the two confused mentions, Two the one that is not: One is ahead on all by 1/3."""
    shown = table(results_of("wcc", "cww", [1, 10, 100]), "order-by-part", "order-by-part")
    (row,) = shown.frame.to_dicts()
    assert (row["part"], row["system"], row["other"]) == ("to-3", "One", "Two")
    # One has 24 right and 12 wrong of 36: 48/72; Two 12 and 24: 24/72. On the part they have none, and all.
    assert (row["ahead"], row["behind"]) == (pytest.approx(100 / 3), -100.0)
    assert (row["share changed"], row["share as on all"]) == (1.0, 0.0)
    figure = next(
        one
        for one in EXHIBITS["order-by-part"].show(results_of("wcc", "cww", [1, 10, 100]))
        if isinstance(one, ShownFigure)
    )
    ranks = {one.name: list(one.y) for one in figure.figure.panels[0].series}
    assert ranks == {"One": [1, 2, 1], "Two": [2, 1, 2]}


def test_the_share_of_draws_is_that_of_drawing_documents_one_by_one() -> None:
    one, two = "wccccmwccccc" * 3, "cwcwccccwcmc" * 3
    results = results_of(one, two, [1, 10, 100])
    often = np.random.default_rng(results.seed).multinomial(12, np.full(12, 1 / 12), 1000)

    def f1(said: str, draw: np.ndarray, confused: tuple[int, ...]) -> float:
        own = "".join(said[3 * doc + nth] * draw[doc] for doc in range(12) for nth in confused)
        right = own.count("c")
        return 2 * right / (2 * right + own.count("w") + len(own) - right)

    every = {part: [(f1(one, draw, own), f1(two, draw, own)) for draw in often] for part, own in _PARTS.items()}
    observed = {part: (f1(one, np.ones(12, int), own), f1(two, np.ones(12, int), own)) for part, own in _PARTS.items()}
    first = 0 if observed[""][0] > observed[""][1] else 1
    shown = {row["part"]: row for row in table(results, "order-by-part", "order-by-part").frame.to_dicts()}
    for part in ("to-3", "above-3"):
        turned = observed[part][first] < observed[part][1 - first]
        changed = np.mean(
            [
                whole[first] > whole[1 - first] and own[first] < own[1 - first]
                for whole, own in zip(every[""], every[part], strict=True)
            ]
        )
        assert (part in shown) == (turned and changed >= 0.5)
        if part in shown:
            assert shown[part]["share changed"] == pytest.approx(changed)
    assert shown


_PARTS = {"": (0, 1, 2), "to-3": (0,), "above-3": (1, 2)}


def test_changes_that_few_draws_show_are_counted_and_left_out() -> None:
    shown = [row["share changed"] for row in table(_turning(), "order-by-part", "order-by-part").frame.to_dicts()]
    assert all(one >= other for one, other in pairwise(shown))
    assert all(one >= 0.5 for one in shown)


def _turning() -> Results:
    return results_of("ccwcmccccwcm" * 3, "cwccmwccmccc" * 3, [1, 10, 100], three="wcccmcmwccwc" * 3)
