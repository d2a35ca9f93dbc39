"""Tables in files of text: a row a line, its cells between separators, all of them texts."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl

from remix.errors import BadInput


def parse_table(
    file: Path | str, content: bytes, *, separator: str = "\t", header: bool = True, quoted: bool = False
) -> pl.DataFrame:
    r"""Return the rows of a table, shorter ones filled with null; columns without a header are `column_1` and so on.

    Raises `BadInput` that names the first line that is no UTF-8 or has more cells than the header.

    >>> parse_table("types.tsv", b"entity\tname\nQ1\tAda\n").rows()
    [('Q1', 'Ada')]
    >>> parse_table("types.tsv", b"entity\tname\nQ1\tAda\textra\n")
    Traceback (most recent call last):
    remix.errors.BadInput: types.tsv:2: has 3 cells in a table of 2 columns
    """
    quote = '"' if quoted else None
    try:
        return pl.read_csv(
            content, separator=separator, has_header=header, infer_schema=False, quote_char=quote, raise_if_empty=False
        )
    except pl.exceptions.PolarsError as error:
        reason = " ".join(str(error).split())[:150]
    # Outside, so that what polars said does not stand above it.
    _refuse_first(file, content, separator, quoted=quoted)
    raise BadInput(file, f"is no table ({reason})")


def _refuse_first(file: Path | str, content: bytes, separator: str, *, quoted: bool) -> None:
    """Raise `BadInput` for the first line that is no UTF-8, or whose cells are more than those of the first."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            line.decode()
        except UnicodeDecodeError:
            raise BadInput(file, "is not UTF-8; save it as UTF-8", line=number) from None
    text = io.StringIO(content.decode(), newline="")
    rows = csv.reader(text, delimiter=separator, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    wanted = len(next(rows, ()))
    for row in rows:
        if len(row) > wanted:
            hint = f": put a cell with '{separator}' in it in quotes" if quoted else ""
            raise BadInput(file, f"has {len(row)} cells in a table of {wanted} columns{hint}", line=rows.line_num)
