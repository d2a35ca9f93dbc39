"""The page of a document in a browser: a system that is chosen colours it, and texts read in their own direction."""

from __future__ import annotations

from pathlib import Path

import pytest

from remix.web.page import Page, Passage, Passages, Segment, Table
from remix.web.rendering import render_file
from tests.web.browser.conftest import Visit

pytestmark = pytest.mark.extra
LONG = """() => {
  const article = document.querySelector('main article'), box = document.createElement('div');
  box.className = 'boxed';
  document.querySelector('.legend').before(box);
  box.append(document.querySelector('.legend'), article);
  const text = article.querySelector('.text');
  for (let nth = 0; nth < 60; nth++) text.append(...[...text.childNodes].slice(0, 20).map(one => one.cloneNode(true)));
}"""
LEFT = "one => one.getBoundingClientRect().left"


def test_system_that_is_chosen_in_the_form_colours_the_text(visit: Visit) -> None:
    with visit("/document?dataset=sample-news") as visited:
        page = visited.page
        assert page.locator(".text mark.look").count() > 0
        page.select_option("select[name=system]", "prior")
        with page.expect_navigation():
            page.click("main form button")
        assert page.locator(".text mark.correct").count() > 0 and page.locator(".text mark.look").count() == 0
        page.select_option("select[name=name] >> nth=0", index=1)
        with page.expect_navigation():
            page.click("main form button")
        assert page.locator(".text mark.correct").count() > 0 and visited.wrong == []


def test_text_from_right_to_left_keeps_the_order_of_its_words_and_marks(visit: Visit, tmp_path: Path) -> None:
    """In Hebrew the first mention is to the right of the second, also where that is in Latin letters."""
    import polars as pl

    texts = ["ראש הממשלה ", "בנימין נתניהו", " ביקר עם ", "NASA", "."]
    hebrew = [Segment(text, "correct" if nth % 2 else "") for nth, text in enumerate(texts)]
    english = [
        Segment(text, "correct" if nth % 2 else "") for nth, text in enumerate(["A ", "b", " c ", "בנימין", "."])
    ]
    page = Page("he", [Passages([Passage("", hebrew), Passage("", english)]), Table("t", pl.DataFrame({"x": ["a"]}))])
    (tmp_path / "he.html").write_text(render_file("he", [page]), encoding="utf-8")
    with visit(tmp_path / "he.html") as visited:
        first, second, third, fourth = (one.evaluate(LEFT) for one in visited.page.locator("mark").all())
        assert first > second and third < fourth
        assert visited.page.locator(".text >> nth=0").evaluate("one => getComputedStyle(one).direction") == "rtl"
        assert visited.page.locator("mark").first.evaluate("one => getComputedStyle(one).unicodeBidi") == "isolate"


def test_legend_of_a_long_text_covers_no_line_of_it(visit: Visit, tmp_path: Path) -> None:
    """It stands above the text in the same box, however far the page, or the box, is scrolled."""
    with visit("/document?dataset=sample-news") as visited:
        page = visited.page
        # A long text is one in a box of its own: as many lines are made of the text that is there.
        page.evaluate(LONG)
        for scrolled in (0, 200, 400):
            page.evaluate(f"window.scrollTo(0, {scrolled})")
            legend, first = (page.locator(one).bounding_box() for one in (".boxed .legend", ".boxed .text"))
            assert legend and first and legend["y"] + legend["height"] <= first["y"]
        page.evaluate("document.querySelector('.boxed').scrollTop = 300")
        box, legend = (page.locator(one).bounding_box() for one in (".boxed", ".boxed .legend"))
        assert box and legend and legend["y"] - box["y"] < 3


def test_answer_of_a_system_whose_name_is_read_from_the_right_stays_a_sentence_from_the_left(
    visit: Visit, tmp_path: Path
) -> None:
    page = Page("he", [Passages([Passage("", [Segment("a")], ["✗ סמיר: wd:Q42 – wrong (wrong link)"])])])
    (tmp_path / "he.html").write_text(render_file("he", [page]), encoding="utf-8")
    with visit(tmp_path / "he.html", width=400) as visited:
        item = visited.page.locator("article li")
        assert item.evaluate("one => getComputedStyle(one).direction") == "ltr"
        assert item.evaluate("one => getComputedStyle(one).unicodeBidi") not in ("plaintext",)
        name, whole = item.locator("bdi").bounding_box(), item.bounding_box()
        # It stands behind the sign, before the entity that was answered.
        assert name and whole and name["x"] - whole["x"] < 40
        assert visited.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_names_of_a_narrow_table_take_few_lines_and_buttons_one(visit: Visit, tmp_path: Path) -> None:
    import polars as pl

    name = "a-dataset-whose-name-goes-on-and-on-until-it-is-longer-than-any-column-can-be"
    rows = pl.DataFrame({"dataset": [name, "b"], **{f"measure {nth}": [0.5, 0.25] for nth in range(6)}})
    (tmp_path / "t.html").write_text(render_file("t", [Page("t", [Table("t", rows)])]), encoding="utf-8")
    with visit(tmp_path / "t.html", width=400) as visited:
        cells = visited.page.locator("tbody td:first-child")
        long, short = (cells.nth(nth).bounding_box() for nth in (0, 1))
        assert long and short and long["height"] < 6 * short["height"]
    with visit("/ontology", width=400) as visited:
        button = visited.page.locator(".tools button >> nth=0")
        assert button.evaluate("one => one.getClientRects().length") == 1
        assert button.evaluate("one => one.scrollHeight < 2 * parseFloat(getComputedStyle(one).lineHeight) + 12")
