"""`remix fetch`: datasets of the catalogue into the cache."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import calling, option, output_option, print_table
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.fetching import Fetched
    from remix.tables import Listed

AFTER = ""


@click.command()
@click.argument("datasets", nargs=-1, required=True, metavar="DATASET[/SPLIT]...")
@option("--accept-licence", "Accept the licences, which are shown before the first download.", is_flag=True)
@option("--mirror DIR|URL", "Folder or address that has the files, instead of where they are from.", type=str)
@output_option
@calling(Workspace.fetch)
def command(fetch: partial[Listed[Fetched]], accept_licence: bool, output: str, to: Path | None) -> None:
    """Download datasets of the catalogue, verify and keep them, so that `remix load` takes them by their names.

    `remix list datasets` shows what there is, `remix show DATASET` what is known of one: its licence, citation, counts
    and defects. A DATASET stands for all of its splits but those that need a permission, which are named one by one.
    What is there is verified and not downloaded again; the cache (REMIX_CACHE) serves all workspaces. The exit code is
    1 where something failed or nothing is there at the end.

    \b
    Example:
      remix fetch sample-news
    """
    found = fetch(accept_licence=accept_licence or (_ask if sys.stdin.isatty() else False))
    print_table(found.table, output, to)
    for one in found:
        if one.reason:
            print(f"remix: {one.reason}", file=sys.stderr)
    states = {one.status for one in found}
    sys.exit(1 if "failed" in states or not states & {"fetched", "there", "ships"} else 0)


def _ask(licence: str) -> bool:
    """Return whether a licence is accepted at the prompt."""
    click.echo(f"licence of {licence}", err=True)
    return click.confirm("Do you accept it?", err=True)
