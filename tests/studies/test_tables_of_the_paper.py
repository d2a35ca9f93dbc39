"""The tables of the remixing paper, as exhibits make them of small results; each number is counted by hand."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from remix.paper import typeset
from remix.studies.exhibit import EXHIBITS, ShownTable
from remix.studies.results import Results, no_results
from tests.studies.small import REMIXES, SYSTEMS, count_results, rows, small_mentions, small_results


def table(results: Results, exhibit: str, name: str = "") -> ShownTable:
    """The table of an exhibit, by default the one that is called as it is."""
    shown = [one for one in EXHIBITS[exhibit].show(results) if isinstance(one, ShownTable)]
    return next(one for one in shown if one.name == (name or exhibit))


def change(results: Results, name: str, **values: pl.Expr) -> Results:
    """The results with columns of a table changed."""
    return replace(results, **{name: getattr(results, name).with_columns(**values)})


def test_types_and_prominence_have_a_row_for_each_dataset_and_one_for_all() -> None:
    """Of the four mentions of a, two are persons and one an organisation; of b two are persons and two places."""
    shown = table(small_results(), "types-and-prominence")
    persons, organisations = "share typePerson", "share typeOrganisation"
    assert shown.frame.select("target", "mentions", persons, organisations).rows() == [
        ("a", 4, 0.5, 0.25),
        ("b", 4, 0.5, 0.0),
        ("all", 8, 0.5, 0.125),
    ]
    lines = typeset(shown.frame, "md", shown.how).splitlines()
    # Organisations: a has most (bold), b least (italics), all of them are in no comparison; persons are equal.
    assert [line.split("|")[4].strip() for line in lines[2:]] == ["**25.0 %**", "*0.0 %*", "12.5 %"]
    assert [line.split("|")[3].strip() for line in lines[2:]] == ["50.0 %"] * 3
    assert "The knowledge base of the study does not have: HITS." in shown.notes


def test_an_absent_dataset_has_empty_cells_and_is_told() -> None:
    """A dataset that is not there has no share of 0: it has none, and the note says how to get it."""
    results = small_results()
    absent = rows(
        "targets", {"target": "c", "kind": "dataset", "state": "absent", "told": "`remix fetch c`", "place": 9}
    )
    targets = pl.concat([results.targets, absent.select(results.targets.columns)])
    shown = table(replace(results, targets=targets), "types-and-prominence")
    assert shown.frame.filter(target="c").row(0)[2:] == (None,) * (shown.frame.width - 2)
    assert "There is nothing of c (absent): `remix fetch c`." in shown.notes


def test_partitions_stand_side_by_side_with_what_has_no_value_as_part_0() -> None:
    """Confusion 1, 1, 1 | 10, 10, 10 | 100, 100; PageRank of 5 mentions; documents of 1 | 2, 2 | 3 annotations."""
    shown = table(small_results(), "partitions")
    confusion, rank, number = small_results().columns
    frame = shown.frame
    assert frame["part"].to_list() == [0, 1, 2, 3]
    assert frame[f"mentions by {confusion}"].to_list() == [0, 3, 3, 2]
    assert frame[f"boundary by {confusion}"].to_list() == ["unspecified", "≤ 3", "≤ 30", "> 30"]
    assert frame[f"mentions by {rank}"].to_list() == [3, 3, 2, None]  # there is no third part
    assert frame[f"documents by {number}"].to_list() == [0, 1, 2, 1]
    assert "PageRank: 8 mentions, 3 of them without a value." in shown.notes


def test_a_partition_of_classes_has_a_table_of_its_own_and_one_without_parts_is_told() -> None:
    """Classes have names in place of boundaries; their shares are of all mentions."""
    parts = rows(
        "parts",
        {"column": "class:classes", "part": 0, "slice": "unspecified", "mentions": 2, "documents": 1},
        {"column": "class:classes", "part": 1, "slice": "person", "mentions": 6, "documents": 4},
    )
    targets = rows("targets", {"target": "all", "kind": "all", "mentions": 8, "documents": 4})
    results = replace(no_results(parts=parts, targets=targets), columns=("class:classes", "hits:log-deciles"))
    own = table(results, "partitions", "partition-class-classes")
    assert own.frame.rows() == [(0, "unspecified", 2, 0.25), (1, "person", 6, 0.75)]
    assert own.notes == ("2 of 8 mentions have no value.",)
    assert table(results, "partitions").notes == ("There are no parts of HITS.",)


def test_scores_on_remixes_have_their_average_and_correlations() -> None:
    """One, Two and Three have 12/15, 10/15, 6/13 on all; on persons 8/8, 4/7 and 2/6.

    Of four persons they have 4, 2 and 1 right, and 0, 1 and 1 wrong answers.
    """
    shown = table(small_results(), "systems-on-remixes")
    first, persons = shown.frame.to_dicts()
    assert (first["target"], first["mentions"], persons["mentions"]) == ("all", 8, 4)
    assert [persons[f"f1 of {name}"] for name in SYSTEMS] == pytest.approx([1, 4 / 7, 2 / 6, 2 / 7])
    # The baseline is in no average: (1 + 4/7 + 1/3) / 3.
    assert persons["average"] == pytest.approx((1 + 4 / 7 + 1 / 3) / 3)
    assert (first["pearson"], first["spearman"], persons["spearman"]) == (None, None, pytest.approx(1.0))
    # Pearson of (.8, .6667, .4615) and (1, .5714, .3333): less their means (.6427, .6349) the products sum to .1133,
    # the squares to .0582 and .2284; .1107 / sqrt(.0582 * .2284) = .960.
    assert persons["pearson"] == pytest.approx(0.960, abs=0.0005)


def test_the_best_of_a_row_is_no_baseline() -> None:
    """A baseline that is ahead of all systems is neither best nor worst, and stands behind the average."""
    ahead = pl.when(pl.col("system") == "Prior").then(pl.lit(0.99)).otherwise("f1")
    shown = table(change(small_results(), "scores", f1=ahead), "systems-on-remixes")
    head, _, first, _ = typeset(shown.frame, "md", shown.how).splitlines()
    cells = dict(zip((one.strip() for one in head.split("|")), (one.strip() for one in first.split("|")), strict=True))
    assert cells["One"].startswith("**0.800**") and cells["Three"].startswith("*0.462*")
    assert cells["Prior"].startswith("0.990 [")
    assert [one for one in cells if one in ("Three", "average", "Prior")] == ["Three", "average", "Prior"]


def test_a_missing_score_is_in_no_average_and_is_told() -> None:
    """Three has no score on persons: averages and correlations are over One and Two, on all as well, and say so."""
    results = small_results()
    gone = (pl.col("system") == "Three") & (pl.col("target") == "persons")
    lacking = replace(results, scores=results.scores.filter(~gone))
    shown = table(lacking, "systems-on-remixes")
    first, persons = shown.frame.to_dicts()
    assert persons["f1 of Three"] is None and first["f1 of Three"] is not None
    assert first["average"] == pytest.approx((12 / 15 + 10 / 15) / 2)
    assert (persons["pearson"], persons["spearman"]) == (None, None)
    assert (
        "Average and correlations (with all) are over the 2 of 3 systems that have a score in every row: One and Two."
        in (shown.notes)
    )
    assert "There is no score of Three on persons (not computed)." in shown.notes
    assert any(note.startswith("There are no correlations: 3 systems") for note in shown.notes)


def test_a_system_that_is_not_registered_keeps_its_column_and_is_told() -> None:
    """The reader sees that it was asked for, and how to get it; a row of scores says why it is missing, too."""
    results = small_results()
    four = rows(
        "systems", {"system": "Four", "state": "not registered", "told": "`remix run add four.nif`", "place": 9}
    )
    failed = rows("scores", {"system": "Two", "target": "persons", "state": "failed", "told": "ask it again"})
    kept = results.scores.filter((pl.col("system") != "Two") | (pl.col("target") != "persons"))
    scores = pl.concat([kept, failed.select(kept.columns)])
    shown = table(
        replace(results, scores=scores, systems=pl.concat([results.systems, four.select(results.systems.columns)])),
        "systems-on-remixes",
    )
    assert shown.frame["f1 of Four"].to_list() == [None, None]
    assert "There is nothing of Four (not registered): `remix run add four.nif`." in shown.notes
    assert "There is no score of Two on persons (failed): ask it again." in shown.notes


def test_failed_documents_stand_in_their_own_column() -> None:
    """Two failed on 2 documents of all; nobody on any of persons."""
    failing = (pl.col("system") == "Two") & (pl.col("target") == "all")
    results = change(small_results(), "scores", failed=pl.when(failing).then(2).otherwise(0).cast(pl.Int64))
    shown = table(results, "systems-on-remixes")
    assert shown.frame["failed documents"].to_list() == [2, 0]
    assert "Two failed on 2 documents of all, whose mentions count as not found." in shown.notes
    assert "failed documents" in shown.how.headings(shown.frame)
    assert "failed documents" not in (whole := table(small_results(), "systems-on-remixes")).how.headings(whole.frame)


def test_a_difference_that_is_more_than_chance_is_marked() -> None:
    """Of two tests one has a p below 0.05 after Holm's correction; one row was not tested."""
    given = {"family": "unfiltered", "target": "persons", "difference": 0.2}
    differences = rows(
        "differences",
        given | {"system": "One", "other": "One", "p": 0.01, "p_holm": 0.02},
        given | {"system": "Two", "other": "Two", "p": 0.04, "p_holm": 0.06},
        given | {"system": "Three", "other": "Three"},
        given | {"system": "Three", "other": "Three", "score": "recall", "p": 0.0, "p_holm": 0.0},
    )
    shown = table(replace(small_results(), differences=differences), "systems-on-remixes")
    persons = shown.frame.row(1, named=True)
    assert [persons[f"mark of {name}"] for name in SYSTEMS] == ["*", "", "", ""]
    assert any("corrected by Holm for the 3 tests" in note for note in shown.notes)


def test_correlations_between_rows_are_a_table_of_their_own() -> None:
    """A row with itself has 1; rows in which all have the same score have none, which is said."""
    results = small_results()
    shown = table(results, "systems-on-remixes", "spearman-between-remixes")
    assert shown.frame.rows() == [
        ("all", pytest.approx(1.0), pytest.approx(1.0)),
        ("persons", *[pytest.approx(1.0)] * 2),
    ]
    same = pl.when(pl.col("target") == "persons").then(pl.lit(0.5)).otherwise("f1")
    flat = table(change(results, "scores", f1=same), "systems-on-remixes", "pearson-between-remixes")
    assert flat.frame.rows() == [("all", pytest.approx(1.0), None), ("persons", None, None)]
    assert "All systems have the same F1 on persons, which has no correlation." in flat.notes


def test_without_systems_there_are_the_sizes_of_targets() -> None:
    """A study of datasets alone is one, too."""
    shown = table(count_results(small_mentions(), {}), "systems-on-remixes")
    assert [*shown.how.headings(shown.frame)] == ["target", "mentions"]
    assert shown.notes == ("The study names no system: there is nothing but the sizes of targets.",)


def test_origins_are_counted_and_shared_both_ways() -> None:
    """Of 8 mentions a has 5 here; persons are 3 of a and 1 of b: 3/4 and 1/4 of the remix, 3/5 of a and 1/3 of b."""
    mentions = small_mentions().with_columns(
        dataset=pl.when(pl.int_range(pl.len()) < 5).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    results = count_results(mentions, SYSTEMS, remixes=REMIXES | {"nobody": pl.lit(value=False)})
    assert table(results, "origins").frame.rows() == [("a", 5, 3, 0), ("b", 3, 1, 0)]
    assert table(results, "origins", "origins-share-of-remix").frame.rows() == [
        ("a", 5 / 8, 3 / 4, None),
        ("b", 3 / 8, 1 / 4, None),
    ]
    assert table(results, "origins", "origins-share-of-dataset").frame.rows() == [("a", 3 / 5, 0.0), ("b", 1 / 3, 0.0)]
