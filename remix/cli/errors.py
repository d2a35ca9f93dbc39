"""`remix errors`: the sentences behind a score."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix import tables
from remix.cli._options import COUNT, FILE, as_data, calling, option, print_bytes, print_table, width_of_screen
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.reports.sentences import ErrorsReport

AFTER = "evaluate"


@click.command()
@click.argument("run")
@option(
    "--on DATASET|FILE",
    "What the run answered; given several times, all count together (default: the one dataset that it is on).",
)
@option("--beside RUN", "A second run, whose answers stand beside.")
@option("--match", "strong, weak, …")
@option("--by COLUMN[:SCHEME]", "A column to slice by, as in `remix evaluate --by`.")
@option("--slice VALUE", "Only this slice of it.")
@option(
    "--show",
    "What became of the mention.",
    type=click.Choice(["errors", "correct", "wrong", "missed", "ignored", "all"]),
)
@option("--class error_class CLASS", "Only this class of errors: wrong_link, missing, extra, ….")
@option("--type TYPE", "Only mentions of this type: Person, Organisation, Place.")
@option(
    "--agreement",
    "'both right', 'only the first right', 'only the second right', 'neither right' of two runs; 'missed by all'.",
)
@option("--limit N", "At most N (default: the first 20; of data all).", type=COUNT)
@click.option(
    "-o", "--output", type=click.Choice(["text", *tables.FORMATS]), default="text", help="Format.", show_default=True
)
@click.option("--to", type=FILE, help="Write to this file.")
@calling(Workspace.errors)
def command(errors: partial[ErrorsReport], output: str, to: Path | None) -> None:
    """Show what a system got wrong: each mention marked in its sentence, what gold has and what was answered.

    Errors are answers with another entity, answers where gold has no mention, and mentions without an answer, each with
    its class. `-o table` has a sentence a row; data (`-o csv`, `-o json`) have the columns of the page Errors of
    `remix serve`. Counted are mentions that systems find themselves (A2KB).

    \b
    Examples:
      remix errors prior --on sample-news --class wrong_link
      remix errors prior --on sample-news --by class --slice Person --limit 5
    """
    found = errors()
    if as_data(output, to):
        print_table(found.table, "table" if output == "text" else output, to)
        return
    if output == "text":
        print_bytes(found.text(width_of_screen()).encode(), to)
    else:
        print_table(found.readable(), output, to)
        click.echo("", err=output != "table")
    click.echo("\n".join(found.lines), err=output not in ("text", "table") or to is not None)
