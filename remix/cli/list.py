"""`remix list`: what there is."""

from __future__ import annotations

from pathlib import Path

import click

from remix.cli._options import output_option, print_table, workspace_option
from remix.workspace import open_workspace

KINDS = (
    "datasets",
    "queries",
    "sets",
    "measures",
    "formats",
    "systems",
    "profiles",
    "matchings",
    "taxonomies",
    "sources",
    "engines",
    "runs",
)


@click.command()
@click.argument("kind", type=click.Choice(KINDS), default="datasets", metavar="[KIND]")
@workspace_option
@output_option
def command(kind: str, workspace: Path | None, output: str, to: Path | None) -> None:
    """List what is loaded and known (datasets), or the parts of remix of a kind.

    The kinds are datasets, queries, sets (the named sets of parameters that queries have), measures, formats, systems,
    profiles, matchings, taxonomies of errors, sources and engines of knowledge bases, and runs (what systems answered).

    \b
    Example:
      remix list queries
    """
    print_table(open_workspace(workspace).listing(kind), output, to)
