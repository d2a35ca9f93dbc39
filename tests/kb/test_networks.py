"""Graphs of networkx: classes, circles of redirects, candidates of documents, GraphML."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import networkx
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.errors import MissingKnowledge, UnknownName, UsageError
from remix.kb import KnowledgeBase, build
from remix.kb.networks import find_circles, superclasses, to_graph, write_graphml
from remix.workspace import Workspace
from tests.commands import run_verb

DBR = "http://dbpedia.org/resource/"
STEPS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=15)


@pytest.fixture(scope="module")
def kb(kb_of: Callable[..., KnowledgeBase]) -> KnowledgeBase:
    """A, B and C, where 'a' may mean A (3 of 4 times) or B; A and B link to each other, C to A."""
    forms = "f\te\tc\ts\na\tdbr:A\t3\tx\na\tdbr:B\t1\tx\nc\tdbr:C\t\tx\n"
    links = "s\tt\tc\to\ndbr:A\tdbr:B\t1\tx\ndbr:B\tdbr:A\t1\tx\ndbr:C\tdbr:A\t1\tx\n"
    return kb_of({"surface_forms.tsv": forms, "links.tsv": links})


def test_candidate_graph_has_mentions_with_their_candidates_and_the_links_between_these(kb: KnowledgeBase) -> None:
    mentions = {
        "document": ["d"] * 3 + ["e"],
        "annotation": ["m1", "m2", "m3", "m4"],
        "surface_form": [*"aA", "no", "c"],
    }
    graph = kb.candidate_graph(pl.DataFrame(mentions), "d")
    a, b = f"{DBR}A", f"{DBR}B"
    assert graph.nodes["m1"] == {"kind": "mention", "form": "a"} and graph.nodes[a] == {"kind": "entity"}
    # Both mentions of 'a' lead to A by 3/4 and to B by 1/4; C, which links to A, is nobody's candidate.
    assert {(*edge, found["prior"], found["rank"]) for *edge, found in graph.edges(data=True) if "prior" in found} == {
        (mention, entity, *known) for mention in ("m1", "m2") for entity, *known in ((a, 0.75, 1), (b, 0.25, 2))
    }
    assert {edge for *edge, kind in graph.edges(data="kind") if kind == "link" for edge in [tuple(edge)]} == {
        (a, b),
        (b, a),
    }
    assert networkx.number_weakly_connected_components(graph) == 2  # the third mention has no candidate


def test_link_graph_has_the_prominence_of_its_nodes(kb: KnowledgeBase) -> None:
    nodes = kb.to_networkx().nodes(data="pagerank")
    assert dict(nodes) == dict(kb.entities.select("entity", "pagerank").rows())


@pytest.mark.long
def test_graph_of_another_kind_or_of_no_links_is_refused(tables: Callable[..., Path], tmp_path: Path) -> None:
    without = build([("tables", str(tables(**{"links.tsv": None})))], tmp_path, name="none")
    with pytest.raises(UsageError, match="no graph of 'words', but of links and of classes"):
        without.to_networkx("words")
    (without.folder / "links.parquet").unlink(missing_ok=True)
    with pytest.raises(MissingKnowledge, match="keeps no links"):
        without.to_networkx()


@given(STEPS)
def test_superclasses_are_what_networkx_reaches(steps: list[tuple[int, int]]) -> None:
    frame = pl.DataFrame(steps, schema={"class": pl.Int64, "parent": pl.Int64}, orient="row").cast(pl.String)
    graph, asked = to_graph(frame), pl.Series([str(n) for n in range(7)])
    reached = {(one, above) for one in graph for above in networkx.descendants(graph, one)}
    assert set(superclasses(frame.lazy(), asked).rows()) == reached


@given(st.dictionaries(st.integers(0, 9), st.integers(0, 9)))
def test_circles_are_where_following_never_ends(redirects: dict[int, int]) -> None:
    redirects = {start: end for start, end in redirects.items() if start != end}
    circles = find_circles(pl.DataFrame(list(redirects.items()), schema=["redirect", "target"], orient="row"))
    for start in redirects:
        reached = start
        for _ in range(10):  # after as many steps as there are nodes it is in a circle, or at an end
            reached = redirects.get(reached, reached)
        assert any(reached in circle for circle in circles) == (reached in redirects)
    assert all(circle[0] == min(circle) for circle in circles)


def test_graphml_is_read_again_as_it_was(kb: KnowledgeBase, tmp_path: Path) -> None:
    graph = kb.to_networkx()
    write_graphml(graph, tmp_path / "links.graphml")
    again = networkx.read_graphml(tmp_path / "links.graphml")
    assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True))
    assert set(again.edges) == set(graph.edges)


def test_kb_graph_writes_the_graph_that_the_workspace_gives(kb: KnowledgeBase, tmp_path: Path) -> None:
    lines = [{"document": "d1", "text": "a b"}, {"document": "d1", "begin": 0, "end": 1, "entity": f"{DBR}A"}]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, lines)))
    workspace = Workspace(tmp_path / ".remix")
    workspace.load([tmp_path / "gold.jsonl"])
    workspace.attach_kb(str(kb.folder))
    printed = run_verb("kb", "graph", "links", "--to", "out.graphml", folder=tmp_path)
    assert printed.stderr == "out.graphml: 3 nodes, 3 edges\n"
    assert set(networkx.read_graphml(tmp_path / "out.graphml")) == set(workspace.graph_kb())
    document = workspace.store.frames().annotations["document"][0]
    assert len(workspace.graph_kb("candidates", document=document)) == 3  # the mention, A and B
    with pytest.raises(UnknownName, match="no document named 'urn:none'"):
        workspace.graph_kb("candidates", document="urn:none")
    refused = run_verb("kb", "graph", "candidates", "--to", "out.graphml", folder=tmp_path)
    assert refused.returncode != 0 and "name it by its IRI" in refused.stderr
