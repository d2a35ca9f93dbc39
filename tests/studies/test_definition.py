from __future__ import annotations

from pathlib import Path

import pytest

from remix.errors import UsageError
from remix.store.queries import shipped_queries
from remix.studies import given_study
from remix.studies.definition import StudyFaults, read_study, study_of
from remix.studies.manifest import definition_of
from remix.systems import SYSTEMS

SOUND = {"datasets": ["a", "b"], "systems": {"prior": {}}}


def faults(said: dict[str, object]) -> tuple[str, ...]:
    with pytest.raises(StudyFaults) as raised:
        study_of(said)
    return raised.value.faults


def test_every_fault_is_told_at_once_with_the_nearest_names() -> None:
    found = faults(
        {
            **SOUND,
            "sample": 5,
            "seed": "one",
            "systems": {"prior": {"adaptor": "x"}, "other": "y"},
            "remixes": {"hard": {"values": 3}},
        }
    )
    assert found == (
        "there is no key 'sample'; did you mean 'samples'?",
        "'seed' is a whole number, not 'one'",
        "systems.prior: there is no key 'adaptor'; did you mean 'adapter'?",
        "systems.other: write a table, as [systems.other]",
        "remixes.hard: 'values' is a table of values, not 3",
        "remixes.hard: 'query' is missing",
    )


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"datasets": []}, "datasets: name one or more"),
        ({"systems": {}}, "systems: name one or more, as [systems.prior] or [runs.NAME]"),
        ({"runs": {"prior": {}}}, "systems and runs: 'prior' is named twice"),
        ({"unfiltered": "al"}, "unfiltered: 'al' is no target; did you mean 'all'?"),
        ({"remixes": {"a": {"query": "q"}}}, "remixes.a: this is the name of a dataset, or of all: call the remix "),
        ({"remixes": {"r": {"query": "q", "datasets": ["c"]}}}, "remixes.r: 'c' is no dataset of the study; known: a"),
        ({"systems": {"prior": {"kind": "best"}}}, "prior: kind: 'best' is none of system, baseline, oracle"),
        ({"samples": 10}, "samples: 10 are too few for a test: 100 or more"),
        ({"by": ["class", "class"]}, "by: 'class' is named twice"),
        ({"average": "mean"}, "average: 'mean' is none of micro, macro"),
    ],
)
def test_what_contradicts_itself_is_refused(said: dict[str, object], fault: str) -> None:
    assert any(one.startswith(fault) for one in faults({**SOUND, **said}))


def test_a_circle_of_remixes_is_named() -> None:
    remixes = {"r": {"query": "q", "datasets": ["s"]}, "s": {"query": "q", "datasets": ["t"]}}
    remixes["t"] = {"query": "q", "datasets": ["r"]}
    found = faults({**SOUND, "remixes": remixes})
    assert found == ("remixes: r is cut out of s is cut out of t is cut out of r, which is a circle",)


def test_files_are_taken_from_the_folder_of_the_definition(tmp_path: Path) -> None:
    (tmp_path / "gold.ttl").touch()
    (tmp_path / "mine.toml").write_text('datasets = ["gold.ttl", "kore50"]\n[systems.prior]\n', encoding="utf-8")
    found = read_study(tmp_path / "mine.toml")
    assert found.name == "mine"
    assert found.datasets == (str(tmp_path / "gold.ttl"), "kore50")
    assert found.held_against == "all"


def test_the_study_that_ships_names_what_ships() -> None:
    found = given_study("sample")
    assert [one.name for one in found.scored if one.kind == "system"] == ["prior", "prior-nil", "random-candidate"]
    assert {one.name for one in found.scored} <= {*SYSTEMS.names()}
    assert {one.query.removesuffix(".rq") for one in found.remixes} <= {*shipped_queries()}


@pytest.mark.parametrize("text", ["datasets = [", "\xff"])
def test_what_is_no_toml_says_so(tmp_path: Path, text: str) -> None:
    file = tmp_path / "study.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match="is no TOML"):
        read_study(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_study(tmp_path / "other.toml")


def test_a_manifest_says_of_a_remix_what_is_not_so_by_itself() -> None:
    study = given_study({**SOUND, "remixes": {"even": {"balance": ["class"]}, "persons": {"query": "persons.rq"}}})
    assert definition_of(study)["remixes"] == {"even": {"balance": ["class"]}, "persons": {"query": "persons.rq"}}
