"""Documents as people read them: each annotation with all that is known of it, in classes that can be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from remix.cells import cell
from remix.errors import MissingKnowledge, UnknownName, UsageError
from remix.frames import Frames
from remix.measures import Measured
from remix.measures.classes import TYPES, classes_for
from remix.measures.columns import OF_ANNOTATIONS
from remix.measures.partitions import Subset, in_part, partition
from remix.names import EL
from remix.reports.statistics import explain
from remix.vocabularies import COARSE_CLASSES

LOOKS = 7
"""Classes of a column that can be told apart in a text; what has another value is one more."""
STANDS_FOR = {"prominence": "pagerankSegment", "confusion": "ambiguitySurfaceForm"}
"""Columns of measures by what people call them."""
_NO_VALUE, _OTHER = "no value", "other"


@dataclass(frozen=True)
class Classed:
    """A column in a few classes: their names in order, what the annotations are in, and what the column says."""

    names: Sequence[str]
    values: Mapping[str, str]
    meaning: str


def list_annotations(frames: Frames, measured: Measured) -> pl.DataFrame:
    """Return the annotations of a dataset with links, type, categories and all measures.

    A row is an annotation: the columns of the frame, `entities` as text, `type` (Person, Organisation or Place, 'NIL',
    else 'other'), `category NAME` for each group of fine-grained categories, and a column for each measure of
    annotations. They stand by where they begin, of those that begin together the longest first.
    """
    rows = describe_annotations(frames, measured)
    return rows.sort("begin", "end", descending=[False, True], nulls_last=True, maintain_order=True)


def describe_annotations(frames: Frames, measured: Measured) -> pl.DataFrame:
    """Return what `list_annotations` does, in the order of the frames."""
    rows = frames.annotations
    links = frames.links.select("annotation", "entity").unique()
    alone = pl.col("annotation").is_unique()  # as nearly all are: making lists of those takes ten times as long
    several = links.filter(~alone).group_by("annotation").agg(entities=pl.col("entity").sort().str.join(" "))
    links = pl.concat([links.filter(alone).rename({"entity": "entities"}), several])
    classes = pl.concat([frames.classes.select("annotation", "class"), measured.classes.select("annotation", "class")])
    classes = classes.join(rows.select("annotation"), on="annotation", how="semi").unique()
    kinds = [
        classes_for(name).to_frame("class").with_columns(type=pl.lit(name.capitalize())) for name in COARSE_CLASSES
    ]
    types = classes.join(pl.concat(kinds), on="class").group_by("annotation").agg(pl.col("type").sort().first())
    rows = rows.join(links, on="annotation", how="left", maintain_order="left")
    rows = rows.join(types, on="annotation", how="left", maintain_order="left")
    kind = pl.when("is_nil").then(pl.lit("NIL")).otherwise(pl.col("type").fill_null(_OTHER))
    rows = rows.with_columns(type=kind)
    named = classes.filter(pl.col("class").str.starts_with(EL)).select(
        "annotation", own=pl.col("class").str.strip_prefix(EL).str.splitn("-", 2)
    )
    for name in named["own"].struct[0].unique().sort():
        own = named.filter(pl.col("own").struct[0] == name).group_by("annotation")
        value = own.agg(pl.col("own").struct[1].sort().first().alias(f"category {name}"))
        rows = rows.join(value, on="annotation", how="left", maintain_order="left")
    values = measured.annotations.drop("document", "dataset")
    return rows.join(values, on="annotation", how="left", maintain_order="left")


def explain_columns(measured: Measured) -> dict[str, str]:
    """Return what columns of `list_annotations` say by which annotations can be told apart, by their names."""
    own = {
        "type": "The coarse type of the entity; a mention that links to none is NIL, other is what has another type, "
        "and of what is untyped none is known.",
        "prominence": "How prominent the entity is among all of the knowledge base: head, torso or tail.",
        "confusion": "How many entities the surface form may mean.",
    }
    measures = {column.name: explain(one, column.meaning) for one in measured.measures for column in one.columns}
    return {**own, **{name: f"{said[0].upper()}{said[1:]}." for name, said in OF_ANNOTATIONS.items()}, **measures}


def class_annotations(rows: pl.DataFrame, column: str, measured: Measured, document: str) -> Classed:
    """Return a column of `list_annotations` in few classes: the most frequent values, or quarters of numbers.

    `rows` are those of a dataset, so that a class is the same in all of its documents, and types in all datasets;
    `values` has the annotations of
    the `document`. `prominence` and `confusion` stand for the first columns of these measures, `category` for the first
    group of categories. Raises `UnknownName` for a column that there is not, `MissingKnowledge` where a knowledge base
    is needed for it.
    """
    explained, chosen = explain_columns(measured), STANDS_FOR.get(column, column)
    if chosen not in rows.columns and column in STANDS_FOR:
        raise MissingKnowledge(f"without a knowledge base nothing is known of {column}: `remix kb attach`")
    groups = [name for name in rows.columns if name.startswith("category ")]
    if chosen == "category":
        chosen = groups[0] if groups else "nameRelation"
    if chosen not in rows.columns or (chosen not in explained and chosen not in groups):
        raise UnknownName("column of annotations", column, [*explained, *groups], "remix list columns")
    values = rows[chosen]
    named = _name_parts(rows, chosen) if values.dtype.is_numeric() else _name_values(values)
    order = named.drop_nulls().unique().sort().to_list() if values.dtype.is_numeric() else _by_count(named)
    order = [*TYPES] if chosen == "type" else order  # they look the same in all datasets
    found = named.cast(pl.String).fill_null(_NO_VALUE)
    names = [*order, *([_NO_VALUE] if named.null_count() else [])]
    meaning = explained.get(column) or explained.get(chosen) or "The fine-grained categories that the data give."
    own = rows.select("annotation", found.alias("class")).filter(rows["document"] == document)
    return Classed(names, dict(own.iter_rows()), meaning.partition("\n")[0])


def _name_values(values: pl.Series) -> pl.Series:
    """Return the names of values, the less frequent ones as one."""
    if values.dtype == pl.Boolean:
        values = values.replace_strict({True: "yes", False: "no"}, return_dtype=pl.String)
    frequent = _by_count(values.cast(pl.String))
    if len(frequent) <= LOOKS:
        return values.cast(pl.String)
    kept = frequent[: LOOKS - 1]
    return pl.select(
        pl.when(values.is_null() | values.is_in(kept)).then(values.cast(pl.String)).otherwise(pl.lit(_OTHER))
    ).to_series()


def _by_count(values: pl.Series) -> list[str]:
    """Return the values, the most frequent first, and `other` at the end."""
    counts = values.drop_nulls().value_counts(name="count").sort(["count", values.name], descending=[True, False])
    found: list[str] = counts[values.name].to_list()
    return sorted(found, key=lambda name: name == _OTHER)


def _name_parts(rows: pl.DataFrame, column: str) -> pl.Series:
    """Return for each annotation the name of the quarter that its value is in, null where it has none."""
    try:
        parts = [part for part in partition(rows[column], "quantiles:4") if not part.missing]
    except UsageError:  # no annotation has a value
        return pl.Series(column, [None] * rows.height, dtype=pl.String)
    names = [_name_part(part) for part in parts]
    named = [pl.when(in_part(column, part)).then(pl.lit(name)) for part, name in zip(parts, names, strict=True)]
    return rows.select(pl.coalesce(named).cast(pl.Enum(names)).alias(column)).to_series()


def _name_part(part: Subset) -> str:
    """Return the boundaries of a part in words.

    >>> _name_part(Subset(2, "", "2-5", 2.0, 5.0)), _name_part(Subset(1, "", "to-2", None, 2.0))
    ('above 2 to 5', 'to 2')
    """
    words = (f"{name} {edge:.4g}" for name, edge in (("above", part.low), ("to", part.high)) if edge is not None)
    return " ".join(words) or "all"


def describe_annotation(row: Mapping[str, object], measured: Measured) -> pl.DataFrame:
    """Return what is known of one annotation: column, value as text, and what the column says."""
    explained = explain_columns(measured)
    # A mention without alternatives is its own group and option.
    told = {name: value for name, value in row.items() if value is not None and name not in ("dataset", "document")}
    alone = {name for name in ("group", "option") if row.get(name) == row.get("annotation")}
    known = {name: str(cell(name, value)) for name, value in told.items() if name not in alone}
    says = [explained.get(name, "").partition("\n")[0] for name in known]
    return pl.DataFrame({"column": [*known], "value": [*known.values()], "says": says})
