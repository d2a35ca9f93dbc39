"""`remix list`: what there is."""

from __future__ import annotations

from pathlib import Path

import click

from remix.cli._options import (
    FrameCall,
    as_data,
    calling,
    option,
    output_option,
    print_table,
    width_of_screen,
)
from remix.tables import fit_lines
from remix.workspace import Workspace


@click.command()
@click.argument("kind", default="datasets", metavar="[KIND]")
@option("--task", "Datasets that can be scored so: A2KB, D2KB, C2KB, ….")
@option("--language", "Datasets whose texts are in this language: en, de, ….")
@option("--kb", "Datasets with links to this knowledge base: wikidata, dbpedia, ….")
@option("--licence", "Datasets whose licence has these words: 'CC BY', MIT, ….")
@output_option
@calling(Workspace.listing)
def command(listing: FrameCall, kind: str, output: str, to: Path | None) -> None:
    """List what is loaded and known (datasets), or the parts of remix of a kind.

    `remix list kinds` says which kinds there are: queries, measures, columns, terms, tasks, profiles, formats, ….

    \b
    Examples:
      remix list queries
      remix list datasets --language de --kb wikidata
    """
    if as_data(output, to):
        print_table(listing(), output, to)
        return
    found = listing(every=False)
    print_table(fit_lines(found, width_of_screen()) if kind == "datasets" and output == "table" else found, output, to)
