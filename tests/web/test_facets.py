"""Lists of pages that are cut: how many are left, and what leads to all of them."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from remix.web.page import VIEWS, FacetCounts, Facets, Note, Passages
from remix.workspace import Workspace
from tests.pages import follow, table_of
from tests.web.pages import Get

KNOWN = "http://dbpedia.org/resource/"
NUMBER = 14


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Fourteen datasets of a text and a mention each, of another entity, which a system misses."""
    folder = tmp_path_factory.mktemp("facets")
    work, names = Workspace(folder / ".remix"), [f"set-{nth:02}" for nth in range(NUMBER)]
    gold = [
        {"document": name, "text": f"Ada met {name}", "begin": 0, "end": 3, "entity": f"{KNOWN}Ada_{name[-2:]}"}
        for name in names
    ]
    for row in gold:
        (folder / f"{row['document']}.jsonl").write_text(json.dumps(row) + "\n")
    work.load([folder / f"{name}.jsonl" for name in names])
    (folder / "tool.jsonl").write_text("".join(json.dumps(row | {"begin": 8, "end": 14}) + "\n" for row in gold))
    work.add_run("tool", folder / "tool.jsonl", on=names)
    return work


def parameters_of(place: str) -> dict[str, str]:
    """Return the parameters of an address."""
    return dict(parse_qsl(urlsplit(place).query))


def find_facet(work: Workspace, view: str, name: str, **parameters: str) -> FacetCounts:
    """Return the facet of a name of a page."""
    blocks = VIEWS[view].show(work, parameters).blocks
    facets = [one for block in blocks if isinstance(block, Facets | Passages) for one in block.facets]
    [found] = [one for one in facets if one.name == name]
    return found


@pytest.mark.parametrize(
    ("view", "name", "place"),
    [
        ("annotations", "dataset", ""),
        ("annotations", "entity", ""),
        ("errors", "dataset of the text", "dataset=all&show=missed"),
    ],
)
def test_facet_says_how_many_values_are_left_and_leads_to_all(
    work: Workspace, get: Get, view: str, name: str, place: str
) -> None:
    asked = dict(parse_qsl(place))
    facet = find_facet(work, view, name, **asked)
    assert len(facet.values) == 12 and facet.left == 2 and not facet.unfolded
    text = get(f"/{view}?{place}").text
    [href] = re.findall(rf'<li>and <a href="([^"]*)" aria-label="{name}: 2 more">2 more</a></li>', text)
    found = get(unescape(href).partition("#")[0]).text
    assert "2 more</a>" not in found.partition(f"<h2>{name}</h2>")[2].partition("</nav>")[0].partition("<h2>")[0]
    assert "Left out:" not in found and f'aria-label="{name}: the first alone"' in found
    query = parameters_of(unescape(href))
    every = find_facet(work, view, name, **query)
    assert len(every.values) == NUMBER and every.left == 0 and every.unfolded
    # With another value that is chosen all of them stay in view.
    assert parameters_of(every.values[-1].href)["every"] == query["every"]
    folded = find_facet(work, view, name, **parameters_of(every.turned))
    assert len(folded.values) == 12


def test_value_that_is_chosen_is_listed_among_the_first(work: Workspace) -> None:
    facet = find_facet(work, "annotations", "dataset", dataset="set-13")
    assert [one.chosen for one in facet.values] == [False] * 12 + [True] and facet.left == 1 and not facet.unfolded


def test_dataset_that_is_compared_with_the_first_others_says_how_many_more_there_are(work: Workspace) -> None:
    notes = [one for one in VIEWS["compare"].show(work, {"datasets": "set-03"}).blocks if isinstance(one, Note)]
    [said] = [one for one in notes if one.text == "Compare set-03"]
    assert len(said.links) == 3 and [one.text for one in notes if "more can" in one.text] == [
        "10 more can be chosen below."
    ]


def test_changes_that_are_not_shown_are_led_to(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remix.web.views.start._CHANGES", 1)
    page = VIEWS["start"].show(work, {})
    [told] = [one for one in page.blocks if isinstance(one, Note) and "all of them" in one.links]
    number = int(re.findall(r"the last 1 of (\d+) changes", told.text)[0])
    every = follow(work, told.links["all of them"])
    assert table_of(page, "changes").frame.height == 1 and table_of(every, "changes").frame.height == number > 1
    assert not any("all of them" in one.links for one in every.blocks if isinstance(one, Note))
