"""Classes of the linked entities: those of the data, those of the knowledge base, and the coarse ones they map to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from remix.errors import BadInput
from remix.iris import expand
from remix.measures.codes import MANY, distinct, paired, taken
from remix.names import DBO, EL, RMX
from remix.resources import folder
from remix.signature import content_hash

if TYPE_CHECKING:
    from remix.measures.corpus import Corpus

__all__ = [
    "COARSE",
    "class_flags",
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
    return rows.select(expand(rows["class"]), expand(rows["coarse"])).drop_nulls().unique().sort("class", "coarse")


def mapping_hash() -> str:
    """Return the hash of the class mapping, which is part of every signature."""
    return content_hash(class_mapping().write_csv())


def classes_of(corpus: Corpus) -> pl.DataFrame:
    """Return row (the place of the annotation) and class: of data and knowledge base, and what both map to; sorted."""
    known = corpus.links.select("row", "target_code").join(corpus.known_classes, on="target_code")
    fine = pl.concat([_given(corpus), known.select("row", "class")])
    rows = pl.concat([fine, fine.join(class_mapping(), on="class").select("row", pl.col("coarse").alias("class"))])
    classes, places = distinct(rows["class"])
    # Numbers are sorted sooner than strings.
    numbers = classes.arg_sort().arg_sort().gather(places)
    pairs = paired(rows.select("row", number=numbers), "row", "number").unique().sort()
    return pl.DataFrame({"row": (pairs // MANY).cast(pl.UInt32), "class": classes.sort().gather(pairs % MANY)})


def _given(corpus: Corpus) -> pl.DataFrame:
    """Return row and class of the data's classes of entities.

    Fine-grained categories (`el:`, `rmx:`) say how a mention is written, not what the entity is, and are left out.
    """
    of_entities = ~(pl.col("class").str.starts_with(EL) | pl.col("class").str.starts_with(RMX))
    return _of_mentions(corpus, corpus.frames.classes.filter(of_entities))


def _of_mentions(corpus: Corpus, classes: pl.DataFrame) -> pl.DataFrame:
    return classes.join(corpus.annotations.select("annotation", "row"), on="annotation").select("row", "class")


def classes_to_add(corpus: Corpus) -> pl.DataFrame:
    """Return annotation, dataset and class of those that the data does not state: a triple must not stand twice."""
    stated = _of_mentions(corpus, corpus.frames.classes.filter(~pl.col("of_entity")))
    added = corpus.classes.join(stated, on=["row", "class"], how="anti", maintain_order="left")
    subjects = taken(corpus.annotations.select("annotation", "dataset"), added["row"])
    return subjects.with_columns(added["class"])


def class_flags(classes: pl.DataFrame, number: str, below: int) -> pl.DataFrame:
    """Return for each number below whether it has a class of persons, organisations, places, and whether any."""
    named = {name: classes.filter(pl.col("class").is_in(_classes_for(name).implode())) for name in COARSE}
    return pl.DataFrame({name: _among(rows[number], below) for name, rows in {**named, "typed": classes}.items()})


def coarse_flags(corpus: Corpus) -> pl.DataFrame:
    """Return for each annotation of the corpus, in its order, whether it is a person, organisation, place, typed."""
    of_links = taken(corpus.class_flags, corpus.links["target_code"])
    known = corpus.of_mentions(of_links, pl.all().max())
    given = class_flags(_given(corpus), "row", known.height)
    return known.select(pl.col(name).fill_null(False) | given[name] for name in known.columns)


def names_of_places(corpus: Corpus) -> pl.Series:
    """Return for each name, in the order of the codes, whether a candidate that ranks first is a place."""
    names = len(corpus.totals)
    if corpus.kb is None:
        return _among(pl.Series([], dtype=pl.UInt32), names)
    places = pl.col("class").is_in(_classes_for("place").implode())
    first = corpus.candidates.filter(pl.col("rank") == 1).select("name_code", "number")
    located = corpus.kb.scan("types").filter(places).select("number").collect()
    return _among(first.join(located.cast(pl.UInt32), on="number", how="semi")["name_code"], names)


def _classes_for(name: str) -> pl.Series:
    """Return the coarse class of this name, and those that map to it."""
    mapped = class_mapping().filter(pl.col("coarse") == COARSE[name])["class"]
    return pl.concat([mapped, pl.Series([COARSE[name]])])


def _among(numbers: pl.Series, below: int) -> pl.Series:
    """Return for each number below whether it is among those."""
    return pl.repeat(False, below, eager=True).scatter(numbers, True)
