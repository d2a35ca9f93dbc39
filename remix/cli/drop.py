"""`remix drop`: take a dataset out of the workspace."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from remix.cli._options import workspace_option
from remix.workspace import open_workspace


@click.command()
@click.argument("datasets", nargs=-1, required=True)
@workspace_option
def command(datasets: tuple[str, ...], workspace: Path | None) -> None:
    """Take datasets out of the workspace, with their enrichment; the files they came from stay.

    \b
    Example:
      remix drop sample-posts
    """
    for entry in open_workspace(workspace).drop(datasets):
        print(f"{entry.name} is dropped: {entry.documents} documents, {entry.triples} triples", file=sys.stderr)
