"""Simple tables: a mention a row, with the columns `document`, `begin`, `end`, `entity` in a header line.

Separated by commas, semicolons or tabs. `surface_form`, `confidence` and `class` are read where they are there; other
names of columns that are read: `remix.formats.tables.FIELDS`. A mention without entity, or with one that spells NIL,
is NIL. Rows have no texts; offsets are code points, end exclusive.
"""

from __future__ import annotations

import csv as csv_module
import io
from collections import Counter
from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.files import written
from remix.formats import Contents, Format, Loss, SourceFile
from remix.formats.mends import Mends, decode
from remix.formats.mentions import flatten_labelled, label_documents
from remix.formats.tables import FIELDS, read_table
from remix.frames import Frames

_SEPARATORS = ",;\t"
_MOST = 1000
"""How many columns a table may have: each costs much more memory than its name."""


def _is_csv(head: bytes, name: str) -> bool:
    return _separator(head.decode("utf-8", "replace")) is not None


def _separator(text: str) -> str | None:
    """Return what separates the columns of a header that names document, begin and end, None if it does not."""
    header = text.lstrip("\ufeff").split("\n", 1)[0]
    for separator in _SEPARATORS:
        names = {name.strip().strip('"').lower() for name in header.split(separator)}
        if all(names & set(known) for known in FIELDS[:3]):
            return separator
    return None


def _read(source: SourceFile, dataset: str) -> Contents:
    mends = Mends()
    text = decode(source.read(), mends)
    separator = _separator(text)
    if separator is None:
        wanted = ", ".join(known[0] for known in FIELDS[:4])
        raise BadInput(source.name, f"has no header with the columns {wanted}", line=1)
    try:
        _refuse_columns(source, text, separator)
        rows = pl.read_csv(text.encode(), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        _refuse_longer_rows(source, text, separator)
        raise BadInput(source.name, f"is no table ({' '.join(str(error).split())[:150]})") from None
    return read_table(source.name, rows, dataset, mends)


def _refuse_columns(source: SourceFile, text: str, separator: str) -> None:
    """Refuse a header that has a column twice: one of them would be read, and nobody could say which."""
    line = text.split("\n", 1)[0]
    if line.count(separator) >= _MOST:
        raise BadInput(source.name, f"has more than {_MOST:,} columns", line=1)
    header = pl.read_csv(line.encode(), separator=separator, has_header=False, infer_schema=False)
    counts = Counter(name.strip().lower() for name in header.row(0) if name)
    if twice := next((name for name, count in counts.items() if name and count > 1), None):
        raise BadInput(source.name, f"has the column '{twice}' twice", line=1)


def _refuse_longer_rows(source: SourceFile, text: str, separator: str) -> None:
    """Refuse a table of which a row has more cells than the header, and name its line."""
    rows = csv_module.reader(io.StringIO(text), delimiter=separator)
    wanted = len(next(rows))
    for row in rows:
        if len(row) > wanted:
            reason = (
                f"has {len(row)} cells in a table of {wanted} columns: put a cell with '{separator}' in it in quotes"
            )
            raise BadInput(source.name, reason, line=rows.line_num)


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    names, losses = label_documents(frames.documents, r"^[^\x00\r\n]+$")
    rows = flatten_labelled(frames, names)
    cells = rows.select(
        "begin",
        "end",
        "surface_form",
        "confidence",
        "class",
        entity=pl.col("identifiers").list.first(),
        document="label",
    )
    with written(path) as stream:
        cells.select("document", "begin", "end", "surface_form", "entity", "confidence", "class").write_csv(stream)
    return losses


csv = Format(
    name="csv",
    summary="simple table with a header: document, begin, end, entity, confidence, class (no texts)",
    suffixes=(".csv", ".tsv"),
    sniff=_is_csv,
    read=_read,
    write=_write,
    holds=frozenset({"dangling", "nil", "classes", "confidence"}),
)
