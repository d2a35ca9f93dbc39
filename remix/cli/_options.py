"""Options that several verbs share, and the printing of tables."""

from __future__ import annotations

import inspect
import io
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar, overload

import click

from remix import tables
from remix.cells import spell_out
from remix.errors import UnknownName
from remix.files import write_whole
from remix.paper import OUTPUTS, Typesetting
from remix.question import OPTIONS, Option
from remix.workspace import open_workspace

if TYPE_CHECKING:
    import polars as pl

    from remix.reports.evaluations import Report

_COLUMNS = "remix.columns"
"""Where the columns that are asked for are kept while a verb runs."""

MACHINE = ("json", "jsonl", "csv", "parquet")
"""Formats of tables that are data."""

NARROWEST = 60
"""Columns that a table for people takes on any terminal."""

Printing = ParamSpec("Printing")
Made = TypeVar("Made")
Other = TypeVar("Other")

Command = Callable[..., None]
Options = Callable[[Command], Command]
"""What adds options to a verb."""

FrameCall: TypeAlias = "partial[pl.DataFrame]"
"""A method that returns a frame, with its options."""

FILE, COUNT = click.Path(path_type=Path), click.IntRange(min=0)
_TYPES = {"Path": FILE, "int": int, "float": float}
"""The types of options by how the annotations of parameters begin."""


_workspace_option = click.option(
    "-w",
    "--workspace",
    type=FILE,
    callback=lambda _, __, folder: open_workspace(folder),
    help="Folder of the workspace (default: .remix).",
)
"""The workspace of the folder that holds the store, the knowledge base and the runs."""


@overload
def calling(
    method: Callable[..., Made], /
) -> Callable[[Callable[Concatenate[partial[Made], Printing], None]], Command]: ...
@overload
def calling(
    method: Callable[..., Made], other: Callable[..., Other], /
) -> Callable[[Callable[Concatenate[partial[Made], partial[Other], Printing], None]], Command]: ...
def calling(*methods: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes a verb of a function that calls methods of the workspace and prints what they return.

    The function is given each method with the options that are called as its parameters, ready to be called, and beside
    them those options that it names itself. An option that none of them takes ends in a `TypeError`. Every verb has the
    option `--workspace`.
    """
    taken = [inspect.signature(method).parameters for method in methods]

    def add(show: Command) -> Command:
        named = [*inspect.signature(show).parameters][len(methods) :]

        @wraps(show)
        def command(**options: object) -> None:
            workspace, calls = options["workspace"], []
            for method, own in zip(methods, taken, strict=True):
                calls.append(partial(method, workspace, **{name: options[name] for name in options if name in own}))
            beside = {"workspace"}.union(*taken).difference(named)
            show(*calls, **{name: value for name, value in options.items() if name not in beside})

        vars(command)["parameters"] = {name: one for own in reversed(taken) for name, one in own.items()}
        return _workspace_option(command)

    return add


def option(told: str, help: str, **more: object) -> Options:
    """Return what adds an option to a verb that `calling` made: what is not said here is as the parameter of its name.

    That is the default, which help shows, and whether it is a flag, several, a number or a file. `told` has its names
    and what stands for its value, as in `--seed N`; `more` is what `click.option` takes beside.
    """
    words = told.split()
    names = [word for word in words if word.startswith("-") or (word.isidentifier() and word.islower())]
    name = next((one for one in names if one.isidentifier()), max(names, key=len).strip("-").replace("-", "_"))
    metavar = next((word for word in words if word not in names), None)

    def add(command: Command) -> Command:
        parameter = vars(command)["parameters"][name]
        default, kind = parameter.default, parameter.annotation
        known: dict[str, Any] = {"metavar": metavar, "is_flag": kind == "bool", "multiple": isinstance(default, tuple)}
        known |= {"required": True} if default is parameter.empty else {"default": default}
        known["show_default"] = not isinstance(default, bool) and default not in (None, "", (), parameter.empty)
        known["type"] = next((made for start, made in _TYPES.items() if kind.startswith(start)), None)
        known.update(more)
        if known.get("required"):  # a default, were it None, counts as given
            known.pop("default", None)
        return click.option(*names, help=help, **known)(command)

    return add


def _together(*options: Options) -> Options:
    """Return what adds several options, in the order of the help."""

    def add(command: Command) -> Command:
        for one in reversed(options):
            command = one(command)
        return command

    return add


def _ask_for(name: str, field: Option) -> Options:
    """Return what adds the option of a field of `Question`."""
    more: dict[str, Any] = {}
    if field.choices:
        more = {"type": click.Choice(field.choices), "metavar": field.words or None}
    elif field.least is not None:
        more = {"type": click.IntRange(min=field.least)}
    elif field.is_file:
        more = {"type": click.Path(path_type=Path, dir_okay=False)}
    if field.default_text:
        more["show_default"] = field.default_text
    return option(f"--{name.replace('_', '-')} {field.words}", field.help, **more)


plot_width = option(
    "--plot-width",
    "How wide the figure is: a column (3.3 inches) or the page (6.9) of a paper, or a screen.",
    type=click.Choice(["screen", "column", "page"]),
)
"""The width of the figure that a verb draws."""


def _choose_columns(context: click.Context, _: click.Parameter, told: str | None) -> None:
    names = (name.strip() for name in (told or "").split(","))
    context.meta[_COLUMNS] = tuple(dict.fromkeys(filter(None, names)))


def chosen_columns(*frames: pl.DataFrame) -> tuple[str, ...]:
    """Return the columns that `--columns` names, empty for all; raises `UnknownName` for one that no table has."""
    context = click.get_current_context(silent=True)
    names: tuple[str, ...] = context.meta.get(_COLUMNS, ()) if context is not None else ()
    known = list(dict.fromkeys(name for frame in frames for name in frame.columns))
    if unknown := next((name for name in names if name not in known), None):
        raise UnknownName("column of the table", unknown, known)
    return names


def take_output(said: str = "Format of the table.") -> Callable[[Command], Command]:
    """Return the options of the format of tables, of which this is said, of the file that takes it, and of columns."""
    return _together(
        click.option(
            "-o", "--output", type=click.Choice(tables.FORMATS), default="table", show_default=True, help=said
        ),
        click.option("--to", type=FILE, help="Write the table to this file."),
        click.option(
            "--columns",
            metavar="NAME,NAME",
            expose_value=False,
            callback=_choose_columns,
            help="Only these columns, in this order.",
        ),
    )


output_option = take_output()
"""The same with nothing else to say of the format."""

format_option = _ask_for("format", OPTIONS["format"])
"""The format of each of the files which are read."""

file_format_option = option(
    "--format --map format NAME|FILE",
    "Format of what is read (default: from content and suffix), or a mapping: a TOML file (docs/formats.md).",
)
"""The one format of all files which are read."""

comparing_options = _together(
    option(
        "--reference",
        "What D is in the formulas: the annotation's own dataset, or all together.",
        type=click.Choice(["dataset", "union"]),
    ),
    option("--case-sensitive", "Compare surface forms as they are written."),
    option("--without-source PATTERN", "Leave out dictionary rows by their source."),
    option("--with-gold", "Keep rows of the knowledge base that were derived from gold."),
)
"""What annotations are held against where they are measured."""


def read_settings(_: click.Context, __: click.Parameter, settings: tuple[str, ...]) -> dict[str, str]:
    """Return NAME=VALUE settings by name; raises `click.UsageError` for what is none."""
    found: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise click.UsageError(f"'{setting}' is no name=value")
        found[name] = value
    return found


def read_shares(_: click.Context, __: click.Parameter, settings: tuple[str, ...]) -> dict[str, str]:
    """Return PART=N settings by part, whose name may hold '='; raises `click.UsageError` for what is none."""
    shares = dict(setting.rpartition("=")[::2] for setting in settings)
    if "" in shares:
        raise click.UsageError(f"'{shares['']}' is no part=number")
    return shares


query_values = _together(
    option("--set values NAME=VALUE", "Set a parameter of the query.", multiple=True, callback=read_settings),
    option("--set-from SET", "Take a named set of parameters, such as table4."),
)
"""The values of the parameters of a query."""

asking_options = _together(
    query_values,
    option("--allow-service URL", "Let SERVICE, or a filter, ask this endpoint."),
    option("--endpoint URL", "Ask this SPARQL endpoint in place of the workspace."),
    option("--timeout S", "Seconds that the query may run.", type=click.FloatRange(min=0, min_open=True)),
)
"""What a query is given, and where and how long it is asked."""

service_option = option(
    "--service OLD=NEW",
    "Of filters, ask another service in the place of OLD: an address, a file, 'loaded' or 'kb'.",
)
"""What filters ask in the place of a service that their file names."""


def question_options(command: Command) -> Command:
    """Add datasets and the options of the fields of `Question` that the method has and the verb does not say itself."""
    parameters = vars(command)["parameters"]
    said = {one.name for one in vars(command)["__click_params__"]}
    asked = [_ask_for(name, field) for name, field in OPTIONS.items() if name in parameters and name not in said]
    return _together(click.argument("datasets", nargs=-1, metavar="DATASET|FILE..."), *asked)(command)


def as_data(output: str, to: Path | None) -> bool:
    """Return whether rows are asked for as data, rather than a table for people."""
    return output in MACHINE or (to is not None and tables.suffix_format(to) != "table")


def print_report(report: Report, output: str, to: Path | None = None) -> None:
    """Print the rows of a report as data, or its tables and what they mean; `to` takes the data or the first table."""
    if as_data(output, to) and _form(output, to) not in OUTPUTS:  # papers have what people are shown
        print_table(report.data(_form(output, to)), output, to)
        return
    from remix.reports.readable import typeset_scores

    chosen = chosen_columns(*report.tables)
    for number, table in enumerate(report.tables):
        if number:
            click.echo("", err=to is not None)
        if output in _TITLED and number < len(report.titles) and report.titles[number]:
            click.echo(_TITLED[output].format(report.titles[number]), err=to is not None)
        place = None if number else to
        shown, how = typeset_scores(table, report.kinds) if _form(output, place) in OUTPUTS else (table, None)
        print_table(shown, output, place, columns=[name for name in chosen if name in shown.columns], typesetting=how)
    if output == "table" and report.lines:
        click.echo("\n" + "\n".join(report.lines), err=to is not None)


_TITLED = {"table": "{}\n", "md": "**{}**\n", "latex": "% {}"}
"""How a title stands above a table, in the formats that have one."""
MENTIONS = {"annotations": "mentions", "kept_annotations": "kept_mentions"}
"""What people read over counts of mentions, of which alternatives count once; data have the names of before."""
_READ = ("table", "md", "latex")
"""Formats that people read."""


def print_table(
    frame: pl.DataFrame,
    output: str,
    to: Path | None = None,
    *,
    columns: Sequence[str] | None = None,
    typesetting: Typesetting | None = None,
    called: Mapping[str, str] | None = None,
) -> None:
    """Print a table on standard output, or write it to a file, with the columns that are asked for.

    `called` is what columns are called where people read the table.
    """
    chosen = chosen_columns(frame) if columns is None else columns
    if typesetting is not None and chosen:
        typesetting = replace(typesetting, columns=chosen)
    elif chosen:
        frame = frame.select(chosen)
    content = io.BytesIO()
    form = _form(output, to)
    frame = frame.rename(dict(called or {}), strict=False) if form in _READ else frame
    tables.write(frame, form, content, tables.WIDTH if to is not None else width_of_screen(), typesetting)
    print_bytes(content.getvalue(), to)


def _form(output: str, to: Path | None) -> str:
    """Return the format that a table is written in: that of the file's suffix where no other is asked for."""
    return tables.suffix_format(to) if to is not None and output == "table" else output


def width_of_screen() -> int:
    """Return the columns that a table may take: those of the terminal, of a wide one and elsewhere always as many."""
    if not sys.stdout.isatty():
        return tables.WIDTH
    return max(NARROWEST, min(tables.WIDTH, shutil.get_terminal_size((tables.WIDTH, 24)).columns))


def print_bytes(content: bytes, to: Path | None = None) -> None:
    """Print data on standard output, where on a terminal what would steer it is spelt out, or write it to a file."""
    if to is not None:
        with write_whole(to) as stream:
            stream.write(content)
        return
    sys.stdout.flush()
    if sys.stdout.isatty():
        sys.stdout.write(spell_out(content.decode("utf-8", "replace")))
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
