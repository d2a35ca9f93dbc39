"""`remix fetch`: datasets of the catalogue, and releases of knowledge bases, into the cache."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import calling, option, output_option, print_table
from remix.cli.kb import print_coverage
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.fetching import Fetched
    from remix.tables import Listed, Tables

AFTER = ""


@click.command()
@click.argument("datasets", nargs=-1, required=True, metavar="DATASET[/SPLIT]... | kb NAME")
@option("--accept-licence", "Accept the licences, which are shown before the first download.", is_flag=True)
@option("--mirror DIR|URL", "Folder or address that has the files, instead of where they are from.", type=str)
@option("--files-only", "Of a knowledge base: fetch its files, and build nothing.")
@output_option
@calling(Workspace.fetch, Workspace.fetch_kb)
def command(
    fetch: partial[Listed[Fetched]],
    fetch_kb: partial[Tables],
    datasets: tuple[str, ...],
    accept_licence: bool,
    files_only: bool,
    output: str,
    to: Path | None,
) -> None:
    """Download datasets of the catalogue, verify and keep them, so that `remix load` takes them by their names.

    `remix list datasets` shows what there is, `remix show DATASET` what is known of one: its licence, citation, counts
    and defects. A DATASET stands for all of its splits but those that need a permission, which are named one by one.
    What is there is verified and not downloaded again; the cache (REMIX_CACHE) serves all workspaces. The exit code is
    1 where something failed or nothing is there at the end.

    `remix fetch kb dbpedia-2016-10` gets a public release of a knowledge base (`remix list releases`): its files are
    fetched, one that broke off goes on where it ended, a knowledge base is built of them and attached, and what it
    covers of the loaded datasets is shown.

    \b
    Example:
      remix fetch sample-news
    """
    accepted = accept_licence or (_ask if sys.stdin.isatty() else False)
    if datasets[0] == "kb":
        _fetch_kb(partial(fetch_kb, accept_licence=accepted), datasets[1:], output, to)
        return
    if files_only:
        raise click.UsageError("--files-only goes with `remix fetch kb NAME`")
    found = fetch(accept_licence=accepted)
    print_table(found.table, output, to)
    for one in found:
        if one.reason:
            print(f"remix: {one.reason}", file=sys.stderr)
    states = {one.status for one in found}
    sys.exit(1 if "failed" in states or not states & {"fetched", "there", "ships"} else 0)


def _fetch_kb(fetch_kb: partial[Tables], names: tuple[str, ...], output: str, to: Path | None) -> None:
    if len(names) != 1:
        raise click.UsageError("`remix fetch kb NAME` takes one release: `remix list releases` shows them")
    tables = fetch_kb(name=names[0])
    print_table(tables["files"], output, to)
    if output == "table" and to is None and "summary" in tables:
        click.echo("")
        print_table(tables["summary"], output)
        if "coverage" in tables:
            print_coverage(tables["coverage"])


def _ask(licence: str) -> bool:
    """Return whether a licence is accepted at the prompt."""
    click.echo(f"licence of {licence}", err=True)
    return click.confirm("Do you accept it?", err=True)
