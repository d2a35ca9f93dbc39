"""The pages of datasets, acted on: rows sorted by their headers, columns chosen, datasets compared, links followed."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.web.browser.conftest import Visit

pytestmark = pytest.mark.extra


@pytest.mark.parametrize("scripts", [True, False])
def test_header_sorts_rows_both_ways_and_says_so(visit: Visit, scripts: bool) -> None:
    with visit("/datasets", java_script_enabled=scripts) as visited:
        page, orders = visited.page, {}
        for _ in range(2):
            with page.expect_navigation():
                page.click("th a:text-is('dataset')")
            state = page.get_attribute("th[aria-sort]", "aria-sort") or ""
            orders[state] = page.locator("tbody tr td:first-child a").all_inner_texts()
        assert orders["ascending"] == sorted(orders["ascending"]) == orders["descending"][::-1]


def test_columns_are_chosen_in_the_form(visit: Visit) -> None:
    with visit("/datasets") as visited:
        page = visited.page
        page.click("details.many summary")
        page.check("input[name=columns][value=formAcronym]")
        with page.expect_navigation():
            page.click("main form button")
        assert page.locator("th", has_text="formAcronym").count() >= 1


def test_datasets_are_compared_by_their_boxes(visit: Visit) -> None:
    with visit("/compare?datasets=sample-biographies,sample-news") as visited:
        page = visited.page
        page.check("input[name=datasets][value=sample-posts]")
        with page.expect_navigation():
            page.click("main form button")
        assert "sample-posts" in page.inner_text("h1") and page.locator("figure svg").count() > 0


def test_links_lead_from_the_table_to_a_dataset_to_its_documents(visit: Visit) -> None:
    with visit("/datasets") as visited:
        page, found = visited.page, []
        for link in ("tbody td a >> nth=0", "a[href^='/document?'] >> nth=0"):
            with page.expect_navigation():
                page.click(link)
            found.append(urlsplit(page.url).path)
        assert found == ["/dataset", "/document"]
        assert page.locator(".text mark").count() > 0 and visited.wrong == []
