"""`remix study`: systems × remixes × partitions by one command."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import FILE, FrameCall, calling, option, print_table
from remix.errors import UsageError
from remix.workspace import Workspace

if TYPE_CHECKING:
    import polars as pl

    from remix.studies import Studied

AFTER = "compare"
OUTPUTS = ("table", "csv", "json", "md")


@click.command()
@click.argument("study", nargs=-1, metavar="[init] STUDY.toml")
@option("--to FOLDER", "Folder for tables, figures, the report and the manifest (default: named as the study).")
@option(
    "--allow NAME|ADDRESS",
    "A system that is asked or run, or an address: a study may use none by itself.",
    multiple=True,
)
@option(
    "--parallel N", "How many processes compute (default: as many as there are processors).", type=click.IntRange(min=1)
)
@click.option("--dry-run", is_flag=True, help="Print the steps: what is there, what would be computed, requests, time.")
@click.option("--reproduce", type=FILE, metavar="MANIFEST", help="Run a study again and say which numbers come out.")
@click.option(
    "-o", "--output", type=click.Choice(["table", "csv", "json", "md"]), default="table", help="Format of the table."
)
@calling(Workspace.study, Workspace.preview_study)
def command(
    run: partial[Studied],
    look: FrameCall,
    study: tuple[str, ...],
    to: Path | None,
    allow: tuple[str, ...],
    parallel: int | None,
    dry_run: bool,
    reproduce: Path | None,
    output: str,
    workspace: Workspace,
) -> None:
    """Score systems on datasets, remixes and partitions, and write all tables and figures into a folder.

    STUDY.toml names what is scored; `remix study init` writes one that works for what the workspace holds, with a
    comment at each line, and `sample` is one that ships, of the sample corpus. Only what is missing is computed; a
    study that was interrupted goes on where it stopped.

    \b
    Example:
      remix study init mine.toml
      remix study mine.toml --to mine
    """
    if reproduce is not None:
        found = workspace.reproduce_study(reproduce, allow=allow, parallel=parallel)
        print_table(_brief(found, output), output)
        return
    if study[:1] == ("init",) and len(study) <= 2:
        print(f"{workspace.init_study(*study[1:])} is written: `remix study` runs it", file=sys.stderr)
        return
    if len(study) != 1:
        raise UsageError("name one study: `remix study STUDY.toml`, or `remix study init` to write one")
    if dry_run:
        print_table(look(study=study[0]), output)
        return
    made = run(study=study[0], to=to or Path(Path(study[0]).stem))
    state = "is as it was" if made.unchanged else f"is written; {made.computed} steps were computed"
    print(f"{made.folder} {state}", file=sys.stderr)


def _brief(found: pl.DataFrame, output: str) -> pl.DataFrame:
    """Return what people are shown of a reproduction: all that differs, and the numbers."""
    if output != "table":
        return found
    import polars as pl

    return found.filter((pl.col("status") != "same") | (pl.col("what") == "numbers"))
