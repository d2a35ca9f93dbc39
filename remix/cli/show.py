"""`remix show`: one thing in full."""

from __future__ import annotations

from functools import partial

import click

from remix.cli._options import calling, option, query_values, service_option
from remix.workspace import Workspace


@click.command()
@click.argument("name")
@option("--construct", "Of a query the one SPARQL CONSTRUCT that it stands for, which any store runs.")
@query_values
@option("--allow-service URL", "Let a filter ask this endpoint.")
@service_option
@calling(Workspace.show)
def command(show: partial[str]) -> None:
    """Show a query with its parameters and text, a dataset with its counts, source and licence, a measure, a profile.

    A filter is named as FILE.properties#NAME, and shown by what it asks. With `--construct` it is SPARQL 1.1 that makes
    of any store with the enriched data what `remix build` keeps of a query, or of a filter: the selected documents and
    annotations, and the other annotations of these documents as ignorable ones.

    \b
    Examples:
      remix show persons_hard
      remix show persons_hard --construct --set min_confusion=5
    """
    print(show(), end="")
