"""`remix convert`: a file of one format written in another."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import FILE, calling, file_format_option, option
from remix.tables import render
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.formats.conversion import Conversion


@click.command()
@click.argument("dataset", metavar="IN")
@click.argument("target", metavar="OUT", type=FILE)
@option("--to FORMAT", "Format to write (default: by the suffix of OUT); ttl and nt are NIF.")
@file_format_option
@option("--text", "File of any format with the texts that IN lacks.")
@option("--name", "Name of the dataset, which IRIs are made of (default: from IN's name).")
@calling(Workspace.convert)
def command(convert: partial[Conversion], target: Path) -> None:
    """Write the documents and annotations of a dataset, gold or answers, in another format.

    IN is a file of any format that `remix list formats` shows, plain or compressed, `-` for standard input, a folder of
    frames, or a dataset that is loaded. What was mended and
    what the other format cannot hold is told, kind by kind. OUT appears whole or not at all; formats of several files
    are written as a folder, or as an archive where OUT ends in .zip.

    \b
    Example:
      remix convert sample-news sample-news.zip --to brat
    """
    done = convert()
    table = done.table()
    if table.height:
        # What is written may go to standard output itself.
        click.echo(render(table), err=not (target.is_file() or target.is_dir()))
    report = done.report
    counts = f"{report.documents} documents, {report.annotations} annotations"
    print(f"{target} is written as {done.format}: {counts} read as {report.format}", file=sys.stderr)
