"""`remix partition`: datasets cut into parts by a column."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from remix import tables
from remix.cli._options import FILE, FrameCall, calling, option, plot_width, print_table
from remix.workspace import Workspace

AFTER = "build"


@click.command()
@click.argument("folder", required=False, type=FILE, metavar="[DIR]")
@option("--by COLUMN", "A column of annotations or documents; see `remix list columns`.")
@option(
    "--scheme",
    "log-deciles (ten equal steps of a logarithmic scale), quantiles:10 (ten parts of equal size), head-torso-tail, "
    "thresholds:3,5,16 or classes, as in evaluate --by.",
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
    frames. A part holds the values above its lower boundary up to its upper one; what has no value is 'unspecified'.
    Head, torso and tail are of the annotations that are cut; those of the whole knowledge base are the column
    pagerankSegment, cut by classes. COLUMN may also be a term or a measure, which stands for its first column.

    \b
    Example:
      remix partition --by ambiguitySurfaceForm --scheme 'thresholds:3,5,16'
    """
    table = partition()
    print_table(table, output)
    if to is not None:
        print(f"{table.filter(table['annotations'] > 0).height} parts are written into {to}", file=sys.stderr)
    draw(table)
