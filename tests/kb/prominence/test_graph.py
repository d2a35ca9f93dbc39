"""Links by their numbers: redirects folded, edges once, scores by entity."""

from __future__ import annotations

import shutil
from pathlib import Path

import networkx
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remix.kb import KnowledgeBase
from remix.kb.engines import ENGINES
from remix.kb.prominence.graph import RankedGraph, edge_matrix, name_edges, rank_nodes
from remix.kb.prominence.scores import prominence

NODES = st.sampled_from("abcdefg")
LINKS = st.lists(st.tuples(NODES, NODES), min_size=1, max_size=30)
MOVES = st.dictionaries(NODES, st.sampled_from("xyz"), max_size=3)


def rank(folder: Path, links: list[tuple[str, str]], moves: dict[str, str] | None = None) -> RankedGraph:
    """Rank links that are staged in two files."""
    schema = {"source": pl.String, "target": pl.String}
    files = [folder / "0.parquet", folder / "1.parquet"]
    for file, rows in zip(files, (links[::2], links[1::2]), strict=True):
        pl.DataFrame(rows, schema=schema, orient="row").write_parquet(file)
    resolution = None
    if moves is not None:
        resolution = folder / "resolution.parquet"
        schema = {"iri": pl.String, "entity": pl.String}
        pl.DataFrame(list(moves.items()), schema=schema, orient="row").write_parquet(resolution)
    with ENGINES["polars"].open(folder, "1GB") as session:
        return rank_nodes(session, files, resolution, folder)


def test_ranked_when_redirects_and_repeats_then_each_edge_counts_once(tmp_path: Path) -> None:
    # r stands for b: a→b is there three times, b→r becomes b→b, which is none; c links only to itself, and is a node.
    made = rank(tmp_path, [("a", "b"), ("a", "r"), ("a", "b"), ("b", "r"), ("c", "c"), ("b", "ä")], {"r": "b"})
    scores = pl.read_parquet(made.scores)
    assert scores.select("entity", "in_degree", "out_degree").rows() == [
        ("a", 0, 1),
        ("b", 1, 1),
        ("c", 0, 0),
        ("ä", 1, 0),
    ]
    edges = pl.read_parquet(made.edges)
    assert edges.schema == {"target": pl.Int32, "source": pl.Int32}
    assert edges.rows() == [(1, 0), (3, 1)]
    assert name_edges(made.scores, made.edges).rows() == [("a", "b"), ("b", "ä")]
    assert edge_matrix(made.edges, 4).toarray().tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINKS, MOVES)
def test_ranked_when_graphs_are_random_then_it_equals_ranking_by_hand(
    tmp_path: Path, links: list[tuple[str, str]], moves: dict[str, str]
) -> None:
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    folded = [(moves.get(source, source), moves.get(target, target)) for source, target in links]
    edges = {(source, target) for source, target in folded if source != target}
    nodes = sorted({node for edge in folded for node in edge})
    made = rank(tmp_path, links, moves)
    scores = pl.read_parquet(made.scores)
    assert scores["entity"].to_list() == nodes
    assert scores["in_degree"].to_list() == [sum(target == node for _, target in edges) for node in nodes]
    assert scores["out_degree"].to_list() == [sum(source == node for source, _ in edges) for node in nodes]
    assert set(name_edges(made.scores, made.edges).rows()) == edges
    graph = networkx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    expected = networkx.pagerank(graph, tol=1e-14, max_iter=1000)
    assert scores["pagerank"].to_list() == pytest.approx([expected[node] for node in nodes], abs=1e-9)
    assert scores.equals(prominence(graph).drop("^.*_(percentile|segment)$"))


def test_ranked_when_there_are_no_links_then_there_are_no_rows(tmp_path: Path) -> None:
    with ENGINES["polars"].open(tmp_path, "1GB") as session:
        made = rank_nodes(session, [], None, tmp_path)
    assert pl.read_parquet(made.scores).is_empty()
    assert pl.read_parquet(made.edges).is_empty()


def test_ranked_when_it_is_resumed_then_finished_steps_are_not_made_again(tmp_path: Path) -> None:
    made = rank(tmp_path, [("a", "b"), ("b", "c")])
    before = pl.read_parquet(made.scores)
    made.scores.unlink()
    # Other links in the same place: the edges are there, so they are not read.
    assert pl.read_parquet(rank(tmp_path, [("z", "z")]).scores).equals(before)


def test_knowledge_base_when_asked_for_a_graph_then_its_edges_come_by_name(kb: KnowledgeBase) -> None:
    dbr = "http://dbpedia.org/resource/"
    # The link to A_Freud, a redirect, leads to Anna_Freud.
    assert sorted(kb.to_networkx().edges) == [
        (f"{dbr}Anna_Freud", f"{dbr}Anna_Karenina"),
        (f"{dbr}Anna_Karenina", f"{dbr}Anna_Freud"),
        (f"{dbr}Tolstoy", f"{dbr}Anna_Karenina"),
    ]
    scored = kb.entities.filter(pl.col("pagerank").is_not_null()).select("entity", "pagerank")
    again = prominence(kb.to_networkx()).select("entity", "pagerank")
    assert again.equals(scored)
