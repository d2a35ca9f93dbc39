"""`remix drop`: take a dataset out of the workspace, or the run of a system on it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from remix.cli._options import workspace_option
from remix.workspace import open_workspace


@click.command()
@click.argument("datasets", nargs=-1, required=True)
@click.option("--run", "systems", multiple=True, metavar="NAME", help="Drop the answers of this run on them alone.")
@workspace_option
def command(datasets: tuple[str, ...], systems: tuple[str, ...], workspace: Path | None) -> None:
    """Take datasets out of the workspace, with their enrichment; the files they came from stay.

    With --run datasets stay, and the answers of a run on them go, with their outcomes, as `remix run drop`
    takes them out of all datasets.

    \b
    Example:
      remix drop sample-posts
    """
    opened = open_workspace(workspace)
    for dataset in datasets if systems else ():
        for system in systems:
            taken = [what for _, what in opened.drop_run(system, on=dataset)]
            print(f"the run of {system} on {dataset} is dropped: {', '.join(taken)}", file=sys.stderr)
    for entry in () if systems else opened.drop(datasets):
        print(f"{entry.name} is dropped: {entry.documents} documents, {entry.triples} triples", file=sys.stderr)
