"""One way to print a table: for people, for spreadsheets, for programs, for papers."""

from __future__ import annotations

import json
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from remix.cells import cell, plain, spell_out
from remix.errors import UsageError, nearest
from remix.paper import OUTPUTS, Typesetting, typeset

if TYPE_CHECKING:
    import polars as pl

WIDTH = 120
"""Characters that the lines of a table for people have, where its words allow it."""

NARROW = 28
"""Characters that a text keeps on a line before a table is wider than that."""


def render(
    frame: pl.DataFrame, output: str = "table", width: int = WIDTH, typesetting: Typesetting | None = None
) -> str:
    """Return the frame as text in one of the formats `table`, `csv`, `json`, `jsonl`, `md`, `latex`.

    A `table` has lines of at most `width`, where its words allow it, and goes on below where it has more columns.
    For people (`table`, `md`, `latex`) numbers are rounded, and columns whose name begins with `share` are in per cent.
    A typesetting says what `md` and `latex` have in bold, in one cell, and of which columns (see `remix.paper`).
    Raises `UsageError` for another format, and for `parquet`, which is bytes (see `write`).

    >>> import polars as pl
    >>> print(render(pl.DataFrame({"name": ["a"], "value": [0.12345]})))
    name      value
    ------  -------
    a        0.1235
    """
    if output == "table":
        return _in_blocks(frame, width)
    if typesetting is not None and output in OUTPUTS:
        return typeset(frame, output, typesetting)
    if output in _TEXT:
        return _TEXT[output](frame)
    if output == "parquet":
        raise UsageError("parquet is not text: name a file with --to, or redirect the output")
    raise UsageError(f"no output format '{output}'{nearest(output, FORMATS)}")


def write(
    frame: pl.DataFrame, output: str, stream: BinaryIO, width: int = WIDTH, typesetting: Typesetting | None = None
) -> None:
    """Write the frame to a stream of bytes in any of the formats; the other arguments are those of `render`."""
    if output == "parquet":
        frame.write_parquet(stream)
    else:
        stream.write((render(frame, output, width, typesetting).rstrip("\n") + "\n").encode())


def blocks(frame: pl.DataFrame, keys: int, *, most: int | None = None, width: int = WIDTH) -> Iterator[pl.DataFrame]:
    """Return the table in parts that are as wide as a screen, each of which begins with the first `keys` columns.

    Texts take `most` characters of a line, where they are to be broken.

    >>> import polars as pl
    >>> wide = pl.DataFrame({"measure": ["density"], **{f"a-dataset-{n}": ["0.1234 (covers 90 %)"] for n in range(9)}})
    >>> [part.columns[1:] for part in blocks(wide, 1)][1]
    ['a-dataset-4', 'a-dataset-5', 'a-dataset-6', 'a-dataset-7']
    """
    names = frame.columns
    # tabulate pads headers by two characters, and sets columns two apart.
    widths = {}
    for name in names:
        cells = [str(plain(value)) for value in frame[name].to_list()]
        pieces = cells if most is None else [piece for one in cells for piece in _pieces(one, most)]
        widths[name] = 2 + max([len(name) + 2, *map(len, pieces)])
    taken, room = names[:keys], width - sum(widths[name] for name in names[:keys])
    part: list[str] = []
    for name in names[keys:]:
        if part and sum(widths[one] for one in (*part, name)) > room:
            yield frame.select(*taken, *part)
            part = []
        part.append(name)
    yield frame.select(*taken, *part)


def fit_lines(frame: pl.DataFrame, width: int = WIDTH) -> pl.DataFrame:
    """Return the frame as texts that fit on a line for each row: the longest are cut, but for the first column.

    Columns at the end for which a line has no room are left out.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"name": ["ace"], "title": ["A corpus of news with a long title"], "kb": [["dbpedia"]]})
    >>> fit_lines(rows, 40).row(0)
    ('ace', 'A corpus of news with…', 'dbpedia')
    """
    import polars as pl

    cells = {name: [str(plain(value)) for value in frame[name].to_list()] for name in frame.columns}
    widths = {name: max([len(name) + 2, *map(len, found)]) for name, found in cells.items()}
    least = {name: len(name) + 2 if place else widths[name] for place, name in enumerate(widths)}
    while sum(least.values()) + 2 * (len(least) - 1) > width and len(least) > 1:
        least.popitem()
    kept = {name: widths[name] for name in least}
    while (over := sum(kept.values()) + 2 * (len(kept) - 1) - width) > 0:
        widest = max((name for name in kept if kept[name] > least[name]), key=lambda name: kept[name])
        second = max((kept[name] for name in kept if name != widest and kept[name] > least[name]), default=0)
        kept[widest] = max(least[widest], kept[widest] - over, min(second, kept[widest] - 1))
    cut = {
        name: frame[name]
        if frame[name].dtype.is_numeric()
        else [cell if len(cell) <= most else f"{cell[: most - 1].rstrip()}…" for cell in cells[name]]
        for name, most in kept.items()
    }
    return pl.DataFrame(cut)


def shorten(text: str, most: int = 40) -> str:
    """Return a text for people whose words are no longer than that, the middle of longer ones being left out.

    What begins with the current folder is relative to it.

    >>> shorten("http://example.org/a/very/long/name is not known", 20)
    'http://ex…/long/name is not known'
    """
    words = text.replace(f"{Path.cwd()}/", "").split(" ")
    half = (most - 1) // 2
    return " ".join(word if len(word) <= most else f"{word[:half]}…{word[-half - 1 :]}" for word in words)


def _in_blocks(frame: pl.DataFrame, width: int) -> str:
    """Return a table for people: where it is wider than a screen, in parts that begin with its first texts."""
    text = _tabulate("simple", width)
    whole = text(frame)
    if max(map(len, whole.splitlines()), default=0) <= width or frame.width < 2:
        return whole
    keys = next((place for place, kind in enumerate(frame.dtypes) if kind.is_numeric()), 1)
    return "\n\n".join(text(part) for part in blocks(frame, min(max(keys, 1), 3), most=NARROW, width=width))


def _tabulate(style: str, width: int | None = None) -> Callable[[pl.DataFrame], str]:
    def text(frame: pl.DataFrame) -> str:
        """Return a frame as a table of the style."""
        from tabulate import tabulate

        names = [spell_out(name) for name in frame.columns]
        rows = [[str(cell(name, value)) for name, value in zip(names, row, strict=True)] for row in frame.iter_rows()]
        if style == "github":
            names, rows = _for_markdown(names), [_for_markdown(row) for row in rows]
        numeric = [kind.is_numeric() for kind in frame.schema.dtypes()]
        align = ["right" if number else "left" for number in numeric]
        headers = names
        if width is not None:
            headers, rows = _fit(names, rows, numeric, width)
        return tabulate(
            rows,
            headers=headers,
            tablefmt=style,
            colalign=align if rows else None,
            disable_numparse=True,
            preserve_whitespace=False,
        )

    return text


def _for_markdown(cells: list[str]) -> list[str]:
    """Return texts that stay in their cells, and are no HTML: Markdown passes that on."""
    return [one.replace("<", "&lt;").replace("|", "\\|").replace("\n", " ") for one in cells]


def _fit(names: list[str], rows: list[list[str]], numeric: list[bool], width: int) -> tuple[list[str], list[list[str]]]:
    """Return headers and cells with line breaks, so that the table is as wide or the least it can be.

    The headers of numbers are broken first, then the widest texts between words, then words behind their marks.
    """
    columns = [[name, *(row[place] for row in rows)] for place, name in enumerate(names)]
    # tabulate pads headers by two characters.
    widths = [max(len(column[0]) + 2, *map(len, column)) for column in columns]
    headers = list(names)
    if sum(widths) + 2 * len(widths) > width:
        for place, name in enumerate(names):
            cells = max((len(cell) for cell in columns[place][1:]), default=0)
            if numeric[place] and cells < len(name) + 2:
                words = re.split("[_ ]", name)
                lines = textwrap.wrap(" ".join(words), max(cells - 2, *map(len, words)))
                headers[place] = "\n".join(lines)
                widths[place] = max(cells, *(len(line) + 2 for line in lines))
    for most in (None, NARROW):
        # Between words first; what is too wide still is broken within them.
        padded = [[f"{word}__" for word in name.split(" ")] for name in names]
        least = [
            max(12, *(len(piece) for cell in (*words, *column[1:]) for piece in _pieces(cell, most)))
            for words, column in zip(padded, columns, strict=True)
        ]
        while (over := sum(widths) + 2 * (len(widths) - 1) - width) > 0:
            free = [place for place, number in enumerate(numeric) if not number and widths[place] > least[place]]
            if not free:
                break
            widest = max(free, key=lambda place: widths[place])
            second = max((widths[place] for place in free if place != widest), default=0)
            widths[widest] = max(least[widest], widths[widest] - over, min(second, widths[widest] - 1))
    for place, name in enumerate(names):
        if not numeric[place]:
            headers[place] = "\n".join(_break_cell(name, widths[place] - 2))
    broken = [
        [
            cell if number else "\n".join(_break_cell(cell, most))
            for cell, number, most in zip(row, numeric, widths, strict=True)
        ]
        for row in rows
    ]
    return headers, broken


def _pieces(cell: str, most: int | None) -> list[str]:
    """Return what stands on a line by itself at least: words, or what is `most` long of what is between their marks."""
    if most is None:
        return cell.split(" ")
    return [line for word in cell.split(" ") for line in _break_cell(word, most)] or [""]


def _break_cell(cell: str, most: int) -> list[str]:
    """Return a cell in lines: between words, and behind their marks within those that fit then and do not otherwise."""
    lines = textwrap.wrap(cell, most, break_long_words=False, break_on_hyphens=False) if len(cell) > most else [cell]
    found = []
    for line in lines:
        pieces = re.findall(r"[^-/_#=:]*[-/_#=:]?", line)
        if len(line) <= most or max(map(len, pieces)) > most:
            found.append(line)
            continue
        rest = ""
        for piece in pieces:
            if rest and len(rest) + len(piece) > most:
                found.append(rest)
                rest = ""
            rest += piece
        found.append(rest)
    return found


def _json(frame: pl.DataFrame) -> str:
    """Return rows as JSON, one a line, with null for what is no number or infinite, which JSON has not."""
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in json.loads(frame.write_json()))
    return f"[\n{rows}\n]" if rows else "[]"


def _csv(frame: pl.DataFrame) -> str:
    import polars as pl

    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    return frame.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join("|") for name in lists).write_csv()


_TEXT: dict[str, Callable[[pl.DataFrame], str]] = {
    "csv": _csv,
    "json": _json,
    "jsonl": lambda frame: frame.write_ndjson(),
    "md": _tabulate("github"),
    "latex": typeset,
}

FORMATS = ("table", *_TEXT, "parquet")
"""The output formats of every verb that prints a table."""


def suffix_format(path: Path) -> str:
    """Return the format that a file's suffix names, `table` where it names none."""
    named = {".tex": "latex"} | {f".{one}": one for one in ("csv", "json", "jsonl", "md", "parquet")}
    return named.get(path.suffix, "table")


One = TypeVar("One")

ROWS = 5
"""Rows of what prints itself in ten lines."""


class Printed(ABC):
    """What prints itself in ten lines, in a terminal and in a notebook: what it is, and the first rows of a table."""

    @abstractmethod
    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return what this is in one line, and the table of which the first rows are shown."""

    def __repr__(self) -> str:
        title, table = self.preview()
        lines = [title, *(["", *_grid(table.head(ROWS))] if table.width else [])]
        more = table.height - ROWS
        lines += [f"… {more} more rows"] if more > 0 else []
        return "\n".join(line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines)

    def _repr_html_(self) -> str:
        from html import escape

        title, table = self.preview()
        return f"<p>{escape(title)}</p>{table.head(ROWS)._repr_html_()}"


def _grid(table: pl.DataFrame) -> list[str]:
    """Return a table for people with one line a row."""
    return [line for line in _tabulate("simple")(table).splitlines() if line]


class Listed(Printed, list[One]):
    """Things that a verb returns, one after another, with a row for each in `table`."""

    def __init__(self, things: Iterable[One], rows: Iterable[Mapping[str, object]]) -> None:
        super().__init__(things)
        self.rows = [*rows]

    @property
    def table(self) -> pl.DataFrame:
        """Return a row for each thing."""
        import polars as pl

        return pl.DataFrame(self.rows, infer_schema_length=None)

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return how many things there are, and a row for each, without what is listed in a cell."""
        plain = [{name: cell for name, cell in row.items() if not isinstance(cell, tuple)} for row in self.rows]
        import polars as pl

        return f"{len(self)} of them", pl.DataFrame(plain, infer_schema_length=None)


class Tables(Printed, dict[str, "pl.DataFrame"]):
    """Several tables by their names."""

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return the names of the tables, and the first one."""
        return f"tables: {', '.join(self)}", next(iter(self.values()))
