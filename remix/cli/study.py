"""`remix study`: systems × remixes × partitions by one command."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import calling, option
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.studies import Studied

AFTER = "compare"


@click.command()
@click.argument("study", type=click.Path(path_type=Path, dir_okay=False), metavar="STUDY.toml")
@option("--to FOLDER", "Folder for tables, figures, the report and the manifest (default: named as the study).")
@calling(Workspace.study)
def command(run: partial[Studied], study: Path, to: Path | None) -> None:
    """Score systems on datasets, remixes and partitions, and write all tables and figures into a folder.

    Only what is missing is computed; a study that was interrupted goes on where it stopped.

    \b
    Example:
      remix study mine.toml --to mine
    """
    found = run(study=study, to=to or Path(study.stem))
    print(f"{found.folder} {'is as it was' if found.unchanged else 'is written'}", file=sys.stderr)
