"""`remix publish`: a dataset with its measures, described so that others find and trust it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from remix.cli._options import workspace_option
from remix.workspace import open_workspace

AFTER = "compare"


@click.command()
@click.argument("dataset")
@click.option(
    "--to", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder that takes the files."
)
@click.option("--force", is_flag=True, help="Overwrite files of that name that remix has not written.")
@click.option("--licence", metavar="IRI", help="IRI of the licence, for the description.")
@workspace_option
def command(dataset: str, to: Path, force: bool, licence: str | None, workspace: Path | None) -> None:
    """Write a dataset as NIF with its measures, a manifest, a DCAT and VoID description, and checksums.

    An empty workspace takes the sample corpus that ships with remix.

    \b
    Example:
      remix publish sample-news --to published
    """
    for path in open_workspace(workspace).publish(dataset, to=to, licence=licence, force=force):
        print(path)
    print(f"{dataset} is published in {to}", file=sys.stderr)
