"""`remix run`: register answers under a name that every later command takes."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from remix.cli._options import format_option, output_option, print_table, workspace_option
from remix.workspace import open_workspace

AFTER = "annotate"


@click.group()
def command() -> None:
    """Runs: the answers of systems, registered once and taken by name from then on.

    `remix annotate` registers what it makes; `remix run add` takes answers from anywhere.

    \b
    Example:
      remix run list
    """


@command.command()
@click.argument("name")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--on",
    multiple=True,
    metavar="DATASET|FILE",
    help="What is answered (default: every loaded dataset that has one of the documents).",
)
@click.option(
    "--task",
    type=click.Choice(["A2KB", "D2KB"]),
    default="A2KB",
    show_default=True,
    help="What the system was given: texts, or texts and spans.",
)
@click.option("--replace", is_flag=True, help="Replace other answers that are registered under the name.")
@format_option
@workspace_option
@output_option
def add(
    name: str,
    files: tuple[str, ...],
    on: tuple[str, ...],
    task: str,
    replace: bool,
    format: tuple[str, ...],
    workspace: Path | None,
    output: str,
    to: Path | None,
) -> None:
    """Register the answers of files under a name: `remix evaluate`, `compare` and `enrich --difficulty` take it.

    Files are of any format that remix reads; several add up. Documents are found by their IRI, the last part of it, or
    their text. Queries find the outcomes of answers to A2KB (rmx:truePositiveOf, rmx:errorClass, …).

    \b
    Example:
      remix annotate sample-news --system prior --nif answers
      remix run add mine answers/prior--sample-news--a2kb.ttl --on sample-news
    """
    rows = open_workspace(workspace).add_run(name, files, on=on, task=task, replace=replace, format=format)
    print_table(rows, output, to)


@command.command("list")
@workspace_option
@output_option
def list_all(workspace: Path | None, output: str, to: Path | None) -> None:
    """List the registered runs, a row for each dataset and task.

    \b
    Example:
      remix run list
    """
    rows = open_workspace(workspace).runs()
    if rows.is_empty():
        print("no run is registered: `remix annotate` and `remix run add` register some", file=sys.stderr)
    print_table(rows, output, to)


@command.command()
@click.argument("name")
@workspace_option
@output_option
def show(name: str, workspace: Path | None, output: str, to: Path | None) -> None:
    """Show a run: the datasets and tasks that it has answers to, how many, and where they come from.

    \b
    Example:
      remix evaluate sample-news
      remix run show prior
    """
    print_table(open_workspace(workspace).show_run(name), output, to)


@command.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--on", multiple=True, metavar="DATASET", help="Drop the answers to this dataset alone (default: all).")
@click.option("--task", type=click.Choice(["A2KB", "D2KB"]), default=None, help="Drop those made for this task alone.")
@workspace_option
def drop(names: tuple[str, ...], on: tuple[str, ...], task: str | None, workspace: Path | None) -> None:
    """Take runs out of the workspace, with their outcomes; the files that they came from stay.

    \b
    Example:
      remix evaluate sample-news
      remix run drop random-candidate
    """
    opened = open_workspace(workspace)
    for name in names:
        for dataset, what in opened.drop_run(name, on=on, task=task):
            print(f"the run {name} on {dataset} is dropped: {what}", file=sys.stderr)
