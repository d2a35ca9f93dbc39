"""`remix info`: the workspace and the versions in use."""

from __future__ import annotations

from pathlib import Path

import click

from remix.cli._options import output_option, print_table, workspace_option
from remix.workspace import open_workspace


@click.command()
@workspace_option
@output_option
def command(workspace: Path | None, output: str, to: Path | None) -> None:
    """Show what the workspace holds, and the versions of what reads it; paste it into reports of problems.

    \b
    Example:
      remix info
    """
    print_table(open_workspace(workspace).info(), output, to)
