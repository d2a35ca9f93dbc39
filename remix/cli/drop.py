"""`remix drop`: take a dataset out of the workspace, or the run of a system on it."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from remix.cli._options import calling
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.store import DatasetEntry
    from remix.tables import Listed


@click.command()
@click.argument("datasets", nargs=-1, required=True)
@click.option("--run", "systems", multiple=True, metavar="NAME", help="Drop the answers of this run on them alone.")
@calling(Workspace.drop, Workspace.drop_run)
def command(
    drop: partial[Listed[DatasetEntry]],
    drop_run: partial[Listed[tuple[str, str]]],
    datasets: tuple[str, ...],
    systems: tuple[str, ...],
) -> None:
    """Take datasets out of the workspace, with their enrichment; the files they came from stay.

    With --run datasets stay, and the answers of a run on them go, with their outcomes, as `remix run drop`
    takes them out of all datasets.

    \b
    Example:
      remix drop sample-posts
    """
    for dataset in datasets if systems else ():
        for system in systems:
            taken = [what for _, what in drop_run(system, on=dataset)]
            print(f"the run of {system} on {dataset} is dropped: {', '.join(taken)}", file=sys.stderr)
    for entry in () if systems else drop():
        print(f"{entry.name} is dropped: {entry.documents} documents, {entry.triples} triples", file=sys.stderr)
