"""`remix stats`: the measures of datasets, side by side."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import (
    calling,
    comparing_options,
    format_option,
    option,
    output_option,
    plot_width,
    print_table,
    width_of_screen,
)
from remix.tables import blocks
from remix.workspace import Workspace

if TYPE_CHECKING:
    import polars as pl

    from remix.reports.statistics import Statistics

AFTER = "enrich"


@click.command()
@click.argument("datasets", nargs=-1, metavar="[DATASET|FILE|DIR]...")
@option(
    "--level",
    "What a row is about; datasets are shown as columns.",
    type=click.Choice(["dataset", "document", "annotation"]),
)
@option(
    "--average",
    "Pooled, mean of documents, mean of distinct forms or entities.",
    type=click.Choice(["micro", "macro", "distinct", "count", "all"]),
)
@option("--measure NAME", "Only this measure; may be repeated.")
@option("--profile", "Conventions of the values.", type=click.Choice(["remix", "hfts"]))
@comparing_options
@option("--engine", "What measures frames (DIR).", type=click.Choice(["polars", "spark"]))
@option(
    "--plot",
    "Also draw the measures into this file (.svg, .pdf, .png).",
    type=click.Path(path_type=Path, dir_okay=False),
)
@plot_width
@option("--endpoint URL", "Measure the datasets that this SPARQL endpoint holds.")
@format_option
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
    else:
        _print_blocks(found.table, 2 if level == "dataset" else 1)
    if found.undrawn is not None:
        raise found.undrawn


def _print_blocks(table: pl.DataFrame, keys: int) -> None:
    for number, part in enumerate(blocks(table, keys, width=width_of_screen())):
        if number:
            click.echo()
        print_table(part, "table")
