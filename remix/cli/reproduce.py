"""`remix reproduce`: published results, scored from their answers and held against every published cell."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import calling, option, output_option, print_table
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.published.outcomes import Reproduction

AFTER = "evaluate"


@click.command()
@click.argument("results", nargs=-1, required=True, metavar="RESULT...|all")
@option("--data FOLDER", "Folder that has the files, instead of fetching them by their addresses.", type=click.Path())
@option("--accept-licence", "Accept the licences of what is fetched, which are shown before.", is_flag=True)
@option("--mirror DIR|URL", "Folder or address that has the files, instead of where they are from.", type=str)
@option("--kb NAME|FOLDER", "A knowledge base whose redirects and sameAs may explain a difference.", type=str)
@click.option("--cells", is_flag=True, help="Every cell with what comes out, not a line a table.")
@output_option
@calling(Workspace.reproduce)
def command(reproduce: partial[Reproduction], cells: bool, output: str, to: Path | None) -> None:
    """Score the answers of published results, and hold what comes out against each published cell.

    A cell is equal, equal after rounding or cutting (`rounded`), equal once entities are compared letter by letter,
    where remix joins spellings, or once the redirects and sameAs of a --kb join them (`identity`, with the pairs),
    `different`, or `absent`, where its files are not here or not public.
    What is known not to come out is recorded with its reason. The exit code is 1 where a cell is worse than that, or a
    file has other content than is known of it. `remix list published` shows what there is.

    \b
    Example:
      remix reproduce hipe-2020 kgllm4ed --data .
    """
    found = reproduce()
    print_table(found.cells if cells else found.tables, output, to)
    for result, note in found.notes:
        print(f"{result}: {note}", file=sys.stderr)
    if not cells:
        for one in found.outcomes:
            if one.worse:
                print(
                    f"worse: {one.result}, {one.table}: {one.cell}: {one.found or 'nothing'}, published "
                    f"{one.published}{f' ({one.reason})' if one.reason else ''}",
                    file=sys.stderr,
                )
    sys.exit(1 if found.worse or found.changed else 0)
