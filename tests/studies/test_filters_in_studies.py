"""Filters as remixes of studies: asked once, of nobody who is not allowed, and told where they fail."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from remix.studies.definition import StudyFaults, read_study
from remix.studies.manifest import definition_of
from remix.workspace import Workspace
from tests.kb.sources import endpoints
from tests.kb.sources.endpoints import Endpoint, endpoint
from tests.remixes.filters.files import query, turtle, write

SMALL = Path(__file__).parents[1] / "runs" / "small"
PERSONS = [f"http://dbpedia.org/resource/{name}" for name in ("Ada_Lovelace", "Alan_Turing")]
STUDY: dict[str, Any] = {
    "name": "filtered",
    "datasets": ["gold"],
    "tasks": ["A2KB"],
    "matchings": ["strong"],
    "samples": 200,
    "runs": {"a": {}, "b": {}},
    "exhibits": ["origins"],
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIX_ENDPOINT_RATE", "10000")
    monkeypatch.setenv("REMIX_ENDPOINT_TRIES", "1")


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with endpoint(turtle(PERSONS)) as found:
        yield found


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """One document: Ada and Alan (persons), Bob (NIL), New York City; runs a and b."""
    found = Workspace(tmp_path / ".remix")
    shutil.copy(SMALL / "gold.ttl", tmp_path / "gold.ttl")
    found.load(tmp_path / "gold.ttl")
    for name in "ab":
        found.add_run(name, SMALL / f"{name}.ttl", on="gold")
    return found


def filtered(file: Path, name: str = "Persons", **more: object) -> dict[str, Any]:
    return {**STUDY, "remixes": {"persons": {"query": f"{file}#{name}", **more}}}


@pytest.mark.long
def test_a_filter_is_a_remix_of_a_study(work: Workspace, server: Endpoint, tmp_path: Path) -> None:
    file = write(tmp_path / "f.properties", {"1": query("Persons", server.address, chunk=2)})
    study = filtered(file)
    with pytest.raises(StudyFaults, match=f"persons: its filter asks {server.address}.*--allow {server.address}"):
        work.study(study)
    # Three entities by two: two requests, and none was made to find this out.
    steps = work.preview_study(study, allow=server.address)
    assert steps.filter(step="remix").select("what", "state", "requests").rows() == [("persons", "to do", 2)]
    assert server.asked == []
    made = work.study(study, allow=server.address)
    sizes = made.results.targets.filter(target="persons")
    assert sizes.select("kind", "mentions").rows() == [("remix", 2)]
    # Of Ada and Alan, a has Ada right and another Alan, b both.
    scores = made.results.scores.filter(target="persons", average="micro", column="").sort("system")
    assert scores.select("system", "tp", "fn").rows() == [("a", 1.0, 1.0), ("b", 2.0, 0.0)]
    assert made.manifest.inputs["queries"]["persons"]
    asked = len(server.asked)
    assert work.study(study, allow=server.address).computed == 0
    assert len(server.asked) == asked
    steps = work.preview_study(study, allow=server.address)
    assert steps.filter(state="to do").is_empty()


@pytest.mark.long
def test_a_filter_that_fails_is_told_in_its_cells(work: Workspace, server: Endpoint, tmp_path: Path) -> None:
    file = write(tmp_path / "f.properties", {"1": query("Persons", server.address)})
    server.behaviours[:] = [endpoints.status(500)] * 9
    rows = work.study(filtered(file), allow=server.address).results.scores.filter(target="persons")
    assert {*rows["state"]} == {"failed"}
    assert server.address in rows["told"][0] and rows["tp"].null_count() == rows.height
    server.behaviours.clear()
    again = work.study(filtered(file), allow=server.address).results.scores.filter(target="persons")
    assert {*again["state"]} == {"there"}
    # Other entities that are kept make another remix, though the filter is called the same.
    (tmp_path / "kb.ttl").write_text(turtle(PERSONS[:1]))
    other = work.study(filtered(file, service=[f"{server.address}=kb.ttl"])).results.scores
    mentions = pl.col("target") == "persons"
    assert other.filter(mentions, average="micro", column="")["mentions"].to_list() == [1, 1]


def test_faults_of_filters_are_told_with_those_of_the_study(work: Workspace, tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.properties", {"1": query("A", "kb", "select ?v {}"), "2": {"name": "B"}})
    good = write(tmp_path / "good.properties", {"1": query("Persons", "kb")})
    remixes = {
        "one": {"query": f"{bad}#A"},
        "two": {"query": f"{good}#Person"},
        "three": {"query": str(good), "values": {"x": 1}},
        "four": {"query": str(good), "service": ["no=kb"]},
        "five": {"query": "persons", "service": ["kb=loaded"]},
        "six": {"query": f"{tmp_path / 'none.properties'}#A"},
    }
    with pytest.raises(StudyFaults) as raised:
        work.study({**STUDY, "remixes": remixes, "profiles": ["remx"]})
    said = [*raised.value.faults]
    for begin, fault in (
        ("remixes.one: ", "'A': its query has no '##'"),
        ("remixes.one: ", "filter 2 has no service and no filter"),
        ("remixes.two: ", "no filter named 'Person'; did you mean 'Persons'?"),
        ("remixes.three: ", "is a filter, which has no parameters"),
        ("remixes.four: ", "replaces no service"),
        ("remixes.five: ", "'service' is of filters"),
        ("remixes.six: ", "no such file"),
        ("profiles: ", "did you mean 'remix'?"),
    ):
        assert any(one.startswith(begin) and fault in one for one in said), (begin, said)


def test_files_of_filters_are_those_beside_the_study_and_no_path_is_published(tmp_path: Path) -> None:
    write(tmp_path / "f.properties", {"1": query("My Persons", "http://e.org/sparql")})
    (tmp_path / "study.toml").write_text(
        'datasets = ["gold"]\n[runs.a]\n[remixes.persons]\nquery = "f.properties#My Persons"\n'
        f'service = ["http://e.org/sparql={tmp_path}/kb.ttl"]\n'
    )
    study = read_study(tmp_path / "study.toml")
    assert study.remixes[0].query == f"{tmp_path}/f.properties#My Persons"
    said = definition_of(study)["remixes"]["persons"]
    assert said == {"query": "f.properties#My Persons", "service": ["http://e.org/sparql=kb.ttl"]}
    assert str(tmp_path) not in json.dumps(definition_of(study))
