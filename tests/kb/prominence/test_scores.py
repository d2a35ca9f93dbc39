"""PageRank, HITS and the places that they give."""

from __future__ import annotations

from pathlib import Path

import networkx
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from remix.errors import Error
from remix.kb.prominence import add_places
from remix.kb.prominence import scores as kernel
from remix.kb.prominence.scores import LinkProducts, hits, link_matrix, pagerank, prominence

EDGES = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "a"), ("d", "c"), ("d", "e"), ("f", "e"), ("g", "h")]
"""e and h link nowhere: dangling nodes, whose rank must be spread over all nodes."""
GRAPHS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40)


def frame(edges: list[tuple[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(edges, schema={"source": pl.String, "target": pl.String}, orient="row")


def test_pagerank_when_nodes_dangle_then_it_equals_networkx() -> None:
    nodes, matrix = link_matrix(frame(EDGES))
    expected = networkx.pagerank(networkx.DiGraph(EDGES), alpha=0.85, tol=1e-15, max_iter=1000)
    assert pagerank(LinkProducts(matrix)) == pytest.approx([expected[node] for node in nodes], abs=1e-9)


@given(GRAPHS)
def test_pagerank_when_graphs_are_random_then_it_equals_networkx_and_sums_to_one(pairs: list[tuple[int, int]]) -> None:
    edges = [(str(a), str(b)) for a, b in pairs]
    nodes, matrix = link_matrix(frame(edges))
    graph = networkx.DiGraph([(a, b) for a, b in edges if a != b])
    graph.add_nodes_from(nodes)
    expected = networkx.pagerank(graph, alpha=0.85, tol=1e-15, max_iter=1000)
    ranks = pagerank(LinkProducts(matrix))
    assert ranks == pytest.approx([expected[node] for node in nodes], abs=1e-9)
    assert ranks.sum() == pytest.approx(1.0, abs=1e-9)


def test_pagerank_when_two_nodes_link_each_other_then_both_have_half() -> None:
    _, matrix = link_matrix(frame([("a", "b"), ("b", "a")]))
    assert pagerank(LinkProducts(matrix)).tolist() == [0.5, 0.5]


def test_hits_when_graph_is_connected_then_it_equals_a_dense_eigenvector() -> None:
    edges = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("a", "d"), ("d", "c"), ("e", "c"), ("e", "d")]
    nodes, matrix = link_matrix(frame(edges))
    dense = matrix.toarray()
    values, vectors = np.linalg.eigh(dense.T @ dense)
    assert values[-1] - values[-2] > 0.5  # a spectral gap: the vector is the only one
    authority = np.abs(vectors[:, -1])
    hub = dense @ authority
    authorities, hubs = hits(LinkProducts(matrix))
    assert list(nodes) == ["a", "b", "c", "d", "e"]
    assert authorities == pytest.approx(authority / authority.sum(), abs=1e-9)
    assert hubs == pytest.approx(hub / hub.sum(), abs=1e-9)


def exact_authorities(dense: np.ndarray) -> np.ndarray:
    """Return equal authorities projected on what belongs to the largest eigenvalue: where the iteration leads."""
    values, vectors = np.linalg.eigh(dense.T @ dense)
    largest = vectors[:, values > values[-1] * (1 - 1e-9)]
    limit = largest @ largest.sum(axis=0)
    limit[np.abs(limit) < 1e-9] = 0.0
    return limit / limit.sum()


COMPONENTS = st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=10), min_size=1, max_size=4
)


@given(COMPONENTS)
def test_hits_when_graphs_fall_into_components_then_they_are_dense_eigenvectors(
    components: list[list[tuple[int, int]]],
) -> None:
    edges = [(f"{n}:{source}", f"{n}:{target}") for n, pairs in enumerate(components) for source, target in pairs]
    _, matrix = link_matrix(frame(edges))
    products, dense = LinkProducts(matrix), matrix.toarray()
    if not products.edges:
        return
    authorities, hubs = hits(products)
    exact = exact_authorities(dense)
    assert authorities == pytest.approx(exact, abs=1e-10)
    assert (authorities == 0).tolist() == (exact == 0).tolist()
    assert hubs == pytest.approx(dense @ exact / (dense @ exact).sum(), abs=1e-10)
    alone = kernel._largest_components(products, 1e-12, 10_000)
    assert alone == pytest.approx(exact, abs=1e-10)


def star(name: str, size: int) -> list[tuple[str, str]]:
    return [(f"{name}{n:04d}", name) for n in range(size)]


def path(name: str, hubs: int) -> list[tuple[str, str]]:
    """Return the edges of a path: each of so many hubs links the node of its number and the one before, if there is."""
    return [(f"{name}h{n:03d}", f"{name}a{m:03d}") for n in range(hubs) for m in (n - 1, n) if m >= 0]


def test_hits_when_a_second_component_dies_out_slowly_then_it_has_no_score() -> None:
    # A star of 4 has the value 2, a path of 4 hubs and 4 authorities, 8 nodes, 2 cos(π / 9) = 1.879, squared 3.532:
    # with every iteration a share of 0.883 of the path is left, of which 1e-11 is still there when the change is 1e-12.
    scores = prominence(frame([*star("s", 4), *path("p", 4)]))
    assert scores.filter(pl.col("hits").is_not_null()).select("entity", "hits", "hits_rank").rows() == [("s", 1.0, 1)]
    assert scores.filter(pl.col("hub").is_not_null())["entity"].to_list() == [f"s{n:04d}" for n in range(4)]
    products = LinkProducts(link_matrix(frame([*star("s", 4), *path("p", 4)]))[1])
    assert sorted(hits(products)[0].tolist())[-2:] == [0.0, 1.0]


def test_hits_when_components_are_nearly_equal_then_the_larger_has_all_and_it_settles() -> None:
    # 2000 against 2001 links: 5e-4 fewer, which dies out in 55,000 iterations. Each component is looked at for itself.
    _, matrix = link_matrix(frame([*star("s", 2000), *star("t", 2001)]))
    authorities, _ = hits(LinkProducts(matrix), iterations=1000)
    assert sorted(authorities.tolist())[-2:] == [0.0, 1.0]


def test_hits_when_components_tie_then_equal_authorities_decide_the_shares() -> None:
    # The squared values are 4 in a star of 4, in 2 hubs that both link 2 nodes, and in another star of 4; 3 in a star
    # of 3. From equal authorities all four nodes of the first three are multiplied by 4: a quarter for each.
    pairs = [(f"k{hub}", f"m{end}") for hub in "01" for end in "01"]
    scores = prominence(frame([*star("s", 4), *pairs, *star("t", 4), *star("u", 3)]))
    rows = scores.filter(pl.col("hits").is_not_null()).select("entity", "hits", "hits_rank", "hits_equal").rows()
    assert rows == [(name, 0.25, 1, 4) for name in ("m0", "m1", "s", "t")]


def test_hits_when_a_component_is_long_then_its_end_is_not_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    # A star of 12 whose last hub begins a path: fewer steps than its length do not reach its end.
    edges = [*star("s", 12), *path("p", 9), ("s0000", "pa008"), ("x", "y")]
    nodes, matrix = link_matrix(frame(edges))
    exact = exact_authorities(matrix.toarray())
    for rounds in (64, 3):
        monkeypatch.setattr(kernel, "ROUNDS", rounds)
        authorities, _ = hits(LinkProducts(matrix))
        assert authorities == pytest.approx(exact, abs=1e-10)
        assert authorities[nodes.index_of("y")] == 0.0 and authorities[nodes.index_of("pa000")] > 0.0


def test_link_matrix_when_edges_repeat_and_loop_then_each_counts_once_and_loops_do_not() -> None:
    nodes, matrix = link_matrix(frame([("a", "b"), ("a", "b"), ("b", "b"), ("c", "c")]))
    assert list(nodes) == ["a", "b", "c"]
    assert matrix.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_prominence_when_there_is_no_link_then_there_is_no_row() -> None:
    assert prominence(frame([])).height == 0
    nodes, matrix = link_matrix(frame([("a", "a")]))
    assert hits(LinkProducts(matrix))[0].tolist() == [0.0]


def test_hits_when_it_does_not_settle_then_the_error_says_what_to_do() -> None:
    _, matrix = link_matrix(frame(EDGES))
    with pytest.raises(Error, match="not settled after 2 iterations"):
        hits(LinkProducts(matrix), iterations=2)


def test_placed_when_twenty_are_ranked_then_segments_are_two_nine_nine() -> None:
    # 20 scores: shares strictly better are 0, 0.05, … 0.95; below 0.10 are 2, below 0.55 are 11, so 2 / 9 / 9.
    ranked = add_places(pl.DataFrame({"s": [float(n) for n in range(20)]}), "s")
    sizes = dict(ranked["s_segment"].value_counts().rows())
    assert sizes == {"head": 2, "torso": 9, "tail": 9}
    # 19 are smaller than the best, which is itself half an equal: 19.5 / 20; none is smaller than the last: 0.5 / 20.
    assert ranked.filter(pl.col("s") == 19).select("s_rank", "s_percentile").row(0) == (1, 97.5)
    assert ranked.filter(pl.col("s") == 0).select("s_rank", "s_percentile").row(0) == (20, 2.5)


@pytest.mark.parametrize("count", [10, 100, 870, 2130, 5400])
def test_placed_when_the_population_is_divided_then_the_head_is_a_tenth_and_no_more(count: int) -> None:
    # The tenth of 2130 is 213; 213 / 2130 computed as 213 * (1 / 2130) is a little less than 0.1.
    ranked = add_places(pl.DataFrame({"s": [float(n) for n in range(count)]}), "s")
    sizes = dict(ranked["s_segment"].value_counts().rows())
    assert sizes == {
        "head": count // 10,
        "torso": count * 45 // 100 + (count * 45 % 100 > 0),
        "tail": count * 45 // 100,
    }
    assert ranked.filter(pl.col("s_rank") == count // 10 + 1)["s_percentile"].to_list() == [
        pytest.approx(90 - 50 / count, abs=1e-9)
    ]


def test_placed_when_scores_are_equal_then_they_share_the_better_segment_and_the_middle_percentile() -> None:
    # Ten rows, the best two equal: both have rank 1 and nothing better, so both are head. 8 are smaller, 2 equal.
    ranked = add_places(pl.DataFrame({"s": [9.0, 9.0, *map(float, range(8))]}), "s")
    assert ranked["s_segment"].to_list()[:2] == ["head", "head"]
    assert ranked["s_rank"].to_list()[:2] == [1, 1]
    assert ranked["s_percentile"].to_list()[:2] == [90.0, 90.0]
    # All of a large group of equals at the bottom are not told to be better than half of all.
    floor = add_places(pl.DataFrame({"s": [1.0] * 8 + [2.0, 3.0]}), "s")
    assert floor["s_percentile"].to_list() == [40.0] * 8 + [85.0, 95.0]


def test_prominence_when_a_score_is_zero_or_below_the_tolerance_then_it_is_none_and_has_no_place() -> None:
    # a, b, c link x and y; d links z alone: the component of x and y carries all the weight of HITS, z has none.
    edges = [(one, other) for one in "abc" for other in "xy"] + [("d", "z")]
    scores = prominence(frame(edges)).select(
        "entity", "hits", "hits_rank", "hits_percentile", "hits_segment", "hub_rank"
    )
    rows = {row[0]: row[1:] for row in scores.rows()}
    assert rows["z"] == (None,) * 5
    assert rows["x"] == (0.5, 1, 50.0, "head", None)
    assert rows["d"][-1] is None and rows["a"][-1] == 1


@pytest.mark.parametrize(("band", "step", "large"), [(7, 3, 1), (7, 3, 1000), (30, 4, 1), (1, 100, 1)])
def test_products_when_cut_into_bands_then_they_are_those_of_the_dense_matrix(
    monkeypatch: pytest.MonkeyPatch, band: int, step: int, large: int
) -> None:
    # 30 nodes, n links to 7n + 1 and 11n + 2 (modulo 30); values are powers of two, whose sums are exact.
    edges = [(f"{n:02d}", f"{(factor * n + more) % 30:02d}") for n in range(30) for factor, more in ((7, 1), (11, 2))]
    _, matrix = link_matrix(frame(edges))
    for name, value in (("BAND", band), ("STEP", step), ("LARGE", large)):
        monkeypatch.setattr(kernel, name, value)
    products = kernel.LinkProducts(matrix)
    values, dense = 2.0 ** np.arange(30), matrix.toarray()
    assert products.incoming(values).tolist() == (dense.T @ values).tolist()
    assert products.outgoing(values).tolist() == (dense @ values).tolist()


def test_products_when_nodes_fill_more_than_a_band_then_no_edge_is_lost() -> None:
    # 300,000 nodes in two bands, n links to 7n + 1 (modulo all, which 7 does not divide): each is linked to once.
    count = 300_000
    sources = np.arange(count)
    targets = (7 * sources + 1) % count
    places = (np.ones(count, dtype=np.int8), (sources, targets))
    products = kernel.LinkProducts(sparse.coo_array(places, shape=(count, count)).tocsr())
    values = sources.astype(np.float64)
    assert np.array_equal(products.outgoing(values), targets)
    assert np.array_equal(products.incoming(values)[targets], values)


def test_prominence_when_a_graph_is_undirected_then_its_edges_lead_both_ways() -> None:
    graph = networkx.Graph([("a", "b"), (1, "b")])
    graph.add_node("alone")
    scores = prominence(graph)
    assert scores.select("entity", "in_degree", "out_degree").rows() == [
        ("1", 1, 1),
        ("a", 1, 1),
        ("alone", 0, 0),
        ("b", 2, 2),
    ]


def test_pagerank_of_the_real_graph_equals_networkx(real_data: Path) -> None:
    links = pl.read_csv(real_data / "kb" / "links.tsv.gz", separator="\t", quote_char=None)
    links = links.select(source="source_iri", target="target_iri")
    scores = prominence(links)
    graph = networkx.DiGraph(links.filter(pl.col("source") != pl.col("target")).rows())
    graph.add_nodes_from(scores["entity"])
    # networkx stops when the change is below the number of nodes times its tolerance.
    expected = networkx.pagerank(graph, tol=1e-12 / len(graph), max_iter=1000)
    assert scores.height > 5000
    # Scores are rounded to twelve digits.
    assert scores["pagerank"].to_list() == pytest.approx([expected[node] for node in scores["entity"]], abs=1e-12)
