"""`remix serve`: a SPARQL endpoint, and pages to look at."""

from __future__ import annotations

from functools import partial

import click

from remix.cli import leave
from remix.cli._options import calling, option
from remix.workspace import Workspace

AFTER = "publish"


@click.command()
@option("--host", "Address to listen on.")
@option("--port", "Port; 0 takes a free one.", type=click.IntRange(0, 65535))
@option("--timeout S", "Seconds that a query may run.", type=click.FloatRange(min=0, min_open=True))
@option("--memory GIB", "Memory of a query.", type=click.FloatRange(min=0, min_open=True))
@option("--concurrent", "Queries at the same time.", type=click.IntRange(1))
@option("--largest MB", "Size of a result.", type=click.IntRange(1))
@option("--allow-service URL", "Let SERVICE ask this endpoint.")
@option("--allow-origin ORIGIN", "Let pages of this origin read answers.")
@option("--system NAME", "Offer this system as a NIF web service at /annotate/NAME.")
@calling(Workspace.serve)
def command(serve: partial[None]) -> None:
    """Serve the workspace over the SPARQL 1.1 Protocol and as pages to look at, read-only, until interrupted.

    Pages show datasets with their measures, documents with their annotations, scores of systems, and each error in
    its sentence; others build remixes and ask SPARQL; the tables of a page are data at its address with .csv, .json,
    .md or .tex. Each query runs in a process of its own with limits of time, memory and size. The addresses are
    printed on standard error; every new query and page sees what is loaded by then. A --system is called as GERBIL
    calls NIF web services (docs/systems.md).

    \b
    Example:
      remix serve --port 8890
    """
    serve()
    leave()
