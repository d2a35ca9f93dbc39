"""`remix kb`: build, attach, show and ask knowledge bases."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from remix.cli._options import output_option, print_table, workspace_option
from remix.errors import MissingKnowledge
from remix.workspace import open_workspace


@click.group()
def command() -> None:
    """The knowledge base: a dictionary of names, prominence, types and redirects of entities.

    \b
    Example:
      remix kb attach
    """


@command.command()
@click.option("--from", "origin", nargs=2, metavar="tables DIR", required=True, help="Kind and place of the source.")
@click.option("--name", required=True, help="Name of the knowledge base.")
@click.option("--without-source", multiple=True, metavar="PATTERN", help="Leave out rows whose source matches.")
@click.option("--complete", is_flag=True, help="Declare that entities which are not in it do not exist.")
@workspace_option
@output_option
def build(
    origin: tuple[str, str],
    name: str,
    without_source: tuple[str, ...],
    complete: bool,
    workspace: Path | None,
    output: str,
    to: Path | None,
) -> None:
    """Build a knowledge base from a folder of tables, and attach it.

    The folder holds surface_forms.tsv, and where there are, links, types, labels, redirects, sameas and
    disambiguations, plain or compressed. Rows that were derived from the gold annotations of a dataset make its
    measures circular: leave them out by their source.

    \b
    Example:
      remix kb build --from tables tables --name mine --without-source 'gold:*'
    """
    if origin[0] != "tables":
        raise click.UsageError(f"a knowledge base is built from tables, not from '{origin[0]}'")
    made = open_workspace(workspace).kb_build(
        Path(origin[1]), name=name, without_sources=without_source, complete=complete
    )
    if circles := made.described["circular_redirects"]["count"]:
        print(f"{circles} redirects lead in a circle and are left as they are", file=sys.stderr)
    print_table(made.summary(), output, to)


@command.command()
@click.argument("name", required=False)
@workspace_option
@output_option
def attach(name: str | None, workspace: Path | None, output: str, to: Path | None) -> None:
    """Attach a knowledge base by its name or folder; without one, the sample that ships with remix.

    \b
    Example:
      remix kb attach
    """
    print_table(open_workspace(workspace).attach_kb(name).summary(), output, to)


@command.command()
@workspace_option
@output_option
def show(workspace: Path | None, output: str, to: Path | None) -> None:
    """Show the attached knowledge base: name, version, what was left out, and its sizes.

    \b
    Example:
      remix kb show
    """
    attached = open_workspace(workspace).kb
    if attached is None:
        raise MissingKnowledge("no knowledge base is attached: `remix kb attach` takes the one that ships with remix")
    print_table(attached.summary(), output, to)


@command.command()
@click.argument("name")
@workspace_option
@output_option
def lookup(name: str, workspace: Path | None, output: str, to: Path | None) -> None:
    """Show the candidates of a surface form, or what is known of an entity.

    \b
    Example:
      remix kb lookup Paris
      remix kb lookup dbr:Berlin
    """
    print_table(open_workspace(workspace).kb_lookup(name), output, to)
