"""The builder as one uses it: sliders, conditions, SPARQL that is edited, files."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from remix.store.queries import Query
from remix.web.addresses import address
from tests.web.browser.conftest import Visit

pytestmark = pytest.mark.extra

CONFUSED = address("builder", on="ambiguitySurfaceForm")


def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so, for twenty seconds at most."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it did not come so"
        time.sleep(0.05)


def test_moving_a_slider_changes_counts_query_and_downloads(visit: Visit) -> None:
    with visit(CONFUSED) as visited:
        page = visited.page
        rows = page.locator('section[data-update="waterfall"] tbody tr')
        assert "any value" in rows.nth(2).inner_text()
        slider = page.get_by_role("slider", name="readings a name, from")
        slider.focus()
        for _ in range(3):
            slider.press("PageUp")
        until(lambda: "≥" in rows.nth(2).inner_text())
        assert "?min_ambiguitySurfaceForm" in page.locator("textarea[name=sparql]").input_value()
        assert "low.ambiguitySurfaceForm=" in str(
            page.get_by_role("link", name="NIF", exact=True).get_attribute("href")
        )
        assert "low.ambiguitySurfaceForm=" in page.url and visited.wrong == []
        number = page.get_by_label("readings a name, from, as a number")
        assert number.input_value() == slider.input_value() != "0"
        number.fill("97.5")
        until(lambda: "low.ambiguitySurfaceForm=97.5" in page.evaluate("location.href"))
        assert slider.input_value() in ("97", "98") and visited.wrong == []


def test_adding_and_taking_out_a_condition_asks_for_the_page_again(visit: Visit) -> None:
    with visit(CONFUSED) as visited:
        page = visited.page
        page.get_by_label("add a condition on").select_option("isRare")
        page.wait_for_url("**isRare**")
        page.get_by_role("group", name="rare readings").get_by_label("true").click()
        until(lambda: "isRare: true" in page.inner_text('section[data-update="waterfall"]'))
        page.get_by_role("group", name="conditions on").get_by_label("ambiguitySurfaceForm").click()
        until(lambda: page.get_by_label("readings a name, from").count() == 0)
        assert visited.wrong == []


def test_terms_are_completed_in_the_sparql_of_the_builder(visit: Visit) -> None:
    with visit(CONFUSED) as visited:
        page = visited.page
        field = page.locator("textarea[name=sparql]")
        field.evaluate("(one) => one.closest('details')?.setAttribute('open', '')")
        field.fill("")
        field.press_sequentially("ASK { ?a hfts:pager")
        page.get_by_role("option", name="hfts:pagerank").first.wait_for()
        assert field.get_attribute("aria-activedescendant") == "completion-0"
        field.press("Enter")
        until(lambda: field.input_value().endswith("ASK { ?a hfts:pagerank"))
        assert field.input_value().startswith("PREFIX hfts: <https://raw.githubusercontent.com/")


def test_builder_works_without_scripts(visit: Visit) -> None:
    with visit(CONFUSED, java_script_enabled=False) as visited:
        visited.page.get_by_label("add a condition on").select_option("isRare")
        visited.page.get_by_role("button", name="Show").click()
        assert "isRare: any value" in visited.page.inner_text("main") and visited.wrong == []


def test_query_of_the_builder_is_saved_as_a_file_that_can_be_read(visit: Visit, tmp_path: Path) -> None:
    with visit(CONFUSED) as visited:
        with visited.page.expect_download() as downloading:
            visited.page.click("a[download][href*='.rq']")
        file = tmp_path / downloading.value.suggested_filename
        downloading.value.save_as(file)
        assert file.suffix == ".rq" and Query.parse(file.read_text())


def test_numbers_of_the_builder_are_never_those_of_other_conditions(visit: Visit) -> None:
    """What is wrong with a parameter is said at once in the place of counts, which come again when it is right."""
    with visit("/builder?query=persons_hard") as visited:
        page = visited.page
        field = page.locator("input[name='persons_hard.min_confusion']")
        assert page.locator("section[data-update=waterfall]").count() == 1
        field.fill("many")
        page.wait_for_selector("text=Nothing is counted")
        assert page.locator("main table").count() == 0 and "Left are" not in page.inner_text("main")
        assert "takes a number such as 3, not 'many'" in page.inner_text(".fault")
        assert field.get_attribute("aria-invalid") == "true" and field.input_value() == "many"
        field.fill("4")
        page.wait_for_selector("section[data-update=waterfall]")
        assert page.locator("text=Nothing is counted").count() == 0 and page.locator("body.stale").count() == 0
        assert page.locator(".fault").count() == 0 and field.get_attribute("aria-invalid") is None
        assert visited.wrong == []


def test_keys_go_through_the_values_of_a_list_before_the_page_is_asked_for(visit: Visit) -> None:
    """Each arrow chooses the next value; Enter, or leaving the list, asks for the page, and the list has the focus."""
    with visit("/builder") as visited:
        page = visited.page
        chosen = page.locator("select[name=query]")
        page.evaluate("window.first = true")
        chosen.focus()
        chosen.press("ArrowDown")
        chosen.press("ArrowDown")
        value = chosen.input_value()
        until(lambda: f"query={value}" in page.evaluate("location.href"))
        assert page.evaluate("window.first") and page.evaluate("document.activeElement.name") == "query"
        with page.expect_navigation():
            chosen.press("Enter")
        assert chosen.input_value() == value and page.evaluate("window.first") is None
        until(lambda: page.evaluate("document.activeElement.name") == "query")
        chosen.press("ArrowDown")
        with page.expect_navigation():
            chosen.press("Tab")
        assert chosen.input_value() != value and visited.wrong == []
