"""The page of SPARQL as one uses it: colours, completion, prefixes, examples, what was asked before, and stopping."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from remix.workspace import Workspace
from tests.web.browser.conftest import Visit
from tests.web.conftest import client, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.extra

ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
EDITOR = ".cm-content"
ANSWER = 'section[data-update="result"]'
KEPT = "() => JSON.parse(localStorage.getItem('remix.queries')).map((one) => one.query)"


def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so, for twenty seconds at most."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it did not come so"
        time.sleep(0.05)


def place(query: str) -> str:
    return f"/query?{urlencode({'query': query})}"


def rewrite(page: Page, query: str) -> None:
    """Put a query in the place of what is in the editor, as one pastes it."""
    page.locator(EDITOR).press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(query)


def test_editor_of_this_page_alone_comes_from_here_and_colours_the_query(visit: Visit, site: str) -> None:
    with visit(place("SELECT ?s { ?s nif:anchorOf 'SELECT' } # SELECT")) as visited:
        visited.page.wait_for_selector(EDITOR)
        # A keyword is bold and of another colour than the same word in a string and in a comment.
        looks = "(one) => [one.textContent, getComputedStyle(one).color, getComputedStyle(one).fontWeight]"
        shown = [one.evaluate(looks) for one in visited.page.locator(f"{EDITOR} .cm-line").first.locator("span").all()]
        parts = {text: (colour, weight) for text, colour, weight in shown}
        assert {"SELECT", "?s", "nif:anchorOf", "'SELECT'", "# SELECT"} <= parts.keys()
        assert parts["SELECT"][1] == "700" != parts["'SELECT'"][1]
        assert len({parts[text][0] for text in ("SELECT", "?s", "nif:anchorOf", "'SELECT'", "# SELECT")}) == 5
        assert visited.wrong == [] and visited.strangers(urlsplit(site).netloc) == []
        assert any(one.endswith("/codemirror.js") for one in visited.requests)
    with visit("/builder?on=isRare") as visited:
        assert not any("codemirror" in one for one in visited.requests)


def test_terms_are_completed_by_keys_and_their_prefixes_declared(visit: Visit) -> None:
    with visit("/query") as visited:
        page = visited.page
        editor = page.locator(EDITOR)
        editor.fill("")
        editor.press_sequentially("SELECT ?a { ?a hfts:pager")
        page.get_by_role("option", name="hfts:pagerank").first.wait_for()
        page.wait_for_timeout(200)  # a list that opens just as one types Enter takes nothing
        editor.press("Enter")
        editor.press_sequentially(" ?b ")
        # The editor closes brackets; what is sent is in the field.
        field = page.locator("textarea[name=query]")
        until(lambda: field.input_value().endswith("SELECT ?a { ?a hfts:pagerank ?b }"))
        assert field.input_value().startswith("PREFIX hfts: <https://raw.githubusercontent.com/")
        for typed, offered in (
            ("?", "b"),
            ("a nif:Phr", "nif:Phrase"),
            ("<urn:rem", "<urn:remix:dataset:sample-news>"),
        ):
            editor.press_sequentially(f"# \n{typed}")
            page.locator(".cm-completionLabel").get_by_text(offered, exact=True).wait_for()
            editor.press("Escape")
            until(lambda: page.locator(".cm-tooltip").count() == 0)
            for _ in range(len(typed) + 3):
                editor.press("Backspace")
        editor.press("Control+Enter")
        page.locator(f"{ANSWER} tbody tr").first.wait_for()
        assert field.input_value().count("PREFIX hfts") == 1 and "query=PREFIX" in page.url and visited.wrong == []


def test_prefix_that_was_inserted_goes_with_the_term_when_it_is_undone(visit: Visit) -> None:
    with visit(place("ASK { }")) as visited:
        editor, field = visited.page.locator(EDITOR), visited.page.locator("textarea[name=query]")
        editor.press("Control+Home")
        for _ in "ASK { ":
            editor.press("ArrowRight")
        visited.page.keyboard.insert_text("?a nif:anchorOf ?b")
        until(lambda: field.input_value().startswith("PREFIX nif: <http"))
        editor.press("Control+z")
        until(lambda: field.input_value() == "ASK { }\n")
        assert visited.wrong == []


def test_question_is_answered_by_one_click_and_back_leads_to_the_query_before(visit: Visit) -> None:
    with visit("/query") as visited:
        page = visited.page
        field = page.locator("textarea[name=query]")
        page.wait_for_selector(EDITOR)
        page.get_by_role("link", name="Which graphs are there?").click()
        page.locator(ANSWER).wait_for()
        assert "GRAPH ?graph" in field.input_value() and "GRAPH ?graph" in page.inner_text(EDITOR)
        assert "urn:remix:dataset:sample-news" in page.inner_text(ANSWER) and "GRAPH" in page.url
        page.get_by_role("link", name="persons_hard", exact=True).click()
        until(lambda: "?min_confusion" in page.inner_text(EDITOR))
        assert page.locator(ANSWER).count() == 0
        page.go_back()
        page.locator(ANSWER).wait_for()
        assert "GRAPH ?graph" in page.inner_text(EDITOR) and visited.wrong == []


def test_queries_of_this_browser_are_addresses_that_can_be_cleared(visit: Visit) -> None:
    """Of 31 queries the newest 30 stay; one that is asked again comes first."""
    with visit(place("ASK {}")) as visited:
        page = visited.page
        page.wait_for_selector(EDITOR)
        page.evaluate(
            """() => localStorage.setItem('remix.queries', JSON.stringify(
            [...Array(30).keys()].map((nth) => ({ query: `ASK { # ${nth}\\n}`, at: '' }))))"""
        )
        rewrite(page, "# <b>mine</b>\nSELECT ('<i>one</i>' AS ?x) {}")
        page.get_by_role("button", name="Run").click()
        page.locator(ANSWER).wait_for()
        kept = page.evaluate(KEPT)
        assert len(kept) == 30 and kept[0].startswith("# <b>mine") and kept[1] == "ASK { # 0\n}"
        page.get_by_text("Asked in this browser (30)").click()
        links = page.locator(".asked a")
        assert links.first.inner_text() == "SELECT ('<i>one</i>' AS ?x) {}"
        assert parse_qs(urlsplit(str(links.nth(1).get_attribute("href"))).query)["query"] == ["ASK { # 0\n}"]
        links.nth(1).click()
        until(lambda: page.inner_text(f"{ANSWER} td") == "yes")
        assert page.evaluate(KEPT)[0] == "ASK { # 0\n}" and len(page.evaluate(KEPT)) == 30
        page.get_by_role("button", name="Clear this list").click()
        assert page.get_by_text("Asked in this browser (0)").is_visible() and page.evaluate(KEPT) == []
        assert visited.wrong == []


def test_query_that_is_left_is_not_run(visit: Visit) -> None:
    with visit("/query") as visited:
        page, asked = visited.page, []
        page.on("request", lambda request: asked.append(request.url))
        rewrite(page, "ASK { ?s ?p ?o }")
        page.locator(EDITOR).press("Tab")
        assert page.evaluate("document.activeElement.name") == "timeout"
        assert page.evaluate("fetch('/style.css').then((answer) => answer.status)") == 200
        assert not [url for url in asked if "/query?" in url] and any("style.css" in url for url in asked)


def test_query_that_runs_long_says_so_and_leaves_the_server_free_when_it_is_stopped(
    visit: Visit, work: Workspace
) -> None:
    """One query runs at a time here, and may for a minute: another is answered only when it has ended."""
    with serving(work.store.folder, "--concurrent", "1") as address, visit("/query") as visited:
        page = visited.page
        page.goto(f"{address.removesuffix('/sparql')}/query")
        editor = page.locator(EDITOR)
        rewrite(page, ENDLESS)
        editor.press("Control+Enter")
        page.get_by_role("status").get_by_text("The query has run for 2 seconds.").wait_for()
        assert re.search(r"[2-9] s of at most 60 s", page.inner_text("form:has(textarea[name=query])"))
        # One clock is seen: what a screen reader is told stands beside the page.
        told = page.locator("form output")
        assert told.bounding_box()["x"] < 0
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Stopped after").wait_for()
        assert told.bounding_box()["x"] > 0
        assert page.get_by_role("button", name="Stop").count() == 0 and "query=" not in page.url
        assert client.get(address, params={"query": "ASK {}", "timeout": "5"}).status_code == 200
        rewrite(page, "ASK { ?s ?p ?o }")
        page.get_by_role("button", name="Run").click()
        page.locator(ANSWER).wait_for()
        assert page.inner_text(f"{ANSWER} td") == "yes" and visited.wrong == []


@pytest.mark.parametrize(
    ("query", "at", "word"),
    [
        ("SELEC * { ?s ?p ?o }", "1:1", "SELEC"),
        ("SELECT * { ?s ?p ?o }\nLIMT 3", "2:1", "LIMT"),
        ("SELECT *\n{ ?s ?p ?o }\nLIMT 5\n", "3:1", "LIMT"),
        ("SELECT * {\n  ?s nif:anchorOf 'é🙂' . wrong\n}", "2:26", "wrong"),
        ("SELECT * {\n  ?s foo:bar ?o .\n}", "2:6", "foo:bar"),
    ],
)
def test_sentence_and_mark_say_one_place_of_a_query_that_does_not_parse(
    visit: Visit, query: str, at: str, word: str
) -> None:
    """Columns count characters as people do, whatever lies beyond the first plane of Unicode."""
    with visit(place(query)) as visited:
        page = visited.page
        page.wait_for_selector(f"{EDITOR} .wrong")
        assert page.inner_text(f"{EDITOR} .wrong") == word
        [said] = re.findall(r"the query:(\d+:\d+): .*'(.*)'", page.inner_text("main"))
        assert said[0] == at and said[1].rstrip(":") in word


def test_place_where_a_query_does_not_parse_is_marked_until_it_is_changed(visit: Visit) -> None:
    with visit(place("SELECT * {\n  ?s nif:anchorOf 'é' . wrong\n}\n# end")) as visited:
        page = visited.page
        page.wait_for_selector(f"{EDITOR} .wrong-line")
        assert "anchorOf" in page.inner_text(f"{EDITOR} .wrong-line")
        assert page.inner_text(f"{EDITOR} .wrong") == "wrong"
        page.locator(EDITOR).press("Control+End")
        page.keyboard.type("s")
        assert page.locator(f"{EDITOR} .wrong-line").count() == 0
        rewrite(page, "SELECT * {\n ?s <urn:a b> ?o }")
        page.get_by_role("button", name="Run").click()
        page.wait_for_selector(f"{EDITOR} .wrong-line >> text=urn:a")
        rewrite(page, "ASK {}")
        page.get_by_role("button", name="Run").click()
        page.locator(ANSWER).wait_for()
        assert page.locator(f"{EDITOR} .wrong-line").count() == 0
        assert all("400" in one for one in visited.wrong)


def test_page_works_without_scripts_and_without_the_editor(visit: Visit) -> None:
    asked = place("SELECT ?dataset { ?dataset hfts:referenceDocuments ?d } LIMIT 1")
    with visit(asked, java_script_enabled=False) as visited:
        assert visited.page.locator("textarea[name=query]").is_visible()
        visited.page.get_by_role("button", name="Run").click()
        visited.page.locator(f"{ANSWER} tbody a").click()
        assert "/dataset?name=" in visited.page.url and visited.wrong == []
    with visit("/datasets") as visited:
        visited.page.route("**/codemirror.js", lambda route: route.abort())
        visited.page.goto(visited.page.url.replace("/datasets", asked))
        visited.page.locator("textarea[name=query]").fill("ASK {}")
        visited.page.get_by_role("button", name="Run").click()
        until(lambda: visited.page.inner_text(f"{ANSWER} td") == "yes")


def test_query_that_is_wrong_is_not_answered_and_not_said_of_the_next(visit: Visit) -> None:
    with visit("/query") as visited:
        page = visited.page
        page.wait_for_selector(EDITOR)
        rewrite(page, "SELECT * { ?s ?p ?o }\nLIMT 5")
        page.get_by_role("button", name="Run").click()
        page.wait_for_selector(f"{EDITOR} .wrong")
        assert page.inner_text("form output") == "No answer."
        rewrite(page, ENDLESS)
        page.get_by_role("button", name="Run").click()
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Stopped after").wait_for()
        assert page.get_by_text("The query has no answer").count() == 0
