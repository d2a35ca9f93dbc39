"""`remix kb`: build, attach, show, draw and ask knowledge bases."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import calling, output_option, print_bytes, print_table, workspace_option
from remix.tables import render
from remix.workspace import Workspace

if TYPE_CHECKING:
    import networkx
    import polars as pl

    from remix.kb import KnowledgeBase
    from remix.tables import Tables

AFTER = "check"


@click.group()
def command() -> None:
    """The knowledge base: a dictionary of names, prominence, types and redirects of entities.

    \b
    Example:
      remix kb attach
    """


@command.command()
@click.option(
    "--from",
    "sources",
    nargs=2,
    multiple=True,
    required=True,
    metavar="KIND PLACE",
    help="Kind and place of a source; repeat for several.",
)
@click.option("--name", required=True, help="Name of the knowledge base.")
@click.option("--lang", multiple=True, default=("en",), metavar="TAG", help="Language to keep; repeatable.")
@click.option("--for", "datasets", multiple=True, metavar="DATASET", help="Ask an endpoint what this dataset needs.")
@click.option("--refresh", is_flag=True, help="Ask an endpoint again, also for what it has answered before.")
@click.option("--without-source", multiple=True, metavar="PATTERN", help="Leave out such rows.")
@click.option("--complete", is_flag=True, help="Declare that entities which are not in it do not exist.")
@click.option("--strict", is_flag=True, help="Stop at the first line that cannot be read.")
@click.option("--scores", type=click.Choice(["computed", "published"]), default="computed", help="Whose prominence.")
@click.option("--damping", type=click.FloatRange(0, 1, max_open=True), default=0.85, help="Damping of PageRank.")
@click.option("--tolerance", type=click.FloatRange(0, min_open=True), default=1e-12, help="Change at which it ends.")
@click.option("--date", default="", help="Date of parts that say none.")
@click.option("--licence", default="", help="Licence of parts that say none.")
@click.option("--mixed-releases", is_flag=True, help="Accept parts of one kind that are of different releases.")
@click.option("--fresh", is_flag=True, help="Remove what unfinished builds of the name left, and begin anew.")
@click.option("--engine", default="duckdb", metavar="ENGINE", help="What does the relational work.")
@click.option(
    "--memory", envvar="REMIX_MEMORY", default="", metavar="SIZE", help="What the engine may use, such as 3GB."
)
@workspace_option
@output_option
@calling(Workspace.build_kb, Workspace.show_kb)
def build(build_kb: partial[KnowledgeBase], show_kb: partial[Tables], output: str, to: Path | None) -> None:
    """Build a knowledge base from one or more sources, and attach it.

    A build that is interrupted goes on where it ended when the same command is given again; one that fails leaves the
    attached knowledge base as it is.

    \b
    Kinds of sources, and places such as yours:
      --from dbpedia 2022.12.01/               files of a release, as downloaded
      --from wikidata latest-truthy.nt.bz2     a dump in N-Triples
      --from anchors anchors.tsv               surface form, entity, count
      --from scores pagerank.nt.bz2            published PageRank and HITS
      --from tables tables/                    TSV files, one a table; `sample` are those that ship with remix
      --from endpoint https://dbpedia.org/sparql --for my-corpus

    A folder of tables holds surface_forms.tsv, and where there are, links, types, labels, redirects, sameas and
    disambiguations, plain or compressed. Rows that were derived from the gold annotations of a dataset make its
    measures circular: leave them out by their source.

    \b
    Example:
      remix kb build --from tables sample --name mine --without-source 'gold:*'
    """
    made = build_kb()
    if len(problems := show_kb(only="problems")["problems"]):
        each = problems.unique(["where", "problem"], maintain_order=True).select("problem", "count")
        said = ", ".join(
            f"{problem} ({count})" for problem, count in each.group_by("problem", maintain_order=True).sum().rows()
        )
        print(f"problems: {said}; `remix kb show --only problems` shows the first ten of each", file=sys.stderr)
    print_table(made.summary(), output, to)


@command.command()
@click.argument("name", required=False)
@workspace_option
@output_option
@calling(Workspace.attach_kb)
def attach(attach_kb: partial[KnowledgeBase], output: str, to: Path | None) -> None:
    """Attach a knowledge base by its name or folder; without one, the sample that ships with remix.

    \b
    Example:
      remix kb attach
    """
    print_table(attach_kb().summary(), output, to)


@command.command()
@click.option(
    "--only", type=click.Choice(("summary", "sources", "problems", "coverage")), help="Show one table, in any format."
)
@workspace_option
@output_option
@calling(Workspace.show_kb)
def show(show_kb: partial[Tables], workspace: Workspace, only: str | None, output: str, to: Path | None) -> None:
    """Show what is in the attached knowledge base: choices and sizes, sources, problems, coverage of the datasets.

    Coverage is of what is loaded: the share of distinct surface forms in the dictionary, of distinct entities that are
    known, have a type, have a score, and of pairs of both that the dictionary has.

    \b
    Example:
      remix kb show
    """
    tables = show_kb()
    if only is not None:
        print_table(tables[only], output, to)
        return
    if output == "json":
        more = {name: table.to_dicts() for name, table in tables.items() if name == "coverage"}
        assert (kb := workspace.kb) is not None
        text = json.dumps({**kb.described, "folder": str(kb.folder), **more}, indent=1)
    elif output in ("table", "md"):
        text = "\n\n".join(f"## {name}\n\n{render(table, output)}" for name, table in tables.items() if table.height)
    else:
        raise click.UsageError(f"{output} holds one table: choose it with --only")
    print_bytes(f"{text}\n".encode(), to)


@command.command()
@click.argument("of", type=click.Choice(("links", "classes", "candidates")))
@click.option("--document", metavar="IRI", help="The document whose mentions have the candidates.")
@click.option(
    "--to", type=click.Path(path_type=Path), required=True, help="Write the graph to this file, such as out.graphml."
)
@workspace_option
@calling(Workspace.graph_kb)
def graph(graph_kb: partial[networkx.DiGraph], to: Path) -> None:
    """Write a graph of the attached knowledge base as GraphML, which Gephi, Cytoscape and yEd read.

    It is the graph of the links between entities, with their prominence; of the classes, each with an edge to those
    directly above it; or of the mentions of a document, the candidates of each, and the links between candidates.

    \b
    Example:
      remix kb graph links --to links.graphml
    """
    made = graph_kb()
    print(f"{to}: {len(made)} nodes, {made.number_of_edges()} edges", file=sys.stderr)


@command.command()
@click.argument("name")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Show the first so many.")
@workspace_option
@output_option
@calling(Workspace.lookup_kb)
def lookup(lookup_kb: partial[pl.DataFrame], output: str, to: Path | None) -> None:
    """Show the candidates of a surface form, or what is known of an entity.

    \b
    Example:
      remix kb lookup Paris
      remix kb lookup dbr:Berlin
    """
    found = lookup_kb()
    if "of" in found.columns and (count := found["of"][0]) > found.height:
        print(f"the first {found.height} of {count} candidates; --limit shows more", file=sys.stderr)
    # For people that note says it once; programs have it in a column.
    print_table(found.drop("of", strict=False) if output in ("table", "md", "latex") else found, output, to)
