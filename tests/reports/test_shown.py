"""What lists, partitions, comparisons and plots show people, and what stays with the data."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from remix.measures.enrichment import named_frames
from remix.tables import WIDTH
from remix.workspace import Workspace
from tests.commands import Done, run_verb

KB_SLICES = {"InKB", "EE", "GSInKB"}


@pytest.fixture(scope="module")
def answered(sample_workspace: Callable[[], Workspace]) -> Workspace:
    """The sample corpus, of whose news two systems were given the mentions; not to be changed."""
    made = sample_workspace()
    made.annotate(["sample-news"], ["prior", "random-candidate"], task="D2KB")
    return made


def run(work: Workspace, *line: str, code: int = 0) -> Done:
    done = run_verb(*line, "-w", str(work.store.folder))
    assert done.returncode == code, done.stderr
    return done


def test_datasets_are_listed_on_one_line_each(answered: Workspace) -> None:
    lines = run(answered, "list", "datasets").stdout.splitlines()
    every = answered.listing("datasets")
    assert len(lines) == len(every) + 2  # a header and a rule
    assert max(map(len, lines)) <= WIDTH
    # Names are what `fetch` takes: they are never cut.
    assert [line.split()[0] for line in lines[2:]] == every["name"].to_list()
    printed = json.loads(run(answered, "list", "datasets", "-o", "json").stdout)
    assert printed[0].keys() == set(every.columns) and "task" in every.columns


@pytest.mark.parametrize("verb", ["evaluate", "stats"])
def test_plot_that_cannot_be_drawn_comes_after_the_numbers(
    answered: Workspace, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.backends.backend_agg", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)  # as where the extra is not installed
    options = ("--task", "D2KB") if verb == "evaluate" else ("--measure", "density")
    done = run(answered, verb, "sample-news", *options, "--plot", str(tmp_path / "plot.png"), code=1)
    assert ("prior" if verb == "evaluate" else "density") in done.stdout
    assert "plots as PDF and PNG need matplotlib: pip install 'nel-remix[plot]'" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "plot.png").exists()


@pytest.mark.long
def test_csv_and_rows_have_the_slices_that_were_asked_for_alone(answered: Workspace) -> None:
    line = ("evaluate", "sample-news", "--task", "D2KB", "--match", "strong")
    of_csv = [*csv.DictReader(io.StringIO(run(answered, *line, "-o", "csv").stdout))]
    of_json = json.loads(run(answered, *line, "-o", "json").stdout)
    assert {row["slice"] for row in of_csv} == {""} and {row["slice"] for row in of_json} >= {"", "InKB"}
    report = answered.evaluate("sample-news", task="D2KB", match="strong")
    assert report.rows["slice"].unique().to_list() == [""]
    assert set(report.every_row["slice"]) & KB_SLICES and len(report.every_row) == len(of_json)
    asked = [*csv.DictReader(io.StringIO(run(answered, *line, "--by", "kb", "-o", "csv").stdout))]
    assert {row["slice"] for row in asked} & KB_SLICES


def test_comparison_of_one_system_says_that_it_is_one(answered: Workspace) -> None:
    line = ("compare", "sample-news", "--task", "D2KB", "--samples", "100")
    said = "prior is one system alone: a comparison needs two"
    assert said in run(answered, *line, "--run", "prior").stdout
    assert "one system alone" not in run(answered, *line).stdout


@pytest.mark.parametrize("column", ["density", "numAnnotations"])
def test_partition_by_a_measure_of_documents_cuts_where_scores_are_sliced(answered: Workspace, column: str) -> None:
    edge = 0.12 if column == "density" else 12
    cut = answered.partition(by=column, scheme=f"thresholds:{edge}")
    values = answered.stats(level="document").measured.documents.select("document", column)
    required = named_frames(answered.store).annotations.filter(pl.col("ignorable").is_null())
    required = required.unique(["document", "group"])  # alternatives are one mention
    low = required.join(values, on="document").filter(pl.col(column) <= edge).height
    assert 0 < low < len(required)
    assert cut["annotations"].to_list() == [0, low, len(required) - low]


@pytest.mark.long
def test_partition_by_a_measure_of_documents_writes_its_parts(answered: Workspace, tmp_path: Path) -> None:
    table = answered.partition(by="density", scheme="quantiles:2", to=tmp_path)
    assert table["part"].to_list()[0] == "0: unspecified" and len(table) == 3
    assert len([*tmp_path.glob("density-*.ttl")]) == 2 * 2  # each with its manifest


def test_help_says_which_deciles_are_logarithmic() -> None:
    said = " ".join(run_verb("partition", "--help").stdout.split()).replace("- ", "-")
    assert "log-deciles (ten equal steps of a logarithmic scale)" in said
    assert "deciles or quantiles:4 (parts of equal size)" in said
