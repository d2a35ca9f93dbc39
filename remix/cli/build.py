"""`remix build`: make a remix."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from remix import tables
from remix.cli._options import (
    COUNT,
    FILE,
    MENTIONS,
    asking_options,
    calling,
    option,
    print_table,
    read_shares,
    service_option,
)
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.remixes import Remix

AFTER = "query"


@click.command()
@option(
    "--query",
    "A shipped query, a .rq file, SPARQL text, or a filter of GERBIL's, FILE.properties#NAME (default, with --balance: "
    "all annotations).",
)
@click.option(
    "--from",
    "manifest",
    metavar="MANIFEST",
    type=FILE,
    help="Build what the manifest of a remix tells of, in the place of a query, and say what differs.",
)
@asking_options
@service_option
@option("--name", "Name of the remix (default: that of the query).")
@option(
    "--to",
    "Folder of the files, or the file of the remix, which ends in .ttl (default: the current folder).",
    type=click.Path(path_type=Path),
    default=Path(),
)
@option("--force", "Overwrite files of that name that remix has not written.")
@click.option("-o", "--output", type=click.Choice(tables.FORMATS[:-1]), default="table", help="Format of the table.")
@option("--drop", "Remove what was not selected instead of keeping it as ignorable.")
@option("--dataset NAME", "Only this dataset; repeatable (default: all loaded).")
@option(
    "--edition NAME|all",
    "Whose edition counts of a text that several datasets have, or 'all' (default: that of the first --dataset, "
    "else the first by name).",
)
@option("--limit N", "Keep at most N documents, the first of each dataset by IRI.")
@option("--seed N", "Draw the documents of --limit, and the mentions of --balance, with this seed.", type=COUNT)
@option(
    "--balance COLUMN[,COLUMN]",
    "Keep the largest selection of mentions that is even in these columns (as in partition --by); repeatable.",
)
@option(
    "--balance-over",
    "What is even: each column by itself, or each combination of their parts.",
    type=click.Choice(["marginals", "cells"]),
)
@option(
    "--balance-share PART=N",
    "N times as many of this part as of others, 0 for none; repeatable (default: 0 of what has no value, else 1).",
    multiple=True,
    callback=read_shares,
)
@option("--balance-tolerance N", "Let parts have up to N mentions more than is even.", type=COUNT)
@option("--without SYSTEM", "Hide this system's run from the query, and from difficulty and agreement; repeatable.")
@option("--explain", "Also print the query as it was run and what each condition left.")
@option("--fix-variables", "Mend a template variable that the pattern never binds.")
@calling(Workspace.build, Workspace.build_again)
def command(
    build: partial[Remix], build_again: partial[Remix], manifest: Path | None, to: Path, output: str, explain: bool
) -> None:
    """Make a remix: the documents and annotations that a query selects, as NIF with a manifest.

    Writes NAME.ttl and NAME.manifest.ttl and prints how much each dataset gave. An empty workspace takes the sample
    corpus that ships with remix. `--endpoint https://example.org/sparql` makes a remix of what is there.

    With --balance a remix has no skew by construction, and a second table says of each part how many mentions were
    there, how many were chosen, and which parts limit it. A mention of several parts of a column counts in each.

    With --from a remix is built of the manifest of another alone, with its query and choices: of the same datasets
    the same bytes come out, and what is other than it was is told. Its query asks no endpoint but by --allow-service.

    \b
    Example:
      remix build --query persons_hard.rq --set min_confusion=5
      remix build --balance class,ambiguitySurfaceForm:quantiles:2 --seed 1
      remix build --from persons_hard.manifest.ttl --to again
    """
    if manifest is not None:
        _refuse_choices()
    remix = build() if manifest is None else build_again()
    if explain:
        print("\n".join(line for line in remix.rewritten.splitlines() if not line.startswith("#+")), end="\n\n")
        print("As one CONSTRUCT, which any store runs: `remix show QUERY --construct`, with the same --set.\n")
        print(f"{tables.render(remix.waterfall.rename(MENTIONS, strict=False))}\n")
    print_table(remix.counts, output, called=MENTIONS)
    if remix.parts.width and output == "table":
        print(f"\n{tables.render(remix.parts)}")
    file, manifest = remix.place(to)
    for line in (*remix.notes, f"{file} and {manifest} are written"):
        print(line, file=sys.stderr)


_BESIDE_FROM = {"manifest", "to", "force", "output", "explain", "allow_service", "timeout", "workspace"}


def _refuse_choices() -> None:
    """Raise `UsageError` for options that a manifest decides."""
    context = click.get_current_context()
    given = [
        one.opts[0]
        for one in context.command.params
        if one.name not in _BESIDE_FROM and context.get_parameter_source(str(one.name)) == ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"--from takes all choices of the manifest: leave out {', '.join(given)}")
