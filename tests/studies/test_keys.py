"""The keys of steps: whatever can change a number makes steps of its own, and nothing else does."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import remix
from remix.studies.definition import StudiedRemix, study_of
from remix.studies.planning import plan_of, score_jobs
from remix.studies.preparation import prepare, query_of, remix_key
from remix.studies.running import shelf_of
from remix.studies.shelf import COMPUTE, StepShelf, code_hash, write_frames
from remix.workspace import Workspace

SMALL = Path(__file__).parents[1] / "runs" / "small"
QUERY = "SELECT ?annotation { ?annotation a nif:Phrase } # every one"
STUDY: dict[str, Any] = {
    "name": "keys",
    "datasets": ["mine"],
    "tasks": ["A2KB"],
    "matchings": ["strong"],
    "by": ["numWords"],
    "samples": 200,
    "runs": {"theirs": {}},
}


@pytest.fixture
def work(sample_workspace: Callable[[], Workspace], tmp_path: Path) -> Workspace:
    """A workspace with a small dataset, answers to it of which one is wrong, and a query."""
    found = sample_workspace()
    shutil.copy(SMALL / "gold.ttl", tmp_path / "mine.ttl")
    (tmp_path / "every.rq").write_text(QUERY, encoding="utf-8")
    found.load(tmp_path / "mine.ttl")
    text = (SMALL / "gold.ttl").read_text(encoding="utf-8")
    (tmp_path / "answers.ttl").write_text(text.replace("dbr:Alan_Turing", "dbr:Alan_Kay"), encoding="utf-8")
    (tmp_path / "others.ttl").write_text(text.replace("dbr:Alan_Turing", "dbr:Alan_Bennett"), encoding="utf-8")
    found.add_run("theirs", tmp_path / "answers.ttl", on="mine")
    return found


def keys(work: Workspace, **other: object) -> dict[str, set[str]]:
    """Return the keys of the steps of the study by their kinds."""
    study = study_of({**STUDY, **other})
    made = prepare(work, shelf_of(work), study)
    plan = plan_of(work, study, made)
    found: dict[str, set[str]] = {}
    for kind, key in [*plan.places, *(step for job in score_jobs(study, plan) for step in job.steps)]:
        found.setdefault(kind, set()).add(key)
    return found


def changed(before: dict[str, set[str]], after: dict[str, set[str]]) -> set[str]:
    """Return the kinds of steps of which none is as before."""
    return {kind for kind in before if not before[kind] & after[kind]}


ALL = {"cut", "documents", "measures", "count", "outcomes", "thresholds", "scores"}


@pytest.mark.long
def test_each_choice_makes_steps_of_its_own_and_a_name_none(work: Workspace) -> None:
    first = keys(work)
    assert {*first} == ALL
    assert keys(work) == first
    for other, kinds in (
        ({"name": "else", "title": "Else", "exhibits": ["origins"]}, set()),
        ({"tasks": ["ERec"]}, {"count", "outcomes", "thresholds", "scores"}),
        ({"matchings": ["weak"]}, {"count", "outcomes", "thresholds", "scores"}),
        ({"profiles": ["gerbil"]}, {"cut", "count", "thresholds", "scores"}),
        ({"by": ["numWords:quantiles:2"]}, {"cut", "count", "scores"}),
        ({"columns": ["formAcronym"]}, {"cut", "count", "scores"}),
        ({"unit": "context"}, {"cut", "count", "thresholds", "scores"}),
        ({"average": "macro"}, {"scores"}),
        ({"samples": 300}, {"scores"}),
        ({"seed": 1}, {"scores"}),
    ):
        assert changed(first, keys(work, **other)) == kinds, other


@pytest.mark.long
def test_other_answers_data_and_queries_make_steps_of_their_own(work: Workspace, tmp_path: Path) -> None:
    first = keys(work)
    work.add_run("theirs", tmp_path / "others.ttl", on="mine", replace=True)
    answered = keys(work)
    assert changed(first, answered) == {"count", "outcomes", "thresholds", "scores"}
    # What is learnt from runs is another with each run, which matters to those who look at it.
    learnt = {"columns": ["systemAgreement"]}
    agreed = keys(work, **learnt)
    work.add_run("more", tmp_path / "answers.ttl", on="mine")
    assert keys(work) == answered
    assert changed(agreed, keys(work, **learnt)) >= {"cut", "count"}
    # A part of the errors of one system is another where that system's answers are, whoever is scored on it.
    judged = {"by": ["error:theirs"], "runs": {"more": {}}}
    wrong = keys(work, **judged)
    work.add_run("theirs", tmp_path / "answers.ttl", on="mine", replace=True)
    assert changed(wrong, keys(work, **judged)) >= {"cut", "count", "scores"}
    work.add_run("theirs", tmp_path / "others.ttl", on="mine", replace=True)
    remixes = {"remixes": {"every": {"query": str(tmp_path / "every.rq")}}}
    cut = keys(work, **remixes)
    (tmp_path / "every.rq").write_text(QUERY.replace("a nif:Phrase", "nif:anchorOf 'Ada'"), encoding="utf-8")
    other = keys(work, **remixes)
    # The steps of the dataset stay; those of the remix are others.
    assert {kind: len(cut[kind] - other[kind]) for kind in ("documents", "measures", "count", "scores")} == {
        "documents": 1,
        "measures": 1,
        "count": 1,
        "scores": 1,
    }
    work.load(tmp_path / "answers.ttl", name="mine", replace=True)
    work.add_run("theirs", tmp_path / "others.ttl", on="mine", replace=True)
    # The run has the same answers, and is one on the dataset as it is now.
    assert changed(answered, keys(work)) == ALL


def test_each_choice_of_a_remix_makes_another_remix(work: Workspace) -> None:
    study, own = study_of(STUDY), StudiedRemix(name="r", query="annotations_between", datasets=("mine",))
    work.load(SMALL / "gold.ttl", name="second", base_iri="urn:second:")
    others: dict[str, Any] = {
        "name": "s",
        "query": "persons",
        "values": {"min_annotations": 1},
        "set_from": "percentiles",
        "datasets": ("mine", "second"),
        "edition": ("second",),
        "limit": 1,
        "seed": 1,
        "balance": ("class",),
        "balance_over": "cells",
        "balance_share": {"Person": 2},
        "balance_tolerance": 1,
        "without": ("theirs",),
    }
    # What a filter asks in the place of other services shows in the query of what it keeps.
    assert {*others, "service"} == {one.name for one in fields(StudiedRemix)}
    made = [own, *(replace(own, **{name: value}) for name, value in others.items())]
    assert len({remix_key(work, study, one, query_of(work, study, one)) for one in made}) == len(made)


@pytest.mark.long
def test_system_is_not_scored_on_a_remix_that_its_own_run_selected(work: Workspace, tmp_path: Path) -> None:
    work.add_run("more", tmp_path / "answers.ttl", on="mine")
    remixes = {"all": {"query": "missed_by_all"}, "others": {"query": "missed_by_all", "without": ["theirs"]}}
    remixes = {f"missed-{name}": said for name, said in remixes.items()}
    study = study_of({**STUDY, "by": [], "runs": {"theirs": {}, "more": {}}, "remixes": remixes})
    made = prepare(work, shelf_of(work), study)
    states = {(s, name): made.hole(s, made.aims[name]) for s in ("theirs", "more") for name in remixes}
    assert {place: state for place, (state, _) in states.items()} == {
        ("theirs", "missed-all"): "fitted",
        ("more", "missed-all"): "fitted",
        ("theirs", "missed-others"): "there",
        ("more", "missed-others"): "fitted",
    }
    assert "name it in `without` of [remixes.missed-all]" in states["theirs", "missed-all"][1]
    cells = plan_of(work, study, made).cells
    assert {one.state for one in cells if one.target == "missed-all"} == {"fitted"}


@pytest.mark.long
def test_remix_that_is_balanced_needs_no_query(work: Workspace) -> None:
    study = study_of({**STUDY, "by": [], "remixes": {"even": {"balance": "class", "balance_tolerance": 9}}})
    aim = prepare(work, shelf_of(work), study).aims["even"]
    assert (aim.state, aim.query) == ("there", "balanced balance=class"), aim.told
    # Two persons and a place; Bob has no class.
    assert aim.homes == ("mine",)


def test_other_code_makes_other_keys(tmp_path: Path) -> None:
    """The same code has one hash wherever it stands; a changed line of a module that computes has another."""
    home = Path(remix.__file__).parent
    for name in COMPUTE:
        place = tmp_path / name
        if (home / name).is_dir():
            shutil.copytree(home / name, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(home / f"{name}.py", tmp_path / f"{name}.py")
    code_hash.cache_clear()
    assert code_hash(tmp_path) == code_hash(home) == code_hash()
    with (tmp_path / "scoring" / "rows.py").open("a", encoding="utf-8") as module:
        module.write("# another line\n")
    code_hash.cache_clear()
    assert code_hash(tmp_path) != code_hash(home)


def test_what_is_too_large_goes_but_what_a_study_needs_stays(tmp_path: Path) -> None:
    shelf = StepShelf(tmp_path)
    for key in ("old", "new"):
        with shelf.writing("count", key) as place:
            write_frames(place, {"counts": pl.DataFrame({"tp": [1]})})
    shelf.tidy([shelf.place("count", "new")], largest=10**9)
    assert shelf.has("count", "old")
    shelf.tidy([shelf.place("count", "new")], largest=1)
    assert not shelf.has("count", "old")
    assert shelf.has("count", "new")
