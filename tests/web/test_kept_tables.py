"""What a form at the top of a page keeps of the tables below it."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.web.pages import Get, send


def read_table(text: str, name: str) -> tuple[list[str], list[str]]:
    """Return the columns of a table of a page, and those that it is sorted by."""
    [section] = re.findall(rf'<section class="rows" data-update="{name}">(.*?)</section>', text, re.DOTALL)
    [head] = re.findall("<thead>(.*?)</thead>", section, re.DOTALL)
    cells = re.findall("<th([^>]*)>(.*?)</th>", head, re.DOTALL)
    called = [re.sub("<small>.*?</small>|<[^>]*>", "", words).strip() for _, words in cells]
    return called, [name for name, (attributes, _) in zip(called, cells, strict=True) if "aria-sort" in attributes]


ERRORS = "/errors?dataset=gold&system=a&table=errors&columns=document,begin,gold&sort=-errors:begin"


def test_form_keeps_columns_and_order_of_a_table_that_has_them(get: Get) -> None:
    text = send(get, ERRORS, dataset="gold", system="b")
    columns, order = read_table(text, "errors")
    assert columns == ["document", "begin", "gold", "b outcome", "b answer", "b class"] and order == ["begin"]
    leading = '<form.*?</form>|<nav class="facets".*?</nav>|<p class="note".*?</p>'
    assert "Left out:" not in text and "kept." not in re.sub(leading, "", text, flags=re.DOTALL)
    # What is chosen stays with the second form as well, and the data are those that the page shows.
    [place] = re.findall(r'href="(/errors\.csv[^"]*)"', text.rpartition("<footer")[2])
    assert get(unescape(place)).text.splitlines()[0].split(",")[:3] == ["document", "begin", "gold"]


def test_form_drops_columns_and_order_that_the_table_does_not_have_and_says_nothing(get: Get) -> None:
    place = "/errors?dataset=gold&system=a&table=errors&columns=document,a+answer&sort=errors:a+answer"
    text = send(get, place, dataset="gold", system="b")
    columns, order = read_table(text, "errors")
    assert "document" in columns and "b answer" in columns and "a answer" not in columns and order == []
    assert "Left out:" not in text
    # What an address itself says of such a column is a mistake, as it was.
    assert "Left out:" in get("/errors?dataset=gold&system=b&sort=errors:a+answer").text


def test_form_of_another_table_leaves_no_trace_of_what_was_chosen_of_one_that_is_gone(get: Get) -> None:
    place = "/errors?dataset=gold&system=a&by=words&table=errors+by+words&columns=words,a&sort=errors+by+words:a"
    assert read_table(get(place).text, "errors by words") == (["words", "a"], ["a"])
    text = send(get, place, dataset="gold", system="a", by="is_nil")
    assert "Left out:" not in text and len(read_table(text, "errors by is_nil")[0]) > 2
    again = send(get, place, dataset="gold", system="b", by="words")
    assert read_table(again, "errors by words") == (["words", "a"], ["a"])


def test_columns_that_are_new_to_a_table_are_shown_beside_those_that_were_chosen(get: Get) -> None:
    """With a second system come columns of its own, which nobody hid."""
    place = "/errors?dataset=gold&system=a&table=errors&columns=document,a+answer"
    columns, _ = read_table(send(get, place, dataset="gold", system="a", other="b"), "errors")
    assert columns == ["document", "a answer", "b outcome", "b answer", "b class"]


@pytest.mark.parametrize(
    ("place", "table", "columns", "order"),
    [
        (f"{ERRORS}&show=all", "errors", ["document", "begin", "gold"], ["begin"]),
        (
            "/annotations?dataset=gold&table=annotations&columns=document,begin&sort=-annotations:begin",
            "annotations",
            ["document", "begin"],
            ["begin"],
        ),
    ],
)
def test_facets_keep_columns_and_order_of_tables(
    get: Get, place: str, table: str, columns: list[str], order: list[str]
) -> None:
    text = get(place).text
    assert read_table(text, table) == (columns, order)
    [facets] = re.findall('<nav class="facets".*?</nav>', text, re.DOTALL)
    for href in map(unescape, re.findall('href="([^"]*)"', facets)):
        found = get(href.partition("#")[0]).text
        assert read_table(found, table) == (columns, order) and "Left out:" not in found, href


def test_notes_lead_on_with_the_order_of_tables_that_are_there_too(get: Get) -> None:
    place = "/errors?dataset=gold&system=a&by=words&sort=errors+by+words:a"
    href = re.findall('href="([^"]*)">type</a>', get(place).text)[0]
    text = get(unescape(href).partition("#")[0]).text
    assert "Left out:" not in text and "errors by coarseType" not in read_table(text, "errors")[0]
    further = re.findall('href="([^"]*)">type</a>', get(ERRORS).text)[0]
    assert read_table(get(unescape(further).partition("#")[0]).text, "errors")[1] == ["begin"]
