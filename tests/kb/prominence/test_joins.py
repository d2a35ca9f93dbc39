"""Prominence by joins is prominence by matrices; any engine does, so the quickest to start."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.errors import Error
from remix.kb.engines import ENGINES
from remix.kb.prominence import SCORES, graph, place_columns


def both(links: list[tuple[str, str]], folder: Path, **choices: float) -> tuple[graph.RankedGraph, graph.RankedGraph]:
    choices = {"damping": 0.5, "tolerance": 1e-12, **choices}
    pl.DataFrame(links, schema=["source", "target"], orient="row").write_parquet(folder / "links.parquet")
    pl.DataFrame({"iri": ["e:G"], "entity": ["e:A"]}).write_parquet(folder / "resolution.parquet")
    made = []
    with ENGINES["polars"].open(folder, "1GB") as session:
        for number, distributed in enumerate((False, True)):
            work = folder / f"{number}"
            work.mkdir(exist_ok=True)
            files = [folder / "links.parquet"], folder / "resolution.parquet", work
            made.append(graph.rank_nodes(session, *files, **choices, distributed=distributed))
    return made[0], made[1]


def test_hits_of_several_components_are_those_of_matrices(tmp_path: Path) -> None:
    # A star of 4 and 2 hubs that link 2: the squares of both values are 4. That of 4 hubs that link 3 in a chain is the
    # largest eigenvalue of [[2, 1, 0], [1, 2, 1], [0, 1, 2]], 2 + √2: after 176 iterations 1e-12 of it is left.
    tied = [*((f"e:{hub}", "e:X") for hub in "ABCD"), *((f"e:{hub}", f"e:{end}") for hub in "EF" for end in "YZ")]
    chain = [(f"e:{hub}", f"e:{end}") for hub, end in ("KU", "LU", "LV", "MV", "MW", "NW")]
    one, two = both([*tied, *chain], tmp_path)
    scores, by_joins = (pl.read_parquet(made.scores) for made in (one, two))
    assert_frame_equal(by_joins.select("hits", "hub"), scores.select("hits", "hub"), rel_tol=0, abs_tol=1e-12)
    scored = dict(scores.drop_nulls("hits").select("entity", "hits").rows())
    # Equal authorities stay equal: each of the three has a third of the weight.
    assert scored == {entity: pytest.approx(1 / 3, abs=1e-12) for entity in ("e:X", "e:Y", "e:Z")}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hits_of_random_components_are_those_of_matrices(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    sides = [[f"e:{side}{number}" for number in range(6)] for side in "ABC"]
    one, two = both([(draw.choice(names), draw.choice(names)) for names in sides for _ in range(9)], tmp_path)
    scores, by_joins = (pl.read_parquet(made.scores).select("hits", "hub") for made in (one, two))
    assert 0 < scores["hits"].count() < 10
    assert_frame_equal(by_joins, scores, rel_tol=0, abs_tol=1e-11)


@pytest.mark.parametrize("seed", [1, 2])
def test_scores_and_edges_of_random_graphs_equal_those_of_matrices(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    names = [f"e:{letter}" for letter in "ABCDEFGHIJKLMNOPQRST"]
    one, two = both([(draw.choice(names), draw.choice(names[3:])) for _ in range(70)], tmp_path)
    scores, by_joins = pl.read_parquet(one.scores), pl.read_parquet(two.scores)
    exact = ["entity", "in_degree", "out_degree"]
    assert by_joins.select(exact).equals(scores.select(exact))
    assert_frame_equal(
        by_joins.select("pagerank", "hits", "hub"), scores.select("pagerank", "hits", "hub"), rel_tol=0, abs_tol=1e-9
    )
    assert pl.read_parquet(two.edges).equals(pl.read_parquet(one.edges))


def test_places_are_those_of_matrices(tmp_path: Path) -> None:
    # A star: B to K link to A, A to B; ties among C to K.
    one, two = both([*((f"e:{letter}", "e:A") for letter in "BCDEFHIJK"), ("e:A", "e:B")], tmp_path)
    suffixes = ("", "_rank", "_equal", "_percentile", "_segment")
    places = ["entity", *(f"{score}{suffix}" for score in ("pagerank", "hits", "hub") for suffix in suffixes)]
    follow = [place for score in SCORES for place in place_columns(score, pl.col(score).count())]
    expected, found = (pl.read_parquet(made.scores).with_columns(follow) for made in (one, two))
    assert_frame_equal(found.select(places), expected.select(places), rel_tol=0, abs_tol=1e-12)
    assert found["pagerank_rank"].to_list() == [1, 2, *[3] * 8]
    assert found["pagerank_segment"].to_list() == ["head", "torso", *["torso"] * 8]
    # All the weight of authority is on A, that of hubs on B to K, and equal: the others have no score and no place.
    assert found["hits_rank"].to_list() == [1, *[None] * 9]
    assert found["hub_percentile"].to_list() == [None, *[50.0] * 9]


def test_a_run_that_was_interrupted_goes_on_after_the_last_round(tmp_path: Path) -> None:
    _, made = both([("e:A", "e:B"), ("e:B", "e:C"), ("e:C", "e:A"), ("e:A", "e:C")], tmp_path)
    kept = sorted((tmp_path / "1").glob("pagerank-*"))
    assert len(kept) == 2 and not (tmp_path / "1" / "pagerank-0000.parquet").exists()
    before = pl.read_parquet(made.scores)
    made.scores.unlink()
    for file in ("prominence", "places-pagerank", "places-hits", "places-hub"):
        (tmp_path / "1" / f"{file}.parquet").unlink()
    _, again = both([("e:A", "e:B"), ("e:B", "e:C"), ("e:C", "e:A"), ("e:A", "e:C")], tmp_path)
    assert_frame_equal(pl.read_parquet(again.scores), before, rel_tol=0, abs_tol=1e-11)
    assert not (tmp_path / "1" / "pagerank-0000.parquet").exists()


def test_scores_that_do_not_settle_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(graph.ITERATIONS, "HITS", 16)
    with pytest.raises(Error, match="HITS has not settled after 16 iterations: allow a larger tolerance than 1e-300"):
        both([("e:A", "e:B"), ("e:C", "e:B"), ("e:C", "e:D")], tmp_path, tolerance=1e-300)
