"""`remix enrich`: compute the measures and store them as RDF."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import COUNT, FILE, FrameCall, calling, comparing_options, option, output_option, print_table
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.runs.difficulty import Difficulty

SHOWN = 10
"""Weights of the difficulty that are printed."""


AFTER = "kb"


@click.command()
@click.argument("folder", required=False, type=FILE, metavar="[DIR]")
@comparing_options
@click.option(
    "--difficulty",
    is_flag=True,
    help="Also learn from the registered runs how likely a system is wrong on an annotation.",
)
@option("--seed N", "Seed of the cross-validation.", type=COUNT)
@output_option
@calling(Workspace.enrich, Workspace.difficulty)
def command(
    enrich: FrameCall,
    learn: partial[Difficulty],
    workspace: Workspace,
    folder: Path | None,
    difficulty: bool,
    output: str,
    to: Path | None,
) -> None:
    """Compute every measure of every dataset and keep the values as RDF, where queries find them.

    Doing it twice changes nothing; another knowledge base or another option replaces what was there. Without a
    knowledge base, only the measures that need none are computed.

    `--difficulty` needs registered runs of several systems: `remix annotate` and `remix run add` register them.

    Of DIR, a folder of frames (`remix load --to frames`), the values are written as Parquet beside the frames.

    \b
    Example:
      remix enrich
    """
    import polars as pl

    if folder is not None and difficulty:
        raise click.UsageError("--difficulty is learnt from the runs of a workspace: leave it or DIR out")
    done = enrich()
    if workspace.kb is None:
        print("no knowledge base is attached: see `remix kb attach`, then enrich again", file=sys.stderr)
    learnt = learn() if difficulty else None
    if learnt is not None and output != "table":
        done = done.join(
            learnt.report.with_columns(difficulty=pl.lit(str(learnt.signature))), how="cross", suffix="_judged"
        )
    print_table(done.drop("signature") if output == "table" else done, output, to)
    if learnt is not None and output == "table":
        click.echo("", err=to is not None)
        _print_learnt(learnt)


def _print_learnt(learnt: Difficulty) -> None:
    import polars as pl

    names = {"auc": "AUC", "brier": "Brier score", "ece": "calibration error"}
    print_table(learnt.report.rename(names), "table")
    click.echo("\nwhat tells it (log-odds of an error per standard deviation)\n")
    print_table(learnt.weights.head(SHOWN).with_columns(pl.col("weight").round(3)), "table")
    click.echo(f"\nsignature {learnt.signature}")
