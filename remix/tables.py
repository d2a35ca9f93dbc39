"""One way to print a table: for people, for spreadsheets, for programs, for papers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from remix.errors import UsageError, nearest

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMATS", "render", "write"]


def render(frame: pl.DataFrame, output: str = "table") -> str:
    """Return the frame as text in one of the formats `table`, `csv`, `json`, `jsonl`, `md`, `latex`.

    Raises `UsageError` for another format, and for `parquet`, which is bytes (see `write`).

    >>> import polars as pl
    >>> print(render(pl.DataFrame({"name": ["a"], "value": [0.12345]})))
    name      value
    ------  -------
    a        0.1235
    """
    if output in _TEXT:
        return _TEXT[output](frame)
    if output == "parquet":
        raise UsageError("parquet is not text: name a file with --to, or redirect the output")
    raise UsageError(f"no output format '{output}'{nearest(output, FORMATS)}")


def write(frame: pl.DataFrame, output: str, stream: BinaryIO) -> None:
    """Write the frame to a stream of bytes in any of the formats."""
    if output == "parquet":
        frame.write_parquet(stream)
    else:
        stream.write((render(frame, output).rstrip("\n") + "\n").encode())


def _plain(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if value and abs(value) < 0.001 else round(value, 4)
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return value


def _tabulated(style: str) -> Callable[[pl.DataFrame], str]:
    def text(frame: pl.DataFrame) -> str:
        from tabulate import tabulate

        rows = [[_plain(value) for value in row] for row in frame.iter_rows()]
        numeric = [frame.schema[name].is_numeric() for name in frame.columns]
        align = ["right" if number else "left" for number in numeric]
        return tabulate(
            rows,
            headers=frame.columns,
            tablefmt=style,
            colalign=align if rows else None,
            disable_numparse=True,
        )

    return text


def _json(frame: pl.DataFrame) -> str:
    return json.dumps(frame.to_dicts(), ensure_ascii=False, indent=1, default=str)


def _csv(frame: pl.DataFrame) -> str:
    import polars as pl

    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    return frame.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join("|") for name in lists).write_csv()


def _jsonl(frame: pl.DataFrame) -> str:
    buffer = io.BytesIO()
    frame.write_ndjson(buffer)
    return buffer.getvalue().decode()


_TEXT: dict[str, Callable[[pl.DataFrame], str]] = {
    "table": _tabulated("simple"),
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
    "md": _tabulated("github"),
    "latex": _tabulated("latex_booktabs"),
}

FORMATS = (*_TEXT, "parquet")
"""The output formats of every verb that prints a table."""


def suffix_format(path: Path) -> str:
    """Return the format that a file's suffix names, `table` where it names none."""
    return {
        ".csv": "csv",
        ".json": "json",
        ".jsonl": "jsonl",
        ".md": "md",
        ".tex": "latex",
        ".parquet": "parquet",
    }.get(path.suffix, "table")
