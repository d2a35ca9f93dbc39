"""`remix info`: the workspace and the versions in use."""

from __future__ import annotations

from pathlib import Path

import click

from remix.cli._options import FrameCall, calling, output_option, print_table
from remix.workspace import Workspace


@click.command()
@output_option
@calling(Workspace.info)
def command(info: FrameCall, output: str, to: Path | None) -> None:
    """Show what the workspace holds, and the versions of what reads it; paste it into reports of problems.

    \b
    Example:
      remix info
    """
    print_table(info(), output, to)
