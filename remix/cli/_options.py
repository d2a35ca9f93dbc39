"""Options that several verbs share, and the printing of tables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from remix import tables

if TYPE_CHECKING:
    import polars as pl

__all__ = ["output_option", "parameters", "print_table", "print_text", "workspace_option"]

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


def print_table(frame: pl.DataFrame, output: str, to: Path | None = None) -> None:
    """Print a table on standard output, or write it to a file."""
    if to is None:
        sys.stdout.flush()
        tables.write(frame, output, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    from remix.files import written

    with written(to) as stream:
        tables.write(frame, tables.suffix_format(to) if output == "table" else output, stream)  # type: ignore[arg-type]


def print_text(text: str, to: Path | None = None) -> None:
    """Print a text on standard output, or write it to a file."""
    if to is None:
        click.echo(text)
        return
    from remix.files import written

    with written(to) as stream:
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
