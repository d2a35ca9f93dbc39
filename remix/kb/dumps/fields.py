"""Tab-separated fields of a dump, and the entities that they name in one way or another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from remix.iris import canonical, expand
from remix.kb.dumps.lines import excerpts, read_blocks
from remix.kb.dumps.statements import number_lines
from remix.kb.forms import resource
from remix.kb.staging import Staging

__all__ = ["ENTITY", "entity_iris", "field", "read_fields", "share"]

ENTITY = r"^(?:<?https?://[^ ]+|<[^ ]+>|Q[1-9][0-9]*|(?:dbr|wd):[^ ]+)$"
"""What is an entity by its looks; titles are not."""


def read_fields(path: Path, staging: Staging) -> Iterator[pl.DataFrame]:
    """Yield line and fields (a list) of the lines of a file, block by block; empty lines and comments are none.

    Lines that are not UTF-8 are noted in the staging.
    """
    for block in read_blocks(path):
        lines, bad = number_lines(block)
        staging.problem("a line that is not UTF-8", bad.height, excerpts(path, bad), place=path)
        lines = lines.filter(~pl.col("text").str.contains(r"^\s*(?:#[^\t]*)?$"))
        yield lines.with_columns(fields=pl.col("text").str.split("\t"))


def field(number: int) -> pl.Expr:
    """Return one field of each line, without outer spaces; null where the line has fewer."""
    return pl.col("fields").list.get(number, null_on_oob=True).str.strip_chars()


def share(lines: pl.DataFrame, number: int, pattern: str) -> float:
    """Return which share of the lines has a field of this pattern; of no lines 0."""
    matching = lines.select(field(number).str.contains(pattern).fill_null(False).mean()).item()
    return float(matching or 0.0)


def entity_iris(names: pl.Series, language: str) -> pl.Series:
    """Return the canonical IRIs of entities named by IRI, prefix, item number, or title of a Wikipedia in a language.

    >>> names = pl.Series(["Anna Karenina", "Q64", "dbr:Berlin", "<http://de.dbpedia.org/page/Bonn>"])
    >>> for iri in entity_iris(names, "en"):
    ...     print(iri)
    http://dbpedia.org/resource/Anna_Karenina
    http://www.wikidata.org/entity/Q64
    http://dbpedia.org/resource/Berlin
    http://de.dbpedia.org/resource/Bonn
    """
    bare = names.str.strip_chars().str.strip_prefix("<").str.strip_suffix(">")
    named = pl.DataFrame({"name": bare, "iri": expand(bare)})
    iri = (
        pl.when(pl.col("name") == "")
        .then(None)
        .when(pl.col("name").str.contains(r"^Q[1-9][0-9]*$"))
        .then(pl.lit("http://www.wikidata.org/entity/") + pl.col("name"))
        .when((pl.col("iri") != pl.col("name")) | pl.col("name").str.contains(r"^(?:https?://|urn:)"))
        .then("iri")
        .otherwise(resource(pl.col("name"), language))
    )
    return canonical(named.select(iri.alias(names.name)).to_series())
