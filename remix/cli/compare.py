"""`remix compare`: systems against each other, or two annotations of the same texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from remix import tables
from remix.cli._options import output_option, print_table, workspace_option
from remix.signature import Signature
from remix.workspace import open_workspace

if TYPE_CHECKING:
    import polars as pl

MACHINE = ("json", "jsonl", "csv", "parquet")
BROADEST = 8
"""Columns of scores beside each other that a terminal has room for."""


@click.command()
@click.argument("targets", nargs=-1, metavar="DATASET|FILE...")
@click.option("--gold", multiple=True, type=click.Path(path_type=Path), help="File of gold; the workspace is not used.")
@click.option(
    "--run", "runs", multiple=True, metavar="NAME=FILE", help="Answers of a system; files of one NAME add up."
)
@click.option("--system", "systems", multiple=True, help="System whose kept runs are compared (default: all).")
@click.option("--profile", default="remix", show_default=True, help="Whose conventions are followed.")
@click.option("--task", "tasks", multiple=True, help="A2KB, D2KB, C2KB, ERec, … (default: the profile's).")
@click.option("--match", "matchings", multiple=True, help="strong, weak, … (default: the profile's).")
@click.option("--by", multiple=True, metavar="COLUMN", help="Compare on the slices of a column, too.")
@click.option("--unfiltered", default="", metavar="NAME", help="What the others are correlated with (default: first).")
@click.option(
    "--score", type=click.Choice(["precision", "recall", "f1"]), default="f1", show_default=True, help="What is tested."
)
@click.option(
    "--average", type=click.Choice(["micro", "macro"]), default="micro", show_default=True, help="Average of it."
)
@click.option(
    "--unit",
    type=click.Choice(["document", "context"]),
    default="document",
    show_default=True,
    help="What samples draw and exchange.",
)
@click.option(
    "--samples", type=click.IntRange(min=100), default=10_000, show_default=True, metavar="N", help="How many samples."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Seed of the samples."
)
@click.option("--entities", type=click.Path(path_type=Path), help="Types of entities (TSV: entity, name, types).")
@click.option("--agreement", is_flag=True, help="Agreement of two datasets' annotations (as two --gold without --run).")
@workspace_option
@output_option
def command(
    targets: tuple[str, ...],
    gold: tuple[Path, ...],
    runs: tuple[str, ...],
    agreement: bool,
    workspace: Path | None,
    output: str,
    to: Path | None,
    **choices: Any,
) -> None:
    """Compare systems on datasets, remixes or slices; or, with two --gold and no --run, two annotations of one text.

    Shown are the score of each system, whether the difference of each two is more than chance (paired approximate
    randomisation, Holm's correction over all rows), its interval, and how far each dataset ranks the systems as the
    first one does (Kendall, Spearman). A context is a line or, in a text of one line, a sentence.

    \b
    Example:
      remix compare sample-news --by class --unit context --samples 1000
    """
    import polars as pl

    opened = open_workspace(workspace)
    if agreement or (len(gold) == 2 and not runs):
        found = opened.agreement(targets, gold=gold)
        plain = output in MACHINE or (to is not None and tables.suffix_format(to) != "table")
        print_table(found if plain else _readable(found.drop("signature")), output, to)
        if output == "table":
            click.echo(f"\nsignature {found['signature'][0]}", err=to is not None)
        return
    compared = opened.compare(targets, gold=gold, runs=runs, **choices)
    if output in MACHINE or (to is not None and tables.suffix_format(to) != "table"):
        kinds = {"score": compared.scores, "pair": compared.pairs, "correlation": compared.correlations}
        rows = [rows.select(pl.lit(kind).alias("kind"), pl.all()) for kind, rows in kinds.items() if len(rows)]
        short = pl.lit(Signature.parse(compared.signature).short())
        signed = {"signature": pl.lit(compared.signature), "signature_short": short}
        print_table(pl.concat(rows, how="diagonal_relaxed").with_columns(**signed), output, to)
        return
    # Slices by a column are many more than systems: then they are the rows.
    across, down = ("part", "system") if compared.scores["part"].n_unique() <= BROADEST else ("system", "part")
    wide = compared.scores.pivot(across, index=down, values="score", maintain_order=True)
    ranked = compared.correlations.filter(pl.col("systems") > 1)
    parts = [wide, compared.pairs, ranked]
    for number, table in enumerate(part for part in parts if len(part)):
        if number:
            click.echo("", err=to is not None)
        print_table(_readable(table), output, to if not number else None)
    if output == "table":
        click.echo(f"\nsignature {compared.signature}", err=to is not None)


def _readable(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with rounded scores and the local names of classes."""
    import polars as pl

    names = {name: name.rpartition("/")[2].rpartition("#")[2] if "=" in name else name for name in table.columns}
    texts = [name for name in ("part", "class") if name in table.columns]
    local = pl.col(texts).str.replace(r"=.*[/#]([^/#]+)$", "=$1").str.replace(r"^https?:.*[/#]([^/#]+)$", "$1")
    floats = [name for name, kind in table.schema.items() if kind.is_float()]
    return table.with_columns(local, pl.col(floats).round(4)).rename(names)
