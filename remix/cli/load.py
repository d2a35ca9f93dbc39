"""`remix load`: files into the store, with a report of what was found and repaired."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from remix.cli._options import COUNT, calling, file_format_option, option, output_option, print_table
from remix.errors import UsageError
from remix.tables import shorten
from remix.workspace import Workspace

if TYPE_CHECKING:
    import polars as pl

    from remix.store.loading import Outcome
    from remix.tables import Listed

AFTER = "fetch"


@click.command()
@click.argument("datasets", nargs=-1, required=True, metavar="FILE|DATASET...")
@option("--dry-run", "Read and report only; nothing is stored.")
@option("--strict", "Refuse what would have to be repaired.")
@option("--name", "Name of the dataset (default: from the file's name).")
@file_format_option
@option("--base-iri", "What dataset IRIs begin with.")
@option("--replace", "Replace a dataset of that name that came from another file.")
@option("--sample N", "Of a folder of frames, load so many documents.")
@option("--seed", "Seed of --sample.", type=COUNT)
@output_option
@calling(Workspace.load, Workspace.stream)
def command(
    load: partial[Listed[Outcome]],
    stream: partial[Listed[Outcome]],
    datasets: tuple[str, ...],
    dry_run: bool,
    format: str | None,
    sample: int | None,
    output: str,
    to: Path | None,
) -> None:
    """Load datasets into the workspace, and say what was found and repaired.

    A FILE is NIF in any RDF syntax, or any other known format, plain or compressed; `-` is standard input. A DATASET is
    the name of one of the catalogue, or of a split of it, that was fetched (`remix fetch`). A file that cannot be
    repaired is refused, nothing of it is stored, and the exit code is 1.

    With `--to frames DIR FILE...` files of NIF with a triple a line that are larger than memory are streamed into a
    folder of frames instead, without the store; `stats`, `enrich` and `partition` take it. With --sample N, DIR is such
    a folder.

    \b
    Example:
      remix load sample-news --dry-run
    """
    if to == Path("frames"):
        if len(datasets) < 2:
            raise UsageError("write `remix load --to frames DIR FILE...`: the folder, then the files")
        if dry_run or sample is not None or format not in {None, "nif"}:
            raise UsageError("--to frames streams NIF: it goes without --dry-run, --sample and --format")
        folder, *files = datasets
        outcomes = stream(files, to=folder)
        to = None
    else:
        outcomes = load()
    if outcomes:
        print_table(_show_outcomes(outcomes, output), output, to)
    errors = [outcome.report.error for outcome in outcomes if outcome.report.error]
    for error in errors:
        print(f"remix: {error}", file=sys.stderr)
    sys.exit(1 if errors else 0)


def _show_outcomes(outcomes: Listed[Outcome], output: str) -> pl.DataFrame:
    """Return a row for each outcome, for people with its repairs as text and without counts that tell nothing."""
    import polars as pl

    rows: list[dict[str, Any]] = [outcome.row() for outcome in outcomes]
    if output in ("table", "md", "latex", "csv"):
        for row in rows:
            row["file"] = row["file"] if output == "csv" else shorten(row["file"])
            row["repairs"] = ", ".join(f"{one['kind']} {one['count']}" for one in row["repairs"])
            row.pop("error")
    if output in ("table", "md", "latex"):
        silent = [name for name in ("alternatives", "optional", "dangling") if not any(row[name] for row in rows)]
        for row in rows:
            for name in ("linked", "nil", "mentions_linked", "mentions_nil", *silent):
                row.pop(name)
    return pl.DataFrame(rows, infer_schema_length=None)
