"""Classes of the linked entities: those of the data, those of the knowledge base, and the coarse ones they map to."""

from __future__ import annotations

from functools import cache

import polars as pl

from remix.errors import BadInput
from remix.frames import FINE_GRAINED
from remix.iris import expand
from remix.resources import folder
from remix.signature import content_hash
from remix.vocabularies import COARSE_CLASSES

TYPES = (*(name.capitalize() for name in COARSE_CLASSES), "NIL", "other", "untyped")
"""The coarse types of annotations: what links to nothing is 'NIL' beside the type that it has; what is 'other' has
another type, and of what is 'untyped' none is known."""


@cache
def class_mapping() -> pl.DataFrame:
    """Return class and coarse, IRIs in full: which classes of other vocabularies are persons, places, …"""
    file = folder("ontology") / "class_mapping.tsv"
    rows = pl.read_csv(file, separator="\t", quote_char=None, infer_schema=False, comment_prefix="#")
    if not {"class", "coarse"} <= set(rows.columns):
        raise BadInput(file, "the columns class and coarse are expected", line=1)
    return rows.select(expand(rows["class"]), expand(rows["coarse"])).drop_nulls().unique().sort("class", "coarse")


@cache
def same_classes() -> pl.DataFrame:
    """Return class and same, IRIs in full: a row for each two spellings of one class, either way round."""
    file = folder("ontology") / "same_classes.tsv"
    rows = pl.read_csv(file, separator="\t", quote_char=None, infer_schema=False)
    if rows.columns != ["class", "same"]:
        raise BadInput(file, "the columns class and same are expected", line=1)
    every = pl.concat([rows, rows.select("class", same="class")]).unique()
    pairs = every.join(every, on="class", suffix="_other").filter(pl.col("same") != pl.col("same_other"))
    return pairs.select(same="same_other", **{"class": "same"}).select("class", "same").unique().sort("class", "same")


@cache
def class_names() -> pl.DataFrame:
    """Return class, its IRI in full, and name: what people call classes whose identifiers do not say it."""
    file = folder("ontology") / "class_names.tsv"
    rows = pl.read_csv(file, separator="\t", quote_char=None, infer_schema=False)
    if rows.columns != ["class", "name"]:
        raise BadInput(file, "the columns class and name are expected", line=1)
    return rows.select(expand(rows["class"]), "name").unique("class").sort("class")


def other_spellings(rows: pl.DataFrame) -> pl.DataFrame:
    """Return annotation and class for the spellings of classes that annotations have not, of those that they have.

    >>> two = pl.DataFrame({"annotation": ["a", "b"], "class": ["http://dbpedia.org/ontology/Zoo", "urn:x"]})
    >>> other_spellings(two).rows()
    [('a', 'http://schema.org/Zoo'), ('a', 'https://schema.org/Zoo')]
    """
    pairs = rows.select("annotation", "class").unique()
    found = pairs.join(same_classes(), on="class").select("annotation", **{"class": "same"}).unique()
    return found.join(pairs, on=["annotation", "class"], how="anti").sort("annotation", "class")


def of_one_spelling(classes: pl.DataFrame) -> pl.DataFrame:
    """Return annotation and class without the classes of which the rows have another spelling: one is left of each.

    That is a coarse class where one of them is, else the first by name.

    >>> from remix.names import DBO
    >>> rows = pl.DataFrame({"annotation": ["a", "a"], "class": [f"{DBO}Location", f"{DBO}Place"]})
    >>> of_one_spelling(rows)["class"].to_list()
    ['http://dbpedia.org/ontology/Place']
    """
    coarse = [*COARSE_CLASSES.values()]
    there = classes["class"].unique().implode()
    pairs = same_classes().filter(pl.col("class").is_in(there), pl.col("same").is_in(there))
    names = pairs.select("class").unique().sort(~pl.col("class").is_in(coarse), "class")
    order = names.with_row_index("order").select("class", "order")
    ranked = pairs.join(order, on="class").join(order.rename({"class": "same", "order": "other"}), on="same")
    return classes.join(ranked.filter(pl.col("other") < pl.col("order")), on="class", how="anti", maintain_order="left")


@cache
def mapping_hash() -> str:
    """Return the hash of the class mapping, which is part of every signature."""
    return content_hash(class_mapping().write_csv())


def with_coarse(fine: pl.DataFrame) -> pl.DataFrame:
    """Return these rows (class and any columns), and the same with the coarse classes that theirs map to."""
    mapped = fine.join(class_mapping(), on="class").with_columns(pl.col("coarse").alias("class"))
    return pl.concat([fine, mapped.select(fine.columns)])


def name_types(annotations: pl.DataFrame, classes: pl.DataFrame) -> pl.DataFrame:
    """Return each annotation with its `types`, of `TYPES`: those that its classes (annotation, class) are or map to.

    What has fine-grained classes alone (`remix.frames.FINE_GRAINED`) is untyped.

    >>> from remix.names import DBO
    >>> rows = pl.DataFrame({"annotation": ["a", "b", "c", "d"], "is_nil": [False, True, False, False]})
    >>> known = pl.DataFrame({"annotation": ["a", "b", "c"], "class": [f"{DBO}City", f"{DBO}Person", f"{DBO}Film"]})
    >>> name_types(rows, known)["types"].to_list()
    [['Place'], ['NIL', 'Person'], ['other'], ['untyped']]
    """
    named = pl.col("class").replace_strict(
        {iri: name.capitalize() for name, iri in COARSE_CLASSES.items()}, default=None
    )
    known = with_coarse(classes.select("annotation", "class")).select("annotation", type=named).drop_nulls().unique()
    types = known.sort("type").group_by("annotation").agg(types="type")  # a group keeps the order of its rows
    rows = annotations.select("annotation", "is_nil").join(types, on="annotation", how="left", maintain_order="left")
    typed = pl.col("types").fill_null(pl.lit([], pl.List(pl.String)))
    nil = pl.concat_list(pl.lit(["NIL"], pl.List(pl.String)), typed)
    # How a mention is written, or what a tool calls it, is no type of its entity: measures count it as none.
    has_any = pl.col("annotation").is_in(classes.filter(~FINE_GRAINED)["annotation"].unique().implode())
    rest = pl.concat_list(pl.when(has_any).then(pl.lit("other")).otherwise(pl.lit("untyped")))
    return rows.select("annotation", types=pl.when("is_nil").then(nil).otherwise(pl.coalesce("types", rest)))


def class_flags(classes: pl.DataFrame, number: str, below: int) -> pl.DataFrame:
    """Return for each number below whether it has a class of persons, organisations, places, and whether any."""
    named = {name: classes.filter(pl.col("class").is_in(classes_for(name).implode())) for name in COARSE_CLASSES}
    return pl.DataFrame({name: among(rows[number], below) for name, rows in {**named, "typed": classes}.items()})


def classes_for(name: str) -> pl.Series:
    """Return the coarse class of this name, and those that map to it."""
    mapped = class_mapping().filter(pl.col("coarse") == COARSE_CLASSES[name])["class"]
    return pl.concat([mapped, pl.Series([COARSE_CLASSES[name]])])


def among(numbers: pl.Series, below: int) -> pl.Series:
    """Return for each number below whether it is among those."""
    return pl.repeat(False, below, eager=True).scatter(numbers, True)
