"""What scoring hands from stage to stage is what its tables declare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest

from remix.errors import UnknownName
from remix.frames import Frames
from remix.question import Question
from remix.scoring import evaluate
from remix.scoring.choice import case_of, choose
from remix.scoring.counting import counts_of
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.case_tables import ANSWERS, CASE_DOCUMENTS, COUNTS, LABELLED_COUNTS, MENTIONS
from remix.scoring.matching import MATCHINGS, Case
from remix.scoring.profiles import PROFILES
from remix.scoring.tasks import TASKS

GOLD = [
    {"begin": 0, "end": 3, "entity": "e:Ada", "classes": ["c:Person"]},
    {"begin": 8, "end": 12, "entities": ["e:Alan", "e:Turing"], "group": "g", "option": "o"},
    {"begin": 8, "end": 10, "entity": "e:Al", "group": "g", "option": "p"},
    {"begin": 20, "end": 24},
    {"begin": 30, "end": 34, "entity": "e:Rome", "ignorable": "dropped"},
]
RUN = [
    {"begin": 0, "end": 3, "entity": "e:Ada", "classes": ["c:Person"]},
    {"begin": 9, "end": 12, "entity": "e:Alan"},
    {"begin": 20, "end": 24},
]


@pytest.fixture(scope="module")
def whole(frames: Callable[..., Frames]) -> Case:
    gold = Frames.concat([frames(GOLD), frames([one | {"document": "c"} for one in GOLD], ["c"], "y")])
    inputs = Inputs(gold, {"s": frames(RUN), "t": frames(RUN[:1])})
    return case_of(PROFILES["remix"].prepare(inputs), choose(Question()))


def test_case_has_the_tables_that_are_declared(whole: Case) -> None:
    for case in (whole, whole.pool(), whole.of_spans, whole.in_kept_documents()):
        CASE_DOCUMENTS.check(case.mentions.documents, "case")
        MENTIONS.check(case.gold, "case")
        ANSWERS.check(case.answers, "case")


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("name", PROFILES.names())
def test_every_profile_counts_what_is_declared(whole: Case, name: str) -> None:
    profile = PROFILES[name]
    of_gerbil = TASKS.names() if name == "remix" else profile.tasks
    for task in of_gerbil:
        if task in TASKS and TASKS[task].parts:
            continue
        for matching in MATCHINGS.names() if name == "remix" else profile.matchings:
            if matching == "graded":  # asks for a hierarchy
                continue
            try:
                COUNTS.check(profile.count(whole, task, matching), f"{name}: {task}, {matching}")
            except UnknownName:
                assert name != "remix"  # a tool has no such matching of this task


def test_counts_of_slices_are_what_is_declared(whole: Case) -> None:
    choice = choose(Question(by=("is_nil",), intervals=True, task=("A2KB",), match=("strong",)))
    LABELLED_COUNTS.check(counts_of(whole, choice), "counts")


def test_evaluation_says_of_which_frame_what_is_wrong(frames: Callable[..., Frames]) -> None:
    gold = frames(GOLD)
    run = replace(gold, links=pl.concat([gold.links, gold.links]))
    with pytest.raises(Exception, match="run 's': links: 5 of 10 rows have the annotation and entity of another"):
        evaluate(gold, {"s": run})
