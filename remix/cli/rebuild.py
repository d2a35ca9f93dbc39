"""`remix rebuild`: the state and the index of a workspace made again from its files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from remix.cli._options import FrameCall, calling, output_option, print_table
from remix.workspace import Workspace


@click.command()
@output_option
@calling(Workspace.rebuild)
def command(rebuild: FrameCall, output: str, to: Path | None) -> None:
    """Make the state and the index of a workspace again from its files, and check those.

    This is for a workspace whose state.json is gone or damaged, or of which any file is. What is sound is kept; what is
    damaged is put aside under another name, and the table says what brings it back. The exit code is 1 then.

    \b
    Example:
      remix rebuild
    """
    table = rebuild()
    print_table(table, output, to)
    damaged = table.filter(table["status"] != "kept").height
    print(f"{table.height - damaged} datasets and graphs are kept, {damaged} are damaged", file=sys.stderr)
    sys.exit(1 if damaged else 0)
