"""`remix show`: one thing in full."""

from __future__ import annotations

from pathlib import Path

import click

from remix.cli._options import workspace_option
from remix.workspace import open_workspace


@click.command()
@click.argument("name")
@workspace_option
def command(name: str, workspace: Path | None) -> None:
    """Show a query with its parameters and text, a dataset with its counts, source and licence, a measure, a profile.

    \b
    Example:
      remix show persons_hard
    """
    print(open_workspace(workspace).show(name), end="")
