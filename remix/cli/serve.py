"""`remix serve`: a SPARQL endpoint, and pages to look at."""

from __future__ import annotations

from functools import partial

import click

from remix.cli._options import calling, workspace_option
from remix.workspace import Workspace

AFTER = "publish"


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8890, show_default=True, help="Port; 0 takes a free one."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60,
    show_default=True,
    metavar="S",
    help="Seconds that a query may run.",
)
@click.option(
    "--memory",
    type=click.FloatRange(min=0, min_open=True),
    default=4,
    show_default=True,
    metavar="GIB",
    help="Memory of a query.",
)
@click.option("--concurrent", type=click.IntRange(1), default=4, show_default=True, help="Queries at the same time.")
@click.option(
    "--largest", type=click.IntRange(1), default=256, show_default=True, metavar="MB", help="Size of a result."
)
@click.option("--allow-service", multiple=True, metavar="URL", help="Let SERVICE ask this endpoint.")
@click.option("--allow-origin", multiple=True, metavar="ORIGIN", help="Let pages of this origin read answers.")
@workspace_option
@calling(Workspace.serve)
def command(serve: partial[None]) -> None:
    """Serve the workspace over the SPARQL 1.1 Protocol and as pages to look at, read-only, until interrupted.

    Pages show datasets with their measures, documents with their annotations, scores of systems, and each error in
    its sentence; others build remixes and ask SPARQL; the tables of a page are data at its address with .csv, .json,
    .md or .tex. Each query runs in a process of its own with limits of time, memory and size. The addresses are
    printed on standard error; every new query and page sees what is loaded by then.

    \b
    Example:
      remix serve --port 8890
    """
    serve()
