"""`remix stats`: the measures of datasets, side by side."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import calling, comparing_options, format_option, output_option, print_table, workspace_option
from remix.tables import blocks
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.reports.statistics import Statistics

AFTER = "enrich"


@click.command()
@click.argument("datasets", nargs=-1, metavar="[DATASET|FILE|DIR]...")
@click.option(
    "--level",
    type=click.Choice(["dataset", "document", "annotation"]),
    default="dataset",
    show_default=True,
    help="What a row is about; datasets are shown as columns.",
)
@click.option(
    "--average",
    type=click.Choice(["micro", "macro", "distinct", "count", "all"]),
    default="micro",
    show_default=True,
    help="Pooled, mean of documents, mean of distinct forms or entities.",
)
@click.option("--measure", multiple=True, metavar="NAME", help="Only this measure; may be repeated.")
@click.option("--profile", type=click.Choice(["remix", "hfts"]), default="remix", help="Conventions of the values.")
@comparing_options
@click.option("--engine", type=click.Choice(["polars", "spark"]), default="polars", help="What measures frames (DIR).")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Also draw the table into this file.")
@click.option("--endpoint", metavar="URL", help="Measure the datasets that this SPARQL endpoint holds.")
@format_option
@workspace_option
@output_option
@calling(Workspace.stats)
def command(stats: partial[Statistics], level: str, output: str, to: Path | None) -> None:
    """Show the measures of datasets side by side, by default of all, computed afresh.

    A FILE is measured beside what is loaded. DIR is a folder of frames (`remix load --to frames`); one that is alone is
    measured part by part, or on Spark. With `--endpoint https://example.org/sparql` a DATASET is one of those there.

    Shares are in per cent. Where an average does not speak for every annotation, how many it covers stands behind it,
    with ! below 50 %.

    \b
    Example:
      remix stats --average all
    """
    found = stats()
    if found.measured.skipped:
        print(f"no knowledge base is attached: without {', '.join(found.measured.skipped)}", file=sys.stderr)
    people = level != "dataset" or output in {"table", "md", "latex"}
    if output != "table" or to is not None:
        print_table(found.table if people else found.rows, output, to)
        return
    for number, part in enumerate(blocks(found.table, 2 if level == "dataset" else 1)):
        if number:
            click.echo()
        print_table(part, output)
