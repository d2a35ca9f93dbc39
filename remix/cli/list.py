"""`remix list`: what there is."""

from __future__ import annotations

from pathlib import Path

import click

from remix.cli._options import output_option, print_table, workspace_option
from remix.workspace import open_workspace


@click.command()
@click.argument("kind", default="datasets", metavar="[KIND]")
@click.option("--task", default="", help="Datasets that can be scored so: A2KB, D2KB, C2KB, ….")
@click.option("--language", default="", help="Datasets whose texts are in this language: en, de, ….")
@click.option("--kb", default="", help="Datasets with links to this knowledge base: wikidata, dbpedia, ….")
@click.option("--licence", default="", help="Datasets whose licence has these words: 'CC BY', MIT, ….")
@workspace_option
@output_option
def command(
    kind: str, task: str, language: str, kb: str, licence: str, workspace: Path | None, output: str, to: Path | None
) -> None:
    """List what is loaded and known (datasets), or the parts of remix of a kind.

    `remix list kinds` says which kinds there are: queries, measures, columns, terms, tasks, profiles, formats, ….

    \b
    Examples:
      remix list queries
      remix list datasets --language de --kb wikidata
    """
    found = open_workspace(workspace).listing(kind, task=task, language=language, kb=kb, licence=licence)
    print_table(found, output, to)
