"""Queries of chosen graphs read those that have what they match, and answer what they answer of all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remix.store.index import Index
from remix.store.running import Request, _graphs_read, _query
from remix.store.tree import predicates_matched
from remix.store.worker import Answer, GuardedIndex, Worker
from tests.examples import FEW

GRAPHS = [f"urn:g:{number}" for number in range(4)]
TERMS = st.sampled_from([f"urn:t:{number}" for number in range(3)])
QUADS = st.lists(
    st.tuples(TERMS, st.sampled_from(["urn:p", "urn:q", "urn:r"]), TERMS, st.sampled_from(GRAPHS)), max_size=14
)
QUERIES = [
    "SELECT ?a ?x { ?a <urn:p> ?x }",
    "SELECT ?a ?y { ?a <urn:p> ?x . ?x <urn:q> ?y }",
    "SELECT ?a (COUNT(*) AS ?n) { ?a <urn:p>|<urn:q> ?x } GROUP BY ?a",
    "SELECT ?a ?y { ?a <urn:p> ?x OPTIONAL { ?x <urn:r> ?y } }",
    "SELECT ?a { ?a <urn:p> ?x FILTER NOT EXISTS { ?a <urn:q> ?x } }",
    "SELECT ?a { ?a <urn:p> ?x MINUS { ?a <urn:r> ?x } }",
    "SELECT ?a ?n { { SELECT ?a (COUNT(?x) AS ?n) { ?a <urn:p> ?x } GROUP BY ?a } UNION { ?a <urn:q> ?n } }",
    "SELECT ?a ?g { ?a <urn:p> ?x GRAPH ?g { ?x ?any ?y } }",
    "SELECT ?a ?x { ?a <urn:p>* ?x }",
    "SELECT ?a ?x { ?a !<urn:p> ?x }",
    "SELECT ?a ?p { ?a ?p <urn:t:1> }",
    "SELECT ?a { VALUES ?a { <urn:t:0> } FILTER EXISTS { ?a <urn:r> ?x } }",
    "SELECT ?n { BIND (1 AS ?n) }",
    "ASK { ?a <urn:r> ?x }",
    "ASK { ?a <urn:none> ?x }",
]


def answer(store: ox.Store, request: Request) -> list[str]:
    """Return the solutions of a query, each as often as it has it, in order of their text."""
    found = _query(store, request, request.text)
    return [str(bool(found))] if isinstance(found, ox.QueryBoolean) else sorted(map(str, found))


@settings(max_examples=FEW, deadline=None)
@given(QUADS, st.lists(st.sampled_from(GRAPHS), unique=True), st.sampled_from(QUERIES))
def test_answers_are_those_of_all_chosen_graphs(
    quads: list[tuple[str, str, str, str]], chosen: list[str], text: str
) -> None:
    store = ox.Store()
    store.extend(ox.Quad(*map(ox.NamedNode, quad)) for quad in quads)
    every = Request(text, default_graphs=chosen, named_graphs=chosen)
    assert answer(store, replace(every, predicates=predicates_matched(text))) == answer(store, every)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("SELECT ?a { ?a <urn:p> ?x }", ["urn:g:0", "urn:g:1"]),
        ("SELECT ?a { ?a <urn:p> ?x OPTIONAL { ?x <urn:r> ?y } }", ["urn:g:0", "urn:g:1", "urn:g:2"]),
        ("SELECT ?a { ?a <urn:none> ?x }", []),
        ("SELECT ?a { ?a ?p ?x }", GRAPHS[:3]),
        ("PREFIX u: <urn:> SELECT ?a { ?a u:r ?x }", ["urn:g:2"]),
        (r"SELECT ?a { ?a <urn:\u0072> ?x }", GRAPHS[:3]),
        ("DESCRIBE ?a { ?a <urn:r> ?x }", GRAPHS[:3]),
    ],
)
def test_graphs_without_any_of_the_predicates_are_not_read(text: str, read: list[str]) -> None:
    store = ox.Store()
    for graph, predicate in (("urn:g:0", "urn:p"), ("urn:g:1", "urn:p"), ("urn:g:2", "urn:r"), ("urn:g:3", "urn:p")):
        store.add(ox.Quad(*map(ox.NamedNode, ("urn:t:0", predicate, "urn:t:1", graph))))
    request = Request(text, default_graphs=GRAPHS[:3], predicates=predicates_matched(text))
    assert [graph.value for graph in _graphs_read(store, request)] == read


def test_an_index_of_chosen_graphs_tells_the_predicates(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("index")
    graphs = {"urn:g:0": b"<urn:t:0> <urn:p> <urn:t:1> .\n", "urn:g:1": b"<urn:t:2> <urn:p> <urn:t:1> .\n"}
    place = Index.on_disk(folder, {**graphs, "urn:g:2": b"<urn:t:0> <urn:q> <urn:t:1> .\n"})
    with GuardedIndex(place, graphs=["urn:g:0", "urn:g:2"]) as index:
        asked: list[Request] = []
        work = Worker.ask

        def ask(self: Worker, path: Path | None, request: Request) -> Answer:
            asked.append(request)
            return work(self, path, request)

        monkeypatch.setattr(Worker, "ask", ask)
        assert index.frame("SELECT ?a { ?a <urn:p> ?x }").rows() == [("<urn:t:0>",)]
        assert index.frame("SELECT ?a ?p { ?a ?p ?x } ORDER BY ?p").height == 2
    assert [one.predicates for one in asked] == [("urn:p",), None]
