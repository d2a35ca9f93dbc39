"""Every verb says what it does, and the example that its help ends with runs."""

from __future__ import annotations

import csv
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from remix.cli import cli
from remix.store import Store
from remix.workspace import Workspace
from tests.commands import run_verb
from tests.workspaces import copy_workspace

LONG_RUNNING = {"serve", "study"}
"""Verbs whose examples are not run here: one serves until it is stopped, the other takes minutes (tests/studies)."""


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


VERBS = dict(commands(cli))


def example(command: click.Command) -> list[str]:
    lines = (command.help or "").split("Example:")[-1].splitlines()
    return [line.strip() for line in lines if line.strip().startswith("remix ")]


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return run_verb(*shlex.split(line)[1:], folder=folder)


@pytest.fixture
def fresh(answered_sample: Workspace, tmp_path: Path) -> Path:
    """A folder as a command finds it that began in an empty one, when it has taken the sample corpus and its runs."""
    copy_workspace(answered_sample.folder, tmp_path / ".remix")
    return tmp_path


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_help_ends_with_an_example_of_the_verb(path: tuple[str, ...]) -> None:
    lines = example(VERBS[path])
    assert lines, f"the help of remix {' '.join(path)} has no example"
    own = f"remix {' '.join(path)}"
    assert lines[-1].startswith(own), f"the example that the help ends with has to be of the verb: '{own} …'"


@pytest.mark.at_hand(1)
@pytest.mark.parametrize("path", [path for path in VERBS if path[0] not in LONG_RUNNING], ids=" ".join)
def test_example_of_the_help_runs_in_a_fresh_folder(path: tuple[str, ...], fresh: Path) -> None:
    for line in example(VERBS[path]):
        done = run(line, fresh)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        assert done.stdout or done.stderr


def test_a_study_is_written_for_the_workspace_and_its_steps_are_shown(fresh: Path) -> None:
    """The example of `study` takes minutes; what it would compute is told at once, and nothing is."""
    done = run("remix study init mine.toml", fresh)
    assert (done.returncode, done.stderr) == (0, "mine.toml is written: `remix study` runs it\n")
    steps = run("remix study mine.toml --dry-run -o csv", fresh)
    assert steps.returncode == 0, steps.stderr
    head, *rows = csv.reader(steps.stdout.splitlines())
    assert head[:3] == ["step", "what", "state"] and {row[2] for row in rows} <= {"there", "to do"}
    assert any("sample-news" in row[1] for row in rows) and any("to do" in row for row in rows)
    assert sorted(one.name for one in fresh.iterdir()) == [".remix", "mine.toml"]


@pytest.mark.long
def test_the_sample_corpus_is_taken_into_a_new_workspace(tmp_path: Path) -> None:
    done = run("remix query 'ASK {}'", tmp_path)
    assert done.returncode == 0
    assert "the workspace .remix was empty and holds the sample corpus now" in done.stderr


@pytest.mark.parametrize("line", ["remix stats mine.ttl", "remix annotate mine.ttl --system prior", "remix drop mine"])
def test_the_sample_corpus_is_not_taken_where_something_else_is_named(line: str, tmp_path: Path) -> None:
    done = run(line, tmp_path)
    assert done.returncode == 2 and "mine" in done.stderr and "sample corpus" not in done.stderr
    assert not list(tmp_path.rglob("*.ttl"))


@pytest.fixture(scope="module")
def emptied(sample_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose workspace had the sample corpus, which was dropped."""
    folder = tmp_path_factory.mktemp("emptied")
    copy_workspace(sample_store.folder, folder / ".remix")
    assert run("remix drop sample-biographies sample-news sample-posts", folder).returncode == 0
    return folder


@pytest.mark.parametrize("line", ["remix stats", "remix enrich", "remix build --query persons", "remix query 'ASK {}'"])
def test_the_sample_corpus_is_not_taken_into_a_workspace_that_was_emptied(line: str, emptied: Path) -> None:
    done = run(line, emptied)
    assert done.returncode == 1
    assert "holds no dataset: `remix load FILE` loads one, `remix load sample-biographies" in done.stderr


def test_every_option_says_what_it_is_for() -> None:
    silent = [
        f"{' '.join(path)} {option.opts[0]}"
        for path, command in VERBS.items()
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


def test_help_of_evaluate_says_which_rows_a_format_has() -> None:
    said = " ".join(run("remix evaluate --help", Path.cwd()).stdout.split())
    assert "CSV has the rows that were asked for" in said
    assert "Parquet have those of mentions in and outside of the knowledge base as well (InKB, EE, GSInKB)" in said


def test_unknown_verb_is_answered_with_the_nearest() -> None:
    done = run("remix biuld", Path.cwd())
    assert done.returncode == 2
    assert "did you mean 'build'" in done.stderr
