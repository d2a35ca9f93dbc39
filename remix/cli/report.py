"""`remix report`: datasets, scores and errors as one page that can be handed on."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from remix.cli._options import calling, option
from remix.workspace import Workspace

AFTER = "publish"


@click.command()
@click.argument("datasets", nargs=-1, metavar="DATASET...")
@option("--run NAME", "A registered run whose errors are shown (default: all).")
@option("--by COLUMN[:SCHEME]", "Scores in the slices of a column, too, as in `remix evaluate --by`.")
@option("--to FILE", "File of HTML to write.")
@calling(Workspace.report)
def command(report: partial[Path]) -> None:
    """Write the pages of `remix serve` on datasets, scores and errors as one file, which needs no server.

    It holds measures and documents of the datasets, the scores of the runs, and up to 200 errors of each run in their
    sentences; no script runs in it, and nothing is loaded from elsewhere.

    \b
    Example:
      remix report sample-news --run prior --to report.html
    """
    file = report()
    print(f"{file} is written: {file.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
