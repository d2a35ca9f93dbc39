"""The page of errors, acted on: chosen by a form, led through by keys, and left for the document."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.web.browser.conftest import Visit

pytestmark = pytest.mark.extra

PLACE = "/errors?dataset=sample-news&system=prior"
IN_VIEW = "one => (box => box.top >= 0 && box.bottom <= innerHeight)(one.getBoundingClientRect())"
HERE = "() => [...document.querySelectorAll('article')].findIndex(one => one === document.activeElement)"


def test_keys_lead_from_sentence_to_sentence_and_leave_fields_alone(visit: Visit) -> None:
    with visit(PLACE) as visited:
        page, found = visited.page, []
        for key in ("n", "n", "n", "p", "p", "p"):
            page.keyboard.press(key)
            found.append(page.evaluate(HERE))
        assert found == [0, 1, 2, 1, 0, 0]
        page.locator("input[name=by]").press("n")
        assert page.input_value("input[name=by]") == "n" and page.evaluate(HERE) == -1
        assert visited.wrong == []


def test_enter_opens_the_text_that_keys_have_led_to(visit: Visit) -> None:
    with visit(PLACE) as visited:
        page = visited.page
        page.keyboard.press("n")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        place = urlsplit(page.url)
        assert place.path == "/document" and parse_qs(place.query)["error"] == ["1"]
        assert visited.wrong == []


@pytest.mark.parametrize("scripts", [True, False])
def test_form_chooses_what_is_shown_and_its_address_says_so(visit: Visit, scripts: bool) -> None:
    with visit(PLACE, java_script_enabled=scripts) as visited:
        page = visited.page
        page.select_option("select[name=show]", "missed")
        with page.expect_navigation():
            page.click("main form button")
        assert parse_qs(urlsplit(page.url).query)["show"] == ["missed"]
        assert page.locator("mark.missed").count() == page.locator("article").count() > 0
        assert page.input_value("select[name=show]") == "missed"


def test_outcomes_differ_in_shape_as_well_as_in_colour(visit: Visit) -> None:
    shape = "one => (style => style.borderBottomStyle + style.textDecorationLine)(getComputedStyle(one))"
    with visit(f"{PLACE}&show=all") as visited:
        marks = visited.page.locator("article mark")
        shapes = {one.get_attribute("class"): one.evaluate(shape) for one in marks.all()[:200]}
        assert {"correct", "missed"} <= {name for names in shapes for name in names.split()}
        assert len(set(shapes.values())) == len(shapes)


def test_sentence_leads_to_its_mention_in_the_document_and_on_to_the_next(visit: Visit) -> None:
    """The mention is marked and in view, also without scripts; the second system stays; an arrow key leads on."""
    with visit(f"{PLACE}&other=coherence&from=20") as visited:
        page = visited.page
        word = page.inner_text("article mark >> nth=0")
        with page.expect_navigation():
            page.click("article h2 a >> nth=0")
        place = urlsplit(page.url)
        assert place.path == "/document" and parse_qs(place.query)["other"] == ["coherence"]
        mark = page.locator("mark:target")
        assert mark.inner_text() == word and page.locator(".paired article").count() == 2
        assert mark.evaluate(IN_VIEW)
        assert "error 21 of" in page.inner_text("main")
        with page.expect_navigation():
            page.keyboard.press("ArrowRight")
        assert "error 22 of" in page.inner_text("main") and page.locator("mark:target").evaluate(IN_VIEW)
        assert visited.wrong == []


def test_cell_of_the_table_leads_to_as_many_sentences_and_facets_narrow_them_down(visit: Visit) -> None:
    with visit(PLACE, java_script_enabled=False) as visited:
        page = visited.page
        cell = page.locator("section[data-update='classes of errors'] tr", has_text="coherence").locator("a >> nth=4")
        number = cell.inner_text()
        with page.expect_navigation():
            cell.click()
        assert f"of {number}:" in page.inner_text("article h2 >> nth=0")
        facet = page.locator(".facets h2:text-is('type') + ul li >> nth=0")
        left = facet.inner_text().split()[-1]
        with page.expect_navigation():
            facet.locator("a").click()
        assert f"of {left}:" in page.inner_text("article h2 >> nth=0")
