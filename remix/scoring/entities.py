"""Entities as a table tells of them, and the classes that mentions have by their entities."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from remix import iris
from remix.errors import BadInput
from remix.files import read_bytes
from remix.frames import Frames
from remix.names import RMX

__all__ = ["read_entities", "with_coarse", "with_types"]

WD = "http://www.wikidata.org/entity/"


def with_coarse(parts: Iterable[pl.DataFrame | None]) -> pl.DataFrame:
    """Return entity and class of all parts, with the coarse class that a class maps to in its vocabulary."""
    from remix.measures.classes import class_mapping

    found = [part.select("entity", "class") for part in parts if part is not None]
    types = pl.concat([pl.DataFrame(schema={"entity": pl.String, "class": pl.String}), *found])
    coarse = types.join(class_mapping(), on="class").select("entity", pl.col("coarse").alias("class"))
    return pl.concat([types, coarse]).unique().sort("entity", "class")


def with_types(
    gold: Frames, types: pl.DataFrame, stated: pl.DataFrame | None = None, homes: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Return annotation, class, of_entity: those of the data, those of the linked entities, and their coarse ones.

    `stated` (home, entity, class) are the types that hold in the documents of a home, which `homes` (gold, home) tells.
    """
    from remix.measures.classes import class_mapping

    of_links = gold.links.join(types.drop_nulls("class"), on="entity")
    derived = [of_links.select("annotation", "class", of_entity=pl.lit(True))]
    if stated is not None and homes is not None:
        places = gold.annotations.select("annotation", gold="document").join(homes, on="gold")
        at_home = gold.links.join(places, on="annotation").join(stated.drop_nulls("class"), on=["home", "entity"])
        derived.append(at_home.select("annotation", "class", of_entity=pl.lit(True)))
    classes = pl.concat([gold.classes.select("annotation", "class", "of_entity"), *derived])
    coarse = classes.join(class_mapping(), on="class").select("annotation", pl.col("coarse").alias("class"))
    classes = pl.concat([classes, coarse.with_columns(of_entity=pl.lit(True))])
    return classes.group_by("annotation", "class").agg(pl.col("of_entity").min()).sort("annotation", "class")


def read_entities(file: Path | str) -> pl.DataFrame:
    """Return entity, name and class of a TSV with the columns entity, name, types (separated by `|`).

    A row per type; entities without types have one row whose class is null. Wikidata's Q numbers become IRIs, other
    entities their canonical form. Raises `BadInput` for a file without these columns.
    """
    try:
        rows = pl.read_csv(read_bytes(file), separator="\t", infer_schema=False, quote_char=None)
    except pl.exceptions.PolarsError as error:
        raise BadInput(file, f"is no table ({' '.join(str(error).split())[:150]})") from None
    if missing := {"entity", "types"} - set(rows.columns):
        raise BadInput(file, f"has no column {' and no column '.join(sorted(missing))}; it needs entity, name, types")
    if "name" not in rows.columns:
        rows = rows.with_columns(name=pl.lit(None, pl.String))
    rows = rows.select("entity", "name", pl.col("types").str.split("|").alias("class")).explode("class")
    numbered = [
        pl.when(pl.col(name).str.contains("^Q[0-9]+$")).then(pl.lit(WD) + pl.col(name)).otherwise(name).alias(name)
        for name in ("entity", "class")
    ]
    rows = rows.with_columns(numbered)
    bare = ~pl.col("class").str.contains(":", literal=True)
    rows = rows.with_columns(pl.when(bare).then(pl.lit(RMX) + pl.col("class")).otherwise("class").alias("class"))
    return rows.with_columns(entity=iris.canonical(rows["entity"]))
