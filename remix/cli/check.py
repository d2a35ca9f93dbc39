"""`remix check`: what is wrong or odd in datasets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import FrameCall, as_data, calling, file_format_option, option, output_option, print_table
from remix.tables import shorten
from remix.workspace import Workspace

if TYPE_CHECKING:
    import polars as pl

AFTER = "load"


@click.command()
@click.argument("datasets", nargs=-1, required=True, metavar="FILE|DIR|DATASET...")
@option("--kb", "Name or folder of a knowledge base that must know each linked entity.")
@option("--rule NAME", "Look by this rule only (`remix list rules`); repeatable.")
@option("--each", "Show each finding, not each rule with the first of its findings.")
@option("--shared", "Show what each pair of datasets has in common: texts, entities, forms; leakage.")
@option("--fix OUT", "Write the dataset corrected, as far as rules can, and show what was changed.")
@option(
    "--overlay FILE|DATASET",
    "Correct it as this other edition of it does, with --fix; its texts may be masked.",
    type=str,
)
@option("--shacl", "Hold NIF against its shapes, too; needs the extra `shacl`.")
@option("--sarif FILE", "Write each finding as a SARIF log, too.")
@file_format_option
@output_option
@calling(Workspace.check)
def command(check: FrameCall, each: bool, fix: Path | None, output: str, to: Path | None) -> None:
    """Look for defects in datasets: in the file, where mentions begin and end, in links, copies of texts.

    Each row is one rule with the count and first example of what it finds; `remix list rules` says what each looks for
    and what to do. The exit code is 1 where there is an error; warnings and notes are only told.

    \b
    Examples:
      remix check sample-news
      remix check sample-news --fix corrected.ttl
      remix check sample-news sample-posts --shared
    """
    found = check()
    if fix is not None and not each and not as_data(output, to):
        found = found.group_by("change", "source", maintain_order=True).len("count")
        if found.is_empty():
            click.echo(f"nothing was to be corrected; {fix} has the dataset as it was")
            return
    print_table(found if as_data(output, to) else _for_people(found), output, to)
    sys.exit(1 if "severity" in found.columns and "error" in found["severity"] else 0)


def _for_people(findings: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    texts = [name for name in ("file", "example") if name in findings.columns]
    short = {name: [shorten(cell or "") for cell in findings[name]] for name in texts}
    return findings.with_columns(**{name: pl.Series(cells, dtype=pl.String) for name, cells in short.items()})
