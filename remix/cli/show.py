"""`remix show`: one thing in full."""

from __future__ import annotations

from functools import partial

import click

from remix.cli._options import calling
from remix.workspace import Workspace


@click.command()
@click.argument("name")
@calling(Workspace.show)
def command(show: partial[str]) -> None:
    """Show a query with its parameters and text, a dataset with its counts, source and licence, a measure, a profile.

    \b
    Example:
      remix show persons_hard
    """
    print(show(), end="")
