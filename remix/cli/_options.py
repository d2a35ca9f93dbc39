"""Options that several verbs share, and the printing of tables."""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

import click

from remix import tables
from remix.files import write_whole
from remix.workspace import open_workspace

if TYPE_CHECKING:
    import polars as pl

    from remix.reports.evaluations import Report

MACHINE = ("json", "jsonl", "csv", "parquet")
"""Formats of tables that are data."""

Command = TypeVar("Command", bound=Callable[..., Any])
Printing = ParamSpec("Printing")
Made = TypeVar("Made")
Other = TypeVar("Other")

Options = Callable[[Command], Command]
"""What adds options to a verb."""


@overload
def calling(
    method: Callable[..., Made], /
) -> Callable[[Callable[Concatenate[partial[Made], Printing], None]], Callable[..., None]]: ...
@overload
def calling(
    method: Callable[..., Made], other: Callable[..., Other], /
) -> Callable[[Callable[Concatenate[partial[Made], partial[Other], Printing], None]], Callable[..., None]]: ...
def calling(*methods: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes a verb of a function that calls methods of the workspace and prints what they return.

    The function is given each method with the options that are called as its parameters, ready to be called, and beside
    them those options that it names itself. An option that none of them takes ends in a `TypeError`.
    """
    taken = [inspect.signature(method).parameters for method in methods]

    def add(show: Callable[..., None]) -> Callable[..., None]:
        named = [*inspect.signature(show).parameters][len(methods) :]

        @wraps(show)
        def command(**options: object) -> None:
            workspace, calls = options["workspace"], []
            for method, own in zip(methods, taken, strict=True):
                calls.append(partial(method, workspace, **{name: options[name] for name in options if name in own}))
            beside = {"workspace"}.union(*taken).difference(named)
            show(*calls, **{name: value for name, value in options.items() if name not in beside})

        return command

    return add


def _together(*options: Options[Command]) -> Options[Command]:
    """Return what adds several options, in the order of the help."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


workspace_option = click.option(
    "-w",
    "--workspace",
    type=click.Path(path_type=Path),
    callback=lambda _, __, folder: open_workspace(folder),
    help="Folder of the workspace (default: .remix).",
)
"""The workspace of the folder that holds the store, the knowledge base and the runs."""

output_option = _together(
    click.option(
        "-o",
        "--output",
        type=click.Choice(tables.FORMATS),
        default="table",
        show_default=True,
        help="Format of the table.",
    ),
    click.option("--to", type=click.Path(path_type=Path), help="Write the table to this file."),
)
"""The format of tables, and the file that takes it."""

format_option = click.option(
    "--format",
    "--map",
    "format",
    multiple=True,
    metavar="NAME[=FILE]",
    help="Format of the files, or of one of them (default: from content and suffix; see `remix list formats`); a "
    "mapping is named by its TOML file (docs/formats.md).",
)
"""The format of each of the files which are read."""

file_format_option = click.option(
    "--format",
    "--map",
    "format",
    metavar="NAME|FILE",
    help="Format of what is read (default: from content and suffix), or a mapping: a TOML file (docs/formats.md).",
)
"""The one format of all files which are read."""

comparing_options = _together(
    click.option(
        "--reference",
        type=click.Choice(["dataset", "union"]),
        default="dataset",
        show_default=True,
        help="What D is in the formulas: the annotation's own dataset, or all together.",
    ),
    click.option("--case-sensitive", is_flag=True, help="Compare surface forms as they are written."),
    click.option(
        "--without-source", multiple=True, metavar="PATTERN", help="Leave out dictionary rows by their source."
    ),
    click.option("--with-gold", is_flag=True, help="Keep rows of the knowledge base that were derived from gold."),
)
"""What annotations are held against where they are measured."""


def _read_settings(_: click.Context, __: click.Parameter, settings: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise click.UsageError(f"'{setting}' is no name=value")
        found[name] = value
    return found


asking_options = _together(
    click.option(
        "--set",
        "values",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_read_settings,
        help="Set a parameter of the query.",
    ),
    click.option("--set-from", metavar="SET", help="Take a named set of parameters, such as table4."),
    click.option("--allow-service", multiple=True, metavar="URL", help="Let SERVICE ask this endpoint."),
    click.option("--endpoint", metavar="URL", help="Ask this SPARQL endpoint in place of the workspace."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=600,
        show_default=True,
        metavar="S",
        help="Seconds that the query may run.",
    ),
)
"""What a query is given, and where and how long it is asked."""


scoring_options = _together(
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
"""What every verb takes that scores runs: gold, runs, profile, task, matching, columns, samples."""


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
    content = io.BytesIO()
    tables.write(frame, tables.suffix_format(to) if to is not None and output == "table" else output, content)
    print_bytes(content.getvalue(), to)


def print_bytes(content: bytes, to: Path | None = None) -> None:
    """Print data on standard output, where on a terminal what would steer it is spelt out, or write it to a file."""
    if to is not None:
        with write_whole(to) as stream:
            stream.write(content)
        return
    sys.stdout.flush()
    if sys.stdout.isatty():
        sys.stdout.write(tables.spell_out(content.decode("utf-8", "replace")))
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
