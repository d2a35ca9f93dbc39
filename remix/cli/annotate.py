"""`remix annotate`: let systems answer on datasets and remixes."""

from __future__ import annotations

from pathlib import Path

import click

from remix.cli._options import (
    COUNT,
    FILE,
    FrameCall,
    calling,
    format_option,
    option,
    output_option,
    print_table,
    read_settings,
)
from remix.workspace import Workspace

AFTER = "partition"


@click.command()
@click.argument("datasets", nargs=-1, metavar="DATASET|FILE...")
@option("--system", "Name of a system; may be given several times.", required=True)
@option("--task", "What is given.", type=click.Choice(["A2KB", "D2KB"]))
@option("--seed N", "Seed of systems that draw.", type=COUNT)
@option("--name", "What the run is called (default: as the system).")
@option("--parameter NAME=VALUE", "Set a parameter of the system.", multiple=True, callback=read_settings)
@option("--candidates", "File or folder of candidates, for systems that take them.", type=FILE)
@option("--address", "Where a system is asked: http://…, a program's command, or MODULE:FUNCTION.")
@option("--parallel N", "Texts that are asked at a time (default: 4; a program or function 1).", type=click.IntRange(1))
@option("--timeout S", "Seconds that an answer may take.", type=click.FloatRange(min=0, min_open=True))
@option("--retry-failed", "Ask only the documents that failed; the registered answers stay.")
@option("--nif", "Also write each run as NIF into this folder.")
@format_option
@output_option
@calling(Workspace.annotate)
def command(annotate: FrameCall, output: str, to: Path | None) -> None:
    """Run systems over datasets or remixes and keep their answers; without a target, over all datasets.

    In A2KB a system gets the texts alone, in D2KB the spans of the annotations as well. The answers are kept in the
    workspace, where `remix evaluate` finds them. A service, model, program or function is asked text by text, at the
    --address alone (docs/systems.md). Each answer is kept at once: an interrupted command goes on when it is given
    again. Documents that failed are counted and have no answer.

    \b
    Example:
      remix annotate sample-news --system prior --system random-candidate
    """
    print_table(annotate(), output, to)
