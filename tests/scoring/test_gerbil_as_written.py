"""GERBIL's evaluation written down plainly, mention by mention, against the profile that counts with tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remix.frames import Frames
from tests.examples import FEW
from tests.scoring.conftest import evaluate, framed

KNOWN, OTHER = "http://dbpedia.org/resource/", "http://example.org/"
DOCUMENTS = ["d0", "d1", "d2"]
Marking = dict[str, Any]
Match = Callable[[Marking, Marking], bool]
Counts = tuple[int, int, int]

entities = st.sampled_from(
    [[], [f"{KNOWN}A"], [f"{KNOWN}B"], [f"{OTHER}N"], [f"{KNOWN}A", f"{KNOWN}B"], [f"{KNOWN}B", f"{OTHER}M"]]
)
marking = st.builds(
    lambda begin, length, linked, sure: {"begin": begin, "end": begin + length, "entity": linked, "confidence": sure},
    st.integers(0, 6),
    st.integers(1, 4),
    entities,
    st.sampled_from([None, 0.0, 0.5, 0.8]),
)
sides = st.lists(st.lists(marking, max_size=4), min_size=len(DOCUMENTS), max_size=len(DOCUMENTS))


def is_known(one: Marking) -> bool:
    return any(entity.startswith(KNOWN) for entity in one["entity"])


def same_span(gold: Marking, answer: Marking) -> bool:
    return (gold["begin"], gold["end"]) == (answer["begin"], answer["end"])


def same_meaning(gold: Marking, answer: Marking) -> bool:
    """URIs in common where both are in the knowledge base; all that are not are alike."""
    if is_known(gold) and is_known(answer):
        return bool({*gold["entity"]} & {*answer["entity"]})
    return not is_known(gold) and not is_known(answer)


def overlap(gold: Marking, answer: Marking) -> bool:
    return bool(gold["begin"] < answer["end"] and answer["begin"] < gold["end"])


def count(gold: list[Marking], answers: list[Marking], match: Match) -> Counts:
    """Each marking of gold in turn takes the first unused answer that matches: TP, FP, FN."""
    unused, right = [*answers], 0
    for one in gold:
        if (taken := next((answer for answer in unused if match(one, answer)), None)) is not None:
            unused = [answer for answer in unused if answer is not taken]
            right += 1
    return right, len(answers) - right, len(gold) - right


def measure(counts: Counts) -> tuple[float, float, float]:
    right, wrong, missed = counts
    if right == 0:
        return (1.0, 1.0, 1.0) if wrong == missed == 0 else (0.0, 0.0, 0.0)
    precision, recall = right / (right + wrong), right / (right + missed)
    return precision, recall, 2 * precision * recall / (precision + recall)


def total(rows: list[Counts]) -> Counts:
    return tuple(map(sum, zip(*rows, strict=True)))  # type: ignore[return-value]


def above(answers: list[list[Marking]], threshold: float | None) -> list[list[Marking]]:
    def counts(one: Marking) -> bool:
        return threshold is None or one["confidence"] is None or one["confidence"] > threshold

    return [[one for one in own if counts(one)] for own in answers]


def score(gold: list[list[Marking]], answers: list[list[Marking]], task: str, matching: str) -> dict[str, list[Counts]]:
    """The counts of each document: of all markings, and of the classes that have a row, above the best threshold."""
    span = same_span if task == "D2KB" or matching == "strong" else overlap
    match: Match = {"ERec": span, "C2KB": same_meaning}.get(task, lambda *both: span(*both) and same_meaning(*both))

    def on(marked: list[list[Marking]]) -> list[list[Marking]]:
        sides = zip(marked, answers, strict=True)
        return [[one for one in own if any(same_span(other, one) for other in there)] for there, own in sides]

    given = on(gold) if task == "D2KB" else answers

    def count_all(there: list[list[Marking]], own: list[list[Marking]], threshold: float | None) -> list[Counts]:
        return [count(*both, match) for both in zip(there, above(own, threshold), strict=True)]

    tried = [None, *sorted({one["confidence"] for own in given for one in own} - {None})]
    best = max(tried, key=lambda one: measure(total(count_all(gold, given, one)))[2])  # the first, which is the lowest
    found = {"": count_all(gold, given, best)}
    parts: dict[str, tuple[list[list[Marking]], list[list[Marking]]]] = {}
    for name, kept in (("InKB", True), ("EE", False)):
        there, own = ([[one for one in row if is_known(one) == kept] for row in side] for side in (gold, given))
        parts[name] = there, own
    if task == "D2KB":
        parts["GSInKB"] = parts["InKB"][0], on(parts["InKB"][0])
    for name, (there, own) in parts.items() if task != "ERec" else ():
        if any(total(count_all(there, own, None))):
            found[name] = count_all(there, own, best)
    return found


def place(side: list[list[Marking]]) -> Frames:
    """Markings of each document in the order of their offsets, as frames."""
    rows = []
    for document, own in zip(DOCUMENTS, side, strict=True):
        own.sort(key=lambda one: (one["begin"], one["end"], sorted(one["entity"])))
        rows += [{**one, "document": document, "entities": one["entity"]} for one in own]
    frames = framed(rows, DOCUMENTS)
    sure = pl.Series([one["confidence"] for one in rows], dtype=pl.Float64)
    return replace(frames, annotations=frames.annotations.with_columns(confidence=sure))


A, B, N = [f"{KNOWN}A"], [f"{KNOWN}B"], [f"{OTHER}N"]


def mark(begin: int, end: int, linked: list[str], sure: float | None = None) -> Marking:
    return {"begin": begin, "end": end, "entity": linked, "confidence": sure}


@settings(max_examples=4 * FEW)
@given(sides, sides)
# One of several URIs is enough in C2KB, too.
@example([[mark(0, 4, [*A, *B])], [], []], [[mark(0, 4, B)], [], []])
# GSInKB has answers on the spans of gold that is in the knowledge base, not those on others that overlap one of these.
@example([[mark(3, 5, N), mark(4, 6, B)], [], []], [[mark(3, 5, B), mark(4, 6, B)], [], []])
# EE has an answer, and none above the threshold: it has a row, which is perfect.
@pytest.mark.long
@example([[mark(0, 4, A), mark(6, 8, B)], [], []], [[mark(0, 4, A, 0.8), mark(6, 8, N, 0.2)], [], []])
def test_profile_counts_what_the_steps_of_gerbil_do(gold: list[list[Marking]], answers: list[list[Marking]]) -> None:
    rows = evaluate(place(gold), {"s": place(answers)}, profile="gerbil", match=["strong", "weak"])
    names = ("task", "matching", "slice", "average")
    found = {
        tuple(row[name] for name in names): (row["precision"], row["recall"], row["f1"]) for row in rows.to_dicts()
    }
    wanted = {}
    for task in ("A2KB", "D2KB", "C2KB", "ERec"):
        for matching in ("strong", "weak"):
            for name, counts in score(gold, answers, task, matching).items():
                each = [*zip(*map(measure, counts), strict=True)]
                wanted[task, matching, name, "micro"] = measure(total(counts))
                wanted[task, matching, name, "macro"] = tuple(sum(one) / len(one) for one in each)
    assert found.keys() == wanted.keys()
    assert found == {key: pytest.approx(value) for key, value in wanted.items()}
