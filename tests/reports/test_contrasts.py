"""Datasets in a sentence, by rules from their measures."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from remix.measures import Measured
from remix.reports.contrasts import rank_differences, tell_dataset, tell_differences
from remix.reports.statistics import summarise
from remix.workspace import Workspace
from tests.pieces import cut_at_random


@pytest.fixture(scope="module")
def measured(answered_sample: Workspace) -> Measured:
    """Measures of three datasets: of the type of places hard says nothing, for too few of its annotations are typed."""
    values = {
        "hard": (26.375, 0.54, 0.0),
        "plain": (12.25, 0.12, 0.26),
        "easy": (2.0, 0.12, 0.01),
    }
    names = ("ambiguitySurfaceForm", "typePerson", "nilExplicit")
    rows = [
        (dataset, measure, "micro", value, 1.0)
        for dataset, own in values.items()
        for measure, value in zip(names, own, strict=True)
    ]
    rows.append(("hard", "typePlace", "micro", 0.9, 0.4))
    frame = pl.DataFrame(rows, ["dataset", "measure", "average", "value", "coverage"], orient="row")
    return replace(answered_sample.measures(), datasets=frame)


def test_dataset_is_told_by_readings_types_nil_and_what_it_has_most_of(measured: Measured) -> None:
    assert tell_dataset(measured, "hard") == (
        "hard: 26 readings a name, 54 % persons; more persons and more readings a name than any other here."
    )
    # Both others have 12 % persons, so that neither has the fewest.
    assert tell_dataset(measured, "plain") == (
        "plain: 12 readings a name, 12 % persons, 26 % NIL mentions; more NIL mentions than any other here."
    )
    assert tell_dataset(measured, "easy") == (
        "easy: 2.0 readings a name, 12 % persons; fewer readings a name than any other here."
    )
    assert tell_dataset(measured, "none") == ""


def test_types_of_a_quarter_are_said_to_be_so_and_every_measure_has_its_place_on_one_scale(measured: Measured) -> None:
    """Of hard's links 0.76 have no type, so that 0.54 persons stand for a quarter: 1 - 0.76 = 0.24 are covered."""
    none = pl.DataFrame([("hard", "typeNone", "micro", 0.76, 1.0)], measured.datasets.columns, orient="row")
    own = replace(measured, datasets=pl.concat([measured.datasets, none]))
    assert tell_dataset(own, "hard").startswith(
        "hard: 26 readings a name, a known type for 24 % of its mentions alone;"
    )
    assert "typePerson" not in rank_differences(own, ["hard", "plain"])["measure"]
    assert "typePerson" in rank_differences(own, ["hard", "plain"], every=True)["measure"]


@pytest.mark.parametrize("seed", range(5))
def test_means_and_deviations_are_the_same_to_the_last_digit_however_frames_are_kept(
    answered_sample: Workspace, seed: int
) -> None:
    measured, frames = answered_sample.measures(), answered_sample.frames()
    tables = {name: getattr(measured, name) for name in ("annotations", "documents", "datasets")}
    pieces = replace(measured, **{name: cut_at_random(rows, seed) for name, rows in tables.items()})
    names = measured.datasets["dataset"].unique().sort().to_list()
    assert summarise(pieces, frames, names).equals(summarise(measured, frames, names))
    assert rank_differences(pieces, names).equals(rank_differences(measured, names))


def test_of_two_datasets_none_is_told_to_be_the_first(measured: Measured) -> None:
    two = replace(measured, datasets=measured.datasets.filter(pl.col("dataset") != "easy"))
    assert "any other" not in tell_dataset(two, "hard")


def test_differences_are_told_in_the_order_of_how_far_datasets_are_apart(measured: Measured) -> None:
    found = rank_differences(measured, ["hard", "plain"])
    # Standard deviations of the three: 12.2, 0.242 and 0.147; what hard alone has is compared with nothing.
    assert dict(found.select("measure", pl.col("apart").round(2)).rows()) == {
        "nilExplicit": 1.76, "typePerson": 1.73, "ambiguitySurfaceForm": 1.15,
    }  # fmt: skip
    assert found["measure"].to_list() == ["nilExplicit", "typePerson", "ambiguitySurfaceForm"]
    assert tell_differences(measured, "hard", "plain") == (
        "hard has fewer NIL mentions (0 % against 26 %), more persons (54 % against 12 %), "
        "more readings a name (26 against 12) than plain."
    )
    assert tell_differences(measured, "hard", "hard") == ""


def test_shares_of_few_mentions_are_no_farther_apart_than_chance_makes_them(measured: Measured) -> None:
    """Of 4 mentions in each, 0 and 0.26 have a common share of 0.13, and chance makes differences of
    sqrt(0.13 * 0.87 * (1/4 + 1/4)) = 0.238 where datasets have 0.147; of persons sqrt(0.33 * 0.67 / 2) = 0.332.
    """
    sizes = [(name, "numAnnotations", "count", 4.0, 1.0) for name in ("hard", "plain")]
    frame = pl.concat([measured.datasets, pl.DataFrame(sizes, measured.datasets.columns, orient="row")])
    found = rank_differences(replace(measured, datasets=frame), ["hard", "plain"])
    assert found.with_columns(pl.col("apart").round(2)).rows() == [
        ("typePerson", 1.26),
        ("ambiguitySurfaceForm", 1.15),
        ("nilExplicit", 1.09),
    ]


def test_differences_have_one_scale_in_the_sentence_and_in_the_table(measured: Measured) -> None:
    """A dataset that tells too little of its types widens no scale, neither of told measures nor of every one."""
    few = [("few", "typePerson", "micro", 1.0, 0.1), ("few", "nilExplicit", "micro", 0.02, 1.0)]
    columns = measured.datasets.columns
    own = replace(measured, datasets=pl.concat([measured.datasets, pl.DataFrame(few, columns, orient="row")]))
    told = rank_differences(own, ["hard", "plain"])
    every = rank_differences(own, ["hard", "plain"], every=True)
    assert told.height == 3 and told.equals(every.filter(pl.col("measure").is_in(told["measure"].implode())))
