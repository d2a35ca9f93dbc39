"""Remixes selected by what came of runs: without those of a system they are as if it had none, else that is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from remix.errors import UnknownName, UsageError
from remix.measures import compute
from remix.measures.enrichment import named_frames
from remix.remixes.computed import runs_read
from remix.remixes.manifest import read_manifest
from remix.runs.difficulty import difficulty
from remix.runs.stored import verdicts
from remix.runs.withholding import withhold_runs
from remix.store.answers import answer
from remix.store.queries import Query, find
from remix.workspace import Workspace

SYSTEMS = ["prior", "random-candidate", "oracle-candidates"]
ON = ["sample-news", "sample-posts"]


@pytest.fixture(scope="module")
def work(sample_workspace: Callable[[], Workspace]) -> Workspace:
    """The sample corpus with the runs of three systems on two datasets, and the difficulty learnt from them."""
    work = sample_workspace()
    work.annotate(ON, SYSTEMS)
    work.difficulty(seed=3)
    return work


def values(work: Workspace, term: str, without: str) -> dict[str, float]:
    """The values of a term of what is learnt from runs as a query without a system sees them, by annotation."""
    text = f"PREFIX rmx: <https://w3id.org/nel-remix/ns#> SELECT ?a ?v {{ ?a rmx:{term} ?v }}"
    with withhold_runs(work.store, work.kb, [without], difficulty=True) as store:
        rows = answer(store, Query.parse(text)).table
    return dict(rows.select("a", pl.col("v").cast(pl.Float64)).iter_rows())


@pytest.mark.long
def test_what_is_learnt_without_a_system_is_learnt_from_the_others_alone(work: Workspace) -> None:
    before = work.store.state
    store, others = work.store, [name for name in SYSTEMS if name != "prior"]
    judged = pl.concat(verdicts(store, name, others) for name in ON)
    frames = named_frames(store)
    expected = difficulty(frames, compute(frames, work.kb), judged, seed=3).values
    assert values(work, "difficulty", "prior") == dict(expected.select("annotation", "value").iter_rows())
    shares = judged.group_by("annotation").agg(pl.col("right").mean())
    assert values(work, "systemAgreement", "prior") == dict(shares.iter_rows())
    # Nothing of the workspace is another than before, and with all systems the values are others.
    assert work.store.state == before
    [three] = answer(
        store, Query.parse("SELECT (COUNT(DISTINCT ?r) AS ?n) { ?r a <https://w3id.org/nel-remix/ns#Run> }")
    ).table["n"]
    assert int(three) == 6


@pytest.mark.long
def test_score_on_a_remix_that_was_selected_by_its_own_run_says_so(work: Workspace, tmp_path: Path) -> None:
    fitted = work.build("hard_by_difficulty", min_difficulty=0.6, name="fitted", to=tmp_path)
    clean = work.build("hard_by_difficulty", min_difficulty=0.6, name="clean", without="prior", to=tmp_path)
    assert any("selected by what came of the runs 'oracle-candidates', 'prior'" in note for note in fitted.notes)
    manifests = [read_manifest(tmp_path / f"{name}.ttl") for name in ("fitted", "clean")]
    assert [one.runs for one in manifests if one] == [
        ("oracle-candidates", "prior", "random-candidate"),
        ("oracle-candidates", "random-candidate"),
    ]
    assert (clean.signature.fields["withheldRuns"], "withheldRuns" in fitted.signature.fields) == ("prior", False)
    files = [str(tmp_path / f"{name}.ttl") for name in ("fitted", "clean")]
    rows = work.evaluate(files, system=["prior"], task=["A2KB"]).rows.filter(average="micro")
    told = dict(rows.select("dataset", "fitted").iter_rows())
    assert told == {"all": True, "mean": True, "fitted": True, "clean": False} or told == {
        "all": True, "fitted": True, "clean": False
    }  # fmt: skip
    report = work.evaluate(files[:1], system=["prior"], task=["A2KB"])
    assert "gold was selected by what came of the run of 'prior': its score is fitted" in " ".join(report.lines)
    assert "fitted" not in work.evaluate(files[1:], system=["prior"], task=["A2KB"]).rows.columns
    compared = work.compare(files, system=["prior", "random-candidate"], task="A2KB", samples=200)
    assert "selected by what came of the runs of 'prior', 'random-candidate'" in " ".join(compared.lines)


@pytest.mark.long
def test_run_that_changed_after_the_build_is_still_one_that_it_was_selected_by(work: Workspace, tmp_path: Path) -> None:
    work.build("missed_by_all", name="missed", to=tmp_path, without="oracle-candidates")
    other = work.annotate(ON, "random-candidate", seed=7)
    assert len(other) == 2
    file = str(tmp_path / "missed.ttl")
    rows = work.evaluate([file], system=SYSTEMS, task=["A2KB"]).rows.filter(average="micro")
    assert dict(rows.select("system", "fitted").iter_rows()) == {
        "prior": True, "random-candidate": True, "oracle-candidates": False
    }  # fmt: skip


@pytest.mark.long
def test_query_without_runs_and_systems_without_any_are_refused(work: Workspace) -> None:
    with pytest.raises(UsageError, match="easy asks for nothing that comes of runs"):
        work.build("easy", without="prior")
    with pytest.raises(UnknownName, match="did you mean 'prior'"):
        work.build("missed_by_all", without=["prio"])
    with pytest.raises(UsageError, match="difficulty is of several systems, and the only run is 'random-candidate'"):
        work.build("hard_by_difficulty", without=["prior", "oracle-candidates"])
    # What is not asked for is not learnt: one run is enough to be missed by all.
    assert work.build("missed_by_all", without=["prior", "oracle-candidates"]).counts.height


IN_GRAPH = "GRAPH <http://e.org/d#run-a%20b> { ?a rmx:falseNegativeOf <http://e.org/d#run-a%20b> }"


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("easy", []),  # of which the description speaks of difficulty
        ("persons", []),
        ("hard_by_difficulty", ["a b", "prior", "random-candidate"]),
        ("missed_by_all", ["a b", "prior", "random-candidate"]),
        ("rare_persons_wrong", ["prior"]),
        ("wrong_and_right", ["prior", "random-candidate"]),
        ("SELECT ?a { ?a rmx:falseNegativeOf ?r . ?r rmx:system 'a b' . ?a rmx:truePositiveOf ?s }", SYSTEMS),
        ("SELECT ?a { ?a rmx:falseNegativeOf ?r . ?r rmx:system 'a b' }", ["a b"]),
        (f"SELECT ?a {{ {IN_GRAPH} }}", ["a b"]),
        (f"SELECT ?a {{ {IN_GRAPH} {IN_GRAPH.replace('a%20b', 'prior')} }}", ["a b", "prior"]),
        (f"SELECT ?a {{ {IN_GRAPH} ?a rmx:falseNegativeOf ?r . ?r rmx:system 'prior' }}", ["a b", "prior"]),
        (f"SELECT ?a {{ {IN_GRAPH} ?a rmx:falseNegativeOf ?r }}", SYSTEMS),
        (f"SELECT ?a {{ {IN_GRAPH} ?a rmx:difficulty ?d }}", SYSTEMS),
    ],
)
def test_runs_that_a_query_reads_are_those_that_it_names_or_all(query: str, read: list[str]) -> None:
    class Entry:
        attached = dict.fromkeys(["agreement", "run-a%20b", "run-prior", "run-random-candidate"])

    expected = ["a b", "prior", "random-candidate"] if read is SYSTEMS else read
    assert runs_read(find(query).bind({}, None), [Entry()]) == expected  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("query", "read"),
    [("missed_by_all", ["prior"]), ("agreement_between", ["prior"]), ("hard_by_difficulty", ["prior", "random"])],
)
def test_a_query_that_sees_one_dataset_reads_the_runs_on_it(query: str, read: list[str]) -> None:
    """But what is learnt from the runs on all: a run on another dataset stood in the manifest of each remix."""
    seen, other = ("news", "run-prior"), ("posts", "run-random")
    entries: list[Any] = [SimpleNamespace(name=name, attached={run: None}) for name, run in (seen, other)]
    assert runs_read(find(query).bind({}, None), entries, ["news"]) == read
    assert runs_read(find(query).bind({}, None), entries) == ["prior", "random"]
