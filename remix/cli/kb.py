"""`remix kb`: build, attach, show, draw and ask knowledge bases."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from remix.cli._options import FrameCall, calling, option, output_option, print_bytes, print_table
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
@option(
    "--from sources", "Kind and place of a source; repeat for several.", nargs=2, multiple=True, metavar="KIND PLACE"
)
@option("--name", "Name of the knowledge base.")
@option("--lang TAG", "Language to keep; repeatable.")
@option("--for datasets DATASET", "Ask an endpoint what this dataset needs.")
@option("--refresh", "Ask an endpoint again, also for what it has answered before.")
@option("--without-source PATTERN", "Leave out such rows.")
@option("--complete", "Declare that entities which are not in it do not exist.")
@option("--strict", "Stop at the first line that cannot be read.")
@option("--scores", "Whose prominence.", type=click.Choice(["computed", "published"]))
@option("--damping", "Damping of PageRank.", type=click.FloatRange(0, 1, max_open=True))
@option("--tolerance", "Change at which it ends.", type=click.FloatRange(0, min_open=True))
@option("--date", "Date of parts that say none.")
@option("--licence", "Licence of parts that say none.")
@option("--mixed-releases", "Accept parts of one kind that are of different releases.")
@option("--fresh", "Remove what unfinished builds of the name left, and begin anew.")
@option("--engine ENGINE", "What does the relational work.")
@option("--memory SIZE", "What the engine may use, such as 3GB.", envvar="REMIX_MEMORY")
@output_option
@calling(Workspace.build_kb, Workspace.show_kb)
def build(
    build_kb: partial[KnowledgeBase], show_kb: partial[Tables], workspace: Workspace, output: str, to: Path | None
) -> None:
    """Build a knowledge base from one or more sources, and attach it.

    A build that is interrupted goes on where it ended when the same command is given again; one that fails leaves the
    attached knowledge base as it is. What it covers of the loaded datasets is shown at the end. `remix fetch kb NAME`
    fetches a public release and builds it.

    \b
    Kinds of sources, and places such as yours:
      --from dbpedia 2022.12.01/               files of a release, as downloaded
      --from wikidata latest-truthy.nt.bz2     a dump in N-Triples
      --from anchors anchors.tsv               surface form, entity, count
      --from scores pagerank.nt.bz2            published PageRank and HITS
      --from tables tables/                    TSV files, one a table; `sample` are those that ship with remix
      --from endpoint https://dbpedia.org/sparql --for my-corpus

    A folder of tables holds surface_forms.tsv, and where there are, links, types, labels, redirects, sameas and
    disambiguations, plain or compressed, with a header or without. Rows that were derived from the gold annotations of
    a dataset make its measures circular: leave them out by their source.

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
    if output == "table" and to is None and workspace.datasets():
        print_coverage(show_kb(only="coverage")["coverage"])


def print_coverage(coverage: pl.DataFrame) -> None:
    """Print how much of the loaded datasets a knowledge base covers, and what the columns are."""
    click.echo("\nwhat it covers of the loaded datasets\n")
    print_table(coverage, "table")
    click.echo(
        "\nin_dictionary: of their forms (maximum recall); known, typed, scored: of their entities; reachable: of pairs"
        "\nof both, the entity is a candidate of the form; recall: of linked annotations, so that no linker finds more"
    )


@command.command()
@click.argument("name", required=False)
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
@option("--only", "Show one table, in any format.", type=click.Choice(("summary", "sources", "problems", "coverage")))
@output_option
@calling(Workspace.show_kb)
def show(show_kb: partial[Tables], workspace: Workspace, only: str | None, output: str, to: Path | None) -> None:
    """Show what is in the attached knowledge base: choices and sizes, sources, problems, coverage of the datasets.

    Coverage is of what is loaded: the share of distinct surface forms in the dictionary, of distinct entities that are
    known, have a type, have a score, of pairs of both that the dictionary has, and of linked annotations whose entity
    is a candidate.

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
@option("--document IRI", "The document whose mentions have the candidates.")
@option("--to", "Write the graph to this file, such as out.graphml.", required=True)
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
@option("--limit", "Show the first so many.", type=click.IntRange(min=1))
@output_option
@calling(Workspace.lookup_kb)
def lookup(lookup_kb: FrameCall, output: str, to: Path | None) -> None:
    """Show the candidates of a surface form, or what is known of an entity.

    \b
    Example:
      remix kb lookup Paris
      remix kb lookup dbr:Berlin
    """
    found = lookup_kb()
    if "of" in found.columns and (count := found["of"][0]) > found.height:
        print(f"the first {found.height} of {count} candidates; --limit shows more", file=sys.stderr)
    # For people that note says it once, and equal ranks stand below each other; programs have both in a column.
    for_people = output in ("table", "md", "latex")
    print_table(found.drop("of", "tied", strict=False) if for_people else found, output, to)
