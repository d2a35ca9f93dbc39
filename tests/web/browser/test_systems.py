"""The pages of systems and documents, acted on: conventions changed, scores and mentions followed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest

from tests.web.browser.conftest import Visit

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

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


@pytest.mark.parametrize(("width", "asked"), [(1400, ""), (400, ""), (1400, "?by=nameRelation"), (400, "?by=isRare")])
def test_table_of_systems_begins_on_the_first_screen(visit: Visit, width: int, asked: str) -> None:
    """Whether all is computed or, as where something is asked for the first time, intervals are waited for."""
    with visit(f"/systems{asked}", width=width) as visited:
        page = visited.page
        page.wait_for_selector("section[data-update=systems] td a")
        row = page.locator("section[data-update=systems] tbody tr").nth(2).bounding_box()
        print(width, asked, row)
        assert row is not None and row["y"] + row["height"] < 900
        assert not page.get_by_label("matching").is_visible()
        page.get_by_text("More choices").click()
        page.get_by_label("matching").select_option("weak")
        with page.expect_navigation():
            page.click("main form button")
        page.get_by_label("matching").wait_for(state="visible")
        assert visited.wrong == []


def let_refresh(page: Page, asked: list[str]) -> None:
    """Have Systems sent as it is while scores are computed: it asks for itself again, and what is asked is noted."""

    def wait(route: Route) -> None:
        asked.append(route.request.url)
        answer = route.fetch()
        text = answer.text().replace('<main id="main"', '<main id="main" data-refresh')
        route.fulfill(response=answer, body=text, headers={**answer.headers, "refresh": "2"})

    page.route("**/systems*", wait)


def test_order_of_a_page_that_is_computed_stays_where_it_asks_for_itself_again(
    visit: Visit, places: dict[str, str]
) -> None:
    with visit("/start") as visited:
        page, asked = visited.page, list[str]()
        let_refresh(page, asked)
        page.goto(urljoin(page.url, places["systems"]))
        page.click("section[data-update=systems] th a >> nth=0")
        page.wait_for_selector("section[data-update=systems] th[aria-sort]")
        before = len(asked)
        for _ in range(300):
            if len(asked) > before + 1:
                break
            page.wait_for_timeout(100)  # in which requests are answered
        assert len(asked) > before + 1 and all("sort=" in place for place in asked[before:])
        page.unroute_all(behavior="ignoreErrors")  # the page asks on


def test_page_that_is_computed_waits_while_somebody_chooses_on_it(visit: Visit, places: dict[str, str]) -> None:
    """It asks for itself again every two seconds, until a box is ticked, which stays so.

    The page is that of the server, with what it sends besides while scores are computed.
    """
    with visit("/start") as visited:
        page, asked = visited.page, list[str]()

        def until_asked(times: int) -> None:
            for _ in range(600):
                if len(asked) >= times:
                    return
                page.wait_for_timeout(100)  # in which requests are answered
            raise AssertionError("it was not asked for again")

        let_refresh(page, asked)
        page.goto(urljoin(page.url, places["systems"]))
        until_asked(3)  # nobody does anything
        page.get_by_role("group", name="systems").get_by_role("checkbox").first.check()
        before = len(asked)
        page.wait_for_timeout(4000)
        assert len(asked) == before and page.get_by_role("checkbox", checked=True).count() == 1
