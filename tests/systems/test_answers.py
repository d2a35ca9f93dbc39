"""The answers that ship with the project are what the systems answer, and fit the corpus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from remix.formats import read
from remix.resources import folder
from remix.workspace import Workspace
from tests.scoring.conftest import evaluate

SYSTEMS = ("oracle-candidates", "prior", "random-candidate")
"""The systems whose answers ship."""
DATASETS = ("sample-biographies", "sample-news", "sample-posts")


@pytest.fixture(scope="module")
def made(sample_workspace: Callable[[], Workspace], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    sample_workspace().annotate(DATASETS, SYSTEMS, nif=folder)
    return folder


@pytest.mark.at_hand(2)
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("dataset", DATASETS)
def test_shipped_answers_are_what_the_system_answers(system: str, dataset: str, made: Path) -> None:
    name = f"{system}--{dataset}--a2kb.ttl"
    shipped = folder("datasets") / "answers" / name
    assert shipped.read_bytes() == (made / name).read_bytes(), "run: sh scripts/answers"


@pytest.mark.long
def test_shipped_files_pass_check(tmp_path: Path) -> None:
    files = [str(file) for name in ("corpus", "answers") for file in sorted((folder("datasets") / name).glob("*.ttl"))]
    assert len(files) == 12
    assert Workspace(tmp_path).check(files).filter(severity="error").rows() == []


@pytest.mark.parametrize("dataset", DATASETS)
def test_systems_come_out_in_the_order_of_what_they_know(dataset: str) -> None:
    gold = read(folder("datasets") / "corpus" / f"{dataset}.ttl").frames
    runs = {s: read(folder("datasets") / "answers" / f"{s}--{dataset}--a2kb.ttl").frames for s in SYSTEMS}
    rows = evaluate(gold, runs, task=["D2KB"], match=["strong"]).filter(average="micro", column="", dataset="all")
    score = dict(rows.select("system", "f1").iter_rows())
    assert score["random-candidate"] < score["prior"] < score["oracle-candidates"] < 1
