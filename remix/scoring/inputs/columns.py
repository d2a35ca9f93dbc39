"""Columns to slice by: the value of each gold annotation or document, and of each answer where it has one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.frames import FINE_GRAINED, Frames
from remix.names import HFTS, PREFIXES, RMX
from remix.vocabularies import COLUMNS as OF_CLASSES
from remix.vocabularies import Vocabularies

if TYPE_CHECKING:
    from remix.remixes.partitions import Subset

ERROR = "error"
"""Begins the name of a column that holds what is wrong in another run: `error:SYSTEM`."""

SEEN = ("seenForm", "seenEntity", "seenPair")
"""The columns that a training set adds."""

MAXIMUM = 2000
"""A column with more values than this names things, it does not class them."""

_SCHEMED = re.compile(
    r"(.+?):((?:log-)?deciles|quantiles[:= ]\d+|thresholds[:= ][-+.\de, ]+|head-torso-tail|classes)", re.IGNORECASE
)


@dataclass(frozen=True)
class Breakdown:
    """A column to slice by, and the scheme of `remix.remixes.partitions` that it is cut by, or none.

    A column of classes may name the `vocabulary` whose classes are meant.
    """

    column: str
    scheme: str = ""
    vocabulary: str = ""

    @property
    def label(self) -> str:
        """Return what rows call it."""
        return ":".join(filter(None, (self.column, self.vocabulary, self.scheme)))


def breakdown(text: str) -> tuple[Breakdown, ...]:
    """Return the columns that are crossed: `a,b` or `a × b`; a column may have a scheme, as in `a:quantiles:4`.

    A column of classes may have a vocabulary, as in `class:dbo`. `rmx:` and `hfts:` may stand before the name of a
    measure; other prefixes name properties, `error:` runs. Raises `UsageError` for an empty name.

    >>> [one.label for one in breakdown("class,rmx:prominenceSegment")]
    ['class', 'prominenceSegment']
    >>> breakdown("confusion-surface-form")[0].column
    'ambiguitySurfaceForm'
    >>> breakdown("words:thresholds:30,50 × form:deciles")[0].scheme
    'thresholds:30,50'
    >>> breakdown("class:schema")[0].vocabulary
    'schema'
    """
    found = []
    for part in re.split(r"\s*×\s*|\s*,(?!\s*[-+.]?\d)\s*", text.strip()):
        cut = _SCHEMED.fullmatch(part)
        column, scheme = (cut[1], cut[2]) if cut is not None else (part, "")
        if not column:
            raise UsageError(f"'{text}' names no column: write --by class, or --by class,dataset for both crossed")
        prefix, colon, local = column.partition(":")
        if prefix in OF_CLASSES and colon:
            found.append(Breakdown(prefix, scheme, local.removesuffix(":")))
            continue
        if colon and PREFIXES.get(prefix) in (RMX, HFTS):
            column = local
        elif "-" in column and not colon:
            column = _of_measure(column)
        elif colon and prefix not in (*PREFIXES, ERROR) and not re.search("[/>]", local) and not scheme:
            column, scheme = prefix, local
        found.append(Breakdown(column, "log-deciles" if scheme == "deciles" else scheme))
    return tuple(found)


def _of_measure(name: str) -> str:
    """Return the first column of a measure that has one, else the name."""
    from remix.measures import MEASURES

    known = name in MEASURES and MEASURES[name].columns
    return MEASURES[name].columns[0].name if known else name


def label_of(text: str) -> str:
    """Return what rows call the column, or the columns crossed, of a text."""
    return " × ".join(one.label for one in breakdown(text))


def columns_of(by: Iterable[str]) -> list[str]:
    """Return the names of all columns that are sliced by."""
    return [one.column for text in by for one in breakdown(text)]


def is_of_errors(column: str) -> bool:
    """Return whether a column holds what is wrong in a run, as `remix.scoring.errors.columns` has it.

    >>> is_of_errors("error:tagme"), is_of_errors("errors")
    (True, False)
    """
    return column.partition(":")[0] == ERROR


def run_of(column: str, systems: Iterable[str]) -> tuple[str, str]:
    """Return system and taxonomy of a column; raises `UsageError` for one without system.

    >>> run_of("error:tagme", ["tagme"]), run_of("error:tagme:elevant", ["tagme"]), run_of("error:a:b", ["a:b"])
    (('tagme', 'neleval'), ('tagme', 'elevant'), ('a:b', 'neleval'))
    """
    whole = column.partition(":")[2]
    if not whole:
        raise UsageError(f"'{column}' names no system: write --by {ERROR}:SYSTEM")
    system, colon, taxonomy = whole.rpartition(":")
    return (system, taxonomy) if colon and whole not in systems else (whole, "neleval")


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
    "type": "the classes of the entity, without the fine-grained categories",
    "kb": "whether the entity is in the knowledge base (InKB, EE, GSInKB)",
    **OF_ANNOTATIONS,
    **OF_DOCUMENTS,
}
"""The columns that every gold has, and their meaning; measures and properties of the data come besides."""


@dataclass(frozen=True)
class Slicing:
    """The values of what is asked for as names of slices.

    `values` has `annotation`, or `document` where the column is of documents, and `value`. `kind` is what the values
    were before; where they were brought to parts, `parts` are the names of these and the condition on `value` of each.
    `unspecified` is the name of the slice of what has no value. `vocabularies` are those of a column of classes.
    """

    asked: Breakdown
    values: pl.DataFrame
    kind: pl.DataType
    unspecified: str
    parts: tuple[tuple[str, pl.Expr], ...] = ()
    vocabularies: Vocabularies | None = None

    @property
    def of_documents(self) -> bool:
        """Return whether the column is of documents."""
        return "document" in self.values.columns

    def name_values(self, values: pl.DataFrame) -> pl.DataFrame:
        """Return other values (column `value`) as the names of these slices."""
        values = values.with_columns(pl.col("value").cast(self.kind, strict=False))
        named = [pl.when(condition).then(pl.lit(name)) for name, condition in self.parts]
        known = pl.coalesce(named) if named else pl.col("value").cast(pl.String).fill_null(self.unspecified)
        return values.with_columns(value=known)


def values_by(
    gold: Frames,
    asked: Breakdown,
    columns: pl.DataFrame | None = None,
    document_columns: pl.DataFrame | None = None,
    vocabularies: Mapping[str, Vocabularies] | None = None,
) -> Slicing:
    """Return the slices of a column: `class`, `type`, one of `columns` or `document_columns`, of the frames or values.

    Classes are those of the vocabulary that is asked for, by default of the one that most mentions of gold have a class
    of; `vocabularies` of a column are given where gold is a part of what is shown together.

    With a scheme they are its parts. Without, numbers in more than ten different values become quarters of the
    annotations, named by their bounds. A mention that is required, or a document, without a value is in a slice of its
    own, 'unspecified', so that slices hold all of gold; a column without any value has no slices. Raises `UnknownName`
    for a column that is in none of them, `UsageError` for one with too many values.
    """
    from remix.remixes.partitions import missing_part, partition

    column, scheme = asked.column, asked.scheme
    found, shown = column_values(gold, column, columns, document_columns), None
    if column in OF_CLASSES:
        shown = ((vocabularies or {}).get(column) or vocabularies_of(gold, column)).show(asked.vocabulary)
        found = _without_twins(shown.choose(found, "value"))
    key = "document" if "document" in found.columns else "annotation"
    # Where another column of the same table has several values the rows of this one repeat.
    found = found.select(key, "value").drop_nulls().unique(maintain_order=True)
    found = found.drop_nans("value") if found["value"].dtype.is_float() else found
    found = _with_unspecified(gold, found, key)
    known = found.drop_nulls()
    subsets: Sequence[Subset] = ()
    if scheme:
        required = gold.annotations.filter(pl.col("ignorable").is_null()).select(key)
        subsets = partition(required.join(found, on=key)["value"].alias(column), scheme)
    elif known["value"].dtype.is_numeric():
        subsets = _quarters(gold, known)
    parts = _name_parts(subsets) if subsets else ()
    unspecified = next((name for (name, _), part in zip(parts, subsets, strict=True) if part.missing), "")
    names = [] if parts else known["value"].cast(pl.String).unique().to_list()
    slicing = Slicing(asked, found, found["value"].dtype, unspecified or missing_part(names).name, parts, shown)
    # A part of gold may have no class of the vocabulary that all of it is shown by.
    elsewhere = shown is not None and shown.mentions
    named = slicing.name_values(found if scheme or len(known) or elsewhere else known)
    if not scheme and (number := named["value"].n_unique()) > MAXIMUM:
        raise UsageError(f"column '{column}' has {number} values, more than {MAXIMUM}: it cannot be sliced by")
    return replace(slicing, values=named)


def _with_unspecified(gold: Frames, values: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return the values with a row of null for each document, or required mention, that has none.

    Alternatives are one mention: it has a value where one of them has.
    """
    if key == "document":
        every = gold.documents.select(key).unique(maintain_order=True)
    else:
        rows = gold.annotations.filter(pl.col("ignorable").is_null())
        known = pl.col(key).is_in(values[key].unique().implode())
        every = rows.filter(~known.any().over("document", "group")).select(key)
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


def unknown_column(gold: Frames, column: str, measured: Iterable[str]) -> UsageError:
    """Return the error that says which columns there are; `measured` are those of measures and tables."""
    from remix.measures import MEASURES

    if column in SEEN:
        return UsageError(f"column '{column}' is about a training set: name it with --seen DATASET|FILE")
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


def _quarters(gold: Frames, placed: pl.DataFrame) -> list[Subset]:
    """Return the parts between the quartiles of the annotations' numbers, none for ten different ones or fewer."""
    from remix.remixes.partitions import Subset, missing_part

    if "document" in placed.columns:
        weighed = gold.annotations.select("document").join(placed, on="document")
        placed = weighed if len(weighed) else placed
    values = placed["value"].drop_nulls()
    if values.n_unique() <= 10:
        return []
    cuts = sorted({float(values.quantile(part, "nearest") or 0) for part in (0.25, 0.5, 0.75)})
    return [*(Subset("quarter", low, high) for low, high in pairwise((None, *cuts, None))), missing_part()]


def _name_parts(parts: Sequence[Subset]) -> tuple[tuple[str, pl.Expr], ...]:
    """Return the names of parts and the condition on `value` of each.

    Names have numbers, so that sorted as text they are in the order of their values.
    """
    from remix.remixes.partitions import in_part

    width = len(str(len(parts)))
    return tuple((f"{n:0{width}}: {_label(part)}", in_part("value", part)) for n, part in enumerate(parts, 1))


def _label(part: Subset) -> str:
    """Return what a part of a scheme is called in rows: its interval, which its own name spells for files."""
    if part.low is None and part.high is None:
        return part.name
    interval = _interval(part.low, part.high)
    return f"{part.name} ({interval})" if part.name in ("head", "torso", "tail") else interval


def _interval(low: float | None, high: float | None) -> str:
    """Return the values above `low` up to `high` in words.

    >>> _interval(None, 3), _interval(3, 4.56789), _interval(20190101, None)
    ('≤ 3', '> 3, ≤ 4.568', '> 20190101')
    """
    bounds = ((">", low), ("≤", high))
    return ", ".join(
        f"{sign} {bound:{'.0f' if float(bound).is_integer() else '.4g'}}" for sign, bound in bounds if bound is not None
    )
