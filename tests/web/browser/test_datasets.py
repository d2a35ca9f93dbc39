"""The pages of datasets, acted on: rows sorted by their headers, columns chosen, datasets compared, links followed."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

import pytest

from tests.web.browser.conftest import Visit
from tests.web.conftest import client

pytestmark = pytest.mark.extra


@pytest.mark.parametrize("scripts", [True, False])
def test_header_sorts_rows_both_ways_and_says_so(visit: Visit, scripts: bool) -> None:
    with visit("/datasets", java_script_enabled=scripts) as visited:
        page, orders = visited.page, {}
        for state in ("ascending", "descending"):  # texts from A to Z first
            page.click("th a:text-is('dataset')")
            page.wait_for_selector(f"th[aria-sort={state}]")
            orders[state] = page.locator("tbody tr td:first-child a").all_inner_texts()
        assert orders["ascending"] == sorted(orders["ascending"]) == orders["descending"][::-1]


def test_table_is_sorted_and_filtered_in_its_place(visit: Visit, places: dict[str, str]) -> None:
    with visit(places["dataset"], width=400) as visited:
        page, table = visited.page, "section[data-update=measures]"
        page.evaluate("window.stayed = true")
        box = page.locator(f"{table} .wide")
        box.evaluate("one => { one.scrollLeft = 120; }")
        page.click(f"{table} th a:text-is('value')")
        page.wait_for_selector(f"{table} th[aria-sort=descending]")
        assert page.evaluate("window.stayed") and box.evaluate("one => one.scrollLeft") == 120
        page.locator(f"{table} .filter input:not([type=hidden])").press_sequentially("density")
        page.wait_for_selector(f"{table} tbody tr >> nth=5", state="detached")
        shown = page.locator(f"{table} tbody tr").all_inner_texts()
        assert shown and all("density" in row.lower() for row in shown)
        assert page.evaluate("document.activeElement.value") == "density" and page.evaluate("window.stayed")
        assert "rows.measures=density" in page.url and visited.wrong == []


def test_back_undoes_the_last_order_or_filter_of_a_table_and_forward_does_it_again(
    visit: Visit, places: dict[str, str]
) -> None:
    """The page stays, as do choices of its form; what was typed into a filter is undone at once."""
    with visit("/start") as visited:
        page, table = visited.page, "section[data-update=measures]"
        page.goto(urljoin(page.url, places["dataset"]))
        rows, field = page.locator(f"{table} tbody tr"), f"{table} .filter input:not([type=hidden])"
        page.evaluate("window.stayed = true")
        first, number = page.url, rows.count()
        page.click(f"{table} th a:text-is('value')")
        page.wait_for_selector(f"{table} th[aria-sort=descending]")
        page.locator(field).press_sequentially("densi")
        page.wait_for_url(re.compile("=densi(#|$)"))
        page.locator(field).press_sequentially("ty")
        page.wait_for_url(re.compile("=density(#|$)"))
        filtered = rows.all_inner_texts()
        assert len(filtered) < number
        page.go_back()
        page.wait_for_selector(f"{table} tbody tr >> nth={number - 1}")
        assert page.input_value(field) == "" and page.locator(f"{table} th[aria-sort=descending]").count() == 1
        page.go_back()
        page.wait_for_selector(f"{table} th[aria-sort]", state="detached")
        assert page.url == first
        page.go_forward()
        page.wait_for_selector(f"{table} th[aria-sort=descending]")
        page.go_forward()
        page.wait_for_selector(f"{table} tbody tr >> nth={len(filtered)}", state="detached")
        assert rows.all_inner_texts() == filtered and page.input_value(field) == "density"
        assert page.evaluate("window.stayed")
        for _ in range(3):
            page.go_back()
        page.wait_for_url("**/start")
        assert visited.wrong == []


def test_form_keeps_the_order_of_a_table_that_was_sorted_in_its_place(visit: Visit, places: dict[str, str]) -> None:
    with visit(places["dataset"]) as visited:
        page, table = visited.page, "section[data-update=measures]"
        page.click(f"{table} th a:text-is('value')")
        page.wait_for_selector(f"{table} th[aria-sort=descending]")
        page.select_option("select[name=average]", "macro")
        with page.expect_navigation():
            page.click("main form button >> nth=0")
        assert page.locator(f"{table} th[aria-sort=descending]").inner_text() == "value"
        assert visited.wrong == []


def test_exports_and_other_tables_know_what_was_filtered_in_its_place(visit: Visit, places: dict[str, str]) -> None:
    """Data of a filtered table were those of all rows, and choosing columns or sorting another one lost the filter."""
    with visit(places["dataset"]) as visited:
        page, table = visited.page, "section[data-update=measures]"
        page.evaluate("window.stayed = true")
        page.locator(f"{table} .filter input:not([type=hidden])").press_sequentially("density")
        page.wait_for_selector(f"{table} tbody tr >> nth=5", state="detached")
        kept = page.locator(f"{table} tbody tr").all_inner_texts()
        for place in (f"{table} .tools a:text-is('.csv')", "footer a:text-is('.csv')"):
            link = page.get_attribute(place, "href") or ""
            assert "rows.measures=density" in link, place
        data = client.get(urljoin(page.url, page.get_attribute(f"{table} .tools a:text-is('.csv')", "href"))).text
        assert len(data.splitlines()) == 1 + len(kept)
        page.click("section[data-update=origin] th a >> nth=0")
        page.wait_for_selector("section[data-update=origin] th[aria-sort]")
        page.click(f"{table} .tools summary")
        page.uncheck(f"{table} input[value='average']")
        page.click(f"{table} .tools details button")
        page.wait_for_selector(f"{table} input[value='average']:not([checked])", state="attached")
        assert "rows.measures=density" in page.url and page.locator(f"{table} tbody tr").count() == len(kept)
        assert page.locator("section[data-update=origin] th[aria-sort]").count() == 1
        assert page.evaluate("window.stayed") and visited.wrong == []


@pytest.mark.parametrize("scripts", [True, False])
def test_columns_of_a_table_are_chosen_and_go_into_its_exports(
    visit: Visit, places: dict[str, str], scripts: bool
) -> None:
    with visit(places["dataset"], java_script_enabled=scripts) as visited:
        page, table = visited.page, "section[data-update=measures]"
        page.click(f"{table} .tools summary")
        for name in ("average", "share covered"):
            page.uncheck(f"{table} input[value='{name}']")
        page.click(f"{table} .tools details button")
        page.wait_for_selector(f"{table} th >> nth=4", state="detached")
        heads = page.locator(f"{table} th").all_inner_texts()
        page.click(f"{table} .tools summary")
        place = page.get_attribute(f"{table} .tools a:text-is('.csv')", "href")
        columns = client.get(urljoin(page.url, place)).text.splitlines()[0].split(",")
        assert columns == ["measure", "called", *heads[1:]] and heads[0] == "measure"


def test_columns_are_chosen_in_the_form(visit: Visit) -> None:
    with visit("/datasets") as visited:
        page = visited.page
        page.click("details.many summary")
        page.check("input[name=measures][value=formAcronym]")
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
