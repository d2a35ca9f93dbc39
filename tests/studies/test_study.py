"""A study of the sample: its cells are what an evaluation and a comparison have, and nothing is computed twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from remix.errors import UsageError
from remix.studies import Studied
from remix.workspace import Workspace

pytestmark = pytest.mark.long

STUDY = {
    "name": "small",
    "datasets": ["sample-news", "sample-posts"],
    "tasks": ["D2KB"],
    "matchings": ["strong"],
    "by": ["pagerankSegment"],
    "samples": 1000,
    "systems": {"prior": {}, "random-candidate": {"kind": "baseline"}},
    "remixes": {"persons": {"query": "persons_hard.rq"}},
}
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


def test_differences_are_those_of_a_comparison(work: Workspace, studied: Studied) -> None:
    asked = {"run": ["prior", "random-candidate"], "task": "D2KB", "match": "strong", "samples": 1000}
    found = work.compare(["sample-news", "sample-posts"], **asked).pairs.sort("part")
    mine = studied.results.differences.filter(family="systems", column="", score="f1").sort("target")
    mine = mine.filter(pl.col("target").is_in(found["part"].implode()))
    names = ["difference", "low", "high", "documents"]
    assert_frame_equal(mine.select(names), found.select(names))
    # Of so few draws none was as large, so that both say that p is at most 1 / 1001, and Hoeffding's bound says less.
    assert (mine["p"] <= found["p"] + 1e-12).all()


def test_what_is_there_is_not_computed_again(work: Workspace, studied: Studied) -> None:
    assert work.study(STUDY).computed == 0
    more = work.study({**STUDY, "systems": {**STUDY["systems"], "oracle-candidates": {}}})
    # Its counts on four targets (two datasets, both, a remix), and its outcomes on two datasets.
    assert more.computed == 4 + 2
    assert work.study({**STUDY, "samples": 200, "seed": 3, "systems": {"prior": {}}}).computed == 0


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
