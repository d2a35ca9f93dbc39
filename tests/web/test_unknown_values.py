"""What no parameter of a view may ignore: a value that there is not."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from remix.web.addresses import address
from remix.web.page import VIEWS
from remix.workspace import Workspace
from tests.web.pages import Get

NONSENSE = "nonsense"
FREE = {
    ("annotations", "find"),
    ("builder", "name"),
    ("dataset", "find"),
    ("selection", "find"),
    ("selection", "name"),
}
"""What is any text: a part of a surface form or of a document, and the name of a remix."""
NEEDED = {"compare": {"datasets": "first,second"}, "errors": {"dataset": "first", "system": "tool"}}
"""What makes a page of which the other parameters say something, where its example does not."""
WALK = {"dataset": "first", "system": "tool", "name": "d", "error": "1", "by": "is_nil"}
"""A document that is opened at an error."""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Two datasets of a text and two mentions, of one of which a system and another link one mention."""
    folder = tmp_path_factory.mktemp("unknown")
    work = Workspace(folder / ".remix")
    for name in ("first", "second"):
        rows = [
            {"document": "d", "text": f"Ada met {name}", "begin": begin, "end": begin + 3, "entity": f"e:{name}{begin}"}
            for begin in (0, 8)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / f"{name}-answers.jsonl").write_text(json.dumps(rows[0]) + "\n")
        work.load([folder / f"{name}.jsonl"])
    for system in ("tool", "other"):
        work.add_run(system, Path(folder / "first-answers.jsonl"), on="first")
    return work


def check_that_it_is_said(get: Get, view: str, asked: dict[str, str], name: str) -> None:
    """Check that a page says of a parameter that its value does not fit, and that there are no data of that address."""
    asked = {**asked, name: NONSENSE}
    page, data = get(address(view, **asked)), get(address(f"{view}.json", **asked))
    text = unescape(page.text)
    said = page.status_code >= 400 or "Left out:" in text or f"named '{NONSENSE}'" in text
    assert said, f"/{view} ignores {name}={NONSENSE}: its page has to say that there is no such value"
    assert data.status_code >= 400, f"/{view}.json has data of {name}={NONSENSE}, which are those of another address"


@pytest.mark.parametrize(
    ("view", "name"),
    [(view.name, name) for view in VIEWS for name in view.parameters or () if (view.name, name) not in FREE],
)
def test_value_that_there_is_not_is_said_of_every_parameter_of_every_view(
    work: Workspace, get: Get, view: str, name: str
) -> None:
    check_that_it_is_said(get, view, NEEDED.get(view) or dict(VIEWS[view].example(work)), name)


@pytest.mark.parametrize("name", sorted({*(VIEWS["document"].parameters or ())} - {"dataset", "name"}))
def test_value_that_there_is_not_is_said_of_a_walk_through_errors(get: Get, name: str) -> None:
    check_that_it_is_said(get, "document", WALK, name)


def test_what_chooses_among_errors_is_said_where_a_document_is_at_none_of_them(get: Get) -> None:
    found = unescape(get("/document?dataset=first&system=tool&by=is_nil").text)
    assert "by=is_nil is of a walk through errors" in found
    assert "Left out:" not in unescape(get(address("document", **WALK)).text)


@pytest.mark.parametrize("said", ["show=all", "class=missing", "agreement=missed+by+all", "of=tool", "type=Person"])
def test_each_choice_among_errors_is_said_where_a_document_is_at_none_of_them(get: Get, said: str) -> None:
    found = unescape(get(f"/document?dataset=first&system=tool&{said}").text)
    assert f"{said.replace('+', ' ')} is of a walk through errors" in found


def test_type_that_there_is_not_is_said_of_a_walk_as_of_the_list(get: Get) -> None:
    for place in ("/errors?dataset=first&system=tool", "/document?dataset=first&system=tool&name=d&error=1"):
        assert "no type named 'Persn'" in unescape(get(f"{place}&type=Persn").text), place


def test_part_of_a_walk_needs_its_column(get: Get) -> None:
    found = unescape(get("/document?dataset=first&system=tool&name=d&error=1&slice=true").text)
    assert "'true' is a part of a column: name the column" in found


def test_chart_of_a_column_that_an_answer_does_not_have_is_said(get: Get) -> None:
    asked = {"query": "SELECT ?x (1 AS ?n) { ?x a ?y }", "chart": "bars"}
    assert "no column of numbers of the answer named 'x'" in unescape(get(address("query", **asked, y="x")).text)
    assert "Left out:" not in get(address("query", **asked, x="x", y="n")).text


def test_average_that_there_is_not_is_said_where_nothing_is_compared_yet(get: Get) -> None:
    assert "no average named 'nonsense'" in unescape(get("/compare?average=nonsense").text)
    assert "no average named 'nonsense'" in unescape(get("/compare?average=nonsense&datasets=first,second").text)


def test_column_that_has_no_values_is_told_with_what_computes_them(get: Get) -> None:
    assert "`remix enrich` computes what is not stored" in unescape(get("/builder?on=nonsense").text)
