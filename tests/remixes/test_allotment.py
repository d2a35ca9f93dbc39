"""How many of each kind are taken: by hand, against all selections there are, and where the search ends early."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remix.remixes.allotment import EvenPart, allot


def is_even(taken: Sequence[int], parts: Sequence[EvenPart], tolerance: int) -> bool:
    """Whether each column has a level t of 1 or more, and its parts share·t up to share·t + tolerance mentions."""
    for column in {part.column for part in parts}:
        own = [(part.share, sum(taken[kind] for kind in part.kinds)) for part in parts if part.column == column]
        if not any(all(s * t <= n <= s * t + tolerance for s, n in own) for t in range(1, sum(taken) + 1)):
            return False
    return True


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[int], list[EvenPart]]:
    """Up to four kinds of up to three mentions, in one or several of up to three parts of one or two columns."""
    available = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    parts = []
    for column in range(draw(st.integers(1, 2))):
        several = draw(st.integers(1, 3))
        inside = [draw(st.sets(st.integers(0, several - 1), min_size=1)) for _ in available]
        for part in range(several):
            share = draw(st.integers(1, 2))
            parts.append(EvenPart(column, share, [kind for kind, own in enumerate(inside) if part in own]))
    return available, parts


@pytest.mark.long
@given(problems(), st.integers(0, 2))
def test_no_even_selection_is_larger(problem: tuple[list[int], list[EvenPart]], tolerance: int) -> None:
    available, parts = problem
    found = allot(available, parts, tolerance=tolerance)
    assert found.short_of == 0 and (not sum(found.taken) or is_even(found.taken, parts, tolerance))
    assert all(0 <= n <= limit for n, limit in zip(found.taken, available, strict=True))
    every = (taken for taken in product(*(range(n + 1) for n in available)) if is_even(taken, parts, tolerance))
    assert sum(found.taken) == max(map(sum, every), default=0)


def test_of_several_largest_selections_it_is_the_one_in_which_columns_are_independent() -> None:
    # Kinds 0 to 3 are two parts of two columns crossed, kind 4 limits them to 20 in all. Even in both columns are
    # (10, 0, 0, 10), where one column says what the other is, and all between it and (0, 10, 10, 0).
    crossed = [EvenPart(0, 1, [0, 1]), EvenPart(0, 1, [2, 3]), EvenPart(1, 1, [0, 2]), EvenPart(1, 1, [1, 3])]
    limited = [*crossed, EvenPart(2, 1, [0, 1, 2, 3]), EvenPart(2, 1, [4])]
    assert allot([10, 10, 10, 10, 20], limited).taken == (5, 5, 5, 5, 20)
    # With 3 of kind 1 at most, 5 are not to be had: 3 of it, 7 of the others of its parts.
    assert allot([10, 3, 10, 10, 20], limited).taken == (7, 3, 3, 7, 20)


def test_kind_of_two_parts_counts_in_both() -> None:
    # Two of one part, three of the other, and one of both: 2 + 1 is as many as 2 + 1, which are 5 mentions.
    assert allot([2, 3, 1], [EvenPart(0, 1, [0, 2]), EvenPart(0, 1, [1, 2])]).taken == (2, 2, 1)


def test_counts_of_a_corpus_take_no_longer_than_those_of_a_document() -> None:
    # Half a million mentions in 96 cells: there is a variable for each cell, not for each mention.
    draws = np.random.default_rng(0)
    cells = [*product(range(8), range(4), range(3))]
    available = draws.integers(0, 10_000, len(cells)).tolist()
    parts = [
        EvenPart(column, 1, [n for n, cell in enumerate(cells) if cell[column] == part])
        for column, parts in enumerate((8, 4, 3))
        for part in range(parts)
    ]
    found = allot(available, parts)
    assert found.short_of == 0 and is_even_in_large(found.taken, parts)
    # No part of the first column can have more than the smallest has.
    assert sum(found.taken) <= 8 * min(sum(available[kind] for kind in part.kinds) for part in parts if not part.column)


def is_even_in_large(taken: Sequence[int], parts: Sequence[EvenPart]) -> bool:
    numbers = {(part.column, sum(taken[kind] for kind in part.kinds)) for part in parts}
    return len(numbers) == len({column for column, _ in numbers})


@pytest.mark.long
def test_search_that_ends_early_says_how_much_it_may_lack() -> None:
    # Three columns of three parts that overlap, with shares of up to 8: the first node does not settle it.
    draws = np.random.default_rng(92)
    available = draws.integers(20, 900, 12).tolist()
    parts = [
        EvenPart(column, int(draws.integers(1, 9)), sorted(draws.choice(12, 5, replace=False).tolist()))
        for column in range(3)
        for _ in range(3)
    ]
    whole, cut = allot(available, parts), allot(available, parts, nodes=1)
    assert whole.short_of == 0 and is_even(cut.taken, parts, 0)
    assert cut.short_of > 0 and sum(cut.taken) <= sum(whole.taken) <= sum(cut.taken) + cut.short_of
