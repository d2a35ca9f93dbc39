"""The first page: what is here, what changed and is out of date, and what to do next, in workspaces of all states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from remix.reports.holdings import list_outdated, propose_commands, read_holdings
from remix.store import Store
from remix.web.page import VIEWS, Note, Page, Steps, Tiles
from remix.web.rendering import render_page
from remix.workspace import open_workspace
from tests.workspaces import copy_workspace

START = VIEWS["start"]


def steps_of(page: Page, name: str) -> Steps:
    return next(block for block in (*page.blocks, *page.beside) if isinstance(block, Steps) and block.name == name)


def commands_of(page: Page, name: str) -> set[str]:
    return {command for step in steps_of(page, name).steps for command in step.commands}


def test_what_is_here_is_counted_and_leads_on(run_store: Store) -> None:
    """One document of four mentions, answered by two systems."""
    page = START.show(open_workspace(run_store.folder), {})
    [tiles] = [block for block in page.blocks if isinstance(block, Tiles)]
    assert dict(tiles.frame.select("what", "number").iter_rows()) == {
        "datasets": 1,
        "documents": 1,
        "mentions": 4,
        "systems": 2,
        "runs": 2,
        "remixes": 0,
        "knowledge base": 0,
    }
    rows = tiles.frame.to_dicts()
    led = {row["what"]: tiles.links["number"](row) for row in rows}
    assert led["runs"] == "/datasets?sort=-datasets%3Aruns" and led["knowledge base"] == "/datasets#knowledge-base"
    text = render_page(page, START, "")
    for place in ("/datasets", "/annotations", "/systems", "/errors", "/builder", "/dataset?name=gold"):
        assert f'href="{place}"' in text, place
    assert "remix kb build" in commands_of(page, "next") and "remix run add NAME FILE --on gold" not in text
    changes = page.tables["changes"]
    assert {"loaded", "run registered"} <= {*changes["what"]} and changes["when"].is_sorted(descending=True)


def test_tasks_come_in_their_order_and_lead_to_their_pages(sample_store: Store) -> None:
    tasks = steps_of(START.show(open_workspace(sample_store.folder), {}), "tasks")
    first = [next(iter(step.links.values())) for step in tasks.steps]
    assert first == ["/datasets", "/systems", "/errors", "/annotations", "/systems"]
    assert tasks.steps[0].links["Compare"] == "/compare?datasets=sample-biographies%2Csample-news"
    led = {place.partition("?")[0].removeprefix("/") for step in tasks.steps for place in step.links.values()}
    assert led <= {*VIEWS.names()}  # /sparql is the endpoint, and no page


def test_empty_workspace_says_how_to_begin(tmp_path: Path) -> None:
    page = START.show(open_workspace(tmp_path / ".remix"), {})
    assert commands_of(page, "next") == {"remix load FILE", "remix fetch NAME"}
    assert page.tables["here"]["number"].sum() == 0 and "changes" not in page.tables


def test_what_is_done_is_not_proposed_again(sample_store: Store) -> None:
    work = open_workspace(sample_store.folder)
    held = read_holdings(work.store)
    proposed = {command for commands in propose_commands(held).values() for command in commands}
    assert not {"remix enrich", "remix kb build"} & proposed
    assert "remix annotate sample-biographies --system prior" in proposed
    assert list_outdated(work.store, work.kb, held) == {}


def test_measures_and_runs_that_are_older_than_what_they_were_made_of_are_told(
    sample_store: Store, run_store: Store
) -> None:
    """The measures were stored with the knowledge base; without it, and of other content, they are out of date."""
    work = open_workspace(sample_store.folder)
    held = read_holdings(work.store)
    said, commands = next(iter(list_outdated(work.store, None, held).items()))
    assert "another knowledge base" in said and commands == ["remix enrich"]
    runs = read_holdings(run_store)
    changed = replace(runs, datasets=[replace(entry, content="other") for entry in runs.datasets])
    told = list_outdated(run_store, None, changed)
    assert [commands for said, commands in told.items() if said.startswith("a answered other content of gold")]


def test_outcomes_that_an_earlier_version_stored_are_told(run_store: Store) -> None:
    """Those that an earlier version stored by weak matching, as its signature tells, of one of two systems."""
    held = read_holdings(run_store)
    assert not [said for said in list_outdated(run_store, None, held) if "outcomes" in said]
    [entry] = [one for one in held.datasets if one.name == "gold"]
    graph = entry.attached["run-a"]
    before = graph.signature.replace("|graph:3|", "|").replace("|matching:strong|", "|matching:weak|")
    assert "graph:" not in before and "matching:weak" in before
    entry = replace(entry, attached={**entry.attached, "run-a": replace(graph, signature=before)})
    told = list_outdated(run_store, None, replace(held, datasets=[entry]))
    said = "The stored outcomes by weak matching of a beside gold are those of an earlier version of remix."
    assert told[said] == ["remix evaluate gold --system a --match weak --store"]
    assert len([one for one in told if "outcomes" in one]) == 1


@pytest.mark.parametrize("view", ["builder", "query", "selection"])
def test_queries_that_read_outcomes_of_an_earlier_version_say_so(run_store: Store, tmp_path: Path, view: str) -> None:
    work = copy_workspace(run_store.folder, tmp_path / "copy")
    held = work.store.dataset("gold").attached["run-a"].signature
    graph = work.store.attachment("gold", "run-a")
    work.store.attach({"gold": {"run-a": (graph, held.replace("|graph:3|", "|graph:2|"))}})

    def tell(query: str) -> list[tuple[str, Sequence[str]]]:
        blocks = VIEWS[view].show(work, {"query" if view == "query" else "sparql": query}).blocks
        return [(one.text, one.commands) for one in blocks if isinstance(one, Note) and "earlier version" in one.text]

    said = "The stored outcomes of a beside gold are those of an earlier version of remix."
    command = ["remix evaluate gold --system a --match strong --store"]
    asked = "SELECT ?annotation { ?annotation rmx:truePositiveOf ?run . ?run rmx:system '%s' }"
    assert tell(asked % "a") == [(said, command)]
    # The other system's are of this version, and what asks for no outcomes reads none.
    assert tell(asked % "b") == tell("SELECT ?annotation { ?annotation a nif:Phrase }") == []


def test_what_is_here_is_data_at_the_same_address(run_store: Store) -> None:
    page = START.show(open_workspace(run_store.folder), {})
    assert [*page.tables][0] == "here" and page.tables["here"].schema["number"] == pl.Int64
