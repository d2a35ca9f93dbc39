"""The builder and the editor of SPARQL as one uses them: sliders, completion, a query that is ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from remix.store.queries import Query
from remix.web.page import address
from tests.web.browser.conftest import Visit

pytestmark = pytest.mark.extra

CONFUSED = address("builder", on="ambiguitySurfaceForm")
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


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
        slider = page.get_by_label("ambiguitySurfaceForm, from")
        slider.focus()
        for _ in range(3):
            slider.press("PageUp")
        until(lambda: "≥" in rows.nth(2).inner_text())
        assert "?min_ambiguitySurfaceForm" in page.locator("textarea[name=sparql]").input_value()
        assert "low.ambiguitySurfaceForm=" in str(
            page.get_by_role("link", name="NIF", exact=True).get_attribute("href")
        )
        assert "low.ambiguitySurfaceForm=" in page.url and visited.wrong == []


def test_adding_and_taking_out_a_condition_asks_for_the_page_again(visit: Visit) -> None:
    with visit(CONFUSED) as visited:
        page = visited.page
        page.get_by_label("add a condition on").select_option("isRare")
        page.wait_for_url("**isRare**")
        page.get_by_role("group", name="isRare").get_by_label("true").click()
        until(lambda: "isRare: true" in page.inner_text('section[data-update="waterfall"]'))
        page.get_by_role("group", name="conditions on").get_by_label("ambiguitySurfaceForm").click()
        until(lambda: page.get_by_label("ambiguitySurfaceForm, from").count() == 0)
        assert visited.wrong == []


def test_terms_are_completed_by_keys_and_their_prefixes_declared(visit: Visit) -> None:
    with visit("/query") as visited:
        page = visited.page
        editor = page.locator("textarea[name=query]")
        editor.fill("")
        editor.press_sequentially("SELECT ?a { ?a hfts:pager")
        page.get_by_role("option", name="hfts:pagerank").first.wait_for()
        assert editor.get_attribute("aria-activedescendant") == "completion-0"
        editor.press("Enter")
        editor.press_sequentially(" ?b }")
        until(lambda: editor.input_value().endswith("SELECT ?a { ?a hfts:pagerank ?b }"))
        assert editor.input_value().startswith("PREFIX hfts: <https://raw.githubusercontent.com/")
        editor.press_sequentially(" # rmx:isR")
        page.locator("#completion li").first.wait_for()
        editor.press("Escape")
        assert page.locator("#completion li").count() == 0
        editor.press("Control+Enter")
        page.locator('section[data-update="result"] tbody tr').first.wait_for()
        assert editor.input_value().count("PREFIX") == 1 and "query=PREFIX" in page.url and visited.wrong == []


def test_query_that_is_left_is_not_run(visit: Visit) -> None:
    with visit("/query") as visited:
        page, asked = visited.page, []
        page.on("request", lambda request: asked.append(request.url))
        page.locator("textarea[name=query]").fill("ASK { ?s ?p ?o }")
        page.get_by_label("seconds at most").focus()
        assert page.evaluate("fetch('/style.css').then((answer) => answer.status)") == 200
        assert not [url for url in asked if "/query?" in url] and any("style.css" in url for url in asked)


def test_query_that_runs_is_cancelled(visit: Visit) -> None:
    with visit("/query") as visited:
        page = visited.page
        page.locator("textarea[name=query]").fill(ENDLESS)
        page.get_by_role("button", name="Run").click()
        page.get_by_role("button", name="Cancel").click()
        page.get_by_text("cancelled").wait_for()
        page.locator("textarea[name=query]").fill("ASK { ?s ?p ?o }")
        page.get_by_role("button", name="Run").click()
        page.locator('section[data-update="result"]').wait_for()
        assert page.inner_text('section[data-update="result"] td') == "yes" and visited.wrong == []


def test_editor_and_builder_work_without_scripts(visit: Visit) -> None:
    asked = "/query?" + urlencode({"query": "SELECT ?dataset { ?dataset hfts:referenceDocuments ?d } LIMIT 1"})
    with visit(asked, java_script_enabled=False) as visited:
        visited.page.get_by_role("button", name="Run").click()
        visited.page.locator('section[data-update="result"] tbody a').click()
        assert "/dataset?name=" in visited.page.url
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
        page.wait_for_selector("text=Not possible")
        assert page.locator("section[data-update=waterfall]").count() == 0
        assert page.locator("section[data-update=datasets]").count() == 0
        field.fill("4")
        page.wait_for_selector("section[data-update=waterfall]")
        assert page.locator("text=Not possible").count() == 0 and page.locator("body.stale").count() == 0
        assert visited.wrong in ([], [one for one in visited.wrong if "404" in one])
