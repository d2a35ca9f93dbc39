"""What `remix evaluate` shows first: one table of what runs were made for, and averages of the same datasets alone."""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl
import pytest

from remix.question import Question
from remix.reports.overview import headline_rows, systems_by_datasets, with_equal_averages
from remix.scoring.profiles import PROFILES
from remix.tables import WIDTH, render
from remix.workspace import Workspace
from tests.commands import Done, run_verb

NAMES = ["sample-biographies", "sample-news", "sample-posts"]


@pytest.fixture(scope="module")
def answered(sample_workspace: Callable[[], Workspace]) -> Workspace:
    """The sample corpus: two systems were given the mentions of all, one found those of the news; not to be changed."""
    made = sample_workspace()
    made.annotate((), ["prior", "random-candidate"], task="D2KB")
    made.annotate(["sample-news"], ["prior"], task="A2KB")
    return made


def evaluate(workspace: Workspace, *options: str) -> Done:
    done = run_verb("evaluate", *options, "-w", str(workspace.folder))
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.long
def test_evaluate_without_options_prints_one_table_of_what_runs_were_made_for(answered: Workspace) -> None:
    printed = evaluate(answered).stdout
    title, table, _ = printed.split("\n\n")
    header, _, *rows = table.splitlines()
    assert title == "micro-F1, strong matching"
    assert header.split() == ["system", "task", *NAMES, "all", "mean"]
    # The A2KB run is on the news alone: it has one score and no average. (0.717 + 0.708 + 0.565) / 3 = 0.663.
    assert [row.split() for row in rows] == [
        ["prior", "A2KB", "0.675"],
        ["prior", "D2KB", "0.717", "0.708", "0.565", "0.691", "0.663"],
        ["random-candidate", "D2KB", "0.587", "0.59", "0.512", "0.578", "0.563"],
    ]
    assert len(printed.splitlines()) < 15
    assert "--full also shows C2KB; ERec; weak matching; counts and macro-F1; precision and recall" in printed
    full = evaluate(answered, "--full").stdout
    assert all(f"{task}, weak matching" in full for task in ("A2KB", "D2KB", "ERec")) and "micro-F1" not in full


@pytest.mark.long
def test_table_of_several_datasets_says_which_task_a_run_was_made_for_as_that_of_one_does(answered: Workspace) -> None:
    [of_one], [of_all] = (answered.evaluate(on, task="A2KB", match="strong").tables for on in ("sample-news", NAMES))
    made = dict(of_one.select("system", "run made for").iter_rows())
    assert made == {"prior": "", "random-candidate": "D2KB"}
    assert dict(of_all.select("system", "run made for").iter_rows()) == made
    # Where it is the task of every line nothing is said, as there.
    assert "run made for" not in answered.evaluate(NAMES, task="D2KB", system="random-candidate").tables[0].columns


def test_table_of_several_datasets_says_on_how_many_a_run_was_made_for_another_task() -> None:
    rows = [
        {"system": system, "dataset": f"d{nth}", "run_task": made, "f1": 0.5}
        for system, tasks in {"a": ["D2KB", "A2KB", "A2KB"], "b": ["D2KB"] * 3, "c": ["A2KB"] * 3}.items()
        for nth, made in enumerate(tasks)
    ]
    plain = {"task": "A2KB", "matching": "strong", "column": "", "slice": "", "average": "micro"}
    counts = {"mentions": 2, "tp": 1, "fp": 1, "fn": 1, "ignored": 0, "precision": 0.5, "recall": 0.5}
    frame = pl.DataFrame([{**row, **plain, **counts, "f1_precision": "all"} for row in rows])
    [table] = systems_by_datasets(frame, ["d0", "d1", "d2"]).values()
    assert dict(table.select("system", "run made for").iter_rows()) == {"a": "D2KB (1 of 3)", "b": "D2KB", "c": ""}


@pytest.mark.long
def test_rows_are_the_same_whatever_tables_show(answered: Workspace) -> None:
    whole, brief = (answered.evaluate(full=full) for full in (True, False))
    assert whole.rows.equals(brief.rows) and whole.every_row.equals(brief.every_row)
    assert (len(whole.tables), len(brief.tables)) == (7, 1)
    printed = json.loads(evaluate(answered, "-o", "json").stdout)
    assert printed == json.loads(evaluate(answered, "--full", "-o", "json").stdout)
    assert len(printed) == len(whole.every_row)
    # A task or matching that is named is shown as it was asked for.
    asked = answered.evaluate(task="ERec", match="weak")
    assert asked.titles == ["micro-F1, ERec, weak matching"]
    assert answered.evaluate("sample-news", task="A2KB").titles == ["A2KB, strong matching"]


@pytest.mark.long
def test_rows_of_one_task_have_the_datasets_of_its_runs_not_of_another_task(answered: Workspace) -> None:
    rows = answered.evaluate(system="prior").rows.filter(average="micro", column="", matching="strong")
    sizes = {
        task: dict(rows.filter(pl.col("dataset") != "mean", task=task).select("dataset", "mentions").iter_rows())
        for task in ("A2KB", "D2KB")
    }
    # 494 + 503 + 168 = 1,165 mentions; the run that found mentions itself is on the news alone.
    assert sizes["D2KB"] == {"all": 1165, **dict(zip(NAMES, (494, 503, 168), strict=True))}
    assert sizes["A2KB"] == {"all": 503, "sample-news": 503}


@pytest.mark.long
def test_answers_to_another_task_are_told_once_and_of_what_is_shown(answered: Workspace) -> None:
    assert "is scored with" not in evaluate(answered).stderr and "are scored with" not in evaluate(answered).stderr
    told = [line for line in evaluate(answered, "--full").stderr.splitlines() if "scored with answers" in line]
    (line,) = told
    assert line.startswith("A2KB, C2KB, ERec of random-candidate are scored with answers to D2KB")


@pytest.mark.long
def test_several_precisions_stand_in_one_table_and_are_explained(answered: Workspace) -> None:
    options = ("sample-news", "--system", "prior", "--by", "class", "--task", "A2KB")
    printed = evaluate(answered, *options).stdout
    header = next(line for line in printed.splitlines() if "slice" in line)
    assert header.split("  ")[0] == "system" and "P in scope" in header and "P on mention" in header
    assert " tp " not in header and " tp " in evaluate(answered, *options, "--full").stdout
    said = (
        "P is of all answers, P in scope of those that the selection could mean, P on mention of those on kept mentions"
    )
    assert said in printed.splitlines()
    assert max(len(line) for line in printed.splitlines() if not line.startswith("signature")) <= WIDTH


def scores(found: dict[tuple[str, str], float]) -> pl.DataFrame:
    """Rows of micro-F1 by system and dataset, of A2KB by strong matching."""
    systems, datasets = zip(*found, strict=True)
    columns = {"system": systems, "dataset": datasets, "f1": [*found.values()], "average": "micro", "column": ""}
    frame = pl.DataFrame(
        {
            name: pl.Series(values) if not isinstance(values, str) else [values] * len(found)
            for name, values in columns.items()
        }
    )
    blank = {name: pl.lit(0) for name in ("mentions", "tp", "fp", "fn", "ignored")}
    told = {
        "task": pl.lit("A2KB"),
        "matching": pl.lit("strong"),
        "slice": pl.lit(""),
        "precision": "f1",
        "recall": "f1",
    }
    return frame.with_columns(**blank, **told)


def test_systems_with_other_datasets_are_not_averaged_with_those_that_had_all() -> None:
    # y did well on the one easy dataset that it had: its mean is no mean of what x had.
    rows = scores(
        {("x", "all"): 0.5, ("x", "mean"): 0.5, ("x", "easy"): 0.8, ("x", "hard"): 0.2}
        | {("y", "all"): 0.7, ("y", "mean"): 0.7, ("y", "easy"): 0.7}
    )
    kept, lines = with_equal_averages(rows)
    assert kept.filter(dataset="mean")["system"].to_list() == ["x"]
    assert kept.filter(system="y")["dataset"].to_list() == ["easy"]
    assert lines == ["no average stands beside y, with answers to other datasets than the rest"]
    (table,) = systems_by_datasets(kept, ["easy", "hard"]).values()
    assert table.rows() == [("x", 0.8, 0.2, 0.5, 0.5), ("y", 0.7, None, None, None)]
    # Repeats of a run of which one had another dataset are no mean of the same either.
    repeats = scores({("m", "all"): 0.5, ("m", "easy"): 0.5, ("m", "hard"): 0.4}).with_columns(
        repeats=pl.Series([2, 2, 1])
    )
    assert with_equal_averages(repeats)[0]["dataset"].to_list() == ["easy", "hard"]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("datasets", [3, 40])
@pytest.mark.parametrize("systems", [1, 16])
def test_tables_of_few_and_many_systems_and_datasets_fit_the_terminal(systems: int, datasets: int, width: int) -> None:
    found = {
        (f"system-{s:02}", name): (s + 1) / 20
        for s in range(systems)
        for name in ("all", "mean", *(f"dataset-{d:02}" for d in range(datasets)))
    }
    names = [f"dataset-{d:02}" for d in range(datasets)]
    ((title, table),) = systems_by_datasets(scores(found), names).items()
    assert title == "micro-F1, A2KB, strong matching"
    # Many datasets have a row each, so that one system has one column; the best system comes first.
    by_row = datasets > 8 and systems < datasets
    assert (table.columns[0], len(table)) == (("dataset", datasets + 2) if by_row else ("system", systems))
    best = table.columns[1] if by_row else table["system"][0]
    assert best == f"system-{systems - 1:02}"
    lines = render(table, width=width).splitlines()
    assert max(map(len, lines)) <= width


def test_headline_is_what_the_profile_has_where_no_run_says_what_it_was_made_for() -> None:
    rows = pl.DataFrame(
        {"system": "a", "task": ["A2KB", "A2KB", "ERec", "ERec"], "matching": ["strong", "weak"] * 2, "column": ""}
    )
    shown = headline_rows(rows, PROFILES["remix"], Question())
    assert shown.select("task", "matching").rows() == [("A2KB", "strong")]
    named = headline_rows(rows, PROFILES["remix"], Question(task=("A2KB", "ERec"), match=("strong", "weak")))
    assert named.equals(rows)
