"""Writes docs/tables.md: the columns of the tables that everything passes, from their declarations.

python scripts/tables.py
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tabulate import tabulate

from remix.files import write_whole
from remix.frames import TABLES
from remix.schemas import Schema, SchemaColumn
from remix.scoring.inputs.case_tables import ANSWERS, CASE_DOCUMENTS, COUNTS, LABELLED_COUNTS, MENTIONS
from remix.studies.results import TABLES as OF_STUDIES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tables.md"

HEAD = """# Tables

The columns of the tables that everything passes, made from their declarations by `python scripts/tables.py`. Frames
(`remix.frames`) are what a reader makes of a file; of a case (`remix.scoring.inputs.case_tables`) are the tables that
scoring hands from stage to stage, where documents, mentions, answers, systems and entities are numbers; those of a
study (`remix.studies.results`) are what its exhibits look at. A frame is checked where it enters, when a file is read
and when frames are given to `evaluate` or as answers; `Schema.check` says which column is wrong and how.
"""

_TYPES = {pl.String(): "text", pl.Int64(): "integer", pl.Float64(): "number", pl.Boolean(): "true or false"}


def documentation() -> str:
    """Return docs/tables.md."""
    case = (CASE_DOCUMENTS, MENTIONS, ANSWERS, COUNTS, LABELLED_COUNTS)
    parts = [HEAD, "## Frames\n", *map(_section, TABLES.values()), "## Of a case\n", *map(_section, case)]
    parts += ["## Of a study\n", *map(_section, OF_STUDIES.values())]
    return "\n".join(parts)


def _section(table: Schema) -> str:
    rows = [[f"`{one.name}`", _TYPES[one.type], _absence(one), one.meaning] for one in table.columns]
    listed = tabulate(rows, ["column", "type", "may be", "meaning"], "github")
    key = f" No two rows have the same {' and '.join(f'`{name}`' for name in table.key)}." if table.key else ""
    return f"### {table.name.capitalize()}\n\nA row is {table.row}.{key}\n\n{listed}\n"


def _absence(column: SchemaColumn) -> str:
    return " or ".join(word for word, there in (("null", column.null), ("left out", column.optional)) if there)


def main() -> None:
    """Write the page."""
    with write_whole(PAGE) as stream:
        stream.write(documentation().encode())


if __name__ == "__main__":
    main()
