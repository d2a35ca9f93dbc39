"""Classes of the linked entities: those of the data, those of the knowledge base, and the coarse ones they map to."""

from __future__ import annotations

from functools import cache

import polars as pl

from remix.errors import BadInput
from remix.iris import expand
from remix.names import DBO
from remix.resources import folder
from remix.signature import content_hash

COARSE = {"person": f"{DBO}Person", "organisation": f"{DBO}Organisation", "place": f"{DBO}Place"}


@cache
def class_mapping() -> pl.DataFrame:
    """Return class and coarse, IRIs in full: which classes of other vocabularies are persons, places, …"""
    file = folder("ontology") / "class_mapping.tsv"
    rows = pl.read_csv(file, separator="\t", quote_char=None, infer_schema=False, comment_prefix="#")
    if not {"class", "coarse"} <= set(rows.columns):
        raise BadInput(file, "the columns class and coarse are expected", line=1)
    return rows.select(expand(rows["class"]), expand(rows["coarse"])).drop_nulls().unique().sort("class", "coarse")


def mapping_hash() -> str:
    """Return the hash of the class mapping, which is part of every signature."""
    return content_hash(class_mapping().write_csv())


def with_coarse(fine: pl.DataFrame) -> pl.DataFrame:
    """Return these rows (class and any columns), and the same with the coarse classes that theirs map to."""
    mapped = fine.join(class_mapping(), on="class").with_columns(pl.col("coarse").alias("class"))
    return pl.concat([fine, mapped.select(fine.columns)])


def class_flags(classes: pl.DataFrame, number: str, below: int) -> pl.DataFrame:
    """Return for each number below whether it has a class of persons, organisations, places, and whether any."""
    named = {name: classes.filter(pl.col("class").is_in(classes_for(name).implode())) for name in COARSE}
    return pl.DataFrame({name: among(rows[number], below) for name, rows in {**named, "typed": classes}.items()})


def classes_for(name: str) -> pl.Series:
    """Return the coarse class of this name, and those that map to it."""
    mapped = class_mapping().filter(pl.col("coarse") == COARSE[name])["class"]
    return pl.concat([mapped, pl.Series([COARSE[name]])])


def among(numbers: pl.Series, below: int) -> pl.Series:
    """Return for each number below whether it is among those."""
    return pl.repeat(False, below, eager=True).scatter(numbers, True)
