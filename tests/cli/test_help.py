"""Every verb says what it does, and the example that its help ends with runs."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from remix.cli import cli
from tests.commands import run_verb

LONG_RUNNING = {"serve"}


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


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace that holds the sample corpus, a corpus file, a remix and runs."""
    folder = tmp_path_factory.mktemp("examples")
    sample = Path(__file__).resolve().parents[2] / "datasets"
    (folder / "corpus.ttl").write_bytes((sample / "corpus" / "sample-posts.ttl").read_bytes())
    (folder / "tables").symlink_to(sample / "kb")
    for line in (
        "remix build --query persons_hard.rq",
        "remix annotate sample-news --system prior --system random-candidate --system oracle-candidates",
    ):
        done = run(line, folder)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    return folder


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_help_ends_with_an_example_of_the_verb(path: tuple[str, ...]) -> None:
    lines = example(VERBS[path])
    assert lines, f"the help of remix {' '.join(path)} has no example"
    assert all(line.startswith(f"remix {' '.join(path)}") for line in lines)


@pytest.mark.parametrize("path", [path for path in VERBS if path[0] not in LONG_RUNNING], ids=" ".join)
def test_example_of_the_help_runs(path: tuple[str, ...], workspace: Path) -> None:
    for line in example(VERBS[path]):
        done = run(line, workspace)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        assert done.stdout or done.stderr


def test_every_option_says_what_it_is_for() -> None:
    silent = [
        f"{' '.join(path)} {option.opts[0]}"
        for path, command in VERBS.items()
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


def test_unknown_verb_is_answered_with_the_nearest() -> None:
    done = run("remix biuld", Path.cwd())
    assert done.returncode == 2
    assert "did you mean 'build'" in done.stderr
