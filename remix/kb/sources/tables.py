"""A folder of tables: TSV files, one a table of a knowledge base, with a header or without, plain or compressed."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

from remix import progress, resources
from remix.delimited import parse_table
from remix.errors import BadInput, UsageError
from remix.files import read_bytes
from remix.iris import canonical, expand
from remix.kb import SHIPPED
from remix.kb.sources import Choices, Part, Source
from remix.kb.staging import ENTITIES, KEYED, TABLES, Staging
from remix.signature import content_hash

_TABLES: dict[str, list[str]] = {
    table: [name for name in TABLES[table] if name != "key"]
    for table in ("surface_forms", "links", "types", "labels", "redirects", "sameas", "disambiguations", "demonyms")
} | {"links": ["source", "target", "count", "origin"]}
"""Each table that is read and its columns, in order, by the names that they have in the knowledge base."""

_SUFFIXES = (".tsv", ".tsv.gz", ".tsv.bz2", ".tsv.zst")


def _file_of(folder: Path, name: str) -> Path | None:
    """Return the file of one table of a folder, None where there is none; raises `UsageError` where there are two."""
    files = [folder / f"{name}{suffix}" for suffix in _SUFFIXES if (folder / f"{name}{suffix}").exists()]
    if len(files) > 1:
        raise UsageError(f"{folder} has {files[0].name} and {files[1].name}: keep one")
    return files[0] if files else None


_IRI = re.compile(r"<|[A-Za-z][A-Za-z0-9+.-]*:[^\s]|Q[1-9]\d*$")
"""How cells of entities and classes begin, in full or with a prefix, and what an item number is."""
_COUNT = re.compile(r"\s*\d+\s*")


def _rows(file: Path, content: bytes, table: str) -> tuple[pl.DataFrame, int]:
    """Return the rows of a table under the names of its columns, and the number of the line of the first."""
    columns = _TABLES[table]
    content = content.removeprefix(codecs.BOM_UTF8)
    cells = content.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", "replace").split("\t")
    if len(cells) != len(columns):
        raise BadInput(file, f"{len(columns)} columns are expected ({', '.join(columns)}), not {len(cells)}", line=1)
    headings = sum(_plain(cell) in _HEADINGS for cell in cells)
    header = headings > 1 or not _is_row(cells, table)  # one word of a heading may be a surface form, or a source
    named = ", ".join(columns)
    if not header:
        progress.note(f"{file} has no header: its first line is a row like the others, its columns are {named}")
    elif headings < 2:
        progress.note(
            f"{file}:1: '{' '.join(cells)}' is taken for the header of the columns {named}, and is no row: "
            f"where it is one, put the line '{' '.join(columns)}' above it, with tabs between its cells"
        )
    rows = parse_table(file, content, header=header)
    return rows.rename(dict(zip(rows.columns, columns, strict=True))), 1 + header


def _is_row(cells: Sequence[str], table: str) -> bool:
    """Return whether a first line is no header: it has an entity, a class or a count where these stand.

    >>> _is_row(["Ada", "dbr:Ada_Lovelace", "", ""], "surface_forms"), _is_row(["A", "A", "3", ""], "surface_forms")
    (True, True)
    >>> _is_row(["name", "page_iri", "count", "source"], "surface_forms")
    False
    """
    told = dict(zip(_TABLES[table], cells, strict=True))
    iris = (told[name] for name in (*ENTITIES[table], "class") if name in told)
    return any(map(_IRI.match, iris)) or _COUNT.fullmatch(told.get("count", "")) is not None


def _plain(heading: str) -> str:
    return re.sub(r"\W|_iri$|iri$", "", heading.lower().replace(" ", "_"))


_HEADINGS = {name for columns in _TABLES.values() for name in columns} | {
    "type",
    "form",
    "mention",
    "name",
    "url",
    "uri",
}
"""Names of columns by which a header is known; others are told, so that no row is lost for one."""


def _type_columns(rows: pl.DataFrame, file: Path, name: str, first_line: int) -> pl.DataFrame:
    """Return rows with whole numbers or null as counts and IRIs written out and canonical, none of them null."""
    iris = [column for column in rows.columns if column in (*ENTITIES[name], "class")]
    rows = rows.with_columns(
        pl.when(pl.col(column).str.strip_chars() != "").then(pl.col(column)).alias(column) for column in rows.columns
    )
    if "count" in rows.columns:
        counts = rows["count"].str.strip_chars().cast(pl.Int64, strict=False)
        wrong = (counts.is_null() & rows["count"].is_not_null()).arg_true()
        if len(wrong):
            first = int(wrong[0])
            raise BadInput(file, f"'{rows['count'][first]}' is no count", line=first + first_line)
        rows = rows.with_columns(counts)
    # A class is no entity: its scheme and host stay as its vocabulary has them, else no mapping finds it.
    rows = rows.with_columns(
        expand(rows[column]).alias(column) if column == "class" else canonical(expand(rows[column])).alias(column)
        for column in iris
    )
    return rows.drop_nulls(iris)


def _parts(place: str, choices: Choices) -> list[Part]:
    folder = Path(place)
    if place == SHIPPED and not folder.exists():
        folder = resources.folder("datasets") / "kb"
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder with the tables of a knowledge base ({', '.join(_TABLES)})")
    files = {table: _file_of(folder, table) for table in _TABLES}
    if not any(files.values()):
        raise UsageError(f"{folder} has no table of a knowledge base: {', '.join(f'{name}.tsv' for name in _TABLES)}")
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
    rows, first_line = _rows(file, read_bytes(file), table)
    rows = _type_columns(rows, file, table, first_line)
    if table == "labels":
        rows = rows.drop_nulls()
    if table in KEYED:
        rows = rows.drop_nulls(KEYED[table])
    staging.write(table, rows)


SOURCE = Source("tables", "A folder of TSV files, one a table", _parts)
