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
@option("--run NAME", "A registered run that is shown; repeatable (default: all).")
@option("--by COLUMN[:SCHEME]", "Scores and errors in the slices of a column, too, as in `remix evaluate --by`.")
@option("--study FOLDER", "What a study has written into this folder comes last; repeatable.")
@option("--to FILE", "File of HTML to write.")
@calling(Workspace.report)
def command(report: partial[Path]) -> None:
    """Write the pages of `remix serve` on datasets, scores and errors as one file, which needs no server.

    A summary comes first, then errors by class, type and column, scores, measures and documents of the datasets, up to
    200 errors of each run in their sentences, and the exhibits of studies. It needs no script, and nothing is loaded
    from elsewhere.

    \b
    Example:
      remix report sample-news --run prior --to report.html
    """
    file = report()
    print(f"{file} is written: {file.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
