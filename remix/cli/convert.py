"""`remix convert`: a file of one format written in another."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from remix.cli._options import print_table

__all__ = ["command"]


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--to", default=None, metavar="FORMAT", help="Format to write (default: by the suffix of OUT).")
@click.option("--format", default=None, help="Format of IN (default: from its content and suffix).")
@click.option(
    "--text", "texts", type=click.Path(path_type=Path), help="File of any format with the texts that IN lacks."
)
@click.option("--name", default=None, help="Name of the dataset, which IRIs are made of (default: from IN's name).")
def command(
    source: str, target: Path, to: str | None, format: str | None, texts: Path | None, name: str | None
) -> None:
    """Write the documents and annotations of a file, gold or answers, in another format.

    IN is of any format that `remix list formats` shows, plain or compressed; `-` is standard input. What was mended and
    what the other format cannot hold is told, kind by kind. OUT appears whole or not at all; formats of several files
    are written as a folder, or as an archive where OUT ends in .zip.

    \b
    Example:
      remix publish sample-news --to published
      remix convert published/sample-news.ttl sample-news.zip --to brat
    """
    from remix.formats.conversion import convert

    done = convert(source, target, to=to, format=format, name=name, texts=texts)
    table = done.table()
    if table.height:
        print_table(table, "table")
    report = done.report
    counts = f"{report.documents} documents, {report.annotations} annotations"
    print(f"{target} is written as {done.format}: {counts} read as {report.format}", file=sys.stderr)
