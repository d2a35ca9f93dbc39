"""A study of the sample: its cells are what an evaluation and a comparison have, and nothing is computed twice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.errors import UsageError
from remix.runs.register import list_runs
from remix.studies import Studied
from remix.studies.counting import Reading, count_systems
from remix.studies.definition import StudyFaults, read_study
from remix.studies.planning import rules_of
from remix.studies.running import alone
from remix.workspace import Workspace

pytestmark = pytest.mark.long
SMALL = Path(__file__).parents[1] / "runs" / "small"

STUDY = {
    "name": "small",
    "datasets": ["sample-news", "sample-posts"],
    "tasks": ["D2KB"],
    "matchings": ["strong"],
    "by": ["pagerankSegment", "ambiguitySurfaceForm:quantiles:4"],
    "samples": 1000,
    "systems": {"prior": {"kind": "system"}, "random-candidate": {"kind": "baseline"}},
    "remixes": {"persons": {"query": "persons_hard.rq"}},
}
TEXT = """
name = "small"
datasets = ["sample-news", "sample-posts"]
tasks = ["D2KB"]
matchings = ["strong"]
by = ["pagerankSegment", "ambiguitySurfaceForm:quantiles:4"]
samples = 1000
[systems.prior]
kind = "system"
[systems.random-candidate]
kind = "baseline"
[remixes.persons]
query = "persons_hard.rq"
"""
"""The same as a file."""
SCORES = ["tp", "fp", "fn", "precision", "recall", "f1", "f1_low", "f1_high"]


@pytest.fixture(scope="module")
def work(sample_workspace: Callable[[], Workspace], tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return sample_workspace()


@pytest.fixture(scope="module")
def studied(work: Workspace) -> Studied:
    return work.study(STUDY)


def test_results_are_as_they_are_declared(studied: Studied) -> None:
    studied.results.check("small")


def test_whole_cells_are_those_of_an_evaluation(work: Workspace, studied: Studied) -> None:
    asked = {"run": ["prior", "random-candidate"], "task": "D2KB", "match": "strong", "intervals": True}
    rows = work.evaluate(["sample-news", "sample-posts"], **asked).rows
    mine = studied.results.scores.filter(column="", average="micro", profile="remix")
    for target in ("all", "sample-news", "sample-posts"):
        own = mine.filter(target=target).sort("system").select("system", *SCORES)
        theirs = rows.filter(dataset=target, column="", average="micro").sort("system").select("system", *SCORES)
        assert_frame_equal(own, theirs.with_columns(pl.col("tp", "fp", "fn").cast(pl.Float64)), check_exact=False)


def test_counts_make_the_scores_of_wholes_and_parts(studied: Studied) -> None:
    """What exhibits draw again from documents are the documents that scores are of."""
    found = studied.results
    keys = ["system", "target", "column", "slice"]
    tp, fp, fn = (pl.col(name).sum() for name in ("tp", "fp", "fn"))
    of_counts = found.counts.group_by(keys).agg(again=2 * tp / (2 * tp + fp + fn), found=pl.col("found").sum())
    both = found.headline().join(of_counts, on=keys).filter(pl.col("f1").is_not_null())
    assert {*both["column"]} == {"", *found.columns}
    assert_frame_equal(both.select("f1", "tp"), both.select(f1="again", tp="found"))


def test_parts_are_those_of_all_datasets_together(work: Workspace, studied: Studied) -> None:
    by = "ambiguitySurfaceForm:quantiles:4"
    asked = {"run": ["prior", "random-candidate"], "task": "D2KB", "match": "strong", "by": by}
    rows = work.evaluate(["sample-news", "sample-posts"], **asked).rows.filter(column=by, average="micro")
    mine = studied.results.scores.filter(column=by, average="micro")
    keys = ["system", "slice"]
    for target in ("all", "sample-news", "sample-posts"):
        own = mine.filter(target=target).sort(keys).select(*keys, "tp", "fn", f1_in_scope="f1")
        theirs = rows.filter(dataset=target).sort(keys).select(*keys, "tp", "fn", "f1_in_scope")
        assert_frame_equal(own, theirs.with_columns(pl.col("tp", "fn").cast(pl.Float64)))
    parts = studied.results.parts.filter(column=by)
    assert {*mine["slice"]} <= {*parts["slice"]}
    assert parts.filter(dataset="all").select("low", "high").rows()[0] == (None, parts["low"].drop_nulls().min())


def test_cells_of_a_remix_are_those_of_an_evaluation_of_it(work: Workspace, studied: Studied) -> None:
    file = studied.made.aims["persons"].gold[0]
    asked = {"run": ["prior", "random-candidate"], "task": "D2KB", "match": "strong", "by": "pagerankSegment"}
    rows = work.evaluate(file, **asked).rows.filter(average="micro")
    mine = studied.results.scores.filter(target="persons", average="micro")
    keys = ["system", "column", "slice"]
    shown = {"precision": "precision_in_scope", "f1": "f1_in_scope", "recall": "recall"}
    theirs = rows.filter(column="pagerankSegment").sort(keys).select(*keys, "tp", "fn", **shown)
    own = mine.filter(column="pagerankSegment").sort(keys).select(*keys, "tp", "fn", *shown)
    assert theirs.height == own.height > 2
    assert_frame_equal(own, theirs.with_columns(pl.col("tp", "fn").cast(pl.Float64)))


def test_thresholds_are_those_of_a_curve(work: Workspace, studied: Studied) -> None:
    """Over both datasets together, and without a threshold what is scored; who has no confidence has none."""
    assert studied.results.thresholds.is_empty()
    found = work.study({**STUDY, "name": "sure", "systems": {"coherence": {}, "prior": {}}, "remixes": {}}).results
    asked = {"run": "coherence", "task": "D2KB", "match": "strong"}
    curve = work.curve(["sample-news", "sample-posts"], kind="threshold", **asked).rename({"threshold": "above"})
    names = ["system", "above", "tp", "fp", "fn"]
    theirs = curve.select(names).sort("above", nulls_last=False)
    assert theirs.height > 10
    assert_frame_equal(found.thresholds, theirs.with_columns(pl.col("tp", "fp", "fn").cast(pl.Float64)))
    whole = found.headline().filter(target="all", column="", system="coherence").select("system", "tp", "fp", "fn")
    assert_frame_equal(found.thresholds.filter(pl.col("above").is_null()).drop("above"), whole)


def test_differences_are_those_of_a_comparison(work: Workspace, studied: Studied) -> None:
    asked = {"run": ["prior", "random-candidate"], "task": "D2KB", "match": "strong", "samples": 1000}
    found = work.compare(["sample-news", "sample-posts"], **asked).pairs.sort("part")
    mine = studied.results.differences.filter(family="systems", column="", score="f1").sort("target")
    mine = mine.filter(pl.col("target").is_in(found["part"].implode()))
    names = ["difference", "low", "high", "documents"]
    assert_frame_equal(mine.select(names), found.select(names))
    # Of so few draws none was as large, so that both say that p is at most 1 / 1001, and Hoeffding's bound says less.
    assert (mine["p"] <= found["p"] + 1e-12).all()


def test_systems_are_counted_together_as_apart(work: Workspace, studied: Studied) -> None:
    """The query of a remix is asked of the answers of all: what is in scope of one does not depend on another's."""
    names = ["prior", "random-candidate"]
    for target in ("persons", "all"):
        reading = Reading.of(work, rules_of(studied.study)[0], studied.made.aims[target].gold, names)
        together = count_systems(reading, names)
        for name in names:
            apart = count_systems(reading, [name])[name]
            assert apart["counts"].height > 0
            for table, frame in apart.items():
                assert_frame_equal(together[name][table], frame, check_row_order=False)


def test_systems_of_the_same_answers_have_the_same_scores_each(work: Workspace) -> None:
    """Each counts under its own name, though one step has the counts of both; none has those of both."""
    found = work.study({**STUDY, "name": "alike", "systems": {"prior": {}, "prior-nil": {}}, "remixes": {}}).results
    whole = found.scores.filter(column="", average="micro", target="all").sort("system")
    rows = work.evaluate(["sample-news", "sample-posts"], run=["prior", "prior-nil"], task="D2KB", match="strong").rows
    theirs = rows.filter(dataset="all", column="", average="micro").sort("system")
    assert whole.select("system", "tp", "fn").rows() == theirs.select("system", pl.col("tp", "fn")).rows()
    assert whole["tp"].n_unique() == 1
    counted = found.counts.filter(column="", target="all").group_by("system").agg(pl.col("tp").sum())
    assert sorted(counted.rows()) == whole.select("system", "tp").rows()


def test_what_is_there_is_not_computed_again(work: Workspace, studied: Studied) -> None:
    assert work.study(STUDY).computed == 0
    more = work.study({**STUDY, "systems": {**STUDY["systems"], "oracle-candidates": {}}})
    # Counts on four targets (two datasets, both, a remix), outcomes on two datasets, thresholds on both together, and
    # the scores of four targets.
    assert more.computed == 4 + 2 + 1 + 4
    # Other draws change the tests of four targets alone.
    assert work.study({**STUDY, "samples": 200}).computed == 4


def test_the_same_bytes_come_out_of_another_workspace(
    sample_workspace: Callable[[], Workspace], work: Workspace, studied: Studied, tmp_path: Path
) -> None:
    first = work.study(STUDY, to=tmp_path / "one")
    other = sample_workspace()
    second = other.study(STUDY, to=tmp_path / "two" / "deeper")
    assert first.manifest.signature == second.manifest.signature
    files = {file.relative_to(first.folder): file.read_bytes() for file in first.folder.rglob("*") if file.is_file()}
    theirs = {file.relative_to(second.folder): file.read_bytes() for file in second.folder.rglob("*") if file.is_file()}
    assert files == theirs
    assert Path("report.html") in files
    said = b"".join(files.values())
    assert str(work.folder.parent).encode() not in said
    assert str(tmp_path).encode() not in said


def test_a_definition_that_is_written_for_the_workspace_works(work: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    work.init_study(file)
    begun = read_study(file)
    assert {*begun.datasets} == {entry.name for entry in work.datasets()}
    assert {one.kind for one in begun.systems} <= {"system", "baseline"}
    text = file.read_text(encoding="utf-8").replace(
        "samples = 10000", 'samples = 200\nexhibits = ["systems-on-remixes"]'
    )
    file.write_text(text, encoding="utf-8")
    assert {*work.study(file).results.scores["state"]} == {"there"}


def test_a_folder_of_something_else_is_refused(work: Workspace, studied: Studied, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="holds other things than a study"):
        work.study(STUDY, to=tmp_path)
    folder = tmp_path / "small"
    assert not work.study(STUDY, to=folder).unchanged
    assert work.study(STUDY, to=folder).unchanged
    with pytest.raises(UsageError, match="holds the study 'small', not 'other'"):
        work.study({**STUDY, "name": "other"}, to=folder)
    (folder / "tables" / "systems-on-remixes.md").write_text("other", encoding="utf-8")
    assert not work.study(STUDY, to=folder).unchanged
    (folder / "paper.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="paper.tex is not of the study, and would be lost"):
        work.study(STUDY, to=folder)
    assert (folder / "paper.tex").read_text(encoding="utf-8") == "mine"


def test_a_study_that_is_killed_goes_on_with_the_same_result(
    sample_workspace: Callable[[], Workspace], studied: Studied, tmp_path: Path
) -> None:
    work = sample_workspace()
    (tmp_path / "small.toml").write_text(TEXT, encoding="utf-8")
    command = [sys.executable, "-m", "remix", "study", str(tmp_path / "small.toml"), "-w", str(work.folder)]
    moments = ((1.5, signal.SIGKILL), (3.0, signal.SIGINT), (5.0, signal.SIGKILL))
    for seconds, sent in moments:  # wherever these find it; ten are in bench/study.py --kills
        process = subprocess.Popen(
            [*command, "--to", str(tmp_path / "out")], stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(seconds)
        with suppress(ProcessLookupError):  # it was done
            os.killpg(process.pid, sent)
        process.wait()
    found = work.study(tmp_path / "small.toml", to=tmp_path / "out")
    assert found.manifest.signature == studied.manifest.signature
    assert_frame_equal(found.results.scores, studied.results.scores)
    assert_frame_equal(found.results.differences, studied.results.differences)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out", "small.toml"]


def test_two_processes_do_not_run_one_study(work: Workspace, studied: Studied) -> None:
    with alone(studied.shelf, studied.study), pytest.raises(UsageError, match="'small' runs in another process"):
        work.study(STUDY)


def test_a_system_that_fails_leaves_a_hole_that_says_why(work: Workspace, studied: Studied) -> None:
    mine = {"adapter": "nif", "address": "http://127.0.0.1:9/annotate"}
    only = ["sample-posts"]  # a server that is not there is asked for eleven seconds, for each dataset
    said = {**STUDY, "name": "holes", "datasets": only, "systems": {"prior": {}, "mine": mine}, "remixes": {}}
    with pytest.raises(StudyFaults, match="which a study may not by itself: --allow mine"):
        work.study(said)
    found = work.study(said, allow="mine").results
    own = found.scores.filter(system="mine")
    assert {*own["state"]} == {"failed"}
    assert own["f1"].null_count() == own.height > 0
    assert all("'mine' failed on" in told for told in own["told"])
    assert {*found.scores.filter(system="prior")["state"]} == {"there"}


def test_answers_that_a_user_registered_are_never_replaced(
    sample_workspace: Callable[[], Workspace], tmp_path: Path
) -> None:
    """A system or a file of the same name as a registered run leaves the run as it is, and a hole that says so."""
    work = sample_workspace()
    for name in ("mine", "other"):
        shutil.copy(SMALL / "gold.ttl", tmp_path / f"{name}.ttl")
    text = (SMALL / "gold.ttl").read_text(encoding="utf-8")
    (tmp_path / "mine.ttl").write_text(text.replace("dbr:Alan_Turing", "dbr:Alan_Kay"), encoding="utf-8")
    (tmp_path / "other.ttl").write_text(text.replace("dbr:Alan_Turing", "dbr:Alan_Bennett"), encoding="utf-8")
    work.load(SMALL / "gold.ttl")
    work.add_run("mine", tmp_path / "mine.ttl", on="gold")

    def kept() -> list[str]:
        return [run.checksum for run in list_runs(work.runs_folder) if run.system == "mine"]

    before = kept()
    said = {"name": "kept", "datasets": ["gold"], "samples": 200}
    for own, told in (
        ({"systems": {"mine": {"adapter": "prior"}}}, "registered from mine.ttl, and stays"),
        ({"runs": {"mine": {"files": [str(tmp_path / "other.ttl")]}}}, "registered with other answers"),
    ):
        found = work.study({**said, **own}).results
        assert {*found.scores["state"]} == {"failed"}
        assert told in found.scores["told"][0]
        assert kept() == before
    # Its own file, which changed meanwhile, is registered anew.
    shutil.copy(tmp_path / "other.ttl", tmp_path / "mine.ttl")
    found = work.study({**said, "runs": {"mine": {"files": [str(tmp_path / "mine.ttl")]}}}).results
    assert {*found.scores["state"]} == {"there"}
    # Without a kind a run from a file is a system, without a task and a matching it is scored as profiles are compared.
    assert found.systems["kind"].to_list() == ["system"]
    assert {*found.scores.select("task", "matching").rows()} == {("A2KB", "strong")}
    assert kept() != before


def test_what_is_not_registered_is_a_hole_that_says_how_to_get_it(work: Workspace, studied: Studied) -> None:
    work.annotate("sample-news", "prior-nil", task="D2KB", name="half")
    found = work.study({**STUDY, "name": "half", "systems": {}, "runs": {"half": {}}, "remixes": {}}).results
    whole = found.scores.filter(column="", average="micro")
    states = dict(whole.select("target", "state").iter_rows())
    assert states == {"sample-news": "there", "sample-posts": "not registered", "all": "not registered"}
    told = whole.filter(target="all")["told"][0]
    assert told == (
        "'half' is not registered on sample-posts: `remix run add half FILE --on sample-posts` registers answers"
    )
