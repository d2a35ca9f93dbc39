"""Systems by columns: the best is a system, the family of tests is what is asked for, and rows are ordered by what all
have."""

from __future__ import annotations

import polars as pl

from remix.reports.matrix import family_of, mark_cells, order_systems

KINDS = {"a": "system", "b": "system", "base": "baseline", "gold": "oracle"}
SCORES = {"a": 0.6, "b": 0.5, "base": 0.7, "gold": 1.0}
"""The baseline is better than both systems, the oracle than all."""


def cells(*parts: str, systems: str = "a b base gold", documents: int = 20) -> pl.DataFrame:
    rows = [(name, part, SCORES[name], documents) for part in parts for name in systems.split()]
    return pl.DataFrame(rows, ["system", "part", "f1", "documents"], orient="row")


def pairs(*rows: tuple[str, str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(rows, ["part", "system", "other", "p"], orient="row")


TESTED = pairs(
    ("x", "a", "b", 0.02), ("x", "a", "base", 0.03), ("x", "b", "base", 0.001), ("x", "a", "gold", 0.001),
    ("y", "a", "b", 0.04), ("y", "a", "base", 0.001), ("y", "b", "base", 0.001), ("y", "b", "gold", 0.001),
)  # fmt: skip


def test_baselines_and_oracles_are_never_the_best_and_not_in_the_family() -> None:
    family = family_of(TESTED, cells("x", "y"), KINDS)
    # a with b in x and in y: 0.02 twice, and 0.04.
    assert family.pairs.select("part", "p_holm").rows() == [("x", 0.04), ("y", 0.04)]
    assert (family.tests, family.words) == (
        2,
        "2 tests on 2 columns: of all pairs of 2 systems that have scores in the same column of ten documents or more",
    )
    marked = mark_cells(cells("x", "y"), family, KINDS).filter(part="x")
    assert marked.select("system", "kind", "mark").rows() == [
        ("a", "system", "best"), ("b", "system", "*"), ("base", "baseline", ""), ("gold", "oracle", ""),
    ]  # fmt: skip


def test_family_is_of_the_system_that_others_are_held_against_where_one_is_named() -> None:
    family = family_of(TESTED, cells("x"), KINDS, "base")
    # 0.03 of the last of two, 0.001 twice; the oracle is in no test.
    assert family.pairs.select("system", "other", "p_holm").rows() == [("a", "base", 0.03), ("b", "base", 0.002)]
    marked = mark_cells(cells("x"), family, KINDS, "base")
    assert marked["mark"].to_list() == ["*", "*", "reference", ""]


def test_star_that_is_shown_while_tests_are_computed_is_never_taken_back() -> None:
    """Of 2 columns the pairs of one are known: corrected for 2 tests, 0.02 is 0.04, and 0.03 may be 0.06 at the end."""
    for p, star in ((0.02, "*"), (0.03, "")):
        known = pairs(("x", "a", "b", p))
        family = family_of(known, cells("x", "y"), KINDS, whole=False)
        assert (family.tests, family.known) == (2, 1)
        assert mark_cells(cells("x", "y"), family, KINDS).filter(part="x", system="b")["mark"].to_list() == [star]
        # Columns of fewer than ten documents will have no test.
        few = pl.concat([cells("x"), cells("y", documents=9)])
        assert family_of(known, few, KINDS, whole=False).tests == 1


def test_family_is_told_by_the_tests_there_are_and_without_numbers_while_they_are_computed() -> None:
    """b has no answers in y: 2 of the 4 pairs of 2 columns with base are tested there and in x."""
    some = TESTED.filter((pl.col("part") == "x") | (pl.col("system") == "a"))
    held = pl.concat([cells("x"), cells("y", systems="a base gold")])
    found = family_of(some.filter(pl.col("other") == "base"), held, KINDS, "base")
    assert found.words == (
        "3 tests on 2 columns: of base with each of 2 others where both have scores in the same column of ten "
        "documents or more"
    )
    for against in ("", "base"):
        waiting = family_of(some.head(1), held, KINDS, against, whole=False)
        assert not any(letter.isdigit() for letter in waiting.words)


def test_score_of_0_is_never_the_best_and_nothing_is_held_against_it() -> None:
    none = cells("x", systems="a b").with_columns(f1=pl.lit(0.0))
    marked = mark_cells(none, family_of(TESTED, none, KINDS), KINDS)
    assert marked["mark"].to_list() == ["", ""] and marked["reference"].to_list() == [None, None]


def test_all_that_are_equally_good_are_the_best() -> None:
    both = cells("x", systems="a b").with_columns(f1=pl.lit(0.5))
    assert mark_cells(both, family_of(TESTED, both, KINDS), KINDS)["mark"].to_list() == ["best", "best"]


def test_rows_are_ordered_by_the_mean_over_columns_that_all_systems_have() -> None:
    """System b alone has y, in which it is perfect: that makes it no better than a. Baselines come after systems."""
    held = pl.concat([cells("x", "z"), cells("y", systems="b").with_columns(f1=pl.lit(1.0))])
    marked = mark_cells(held, family_of(TESTED, held, KINDS), KINDS)
    found = order_systems(marked, ["x", "y", "z"])
    assert found.rows.rows() == [
        ("a", "system", 0.6), ("b", "system", 0.5), ("base", "baseline", 0.7), ("gold", "oracle", 1.0),
    ]  # fmt: skip
    assert found.shared == ["x", "z"]
    assert found.words == "Rows are in the order of their mean over the 2 of 3 columns that both systems have."


def test_without_a_common_column_rows_are_in_the_order_of_names() -> None:
    apart = pl.concat([cells("x", systems="a"), cells("y", systems="b").with_columns(f1=pl.lit(0.9))])
    found = order_systems(mark_cells(apart, family_of(TESTED, apart, KINDS), KINDS), ["x", "y"])
    assert found.rows["system"].to_list() == ["a", "b"] and found.rows["mean"].to_list() == [None, None]
    assert found.words.startswith("No column is one that both systems have")
