"""EUEF's evaluation written down plainly, mention by mention, against the profile that counts with tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.scoring.conftest import evaluate, framed

Marking = tuple[int, int, str]
Counts = tuple[int, int, int]

NIL = ""

marking = st.builds(
    lambda begin, length, entity: (begin, begin + length, entity),
    st.integers(0, 8),
    st.integers(1, 4),
    st.sampled_from(["A", "B", NIL]),
)
sides = st.lists(marking, max_size=5, unique=True).map(sorted)


TASKS = ("A2KB", "ERec", "candidates", "NIL")


def overlap(one: Marking, other: Marking) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def same(one: Marking, other: Marking) -> bool:
    return overlap(one, other) and one[2] == other[2]


def length(one: Marking) -> int:
    return one[1] - one[0]


def longest(side: list[Marking]) -> list[Marking]:
    """`Filter.coreference`: each in turn becomes what is no shorter of all others that match what it has become."""
    kept = set()
    for number, best in enumerate(side):
        for other, there in enumerate(side):
            if other != number and overlap(best, there):
                best = best if length(best) > length(there) else there
        kept.add(best)
    return sorted(kept)


def one_a_mention(
    answers: list[Marking], gold: list[Marking], match: Callable[[Marking, Marking], bool]
) -> list[Marking]:
    """`Filter.filterMany2One`: of the answers whose first match is one mention the longest, the first of these."""
    of: dict[Marking | None, list[Marking]] = {}
    for answer in answers:
        of.setdefault(next((one for one in gold if match(answer, one)), None), []).append(answer)
    return of.pop(None, []) + [max(own, key=length) for own in of.values()]


def count(gold: list[Marking], answers: list[Marking], task: str) -> Counts:
    """Mentions and candidates are all that gold has, annotations and NIL what is linked and what is not."""
    match = same if task in ("A2KB", "candidates") else overlap
    if task in ("A2KB", "NIL"):
        gold, answers = ([one for one in side if (one[2] == NIL) == (task == "NIL")] for side in (gold, answers))
    if task == "ERec":  # mentions are a set, and have no entity
        gold, answers = (sorted({(begin, end, NIL) for begin, end, _ in side}) for side in (gold, answers))
    gold, answers = longest(gold), longest(answers)
    answers = one_a_mention(answers, gold, match)
    right = [one for one in gold if any(match(answer, one) for answer in answers)]
    wrong = [answer for answer in answers if not any(match(answer, one) for one in gold)]
    return len(right), len(wrong), len(gold) - len(right)


@pytest.mark.long
@given(sides, sides)
# Two answers of one length overlap: both stay.
@example([(0, 4, "A")], [(6, 8, "A"), (7, 9, "A")])
# A chain: 0-2 becomes 1-4, which becomes 3-7.
@example([], [(0, 2, "A"), (1, 4, "A"), (3, 7, "A")])
# Of two answers on one span both stay, and the right one is right.
@example([(0, 4, "B")], [(0, 4, "A"), (0, 4, "B")])
def test_profile_counts_what_the_steps_of_euef_do(gold: list[Marking], answers: list[Marking]) -> None:
    frames = [
        framed({"begin": b, "end": e, "entity": f"e:{name}" if name else None} for b, e, name in side)
        for side in (gold, answers)
    ]
    rows = evaluate(frames[0], {"s": frames[1]}, profile="euef", task=[*TASKS], match=["weak"])
    found = {row["task"]: (row["tp"], row["fp"], row["fn"]) for row in rows.filter(average="micro").to_dicts()}
    assert found == {task: pytest.approx(count(gold, answers, task)) for task in TASKS}
