"""What every matching, task and profile must keep, also those that are added."""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl
import pytest

from remix.errors import UnknownName, UsageError
from remix.frames import Frames
from remix.question import Question
from remix.scoring.choice import case_of, choose
from remix.scoring.inputs import Inputs, Knowledge
from remix.scoring.matching import MATCHINGS, Case
from remix.scoring.profiles import PROFILES, Profile
from remix.scoring.tasks import TASKS
from remix.store import Store
from remix.workspace import Workspace, open_workspace
from tests.scoring.conftest import evaluate

Make = Callable[..., Frames]
ROWS = [
    {"document": "d", "begin": 0, "end": 3, "entity": "e:A", "classes": ["x"]},
    {"document": "d", "begin": 5, "end": 9, "entity": None},
]


def scores(frames: Make, **asked: object) -> pl.DataFrame:
    """Return the scores of gold as its own answers: of a mention with a link and of a NIL."""
    gold = frames(ROWS)
    return evaluate(gold, {"s": gold}, **asked).filter(column="", average="micro")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", MATCHINGS.names())
def test_gold_as_answers_is_perfect_by_every_matching(frames: Make, name: str) -> None:
    assert MATCHINGS[name].summary, f"matching '{name}' has to have a summary: `remix list matchings` shows it"
    # Both mentions are found where they stand and with their links, whatever the spans of others may be.
    counted = scores(frames, task=["A2KB"], match=[name]).select("tp", "fp", "fn").rows()
    assert counted == [(2, 0, 0)], f"matching '{name}' has to find gold in gold: tp, fp, fn are {counted}, not 2, 0, 0"


@pytest.mark.at_hand(3)
@pytest.mark.parametrize("name", TASKS.names())
def test_gold_as_answers_has_no_error_in_any_task(frames: Make, name: str) -> None:
    assert TASKS[name].summary, f"task '{name}' has to have a summary: `remix list tasks` shows it"
    rows = scores(frames, task=[name], match=["strong"])
    wrong = rows.select(pl.col("fp", "fn").fill_null(0).sum()).row(0)
    assert wrong == (0, 0), f"task '{name}' has to have no error where gold answers itself, not fp, fn of {wrong}"


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("name", PROFILES.names())
def test_every_profile_counts_its_own_tasks_and_matchings(frames: Make, name: str) -> None:
    for said in ("summary", "source"):
        assert getattr(PROFILES[name], said), f"profile '{name}' has to have a {said}: `remix show {name}` shows it"
    rows = scores(frames, profile=name)
    assert rows["tp"].sum() > 0, f"profile '{name}' has to find gold in gold by its own tasks and matchings"


def is_counted(profile: Profile, case: Case, task: str, matching: str) -> bool:
    """Return whether all that a task is made of is counted by a matching, some of it not for nothing."""
    parts = profile.parts_of(task) or (task,)
    try:
        every = [profile.count(case, part, matching) for part in parts]
    except UsageError:
        return False
    return any(len(counts) > 0 for counts in every) or not all(profile.counts_nothing(part, matching) for part in parts)


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("name", PROFILES.names())
def test_every_profile_takes_just_the_tasks_and_matchings_that_it_counts(frames: Make, name: str) -> None:
    profile, gold = PROFILES[name], frames(ROWS)
    choice = choose(Question(profile=name))
    case = case_of(profile.prepare(Inputs(gold, {"s": gold}, Knowledge())), choice)
    tasks = [*profile.tasks, *TASKS.names(), "no such task"]
    matchings = [*profile.matchings, *profile.meanings, *MATCHINGS.names(), "no such matching"]
    for task in tasks:
        for matching in matchings:
            taken = profile.takes(task, matching)
            assert taken == is_counted(profile, case, task, matching), (
                f"profile '{name}' has to say in `refuse` what its count refuses: it {'takes' if taken else 'refuses'} "
                f"task '{task}' by matching '{matching}', and counting does not"
            )
    counted = profile.list_counted()
    assert {*profile.tasks, profile.headline[0]} <= {*counted}
    assert all(profile.takes(task, matching) for task, found in counted.items() for matching in found)


def test_what_a_profile_refuses_is_refused_before_anything_is_read(run_store: Store) -> None:
    work = open_workspace(run_store.folder)
    with pytest.raises(UnknownName, match="no matching of this profile named 'weak'"):
        work.evaluate("no-such-dataset", profile="hipe", match="weak")


@pytest.fixture(scope="module")
def of_one_text(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Two datasets of the same text and mention; the system is right on one and wrong on other."""
    folder = tmp_path_factory.mktemp("of-one-text")
    made = Workspace(folder / ".remix")
    wikidata = "http://www.wikidata.org/entity/"
    row = {"document": "d1", "text": "Ada met Bob", "begin": 0, "end": 3, "surface_form": "Ada"}
    for name, entity in (("one", "Q1"), ("other", "Q1"), ("wrong", "Q2")):
        (folder / f"{name}.jsonl").write_text(json.dumps(row | {"entity": f"{wikidata}{entity}"}), encoding="utf-8")
    for name in ("one", "other"):
        made.load([folder / f"{name}.jsonl"])
    made.add_run("s", folder / "one.jsonl", on="one", perfect=True)
    made.add_run("s", folder / "wrong.jsonl", on="other")
    return made


@pytest.mark.parametrize("profile", PROFILES.names())
def test_datasets_of_one_text_are_scored_side_by_side_by_the_answers_to_each(
    of_one_text: Workspace, profile: str
) -> None:
    # Of one the mention is found, of other its answer is wrong and the mention missed.
    task, match = PROFILES[profile].headline
    found = of_one_text.evaluate(["one", "other"], profile=profile, task=task, match=match).rows
    rows = found.filter(pl.col("dataset").is_in(["one", "other"]), column="", average="micro")
    assert sorted(rows.select("dataset", "tp", "fp", "fn").rows()) == [("one", 1, 0, 0), ("other", 0, 1, 1)]
