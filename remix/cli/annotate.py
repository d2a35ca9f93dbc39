"""`remix annotate`: let systems answer on datasets and remixes."""

from __future__ import annotations

from pathlib import Path

import click

from remix.cli._options import COUNT, FrameCall, calling, format_option, option, output_option, print_table
from remix.workspace import Workspace

AFTER = "partition"


@click.command()
@click.argument("datasets", nargs=-1, metavar="DATASET|FILE...")
@option("--system", "Name of a system; may be given several times.", required=True)
@option("--task", "What is given.", type=click.Choice(["A2KB", "D2KB"]))
@option("--seed N", "Seed of systems that draw.", type=COUNT)
@option("--nif", "Also write each run as NIF into this folder.")
@format_option
@output_option
@calling(Workspace.annotate)
def command(annotate: FrameCall, output: str, to: Path | None) -> None:
    """Run systems over datasets or remixes and keep their answers; without a target, over all datasets.

    In A2KB a system gets the texts alone, in D2KB the spans of the annotations as well. The answers are kept in the
    workspace, where `remix evaluate` finds them.

    \b
    Example:
      remix annotate sample-news --system prior --system random-candidate
    """
    print_table(annotate(), output, to)
