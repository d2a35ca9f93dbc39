"""`remix partition`: datasets cut into parts by a column."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from remix import tables
from remix.cli._options import FILE, MENTIONS, FrameCall, calling, option, plot_width, print_table
from remix.workspace import Workspace

AFTER = "build"


@click.command()
@click.argument("folder", required=False, type=FILE, metavar="[DIR]")
@option(
    "--by COLUMN[:SCHEME]",
    "A column of annotations or documents (`remix list columns`), and how it is cut, as in evaluate --by.",
    required=True,
)
@option(
    "--scheme",
    "The scheme, where --by names none: log-deciles (ten equal steps of a logarithmic scale), deciles or quantiles:4 "
    "(parts of equal size), thresholds:3,5,16, head-torso-tail (of what is cut), head-torso-tail:kb (of the whole "
    "knowledge base) or classes. Default: quantiles:4 of numbers in more than ten different values, else classes.",
)
@option("--to", "Folder of the parts (default: only the table).", type=click.Path(path_type=Path, file_okay=False))
@option("--replace", "Replace what is there already.")
@option(
    "--plot", "Also draw the sizes of the parts (.svg, .pdf, .png).", type=click.Path(path_type=Path, dir_okay=False)
)
@plot_width
@click.option("-o", "--output", type=click.Choice(tables.FORMATS[:-1]), default="table", help="Format of the table.")
@calling(Workspace.partition, Workspace.plot_partition)
def command(partition: FrameCall, draw: partial[None], to: Path | None, output: str) -> None:
    """Cut what is loaded, or a folder of frames, into parts by a column; print boundaries and quantities.

    Each part is written into a folder: of a workspace as a remix (NAME.ttl with its manifest), of frames as a folder of
    frames. Parts are those that `remix evaluate --by` makes, with the same numbers and names: one holds the values
    above its lower boundary up to its upper one; part 0, 'unspecified', is what has no value. COLUMN may also be a term
    or a measure, which stands for its first column.

    \b
    Example:
      remix partition --by 'ambiguitySurfaceForm:thresholds:3,5,16'
    """
    table = partition()
    print_table(table, output, called=MENTIONS)
    if to is not None:
        print(f"{table.filter(table['annotations'] > 0).height} parts are written into {to}", file=sys.stderr)
    draw(table)
