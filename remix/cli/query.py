"""`remix query`: ask the store, or another endpoint."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix import tables
from remix.cli._options import FILE, asking_options, calling, print_bytes, print_table, service_option
from remix.workspace import Workspace

if TYPE_CHECKING:
    from remix.store.answers import Result

GRAPHS = ("ttl", "nt", "jsonld")


AFTER = "stats"


@click.command()
@click.argument("query")
@asking_options
@service_option
@click.option("-o", "--output", type=click.Choice([*tables.FORMATS, *GRAPHS]), help="Format (default: table or ttl).")
@click.option("--to", type=FILE, help="Write the result to this file.")
@click.option("--rewrite/--no-rewrite", default=True, help="Run a CONSTRUCT sooner, or exactly as it stands.")
@click.option("--explain", is_flag=True, help="Print the query as it is run, on standard error.")
@calling(Workspace.query)
def command(query: partial[Result], output: str | None, to: Path | None, explain: bool) -> None:
    """Run a shipped query, a .rq file, SPARQL text or a filter (FILE.properties#NAME), and print what it answers.

    The default graph is the union of all datasets and their measures; well-known prefixes need no declaration. A
    CONSTRUCT is rewritten where that gives the same triples sooner. An empty workspace takes the sample corpus.
    `--endpoint http://127.0.0.1:8890/sparql` asks what `remix serve` holds there.

    \b
    Example:
      remix query "SELECT ?type (COUNT(*) AS ?n) { ?s a ?type } GROUP BY ?type ORDER BY DESC(?n)"
    """
    result = query()
    for line in (*([result.rewritten.rstrip()] if explain else []), *result.notes):
        print(line, file=sys.stderr)
    suffix = to.suffix[1:] if to else ""
    if result.kind != "graph":
        if (output or suffix) in GRAPHS:
            raise click.UsageError(f"{output or to} is for graphs, and this query answers with a table")
        print_table(result.table, output or "table", to)
        return
    if to and not output and tables.suffix_format(to) != "table":
        raise click.UsageError(f"{to} is for tables, and this query answers with a graph: {', '.join(GRAPHS)}")
    print_bytes(result.graph(output or (suffix if suffix in GRAPHS else "ttl")), to)
