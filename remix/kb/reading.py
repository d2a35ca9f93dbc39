"""The tables that a knowledge base is built from: TSV files with a header, plain or compressed."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from remix.errors import BadInput, UsageError
from remix.files import read_bytes
from remix.iris import canonical
from remix.names import PREFIXES

__all__ = ["TABLES", "expanded", "read_table", "table_file"]

TABLES: dict[str, tuple[str, ...]] = {
    "surface_forms": ("surface_form", "entity", "count", "source"),
    "links": ("source", "target", "count", "origin"),
    "types": ("entity", "class", "source"),
    "labels": ("entity", "label", "source"),
    "redirects": ("redirect", "target", "source"),
    "sameas": ("wikidata", "entity", "count", "source"),
    "disambiguations": ("page", "entity", "source"),
}
"""Each table and its columns, in order, by the names that they have in the knowledge base."""

IRI_COLUMNS = {
    "surface_forms": ("entity",),
    "links": ("source", "target"),
    "types": ("entity", "class"),
    "labels": ("entity",),
    "redirects": ("redirect", "target"),
    "sameas": ("wikidata", "entity"),
    "disambiguations": ("page", "entity"),
}
_SUFFIXES = (".tsv", ".tsv.gz", ".tsv.bz2", ".tsv.zst")


def table_file(folder: Path, name: str) -> Path | None:
    """Return the file of one table of a folder, None where there is none; raises `UsageError` where there are two."""
    files = [folder / f"{name}{suffix}" for suffix in _SUFFIXES if (folder / f"{name}{suffix}").exists()]
    if len(files) > 1:
        raise UsageError(f"{folder} has {files[0].name} and {files[1].name}: keep one")
    return files[0] if files else None


def read_table(file: Path, name: str) -> pl.DataFrame:
    """Return the rows of the file of one table.

    IRIs are written out and canonical; counts are whole numbers or null. Rows without an entity are dropped.
    Raises `BadInput` for a file that is no such table.
    """
    return _typed(_rows(file, read_bytes(file), TABLES[name]), file, name)


def _rows(file: Path, content: bytes, columns: tuple[str, ...]) -> pl.DataFrame:
    header = content.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", "replace").split("\t")
    if len(header) != len(columns):
        raise BadInput(file, f"{len(columns)} columns are expected ({', '.join(columns)}), not {len(header)}", line=1)
    try:
        rows = pl.read_csv(content, separator="\t", quote_char=None, infer_schema=False)
        return rows.rename(dict(zip(rows.columns, columns, strict=True)))
    except pl.exceptions.PolarsError as error:
        raise BadInput(file, _reason(content, len(columns), error)) from None


def _reason(content: bytes, width: int, error: Exception) -> str:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line and line.count(b"\t") + 1 != width:
            return f"line {number} has {line.count(bytes([9])) + 1} fields instead of {width}"
        try:
            line.decode()
        except UnicodeDecodeError:
            return f"line {number} is not UTF-8"
    return str(error).split("\n", 1)[0]


def _typed(rows: pl.DataFrame, file: Path, name: str) -> pl.DataFrame:
    iris = IRI_COLUMNS[name]
    rows = rows.with_columns(
        pl.when(pl.col(column).str.strip_chars() != "").then(pl.col(column)).alias(column) for column in rows.columns
    )
    if "count" in rows.columns:
        counts = rows["count"].str.strip_chars().cast(pl.Int64, strict=False)
        wrong = (counts.is_null() & rows["count"].is_not_null()).arg_true()
        if len(wrong):
            first = int(wrong[0])
            raise BadInput(file, f"'{rows['count'][first]}' is no count", line=first + 2)
        rows = rows.with_columns(counts)
    # A class is no entity: its scheme and host stay as its vocabulary has them, else no mapping finds it.
    rows = rows.with_columns(
        expanded(rows[column]).alias(column) if column == "class" else canonical(expanded(rows[column])).alias(column)
        for column in iris
    )
    return rows.drop_nulls(list(iris))


def expanded(iris: pl.Series) -> pl.Series:
    """Return IRIs in full where they are written with a well-known prefix.

    >>> expanded(pl.Series(["dbr:Berlin", "http://example.org/a", "mailto:a"])).to_list()
    ['http://dbpedia.org/resource/Berlin', 'http://example.org/a', 'mailto:a']
    """
    parts = pl.DataFrame({"iri": iris}).with_columns(
        prefix=pl.col("iri").str.extract(r"^([A-Za-z]+):(?:[^/]|/[^/]|$)"),
    )
    namespace = pl.col("prefix").replace_strict(PREFIXES, default=None, return_dtype=pl.String)
    rest = pl.col("iri").str.replace(r"^[A-Za-z]+:", "")
    return parts.select(pl.coalesce(namespace + rest, "iri").alias(iris.name)).to_series()
