"""What a workspace does without the knowledge base that is attached to it and that this version cannot open."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from remix.errors import MissingKnowledge
from remix.web.page import VIEWS
from remix.workspace import Workspace
from tests.commands import run_verb

QUERY = "SELECT ?form { ?mention nif:anchorOf ?form } ORDER BY ?form LIMIT 2"


@pytest.fixture
def outdated(sample_workspace: Callable[[], Workspace]) -> Workspace:
    """A workspace of the sample whose knowledge base has the format of an earlier version."""
    work = sample_workspace()
    assert work.kb is not None
    file = work.kb.folder / "kb.json"
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), "format": "1"}), encoding="utf-8")
    return Workspace(work.folder)


def test_queries_are_answered_and_say_how_the_knowledge_base_is_built_again(outdated: Workspace) -> None:
    with pytest.raises(MissingKnowledge):
        assert outdated.kb
    found = outdated.query(QUERY)
    assert found.table.height == 2
    [note] = found.notes
    assert "answered as they are stored" in note and "build it again by the same `remix kb build`" in note
    done = run_verb("query", QUERY, "-w", str(outdated.folder))
    assert done.returncode == 0 and "build it again" in done.stderr


def test_pages_of_queries_and_of_what_is_here_are_shown_and_say_the_same(outdated: Workspace) -> None:
    page = VIEWS["query"].show(outdated, {"query": QUERY})
    assert "build it again by the same `remix kb build`" in str(page.blocks) and page.tables["result"].height == 2
    assert "build it again by the same `remix kb build`" in str(VIEWS["start"].show(outdated, {}).beside)


def test_a_query_without_such_a_knowledge_base_says_nothing_of_it(sample_workspace: Callable[[], Workspace]) -> None:
    assert sample_workspace().query(QUERY).notes == ()
