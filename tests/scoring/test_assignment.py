"""The assignment is maximum, exact and the same in any order: compared with every assignment there is."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from remix.scoring.matching.pairs import assign

SCHEMA = {
    "system": pl.Int64,
    "doc": pl.Int64,
    "group": pl.Int64,
    "option": pl.Int64,
    "mention": pl.Int64,
    "size": pl.Int64,
    "answer": pl.Int64,
    "correct": pl.Boolean,
    "link": pl.Boolean,
    "shared": pl.Int64,
    "union": pl.Int64,
}


Edge = tuple[int, int, bool, bool, int, int]


def edges_of(rows: list[Edge]) -> pl.DataFrame:
    """Edges of single annotations: mention, answer, correct, link, shared, union."""
    return pl.DataFrame(
        [(0, 0, g, g, g, 1, a, correct, link, shared, union) for g, a, correct, link, shared, union in rows],
        schema=SCHEMA,
        orient="row",
    )


def best_of_all(rows: list[Edge]) -> set[tuple[int, int]]:
    """The best assignment by trying every subset of the edges; ties to the smallest offsets."""
    best: tuple[tuple[int, int, int, Fraction], list[tuple[int, int]]] | None = None
    for size in range(len(rows) + 1):
        for subset in combinations(sorted(rows), size):
            if len({row[0] for row in subset}) < size or len({row[1] for row in subset}) < size:
                continue
            overlap = sum((Fraction(row[4], row[5]) for row in subset), Fraction(0))
            worth = (sum(row[2] for row in subset), size, sum(row[3] for row in subset), overlap)
            pairs = [(row[0], row[1]) for row in subset]
            # Each gold in its order has its first answer: none at all comes last.
            if best is None or worth > best[0] or (worth == best[0] and _order(pairs, rows) < _order(best[1], rows)):
                best = (worth, pairs)
    assert best is not None
    return set(best[1])


def _order(pairs: list[tuple[int, int]], rows: list[Edge]) -> list[int]:
    chosen = dict(pairs)
    return [chosen.get(g, 99) for g in sorted({row[0] for row in rows})]


edge = st.tuples(
    st.integers(0, 4), st.integers(0, 4), st.booleans(), st.booleans(), st.integers(1, 4), st.integers(4, 6)
)
edge_lists = st.lists(edge, min_size=1, max_size=9, unique_by=lambda row: row[:2])


@given(edge_lists, st.randoms())
def test_assignment_of_small_components_equals_brute_force_in_any_order(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    found = assign(edges_of(shuffled))
    assert set(found.select("mention", "answer").rows()) == best_of_all(rows)


def test_assignment_prefers_correct_links_over_more_pairs():
    # g0-a0 is correct; g0-a1 with g1-a0 would be two pairs, none of them correct.
    rows = [(0, 0, True, True, 1, 9), (0, 1, False, False, 9, 9), (1, 0, False, False, 9, 9)]
    assert assign(edges_of(rows)).select("mention", "answer").rows() == [(0, 0)]


def test_assignment_of_an_option_of_two_annotations_needs_an_answer_for_each():
    # Group 0: option 0 is the annotations 0 and 1, option 2 is the annotation 2.
    schema_rows = [
        (0, 0, 0, 0, 0, 2, 10, True, True, 5, 5),
        (0, 0, 0, 0, 1, 2, 11, True, True, 5, 5),
        (0, 0, 0, 2, 2, 1, 12, True, True, 5, 5),
    ]
    both = pl.DataFrame(schema_rows, schema=SCHEMA, orient="row")
    assert sorted(assign(both)["answer"]) == [10, 11]
    assert assign(both.filter(pl.col("answer") != 11))["answer"].to_list() == [12]


def test_assignment_of_a_long_chain_is_found_and_complete():
    # g0-a0, g0-a1, g1-a1, g1-a2, …: 400 gold and 401 answers; all gold has an answer, the first ones.
    rows = [(g, g + step, False, False, 1, 2) for g in range(400) for step in (0, 1)]
    assert assign(edges_of(rows)).sort("mention").select("mention", "answer").rows() == [(g, g) for g in range(400)]
