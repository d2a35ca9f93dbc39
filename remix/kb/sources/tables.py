"""A folder of tables: TSV files with a header, one a table of a knowledge base, plain or compressed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from remix import resources
from remix.errors import UsageError
from remix.files import read_bytes
from remix.kb.reading import TABLES, read_table, table_file
from remix.kb.shelf import SHIPPED
from remix.kb.sources import Choices, Part, Source
from remix.kb.staging import Staging
from remix.signature import content_hash


def _parts(place: str, choices: Choices) -> list[Part]:
    folder = Path(place)
    if place == SHIPPED and not folder.exists():
        folder = resources.folder("datasets") / "kb"
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder with the tables of a knowledge base ({', '.join(TABLES)})")
    files = {table: table_file(folder, table) for table in TABLES}
    if not any(files.values()):
        raise UsageError(f"{folder} has no table of a knowledge base: {', '.join(f'{name}.tsv' for name in TABLES)}")
    # The hash is of the content: a table that is compressed later makes no other knowledge base.
    return [
        Part(
            name=table,
            fingerprint=content_hash(read_bytes(file)),
            read=partial(_read, file, table),
            place=str(file),
            size=file.stat().st_size,
        )
        for table, file in files.items()
        if file is not None
    ]


def _read(file: Path, table: str, staging: Staging) -> None:
    rows = read_table(file, table)
    if table == "labels":
        rows = rows.drop_nulls()
    if table == "surface_forms":
        rows = rows.drop_nulls("surface_form")
    staging.write(table, rows)


SOURCE = Source("tables", "A folder of TSV files, one a table", _parts)
