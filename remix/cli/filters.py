"""`remix filters`: the filters of GERBIL's extension, what they keep, and how they differ."""

from __future__ import annotations

from pathlib import Path

import click

from remix.cli._options import FILE, MENTIONS, FrameCall, calling, option, output_option, print_table, service_option
from remix.workspace import Workspace

AFTER = "build"


@click.command()
@click.argument("file", type=FILE)
@option(
    "--show",
    "How much each filter keeps of each dataset, what each asks, each two of them compared, or a row an entity.",
    type=click.Choice(["kept", "definitions", "pairs", "entities"]),
)
@option("--filter NAME", "Only this filter; repeatable (default: all of the file).")
@option("--dataset NAME", "Only this dataset; repeatable (default: all loaded).")
@option("--allow-service URL", "Let filters ask this endpoint.")
@service_option
@option("--refresh", "Ask again what was answered before.")
@option("--timeout S", "Seconds that a query to what is here may run.", type=click.FloatRange(min=0, min_open=True))
@output_option
@calling(Workspace.filters)
def command(filters: FrameCall, output: str, to: Path | None) -> None:
    """Show the filters of a properties file of GERBIL's extension, and what they keep of the loaded datasets.

    A filter asks a SPARQL endpoint, a file of RDF or lists of ranked entities which of some entities it keeps, or
    combines others. `remix build --query FILE#NAME` makes the remix of one. No address is asked that --allow-service
    does not name; --service http://dbpedia.org/sparql=kb asks the attached knowledge base in the place of an endpoint.
    Answers are kept, so that another dataset asks only for its further entities.

    FILE may be `sample`, which ships and asks the knowledge base.

    \b
    Example:
      remix filters sample
      remix build --query sample.properties#Persons --name persons
      remix filters sample --show pairs
    """
    print_table(filters(), output, to, called=MENTIONS)
