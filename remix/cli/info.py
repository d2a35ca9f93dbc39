"""`remix info`: the workspace and the versions in use."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import calling, output_option, print_table, workspace_option
from remix.workspace import Workspace

if TYPE_CHECKING:
    import polars as pl


@click.command()
@workspace_option
@output_option
@calling(Workspace.info)
def command(info: partial[pl.DataFrame], output: str, to: Path | None) -> None:
    """Show what the workspace holds, and the versions of what reads it; paste it into reports of problems.

    \b
    Example:
      remix info
    """
    print_table(info(), output, to)
