"""Options that several verbs share, and the printing of tables."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from remix import tables

if TYPE_CHECKING:
    import polars as pl

    from remix.reports.evaluations import Report

__all__ = [
    "Scoring",
    "as_data",
    "format_option",
    "output_option",
    "parameters",
    "print_bytes",
    "print_report",
    "print_table",
    "print_text",
    "scoring_options",
    "workspace_option",
]

MACHINE = ("json", "jsonl", "csv", "parquet")
"""Formats of tables that are data."""

Command = TypeVar("Command", bound=Callable[..., Any])


def workspace_option(command: Command) -> Command:
    """Add `-w/--workspace`, the folder that holds the store, the knowledge base and the runs."""
    return click.option(
        "-w",
        "--workspace",
        type=click.Path(path_type=Path),
        default=None,
        help="Folder of the workspace (default: .remix).",
    )(command)


def output_option(command: Command) -> Command:
    """Add `-o/--output`, the format of tables, and `--to`, the file that takes it."""
    command = click.option("--to", type=click.Path(path_type=Path), default=None, help="Write the table to this file.")(
        command
    )
    return click.option(
        "-o",
        "--output",
        type=click.Choice(tables.FORMATS),
        default="table",
        show_default=True,
        help="Format of the table.",
    )(command)


def format_option(command: Command) -> Command:
    """Add `--format`, that of the files which are read."""
    return click.option(
        "--format",
        "--map",
        "format",
        multiple=True,
        metavar="NAME[=FILE]",
        help="Format of the files, or of one of them (default: from content and suffix; see `remix list formats`); a "
        "mapping is named by its TOML file (docs/formats.md).",
    )(command)


SCORING = (
    click.argument("datasets", nargs=-1, metavar="DATASET|FILE..."),
    click.option(
        "--gold", multiple=True, type=click.Path(path_type=Path), help="File of gold; the workspace is not used."
    ),
    click.option(
        "--run",
        multiple=True,
        metavar="NAME[=FILE]",
        help="A registered run (`remix run list`), or answers in a file; files of one NAME add up. Default: all "
        "registered runs that answer gold.",
    ),
    format_option,
    click.option("--system", multiple=True, help="A registered run, too, by its system."),
    click.option(
        "--profile",
        default="remix",
        show_default=True,
        help="Whose conventions are followed; `evaluate` shows several (a,b or all) side by side with what makes the "
        "difference.",
    ),
    click.option("--task", multiple=True, help="A2KB, D2KB, C2KB, ERec, … (default: the profile's)."),
    click.option("--match", multiple=True, help="strong, weak, … (default: the profile's)."),
    click.option(
        "--by",
        multiple=True,
        metavar="COLUMN[:SCHEME]",
        help="Break down by class, type, kb, a measure, a property of documents (dcterms:subject) or the errors of a "
        "run (error:SYSTEM); a,b crosses two; schemes: deciles, quantiles:4, thresholds:3,5, head-torso-tail.",
    ),
    click.option(
        "--min-support", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out slices of fewer mentions."
    ),
    click.option(
        "--documents",
        type=click.Choice(["", "all", "kept"]),
        default="",
        metavar="all|kept",
        help="Documents whose answers count: all, or those with a kept mention (default: all; of a remix whose origins "
        "are not loaded, kept).",
    ),
    click.option(
        "--unit",
        type=click.Choice(["document", "context"]),
        default="document",
        show_default=True,
        help="What samples draw: documents, or their lines (of a text in one line: sentences).",
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Seed of the samples."
    ),
    click.option("--entities", type=click.Path(path_type=Path), help="Types of entities (TSV: entity, name, types)."),
    click.option(
        "--hierarchy",
        type=click.Path(path_type=Path),
        help="RDF file with rdfs:subClassOf (default: the knowledge base's): for ETyping and RT2KB, --match graded and "
        "--errors hierarchy.",
    ),
)


class Scoring(TypedDict):
    """What a verb is given that has the options of `scoring_options`; the workspace's methods say what each is."""

    gold: tuple[Path, ...]
    run: tuple[str, ...]
    format: tuple[str, ...]
    system: tuple[str, ...]
    profile: str
    task: tuple[str, ...]
    match: tuple[str, ...]
    by: tuple[str, ...]
    min_support: int
    documents: str
    unit: str
    seed: int
    entities: Path | None
    hierarchy: Path | None


def scoring_options(command: Command) -> Command:
    """Add what every verb takes that scores runs: gold, runs, profile, task, matching, columns, samples."""
    for option in reversed(SCORING):
        command = option(command)
    return command


def as_data(output: str, to: Path | None) -> bool:
    """Return whether rows are asked for as data, rather than a table for people."""
    return output in MACHINE or (to is not None and tables.suffix_format(to) != "table")


def print_report(report: Report, output: str, to: Path | None = None) -> None:
    """Print the rows of a report as data, or its tables and what they mean; `to` takes the data or the first table."""
    if as_data(output, to):
        print_table(report.rows, output, to)
        return
    for number, table in enumerate(report.tables):
        if number:
            click.echo("", err=to is not None)
        if output == "table" and number < len(report.titles) and report.titles[number]:
            click.echo(f"{report.titles[number]}\n", err=to is not None)
        print_table(table, output, None if number else to)
    if output == "table" and report.lines:
        click.echo("\n" + "\n".join(report.lines), err=to is not None)


def print_table(frame: pl.DataFrame, output: str, to: Path | None = None) -> None:
    """Print a table on standard output, or write it to a file."""
    if to is None:
        content = io.BytesIO()
        tables.write(frame, output, content)
        print_bytes(content.getvalue())
        return
    from remix.files import write_whole

    with write_whole(to) as stream:
        tables.write(frame, tables.suffix_format(to) if output == "table" else output, stream)  # type: ignore[arg-type]


def print_bytes(content: bytes) -> None:
    """Print data on standard output, byte by byte; on a terminal what would steer it is spelt out."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        sys.stdout.write(tables.spell_out(content.decode("utf-8", "replace")))
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def print_text(text: str, to: Path | None = None) -> None:
    """Print a text on standard output, or write it to a file."""
    if to is None:
        click.echo(text)
        return
    from remix.files import write_whole

    with write_whole(to) as stream:
        stream.write(f"{text}\n".encode())


def parameters(settings: tuple[str, ...]) -> dict[str, str]:
    """Return the `name=value` pairs of a repeated option as a dictionary.

    >>> parameters(("minimum=3", "label=a=b"))
    {'minimum': '3', 'label': 'a=b'}
    """
    found: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise click.UsageError(f"'{setting}' is no name=value")
        found[name] = value
    return found
