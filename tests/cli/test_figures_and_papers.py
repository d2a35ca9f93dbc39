"""Figures and tables for papers, by the verbs that draw and print them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from remix.paper import Typesetting, typeset
from remix.reports.readable import typeset_scores
from remix.workspace import Workspace
from tests.commands import Done, run_verb


@pytest.fixture(scope="module")
def place(sample_workspace: Callable[[], Workspace]) -> Workspace:
    return sample_workspace()


def run(place: Workspace, *words: object, code: int = 0) -> Done:
    done = run_verb(*map(str, words), "-w", str(place.store.folder))
    assert done.returncode == code, done.stderr
    return done


VERBS = {
    "stats": ("stats", "--measure", "density"),
    "stats of annotations": ("stats", "--level", "annotation", "-o", "csv"),
    "partition": ("partition", "--by", "ambiguitySurfaceForm"),
    "evaluate": ("evaluate", "sample-news", "--task", "D2KB"),
}


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("verb", VERBS)
def test_plot_of_a_verb_is_as_wide_as_a_column_and_the_same_again(verb: str, place: Workspace, tmp_path: Path) -> None:
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        run(place, *VERBS[verb], "--plot", file, "--plot-width", "column")
    first, second = (file.read_text() for file in files)
    assert first == second
    assert 'width="237.6pt"' in first  # 3.3 inches of 72 points


@pytest.mark.long
def test_partition_that_cannot_be_drawn_is_printed_all_the_same(place: Workspace, tmp_path: Path) -> None:
    done = run(place, *VERBS["partition"], "--plot", tmp_path / "a.gif", code=2)
    assert "unspecified" in done.stdout and "no plot is written as '.gif'" in done.stderr


@pytest.mark.long
def test_scores_for_a_paper_have_the_best_in_bold_and_columns_that_are_chosen(place: Workspace) -> None:
    text = run(place, "evaluate", "sample-news", "--task", "A2KB", "-o", "latex", "--columns", "system,P,F1").stdout
    table = text[text.index("\\begin{tabular}") :]
    assert table.splitlines()[2] == "system & P & F1 \\\\"
    # The oracle and the baselines are shown, and none of them is the best.
    assert "oracle-candidates & 1.000 &" in table and "\nprior & 0." in table
    assert not re.findall(r"^(?:oracle|prior|random)\S* & .*bestvalue", table, re.MULTILINE)
    done = run(place, "evaluate", "sample-news", "-o", "md", "--columns", "system,F2", code=2)
    assert "no column of the table named 'F2'" in done.stderr and "F1" in done.stderr
    rows = run(place, "evaluate", "sample-news", "-o", "csv", "--columns", "f1,system").stdout
    assert rows.splitlines()[0] == "f1,system"


@pytest.mark.long
def test_file_of_a_paper_has_the_table_for_people_and_not_the_rows(place: Workspace, tmp_path: Path) -> None:
    run(place, "evaluate", "sample-news", "--task", "A2KB", "--to", tmp_path / "scores.tex")
    assert "system & mentions & tp" in (tmp_path / "scores.tex").read_text()


def test_best_of_scores_is_a_system_that_is_no_baseline_and_no_oracle() -> None:
    """In rows and in columns: of 0.9, 0.8, 0.6 and 0.5 the third is that of the first system.

    What a run is does not hang on its name: 'best' is somebody's baseline, and 'prior' answers of somebody's system.
    """
    scores = {"oracle-candidates": 0.9, "best": 0.8, "prior": 0.6, "yours": 0.5}
    kinds = {"oracle-candidates": "oracle", "best": "baseline", "prior": "system"}
    rows = pl.DataFrame({"system": [*scores], "F1": [*scores.values()]})
    across = pl.DataFrame({"slice": ["all"], **{name: [value] for name, value in scores.items()}})
    for table in (rows, across):
        text = typeset(*_with_output(*typeset_scores(table, kinds)))
        assert re.findall(r"\*\*([\d.]+)\*\*", text) == ["0.600"]
        assert "kind" not in text
        assert all(f"{value:.3f}" in text for value in scores.values())


def _with_output(table: pl.DataFrame, how: Typesetting) -> tuple[pl.DataFrame, str, Typesetting]:
    return table, "md", how
