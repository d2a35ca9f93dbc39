"""The endpoint as pages of other origins reach it: those that are allowed ask as YASGUI does, others read nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.browser.conftest import ORIGIN, Visit

pytestmark = pytest.mark.extra

ASK = """async ([address, sent]) => {
  try {
    const answer = await fetch(address, sent);
    return {status: answer.status, text: await answer.text(), tag: answer.headers.get('ETag'),
      note: answer.headers.get('Remix-Note')};
  } catch (error) { return {refused: error.name}; }
}"""
ACCEPT = "application/sparql-results+json,*/*;q=0.9"
QUERY = "SELECT (COUNT(?a) AS ?n) { ?a nif:anchorOff ?x }"
FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8", "Accept": ACCEPT}
WAYS: dict[str, dict[str, Any]] = {
    "form": {"method": "POST", "headers": {**FORM, "X-Requested-With": "XMLHttpRequest"}, "body": f"query={QUERY}"},
    "query": {"method": "POST", "headers": {"Content-Type": "application/sparql-query"}, "body": QUERY},
    "get": {"headers": {"Accept": ACCEPT}},
}


def asked(visit: Visit, site: str, origin: str, sent: dict[str, Any], query: str = "") -> dict[str, Any]:
    """What a page of an origin is told, where the user has let it reach his own machine, as Chromium asks him."""
    with visit("/style.css") as visited:
        context = visited.page.context
        context.grant_permissions(["local-network-access"], origin=origin)
        context.route(
            f"{origin}/**", lambda route: route.fulfill(body="<title>a page</title>", content_type="text/html")
        )
        visited.page.goto(f"{origin}/")
        told: dict[str, Any] = visited.page.evaluate(ASK, [f"{site}/sparql{query}", sent])
    return told


@pytest.mark.parametrize("way", WAYS)
def test_page_of_an_allowed_origin_asks_and_reads_answer_tag_and_notes(visit: Visit, site: str, way: str) -> None:
    told = asked(visit, site, ORIGIN, WAYS[way], f"?query={QUERY}" if way == "get" else "")
    assert told["status"] == 200 and '"value":"0"' in told["text"]
    assert told["tag"] and "did you mean nif:anchorOf?" in told["note"]


def test_page_of_an_allowed_origin_reads_what_is_wrong(visit: Visit, site: str) -> None:
    told = asked(visit, site, ORIGIN, {"method": "POST", "headers": FORM, "body": "query=ASK {"})
    assert told["status"] == 400 and told["text"].startswith("the query:1:")


@pytest.mark.parametrize("way", WAYS)
def test_page_of_another_origin_reads_nothing(visit: Visit, site: str, way: str) -> None:
    told = asked(visit, site, "https://evil.example", WAYS[way], f"?query={QUERY}" if way == "get" else "")
    assert told == {"refused": "TypeError"}
