"""Classes of the linked entities: those of the data, those of the knowledge base, and the coarse ones they map to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from remix.errors import BadInput
from remix.kb.reading import expanded
from remix.names import DBO, EL, RMX
from remix.resources import folder
from remix.signature import content_hash

if TYPE_CHECKING:
    from remix.measures._corpus import Corpus

__all__ = [
    "COARSE",
    "class_mapping",
    "classes_of",
    "classes_to_add",
    "coarse_flags",
    "mapping_hash",
    "names_of_places",
]

COARSE = {"person": f"{DBO}Person", "organisation": f"{DBO}Organisation", "place": f"{DBO}Place"}


@cache
def class_mapping() -> pl.DataFrame:
    """Return class and coarse, IRIs in full: which classes of other vocabularies are persons, places, …"""
    file = folder("ontology") / "class_mapping.tsv"
    rows = pl.read_csv(file, separator="\t", quote_char=None, infer_schema=False, comment_prefix="#")
    if not {"class", "coarse"} <= set(rows.columns):
        raise BadInput(file, "the columns class and coarse are expected", line=1)
    return rows.select(expanded(rows["class"]), expanded(rows["coarse"])).drop_nulls().unique().sort("class", "coarse")


def mapping_hash() -> str:
    """Return the hash of the class mapping, which is part of every signature."""
    return content_hash(class_mapping().write_csv())


def classes_of(corpus: Corpus) -> pl.DataFrame:
    """Return annotation and class: of the data, of the knowledge base, and what both map to.

    Fine-grained categories (`el:`, `rmx:`) say how a mention is written, not what the entity is, and are left out.
    """
    counted = corpus.annotations.select("annotation")
    of_entities = ~(pl.col("class").str.starts_with(EL) | pl.col("class").str.starts_with(RMX))
    given = corpus.frames.classes.filter(of_entities).join(counted, on="annotation", how="semi")
    known = corpus.links.select("annotation", "target_code").join(corpus.known_classes, on="target_code")
    fine = pl.concat([given.select("annotation", "class"), known.select("annotation", "class")]).unique()
    coarse = fine.join(class_mapping(), on="class").select("annotation", pl.col("coarse").alias("class"))
    return pl.concat([fine, coarse]).unique().sort("annotation", "class")


def names_of_places(corpus: Corpus) -> pl.DataFrame:
    """Return name_code of the names of which a candidate that ranks first is a place."""
    if corpus.kb is None:
        return pl.DataFrame(schema={"name_code": pl.UInt32})
    mapped = class_mapping().filter(pl.col("coarse") == COARSE["place"])["class"]
    places = pl.concat([mapped, pl.Series([COARSE["place"]])])
    first = corpus.candidates.filter(pl.col("rank") == 1).select("name_code", "number")
    located = corpus.kb.scan("types").filter(pl.col("class").is_in(places.implode())).select("number").collect()
    return first.join(located.cast(pl.UInt32), on="number", how="semi").select("name_code").unique()


def classes_to_add(corpus: Corpus) -> pl.DataFrame:
    """Return annotation, dataset and class of those that the data does not state: a triple must not stand twice."""
    return (
        corpus.classes.join(corpus.frames.classes.filter(~pl.col("of_entity")), on=["annotation", "class"], how="anti")
        .join(corpus.annotations.select("annotation", "dataset"), on="annotation")
        .select("annotation", "dataset", "class")
        .sort("annotation", "class")
    )


def coarse_flags(corpus: Corpus) -> pl.DataFrame:
    """Return for each annotation of the corpus, in its order, whether it is a person, organisation, place, typed."""
    flags = corpus.classes.group_by("annotation").agg(
        *((pl.col("class") == iri).any().alias(name) for name, iri in COARSE.items()), typed=pl.lit(True)
    )
    joined = corpus.annotations.select("annotation").join(flags, on="annotation", how="left", maintain_order="left")
    return joined.select(pl.col(name).fill_null(False) for name in (*COARSE, "typed"))
