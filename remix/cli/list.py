"""`remix list`: what there is."""

from __future__ import annotations

from pathlib import Path

import click

from remix.cli._options import output_option, print_table, workspace_option
from remix.workspace import open_workspace


@click.command()
@click.argument("kind", default="datasets", metavar="[KIND]")
@workspace_option
@output_option
def command(kind: str, workspace: Path | None, output: str, to: Path | None) -> None:
    """List what is loaded and known (datasets), or the parts of remix of a kind.

    `remix list kinds` says which kinds there are: queries, measures, columns, terms, tasks, profiles, formats, ….

    \b
    Example:
      remix list queries
    """
    print_table(open_workspace(workspace).listing(kind), output, to)
