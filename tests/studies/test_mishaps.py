"""What goes wrong around a study: a full disk, data that change between runs, a system that fails half way."""

from __future__ import annotations

import functools
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.studies.results import Results
from remix.studies.shelf import StepShelf
from remix.workspace import Workspace
from tests.commands import run_process, run_verb
from tests.systems.services import Asked, Refused, serving

pytestmark = pytest.mark.long
SMALL = Path(__file__).parents[1] / "runs" / "small"
STUDY: dict[str, Any] = {"name": "s", "tasks": ["A2KB"], "matchings": ["strong"], "samples": 200, "runs": {"mine": {}}}
NIL_ALONE = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
<http://c.org/9#char=0,8> a nif:Context ; nif:isString "Bob ran." ; nif:beginIndex 0 ; nif:endIndex 8 .
<http://c.org/9#char=0,3> a nif:Phrase ; nif:anchorOf "Bob" ; nif:referenceContext <http://c.org/9#char=0,8> ;
  nif:beginIndex 0 ; nif:endIndex 3 ; <http://www.w3.org/2005/11/its/rdf#taIdentRef> <http://aksw.org/notInWiki/Bob> .
"""


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by their places in it."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def work(sample_workspace: Callable[[], Workspace], tmp_path: Path) -> Workspace:
    """A workspace with a small dataset, and answers to it of which one is wrong."""
    found = sample_workspace()
    text = (SMALL / "gold.ttl").read_text(encoding="utf-8")
    (tmp_path / "answers.ttl").write_text(text.replace("dbr:Alan_Turing", "dbr:Alan_Kay"), encoding="utf-8")
    (tmp_path / "changed.ttl").write_text(text.replace("dbr:Alan_Turing", "dbr:Alan_Kay"), encoding="utf-8")
    shutil.copy(SMALL / "gold.ttl", tmp_path / "gold.ttl")
    found.load(tmp_path / "gold.ttl")
    found.add_run("mine", tmp_path / "answers.ttl", on="gold")
    return found


def test_a_full_disk_ends_in_a_line_and_the_study_goes_on(work: Workspace, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'datasets = ["gold"]\ntasks = ["A2KB"]\nmatchings = ["strong"]\nsamples = 200\n[runs.mine]\n', encoding="utf-8"
    )
    line = ["--quiet", "study", str(tmp_path / "s.toml"), "-w", str(work.folder), "--to", str(tmp_path / "out")]
    for size in (2_000, 30_000):  # the second is room enough for steps, and none for the report
        full = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
        done = run_process(*line, prepare=full, PYTHONDONTWRITEBYTECODE="1")
        assert done.returncode == 1
        assert "File too large" in done.stderr and "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not (tmp_path / "out").exists()
    assert run_process(*line).returncode == 0
    again = work.study({**STUDY, "datasets": ["gold"]}, to=tmp_path / "whole")
    assert files_of(tmp_path / "out") == files_of(again.folder or tmp_path)


def test_a_dataset_that_changed_is_scored_anew(work: Workspace, tmp_path: Path) -> None:
    said = {**STUDY, "datasets": ["gold"], "systems": {"prior": {}}}
    before = work.study(said, to=tmp_path / "out")
    work.load(tmp_path / "changed.ttl", name="gold", replace=True)
    after = work.study(said, to=tmp_path / "out")
    assert not after.unchanged
    assert after.manifest.signature != before.manifest.signature
    # What the study makes is made anew; answers to texts that are as they were are scored with the gold of now, as
    # `remix evaluate` scores them: a link that was wrong in gold is right in the answers.
    whole = {row["system"]: row for row in after.results.scores.filter(column="", average="micro").to_dicts()}
    assert {whole["prior"]["state"], whole["mine"]["state"]} == {"there"}
    evaluated = work.evaluate("gold", system="mine", task="A2KB", match="strong").rows.filter(average="micro", slice="")
    assert [one["tp"] for one in (evaluated.row(0, named=True), whole["mine"])] == [4, 4]
    [mine] = before.results.scores.filter(column="", average="micro", system="mine")["tp"]
    assert mine == 3
    assert work.study(said, to=tmp_path / "out").unchanged
    text = (tmp_path / "changed.ttl").read_text(encoding="utf-8")
    (tmp_path / "moved.ttl").write_text(text.replace("Ada met Alan", "Ada saw Alan"), encoding="utf-8")
    work.load(tmp_path / "moved.ttl", name="gold", replace=True)
    mine = work.study(said).results.scores.filter(system="mine", column="", average="micro")
    assert "'mine' answers other texts than gold has now" in mine["told"][0]


def test_answers_to_spans_that_changed_are_a_hole(work: Workspace, tmp_path: Path) -> None:
    """Answers of D2KB are of the spans that were given, so that others are asked for where annotations changed."""
    work.add_run("spans", tmp_path / "answers.ttl", on="gold", task="D2KB")
    work.load(tmp_path / "changed.ttl", name="gold", replace=True)
    asked = {**STUDY, "datasets": ["gold"], "tasks": ["D2KB"], "runs": {"spans": {"task": "D2KB"}}}
    [told] = work.study(asked).results.scores.filter(column="", average="micro", system="spans")["told"]
    assert "'spans' was registered before the annotations of gold changed, whose spans it was given" in told


def test_a_system_that_fails_on_some_documents_says_on_how_many(sample_workspace: Callable[[], Workspace]) -> None:
    """Documents without an answer count as missed, and stand in a column of their own."""
    work = sample_workspace()
    asked: list[bytes] = []

    def fail_after_twenty(request: Asked) -> Refused:
        asked.append(request.body)
        return (
            Refused(400, b"no more") if len(asked) > 20 else Refused(200, request.body, {"Content-Type": "text/turtle"})
        )

    with serving(fail_after_twenty) as service:
        said = {**STUDY, "datasets": ["sample-news"], "runs": {}, "tasks": ["D2KB"]}
        said["systems"] = {"prior": {}, "half": {"adapter": "nif", "address": service.address}}
        found = work.study(said, allow="half").results
    whole = found.scores.filter(column="", average="micro").sort("system")
    [(known,)] = work.runs().filter(pl.col("run") == "half").select("failed").rows()
    assert whole.select("system", "failed", "state").rows() == [("half", known, "there"), ("prior", 0, "there")]
    assert 10 < known < 30  # of 39 texts, some twenty were answered before it failed
    assert "failed" not in set(found.systems["state"])


def test_a_dataset_without_a_value_in_a_column_is_scored_as_a_whole(work: Workspace, tmp_path: Path) -> None:
    """NIL has no prominence: a dataset of NIL alone has no part by it, and a score."""
    (tmp_path / "nil.ttl").write_text(NIL_ALONE, encoding="utf-8")
    work.load(tmp_path / "nil.ttl")
    work.add_run("mine", tmp_path / "nil.ttl", on="nil", perfect=True)
    said = {**STUDY, "datasets": ["gold", "nil"], "by": ["pagerankSegment"]}
    found = work.study(said)
    rows = found.results.scores.filter(average="micro")
    assert {*rows["state"]} == {"there"}
    whole = rows.filter(column="", target="nil")
    assert (whole["tp"][0], whole["fn"][0]) == (1, 0)
    assert rows.filter(target="nil", column="pagerankSegment").is_empty()
    assert rows.filter(target="gold", column="pagerankSegment").height > 0
    assert work.study(said).computed == 0


def test_why_a_step_has_no_result_is_kept(tmp_path: Path) -> None:
    shelf = StepShelf(tmp_path)
    assert shelf.lacks("count", "a") and shelf.why_not("count", "a") == ""
    shelf.refuse("count", "a", "nothing to count")
    assert not shelf.has("count", "a")
    assert not shelf.lacks("count", "a")
    assert shelf.why_not("count", "a") == "nothing to count"


def test_each_fault_of_a_definition_has_a_line_on_the_command_line(
    sample_workspace: Callable[[], Workspace], tmp_path: Path
) -> None:
    """The column is none of the datasets that are there, whatever becomes of the one that there is not."""
    (tmp_path / "mine.toml").write_text(
        'datasets = ["sample-newz", "sample-posts"]\nby = ["pagerankSegmnt"]\nexhibits = ["orgins"]\n[systems.priorr]\n'
    )
    done = run_verb("study", "mine.toml", "-w", str(sample_workspace().folder), folder=tmp_path)
    assert done.returncode == 2
    first, *faults = done.stderr.splitlines()
    assert first == "remix: study 'mine' has 4 faults:"
    begins = (
        "- datasets: 'sample-newz'",
        "- systems.priorr: ",
        "- exhibits: no exhibit named 'orgins'",
        "- by: no column",
    )
    assert all(fault.startswith(begin) for fault, begin in zip(faults, begins, strict=True))
    assert all(name in done.stderr for name in ("'sample-news'", "'prior'", "'origins'", "pagerankSegment"))


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_a_system_more_is_scored_and_tested_alone_with_the_same_result(
    sample_workspace: Callable[[], Workspace], average: str
) -> None:
    def run(work: Workspace, *names: str) -> Results:
        said = {**STUDY, "datasets": ["sample-posts", "sample-news"], "runs": {}, "tasks": ["D2KB"]}
        said |= {"remixes": {"persons": {"query": "persons_hard.rq"}}, "by": ["pagerankSegment"], "average": average}
        return work.study({**said, "systems": {name: {} for name in names}}).results

    def steps(work: Workspace, kind: str) -> set[str]:
        return {place.name for place in (work.store.own("cache") / "studies").glob(f"{kind}-*")}

    work = sample_workspace()
    run(work, "prior", "random-candidate")
    pairs, systems = steps(work, "pair"), steps(work, "system")
    more = run(work, "oracle-candidates", "prior", "random-candidate")
    # Four targets: both datasets, all, the remix. One pair on each, then two more; two systems on each, then one more.
    assert (len(pairs), len(systems)) == (4, 8)
    assert pairs < steps(work, "pair") and len(steps(work, "pair")) == 12
    assert systems < steps(work, "system") and len(steps(work, "system")) == 12
    at_once = run(sample_workspace(), "oracle-candidates", "prior", "random-candidate")
    assert_frame_equal(more.scores, at_once.scores, check_exact=True)
    assert_frame_equal(more.counts, at_once.counts, check_exact=True)
    assert_frame_equal(more.differences, at_once.differences, check_exact=average == "micro", rel_tol=1e-12)
    assert {*more.differences["family"]} == {"systems", "unfiltered"}
