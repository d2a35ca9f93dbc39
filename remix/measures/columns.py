"""Columns to cut by: the value of each gold annotation or document, and the part that each is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.frames import FINE_GRAINED, Frames
from remix.measures.partitions import ERROR, OF_KB, Breakdown, Partition, in_part, name_category, partition
from remix.names import UNSPECIFIED
from remix.vocabularies import COARSE, Vocabularies
from remix.vocabularies import COLUMNS as OF_CLASSES

SEEN = ("seenForm", "seenEntity", "seenPair")
"""The columns that a training set adds."""

OF_ANNOTATIONS = {
    "surface_form": "the text of the mention",
    "is_nil": "whether gold says that the knowledge base has no such entity",
    "ignorable": "why an annotation is neither required nor wrong",
    "layer": "which layer of its file the annotation is of, where that has several",
    "confidence": "how sure the annotator was, where gold says so",
}
OF_DOCUMENTS = {
    "dataset": "the dataset that the document is in",
    "language": "the language of the text",
    "source": "where the document came from",
    "words": "the number of words of the text",
    "document": "the document itself",
}
OWN = {
    "class": "each class of the annotation, of one vocabulary (class:wd names one, class:all has all)",
    "type": "the classes of the entity, of one vocabulary, or person, organisation and place (type:coarse)",
    "kb": "whether the entity is in the knowledge base (InKB, EE, GSInKB)",
    **OF_ANNOTATIONS,
    **OF_DOCUMENTS,
}
"""The columns that every gold has, and their meaning; measures and properties of the data come besides."""


@dataclass(frozen=True)
class Slicing:
    """The values of what is asked for as names of the parts that they are in.

    `values` has `annotation`, or `document` where the column is of documents, and `value`, the name of a part; `parts`
    are all of them, that of what has no value first. `kind` is what the values were before. `vocabularies` are those of
    a column of classes.
    """

    asked: Breakdown
    values: pl.DataFrame
    kind: pl.DataType
    parts: Partition
    vocabularies: Vocabularies | None = None

    @property
    def of_documents(self) -> bool:
        """Return whether the column is of documents."""
        return "document" in self.values.columns

    @property
    def unspecified(self) -> str:
        """Return the name of the part of what has no value."""
        return self.parts[0].name

    def name_values(self, values: pl.DataFrame) -> pl.DataFrame:
        """Return other values (column `value`) as the names of these parts; a class that is none of them as it is."""
        values = values.with_columns(pl.col("value").cast(self.kind, strict=False))
        if all(part.name == part.category for part in self.parts[1:]):
            return values.with_columns(value=name_category("value").fill_null(self.unspecified))
        if self.asked.scheme == OF_KB:
            values = values.with_columns(ranked_by_kb())
        named = [pl.when(in_part("value", part)).then(pl.lit(part.name)) for part in self.parts]
        return values.with_columns(value=pl.coalesce(named))

    def of_annotations(self, gold: Frames) -> pl.DataFrame:
        """Return annotation, number and part of all of gold that is required: the part of each, or of its document.

        An annotation of several classes has a row for each. Of alternatives of a mention each has its own parts; that
        of what has no value is theirs where none of them has one.
        """
        key = "document" if self.of_documents else "annotation"
        required = gold.annotations.filter(pl.col("ignorable").is_null()).select("annotation", "document", "group")
        numbers = pl.DataFrame(
            {"value": [part.name for part in self.parts], "number": [part.number for part in self.parts]},
            schema={"value": pl.String, "number": pl.Int64},
        )
        own = required.select(pl.col("annotation"), key=pl.col(key))
        rows = own.join(self.values.select("value", key=key), on="key", maintain_order="left_right")
        found = rows.join(numbers, on="value", maintain_order="left")
        return found.select("annotation", "number", part="value")


def values_by(
    gold: Frames,
    asked: Breakdown,
    columns: pl.DataFrame | None = None,
    document_columns: pl.DataFrame | None = None,
    vocabularies: Mapping[str, Vocabularies] | None = None,
    partitions: Mapping[str, Partition] | None = None,
) -> Slicing:
    """Return the parts of a column: `class`, `type`, one of `columns` or `document_columns`, of the frames or values.

    Classes are those of the vocabulary that is asked for, by default of the one that most mentions of gold have a class
    of; `vocabularies` of a column, and `partitions` by the label of what is asked, are given where gold is a part of
    what is shown together.

    They are cut as `remix.measures.partitions.partition` says, a value of documents counting as often as they have
    annotations that are required. A mention that is required, or a document, without a value is in the part of what has
    none, so that parts hold all of gold; a column without any value has no values. Raises `UnknownName` for a column
    that is in none of them, `UsageError` for one with too many values.
    """
    column, scheme = asked.column, asked.scheme
    found, shown = column_values(gold, column, columns, document_columns), None
    if column in OF_CLASSES:
        found = _with_coarse(found) if asked.vocabulary == COARSE else found
        shown = _show_vocabulary(gold, asked, found, (vocabularies or {}).get(column) or vocabularies_of(gold, column))
        found = _without_twins(shown.choose(found, "value"))
    key = "document" if "document" in found.columns else "annotation"
    # Where another column of the same table has several values the rows of this one repeat.
    found = found.select(key, "value").drop_nulls().unique(maintain_order=True)
    found = found.drop_nans("value") if found["value"].dtype.is_float() else found
    if scheme == OF_KB:
        found = found.with_columns(ranked_by_kb()).drop_nulls()
    found = _with_unspecified(gold, found, key)
    given = (partitions or {}).get(asked.label)
    parts = given or partition(_weigh(gold, found, key).alias(column), scheme)
    if not given and all(part.category is not None for part in parts[1:]) and scheme != OF_KB:
        # What only ignorable annotations have is a class, too.
        parts = partition(found["value"].alias(column), "classes")
    slicing = Slicing(asked, found, found["value"].dtype, parts, shown)
    # A part of gold may have no class of the vocabulary that all of it is shown by.
    elsewhere = shown is not None and shown.mentions
    known = found.drop_nulls()
    return replace(slicing, values=slicing.name_values(found if scheme or len(known) or elsewhere else known))


def ranked_by_kb() -> pl.Expr:
    """Return a `value` that is a segment of the knowledge base, null where that does not rank the entity."""
    return pl.when(pl.col("value") != UNSPECIFIED).then("value").alias("value")


def _weigh(gold: Frames, values: pl.DataFrame, key: str) -> pl.Series:
    """Return a value for each annotation that is required, of documents those of their annotations.

    Gold without annotations has the values of its documents.
    """
    required = gold.annotations.filter(pl.col("ignorable").is_null()).select(key)
    weighed = required.join(values, on=key)["value"]
    return weighed if len(weighed) or key == "annotation" else values["value"]


def _with_unspecified(gold: Frames, values: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return the values with a row of null for each document, or required mention, that has none.

    Alternatives are one mention: it has a value where one of them has.
    """
    if key == "document":
        every = gold.documents.select(key).unique(maintain_order=True)
    else:
        rows = gold.annotations.filter(pl.col("ignorable").is_null())
        # It is asked of all rows at once: within groups each would search the values again.
        known = rows.with_columns(known=pl.col(key).is_in(values[key].unique().implode()))
        every = known.filter(~pl.col("known").any().over("document", "group")).select(key)
    none = every.join(values, on=key, how="anti", maintain_order="left")
    return pl.concat([values, none.with_columns(value=pl.lit(None, values["value"].dtype))])


def column_values(
    gold: Frames, column: str, columns: pl.DataFrame | None, document_columns: pl.DataFrame | None
) -> pl.DataFrame:
    """Return `annotation` or `document`, and `value` as the data have it; raises `UnknownName` as `values_by`."""
    if column in OF_CLASSES:
        return _classes_of(gold, column).select("annotation", value="class")
    if columns is not None and column in columns.columns:
        return columns.select("annotation", value=column)
    if column in OF_ANNOTATIONS:
        return gold.annotations.select("annotation", value=column)
    if column in OF_DOCUMENTS:
        return gold.documents.select("document", value=pl.col(column))
    if document_columns is not None and column in document_columns.columns:
        return document_columns.select("document", value=column)
    return _measured_values(gold, column, [columns, document_columns])


def vocabularies_of(gold: Frames, column: str) -> Vocabularies:
    """Return the vocabularies of a column of classes, of which the one that most mentions have is shown."""
    return Vocabularies.of(_classes_of(gold, column), gold.annotations)


def _with_coarse(values: pl.DataFrame) -> pl.DataFrame:
    """Return annotation and value with the coarse classes that classes map to, which gold in a file need not state."""
    from remix.measures.classes import with_coarse

    return with_coarse(values.rename({"value": "class"})).rename({"class": "value"}).unique(maintain_order=True)


def _show_vocabulary(gold: Frames, asked: Breakdown, values: pl.DataFrame, known: Vocabularies) -> Vocabularies:
    """Return the vocabularies with that shown which is asked for, or the coarse classes, which some `values` are."""
    if asked.vocabulary != COARSE:
        return known.show(asked.vocabulary)
    if known.shown == COARSE:
        return known
    return known.show_coarse(values.rename({"value": "class"}), gold.annotations)


def _classes_of(gold: Frames, column: str) -> pl.DataFrame:
    rows = gold.classes.filter(~FINE_GRAINED) if column == "type" else gold.classes
    return rows.select("annotation", "class").unique(maintain_order=True)


def _without_twins(rows: pl.DataFrame) -> pl.DataFrame:
    """Return annotation and value but for a class that has the very mentions of the coarse class it maps to.

    By the mapping of classes these two are one class (Q215627 is Person), which has one slice.
    """
    from remix.measures.classes import class_mapping

    sizes = rows.group_by("value").len("size")
    both = class_mapping().filter(pl.col("class") != pl.col("coarse")).rename({"class": "value"})
    twice = both.join(sizes, on="value").join(sizes, left_on="coarse", right_on="value")
    twice = twice.filter(pl.col("size") == pl.col("size_right"))
    return rows.join(twice, on="value", how="anti", maintain_order="left")


def columns_of_data(gold: Frames) -> set[str]:
    """Return the columns that gold has without being measured: those of its frames, and terms of its values."""
    terms = {name for term in gold.values["term"].unique() for name in (term, term.rsplit("#", 1)[-1])}
    return {"class", "type", *gold.annotations.columns, *gold.documents.columns} | terms


KB_ALONE = "kb is cut by no scheme and crossed with no column, as InKB, EE and GSInKB stand by themselves: `--by kb`"
"""Why the column of every evaluation is none that others are."""


def unknown_column(gold: Frames, column: str, measured: Iterable[str]) -> UsageError:
    """Return the error that says which columns there are; `measured` are those of measures and tables."""
    from remix.measures import MEASURES

    if column in SEEN:
        return UsageError(
            f"column '{column}' is about a training set: name it with --seen DATASET|FILE of `remix evaluate`"
        )
    if column == "kb":
        return UsageError(KB_ALONE)
    own = set(OWN)
    of_data = set(gold.values["term"].str.extract(r"([^/#:]+)$").drop_nulls()) - own
    measures = set(measured) - {"annotation", "document", *own, *of_data}
    columns = {measure.name: [one.name for one in measure.columns] for measure in MEASURES}
    of_mentions = {name for names in columns.values() for name in names}
    if columns.get(column):
        return UsageError(f"'{column}' is a measure and no column: its columns are {', '.join(columns[column])}")
    if not measures and column in of_mentions:
        return UsageError(f"column '{column}' is a measure: `remix load` the gold, then name it in the place of --gold")
    if column in of_mentions - measures:
        needs = any(measure.needs for measure in MEASURES if column in columns[measure.name])
        return UsageError(
            f"column '{column}' is a measure that gold has no values of: "
            + ("`remix kb attach NAME` attaches a knowledge base, " if needs else "")
            + "`remix enrich` computes it"
        )
    groups = {
        "columns": own,
        "in the data": of_data,
        "measures of mentions": measures & of_mentions,
        "of documents": {name for name in measures - of_mentions if not name.endswith("Count")},
        "with --seen": SEEN,
        "errors of a run": [f"{ERROR}:SYSTEM"],
    }
    return UnknownName("column", column, command="remix list columns", groups=groups)


def _measured_values(gold: Frames, column: str, tables: list[pl.DataFrame | None]) -> pl.DataFrame:
    """Return the values of a measure that came with the data, on annotations or on documents."""
    local = gold.values.with_columns(local=pl.col("term").str.extract(r"([^/#:]+)$"))
    rows = local.filter((pl.col("local") == column) | (pl.col("term") == column))
    if rows.is_empty():
        raise unknown_column(gold, column, [name for table in tables if table is not None for name in table.columns])
    value = "number" if rows["number"].null_count() < len(rows) else "text"
    of_documents = rows.join(gold.documents, left_on="subject", right_on="document", how="semi")
    of_annotations = rows.join(gold.annotations, left_on="subject", right_on="annotation", how="semi")
    if of_annotations.is_empty():
        return of_documents.select(document="subject", value=value)
    return of_annotations.select(annotation="subject", value=value)
