"""`remix run`: register answers under a name that every later command takes."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import (
    FrameCall,
    calling,
    format_option,
    option,
    output_option,
    print_table,
    read_settings,
)
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.tables import Listed

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
@click.argument("answers", nargs=-1, required=True, metavar="FILE...")
@option("--on DATASET|FILE", "What is answered (default: every loaded dataset that has one of the documents).")
@option("--task", "What the system was given: texts, or texts and spans.", type=click.Choice(["A2KB", "D2KB"]))
@option("--replace", "Replace other answers that are registered under the name.")
@option(
    "--record NAME=VALUE",
    "How it was made: system, version, date, revision (of the texts), hardware, seconds, cost, …; else a parameter.",
    multiple=True,
    callback=read_settings,
)
@option("--strict", "Refuse a run that looks wrong.")
@option("--perfect", "Take answers that equal gold, of a system that is right everywhere.")
@format_option
@output_option
@calling(Workspace.add_run)
def add(add_run: FrameCall, output: str, to: Path | None) -> None:
    """Register the answers of files under a name: `remix evaluate`, `compare` and `enrich --difficulty` take it.

    What the run looks like beside the dataset is told first, on standard error: documents, spans, offsets, forms,
    entities, a trial score, and what to do where it looks wrong. Files are of any format; several add up. Documents
    are found by their IRI, the last part of it, or their text. Queries find the outcomes of answers to A2KB
    (rmx:truePositiveOf, rmx:errorClass, …).

    \b
    Example:
      remix annotate sample-news --system prior --nif answers
      remix run add mine answers/prior--sample-news--a2kb.ttl --on sample-news
    """
    print_table(add_run(), output, to)


@command.command("list")
@output_option
@calling(Workspace.runs)
def list_all(runs: FrameCall, output: str, to: Path | None) -> None:
    """List the registered runs, a row for each dataset and task.

    \b
    Example:
      remix run list
    """
    rows = runs()
    if rows.is_empty():
        print("no run is registered: `remix annotate` and `remix run add` register some", file=sys.stderr)
    print_table(rows, output, to)


@command.command()
@click.argument("name")
@output_option
@calling(Workspace.show_run)
def show(show_run: FrameCall, output: str, to: Path | None) -> None:
    """Show a run: the datasets and tasks that it has answers to, how many, and where they come from.

    \b
    Example:
      remix evaluate sample-news
      remix run show prior
    """
    print_table(show_run(), output, to)


@command.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@option("--on DATASET", "Drop the answers to this dataset alone (default: all).")
@option("--task", "Drop those made for this task alone.", type=click.Choice(["A2KB", "D2KB"]))
@calling(Workspace.drop_run)
def drop(drop_run: partial[Listed[tuple[str, str]]], names: tuple[str, ...]) -> None:
    """Take runs out of the workspace, with their outcomes; the files that they came from stay.

    \b
    Example:
      remix evaluate sample-news
      remix run drop random-candidate
    """
    for name in names:
        for dataset, what in drop_run(name=name):
            print(f"the run {name} on {dataset} is dropped: {what}", file=sys.stderr)
