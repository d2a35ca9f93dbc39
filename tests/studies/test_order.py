"""What exhibits show depends on results, and not on the order of their rows."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remix.paper import typeset
from remix.reports.svg import draw
from remix.studies.exhibit import EXHIBITS, Exhibit, Sentence, Shown, ShownTable
from remix.studies.results import no_results
from tests.examples import FEW
from tests.studies.small import count_results, rows, shuffle, small_mentions, small_results


def set_down(shown: Shown) -> str:
    """What is shown as a file has it: a table in LaTeX and Markdown, a figure as SVG."""
    if isinstance(shown, Sentence):
        return shown.text
    if isinstance(shown, ShownTable):
        return typeset(shown.frame, "latex", shown.how) + typeset(shown.frame, "md", shown.how)
    return draw(shown.figure)


def told(shown: Shown) -> tuple[object, ...]:
    """All that is shown: every value of tables, and the description of figures."""
    if isinstance(shown, Sentence):
        return (shown,)
    if isinstance(shown, ShownTable):
        return (shown.name, shown.title, shown.frame.to_dict(as_series=False), shown.how, shown.notes)
    return (shown.name, shown.title, shown.figure, shown.notes)


@pytest.fixture(params=list(EXHIBITS), ids=lambda one: one.name)
def exhibit(request: pytest.FixtureRequest) -> Exhibit:
    """Every exhibit that there is."""
    assert isinstance(request.param, Exhibit)
    return request.param


@given(seed=st.integers(0, 1000))
@settings(max_examples=FEW, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_order_of_rows_changes_nothing(exhibit: Exhibit, seed: int) -> None:
    """Steps fill tables in any order, side by side."""
    results = small_results()
    expected = [told(shown) for shown in exhibit.show(results)]
    assert [told(shown) for shown in exhibit.show(shuffle(results, seed))] == expected


def test_an_exhibit_of_nothing_is_no_error(exhibit: Exhibit) -> None:
    """Where a step was not asked for, its tables are empty."""
    for results in (no_results(), count_results(small_mentions().head(0), {})):
        assert all(set_down(shown) for shown in exhibit.show(results))


@pytest.mark.parametrize("systems", [{}, {"One": "system"}, {"Prior": "baseline"}], ids=["none", "one", "baseline"])
def test_few_systems_and_one_dataset_of_one_part_are_shown(exhibit: Exhibit, systems: dict[str, str]) -> None:
    """Every table can be typeset, whatever the study lacks."""
    one = small_mentions().filter(dataset="a").drop([name for name in ("Two", "Three") if name not in systems])
    results = count_results(one, systems, cuts={"ambiguitySurfaceForm:thresholds:1000": ("annotation", ())}, remixes={})
    assert all(set_down(shown) for shown in exhibit.show(results))


def test_names_of_what_is_shown_are_those_of_files(exhibit: Exhibit) -> None:
    """No two things have one name, and a name is one of a file."""
    names = [shown.name for shown in exhibit.show(small_results()) if not isinstance(shown, Sentence)]
    assert len({*names}) == len(names)
    assert all(name == "".join(one for one in name if one.isalnum() or one in "-._") for name in names)


def test_names_of_systems_that_look_like_columns_are_no_trouble(exhibit: Exhibit) -> None:
    """A system may be called as a column of a table, or have a long name, or one with signs in it."""
    odd = ["mentions", "average", "low of a|b_%", "a very long name of a system " * 5]
    renamed = dict(zip(("One", "Two", "Three", "Prior"), odd, strict=True))
    results = count_results(small_mentions().rename(renamed), dict.fromkeys(odd, "system"))
    results.check(rows)
    assert all(set_down(shown) for shown in exhibit.show(results))
