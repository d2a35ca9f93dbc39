"""Tasks and matchings that a profile of a study has alone, and what is told of those that it does not count."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remix.studies.applying import faults_of_rules, is_counted, with_rules
from remix.studies.definition import StudiedRun, Study, StudyFaults
from remix.workspace import Workspace
from tests.commands import run_verb

HEADER = "TOKEN\tNE-COARSE-LIT\tNEL-LIT\tMISC\n"
TYPED = (
    f"{HEADER}# document_id = d1\n"
    "Paris\tB-loc\tQ90\t_\nis\tO\t_\t_\nbig\tO\t_\t_\n# document_id = d2\nRome\tB-loc\tQ220\t_\nfell\tO\t_\t_\n"
)
PLAIN = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
<http://c.org/1#char=0,8> a nif:Context ; nif:isString "Ada ran." ; nif:beginIndex 0 ; nif:endIndex 8 .
<http://c.org/1#char=0,3> a nif:Phrase ; nif:anchorOf "Ada" ; nif:referenceContext <http://c.org/1#char=0,8> ;
  nif:beginIndex 0 ; nif:endIndex 3 ; <http://www.w3.org/2005/11/its/rdf#taIdentRef>
  <http://www.wikidata.org/entity/Q7259> .
"""
STUDY: dict[str, Any] = {"name": "s", "datasets": ["typed", "plain"], "samples": 200, "runs": {"mine": {}}}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace with a dataset of types and one without, and answers of which half, and all, are wrong."""
    tmp_path = tmp_path_factory.mktemp("uncounted")
    found = Workspace(tmp_path / "ws")
    for name, gold, answers in (
        ("typed.tsv", TYPED, TYPED.replace("Q220", "Q1")),
        ("plain.ttl", PLAIN, PLAIN.replace("Q7259", "Q2")),
    ):
        (tmp_path / name).write_text(gold, encoding="utf-8")
        found.load(tmp_path / name)
        (tmp_path / f"answers-{name}").write_text(answers, encoding="utf-8")
        found.add_run("mine", tmp_path / f"answers-{name}", on=name.partition(".")[0])
    return found


@pytest.mark.long
def test_tasks_of_a_profile_are_scored_where_a_dataset_has_them_and_told_where_not(
    work: Workspace, tmp_path: Path
) -> None:
    # One of the two links of typed is right, both of its types are, and plain, whose link is wrong, has no type.
    study = {**STUDY, "profiles": ["hipe"], "tasks": ["NEL-LIT", "NE-COARSE-LIT"]}
    made = work.study(study, to=tmp_path / "out")
    rows = made.results.scores.filter(average="micro", column="")
    found = {(row["target"], row["task"]): (row["f1"], row["state"]) for row in rows.to_dicts()}
    assert found == {
        ("typed", "NEL-LIT"): (0.5, "there"),
        ("typed", "NE-COARSE-LIT"): (1.0, "there"),
        ("plain", "NEL-LIT"): (0.0, "there"),
        ("plain", "NE-COARSE-LIT"): (None, "nothing to count"),
        ("all", "NEL-LIT"): (pytest.approx(1 / 3), "there"),
        ("all", "NE-COARSE-LIT"): (1.0, "there"),
    }
    told = "There is no score of NE-COARSE-LIT by hipe of mine on plain: neither gold nor an answer has anything of"
    assert told in (tmp_path / "out" / "words.md").read_text(encoding="utf-8")
    assert told in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_each_profile_is_scored_by_what_it_counts_and_says_what_it_leaves_out(work: Workspace, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'name = "s"\ndatasets = ["typed"]\nprofiles = ["remix", "hipe"]\nsamples = 200\n[runs.mine]\n', encoding="utf-8"
    )
    done = run_verb("study", str(tmp_path / "s.toml"), "-w", str(work.folder), "--to", str(tmp_path / "out"))
    for told in (
        "The profile remix does not count the task NEL-LIT and the matching fuzzy@1: it has scores of A2KB by strong.",
        "The profile hipe does not count the task A2KB and the matching strong: it has scores of NEL-LIT by fuzzy@1.",
    ):
        assert told in done.stderr
        assert told in (tmp_path / "out" / "words.md").read_text(encoding="utf-8")
    rows = work.study(tmp_path / "s.toml").results.scores.filter(average="micro", column="", state="there")
    assert {*rows.select("profile", "task", "matching", "f1").iter_rows()} == {
        ("remix", "A2KB", "strong", 0.5),
        ("hipe", "NEL-LIT", "fuzzy@1", 0.5),
    }


def study_of_profiles(*profiles: str, tasks: tuple[str, ...] = (), matchings: tuple[str, ...] = ()) -> Study:
    """Return a study of a run by these profiles, tasks and matchings."""
    own = (StudiedRun(name="mine"),)
    return Study(name="s", datasets=("typed",), runs=own, profiles=profiles, tasks=tasks, matchings=matchings)


@pytest.mark.parametrize(
    ("study", "tasks", "matchings"),
    [
        (study_of_profiles("remix"), ("A2KB",), ("strong",)),
        (study_of_profiles("remix", "gerbil", "euef"), ("A2KB",), ("strong",)),
        (study_of_profiles("elevant", "remix"), ("A2KB",), ("IGNORED", "strong")),
        # Types are counted without ranks, links with them: each task has a matching that counts it.
        (study_of_profiles("hipe", tasks=("NE-NESTED", "NEL-LIT")), ("NE-NESTED", "NEL-LIT"), ("fuzzy", "fuzzy@1")),
        # What exhibits show comes first: what the first profile counts, by a matching that counts it.
        (
            study_of_profiles("hipe", "remix", tasks=("A2KB", "NEL-LIT"), matchings=("strong", "strict@1")),
            ("NEL-LIT", "A2KB"),
            ("strict@1", "strong"),
        ),
    ],
)
def test_what_a_study_does_not_name_is_what_its_profiles_count(
    study: Study, tasks: tuple[str, ...], matchings: tuple[str, ...]
) -> None:
    found = with_rules(study)
    assert (found.tasks, found.matchings) == (tasks, matchings)


@pytest.mark.parametrize(
    ("asked", "faults"),
    [
        ({"profiles": ["hipe"], "tasks": ["NEL-LITT"]}, ["no task of profile 'hipe' named 'NEL-LITT'; did you mean"]),
        ({"tasks": ["NEL-LIT"]}, ["tasks: no task named 'NEL-LIT'"]),
        ({"profiles": ["hipe"], "matchings": ["fuzy"]}, ["no matching of profile 'hipe' named 'fuzy'; did you mean"]),
        (
            {"profiles": ["bat"], "tasks": ["ETyping"]},
            ["tasks: no score of 'ETyping' is made by bat; known: A2KB, C2KB"],
        ),
        (
            {"profiles": ["remix", "hipe"], "tasks": ["A2KB"], "matchings": ["strong"]},
            ["profiles: 'hipe' has no score of A2KB by strong matching: name of its tasks (NE-COARSE-LIT, "],
        ),
    ],
)
def test_what_no_profile_counts_is_refused_with_what_there_is(
    work: Workspace, asked: dict[str, Any], faults: list[str]
) -> None:
    with pytest.raises(StudyFaults) as raised:
        work.study({**STUDY, **asked})
    assert len(raised.value.faults) == len(faults)
    assert all(fault in one for one, fault in zip(raised.value.faults, faults, strict=True)), raised.value.faults


def test_every_task_of_remix_is_counted_whatever_one_mention_lacks() -> None:
    from remix.scoring.tasks import TASKS

    assert [name for name in TASKS.names() if not is_counted("remix", name, "strong")] == []


@pytest.mark.long
def test_failures_on_one_of_two_datasets_of_a_text_are_none_on_the_other(tmp_path: Path) -> None:
    """The system is right on one, and failed on other, which has the same text: together that is one failure."""
    own = Workspace(tmp_path / ".remix")
    row = {"document": "d1", "text": "Ada met Bob", "begin": 0, "end": 3, "entity": "urn:e:Ada"}
    for name in ("one", "other"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row))
        own.load([tmp_path / f"{name}.jsonl"])
    late = {"document": "d1", "text": "Ada met Bob", "answers": [], "error": "late"}
    (tmp_path / "late.jsonl").write_text(json.dumps(late))
    own.add_run("s", tmp_path / "one.jsonl", on="one", perfect=True)
    own.add_run("s", tmp_path / "late.jsonl", on="other")
    asked = {"name": "s", "datasets": ["one", "other"], "tasks": ["A2KB"], "matchings": ["strong"], "samples": 200}
    scores = own.study({**asked, "runs": {"s": {}}}).results.scores.filter(average="micro", column="")
    assert dict(scores.select("target", "failed").iter_rows()) == {"one": 0, "other": 1, "all": 1}


def test_names_of_several_matchings_are_none_by_which_a_study_scores() -> None:
    own = (StudiedRun(name="a"),)
    study = Study(name="s", datasets=("x",), runs=own, profiles=("neleval",), matchings=("all-tagging",))
    assert [fault for fault in faults_of_rules(study) if "all-tagging" in fault]
    assert not [*faults_of_rules(replace(study, matchings=("strong_link_match",)))]
