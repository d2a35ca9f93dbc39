"""The pages of systems and documents, acted on: conventions changed, scores and mentions followed."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.web.browser.conftest import Visit

pytestmark = pytest.mark.extra


def test_score_leads_to_its_errors_and_conventions_are_chosen(visit: Visit, places: dict[str, str]) -> None:
    with visit(places["systems"]) as visited:
        page = visited.page
        page.wait_for_selector("td a")
        page.get_by_text("More choices").click()
        page.select_option("select[name=profile]", "gerbil")
        with page.expect_navigation():
            page.click("main form button")
        assert parse_qs(urlsplit(page.url).query)["profile"] == ["gerbil"]
        page.wait_for_selector("td a[href^='/errors?']")
        with page.expect_navigation():
            page.click("td a[href^='/errors?'] >> nth=0")
        assert urlsplit(page.url).path == "/errors" and page.locator("article mark").count() > 0
        assert visited.wrong == []


@pytest.mark.parametrize("scripts", [True, False])
def test_mention_shows_what_is_known_of_it_and_the_text_is_coloured_anew(
    visit: Visit, places: dict[str, str], scripts: bool
) -> None:
    with visit(places["document"], java_script_enabled=scripts) as visited:
        page = visited.page
        with page.expect_navigation():
            page.click("article mark a >> nth=1")
        assert page.locator("aside table").count() > 0
        before = page.locator("article mark").evaluate_all("marks => marks.map(one => one.className)")
        page.select_option("select[name=colour]", "outcome")
        with page.expect_navigation():
            page.click("main form button")
        assert page.locator("article mark").evaluate_all("marks => marks.map(one => one.className)") != before


@pytest.mark.parametrize("width", [1400, 400])
def test_table_of_systems_begins_on_the_first_screen(visit: Visit, places: dict[str, str], width: int) -> None:
    with visit(places["systems"], width=width) as visited:
        page = visited.page
        row = page.locator("section[data-update=systems] tbody tr").nth(2).bounding_box()
        assert row is not None and row["y"] + row["height"] < 900
        assert not page.get_by_label("matching").is_visible()
        page.get_by_text("More choices").click()
        page.get_by_label("matching").select_option("weak")
        with page.expect_navigation():
            page.click("main form button")
        assert page.get_by_label("matching").is_visible() and visited.wrong == []
