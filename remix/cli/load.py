"""`remix load`: files into the store, with a report of what was found and repaired."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from remix.cli._options import output_option, print_table, workspace_option

__all__ = ["command"]


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE|DATASET...")
@click.option("--dry-run", is_flag=True, help="Read and report only; nothing is stored.")
@click.option("--strict", is_flag=True, help="Refuse what would have to be repaired.")
@click.option("--name", default=None, help="Name of the dataset (default: from the file's name).")
@click.option("--format", default=None, help="Format of the file (default: from its content and suffix).")
@click.option("--base-iri", default="urn:remix:dataset:", show_default=True, help="What dataset IRIs begin with.")
@click.option("--replace", is_flag=True, help="Replace a dataset of that name that came from another file.")
@output_option
@workspace_option
def command(
    files: tuple[str, ...], dry_run: bool, output: str, to: Path | None, workspace: Path | None, **choices: Any
) -> None:
    """Load datasets into the workspace, and say what was found and repaired.

    A FILE is NIF in any RDF syntax, or any other known format, plain or compressed; `-` is standard
    input. A DATASET is the name or the URL of a catalogue entry. A file that cannot be repaired is
    refused, nothing of it is stored, and the exit code is 1.

    \b
    Example:
      remix load corpus.ttl --dry-run
    """
    import polars as pl

    from remix.workspace import open_workspace

    outcomes = open_workspace(workspace).load(files, dry_run=dry_run, **choices)
    rows = [outcome.row() for outcome in outcomes]
    if output in ("table", "md", "latex", "csv"):
        for row in rows:
            row["repairs"] = ", ".join(f"{one['kind']} {one['count']}" for one in row["repairs"])  # type: ignore[attr-defined]
            row.pop("error")
    if rows:
        print_table(pl.DataFrame(rows, infer_schema_length=None), output, to)
    errors = [outcome.report.error for outcome in outcomes if outcome.report.error]
    for error in errors:
        print(f"remix: {error}", file=sys.stderr)
    sys.exit(1 if errors else 0)
