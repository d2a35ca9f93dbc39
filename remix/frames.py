"""The frames that everything is counted on: one row per thing, columns as in the design."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path

import polars as pl

from remix.errors import Error, StoreError
from remix.names import EL, RMX
from remix.places import verify

DOCUMENTS: dict[str, pl.DataType] = {
    "document": pl.String(),
    "dataset": pl.String(),
    "text": pl.String(),
    "words": pl.Int64(),
    "language": pl.String(),
    "source": pl.String(),
    "given": pl.String(),
}
"""One row per text. `given` is the IRI as the file has it; `text` is null where a format carries none."""

ANNOTATIONS: dict[str, pl.DataType] = {
    "annotation": pl.String(),
    "document": pl.String(),
    "dataset": pl.String(),
    "begin": pl.Int64(),
    "end": pl.Int64(),
    "surface_form": pl.String(),
    "is_nil": pl.Boolean(),
    "ignorable": pl.String(),
    "layer": pl.String(),
    "confidence": pl.Float64(),
    "group": pl.String(),
    "option": pl.String(),
    "given": pl.String(),
}
"""One row per mention and reading of it; offsets are code points, end exclusive. A `group` counts once; it is
satisfied by any one of its `option`s, whose annotations are all required. `ignorable` is null, 'optional', 'dropped'
or 'layer': of a `layer` that is not scored (see `remix.formats.layers`)."""

OTHER_LAYER = "layer"
"""Why an annotation is ignorable that is of another layer than the one that is scored."""

LINKS: dict[str, pl.DataType] = {"annotation": pl.String(), "entity": pl.String(), "entity_as_given": pl.String()}
"""One row per acceptable entity of an annotation, in canonical form; NIL annotations have none."""

CLASSES: dict[str, pl.DataType] = {"annotation": pl.String(), "class": pl.String(), "of_entity": pl.Boolean()}
"""One row per class of an annotation; `of_entity` where the file says it of the linked entity, not of the mention."""

REGIONS: dict[str, pl.DataType] = {"document": pl.String(), "begin": pl.Int64(), "end": pl.Int64()}
"""What is annotated exhaustively; a document without a row is annotated as a whole."""

CANDIDATES: dict[str, pl.DataType] = {"annotation": pl.String(), "entity": pl.String(), "score": pl.Float64()}
VALUES: dict[str, pl.DataType] = {
    "subject": pl.String(),
    "term": pl.String(),
    "number": pl.Float64(),
    "text": pl.String(),
}
"""Measure values met in a file (`hfts:`, `rmx:` terms), long form: `number` where it is one, else `text`."""


def write_parquet(frame: pl.DataFrame, path: Path, *, row_group_size: int | None = None, passing: bool = False) -> None:
    """Write a frame as Parquet; raises `Error` where the disk is full or the folder may not be written.

    What is `passing`, to be read once and removed, is written in half the time, nearly twice as large.
    """
    try:
        frame.write_parquet(
            path, compression="snappy" if passing else "zstd", statistics=not passing, row_group_size=row_group_size
        )
    except (OSError, pl.exceptions.PolarsError) as error:
        raise Error(f"{path} cannot be written: {_reason(error)}") from None


def read_parquet(path: Path, *, without: Collection[str] = ()) -> pl.DataFrame:
    """Return a frame from a Parquet file, without some columns; raises `StoreError` where it is gone or damaged."""
    try:
        columns = [column for column in pl.read_parquet_schema(path) if column not in without] if without else None
        return pl.read_parquet(path, columns=columns)
    except FileNotFoundError:
        raise StoreError(f"{path} is gone") from None
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StoreError(f"{path} is damaged ({_reason(error)})") from None


def _reason(error: Exception) -> str:
    """Return the last thing that an error of polars or of the system says."""
    return str(error).splitlines()[0].rpartition(": ")[2]


def words(text: pl.Expr) -> pl.Expr:
    """Return the number of words of a text, that is of runs without Unicode white space.

    >>> pl.DataFrame({"t": ["a b\\u00a0c", ""]}).select(words(pl.col("t")))["t"].to_list()
    [3, 0]
    """
    return text.str.count_matches(r"\S+").cast(pl.Int64)


@dataclass(frozen=True)
class Frames:
    """Documents and annotations of one or more datasets, as polars frames.

    >>> Frames.empty().annotations.columns[:3]
    ['annotation', 'document', 'dataset']
    """

    documents: pl.DataFrame
    annotations: pl.DataFrame
    links: pl.DataFrame
    classes: pl.DataFrame
    regions: pl.DataFrame
    candidates: pl.DataFrame
    values: pl.DataFrame

    @classmethod
    def empty(cls) -> Frames:
        """Return frames with every column and no row."""
        return cls(**{name: pl.DataFrame(schema=schema) for name, schema in SCHEMAS.items()})

    @classmethod
    def of(cls, **frames: pl.DataFrame) -> Frames:
        """Return frames made of those given, with missing frames empty and missing columns null.

        `words` is counted where it is missing; `group` and `option` become the annotation's own.

        >>> one = Frames.of(documents=pl.DataFrame({"document": ["d"], "text": ["a b"]}))
        >>> one.documents["words"].to_list()
        [2]
        """
        made = {name: fit(frames.get(name, pl.DataFrame()), schema) for name, schema in SCHEMAS.items()}
        if made["documents"]["words"].has_nulls():
            made["documents"] = made["documents"].with_columns(pl.col("words").fill_null(words(pl.col("text"))))
        made["classes"] = made["classes"].with_columns(pl.col("of_entity").fill_null(False))
        made["annotations"] = made["annotations"].with_columns(
            pl.col("is_nil").fill_null(False), pl.col("group", "option").fill_null(pl.col("annotation"))
        )
        return cls(**made)

    @classmethod
    def concat(cls, parts: Iterable[Frames]) -> Frames:
        """Return the rows of all parts, one after another."""
        every = list(parts)
        if not every:
            return cls.empty()
        return cls(**{name: pl.concat([getattr(part, name) for part in every]) for name in SCHEMAS})

    def keep(self, documents: pl.Series | None = None, annotations: pl.Series | None = None) -> Frames:
        """Return only the rows of these documents and, of those, of these annotations; null keeps all."""
        kept = self
        if documents is not None:
            chosen = pl.col("document").is_in(documents.implode())
            kept = replace(
                kept,
                documents=kept.documents.filter(chosen),
                annotations=kept.annotations.filter(chosen),
                regions=kept.regions.filter(chosen),
            )
        if annotations is not None:
            kept = replace(kept, annotations=kept.annotations.filter(pl.col("annotation").is_in(annotations.implode())))
        left = pl.col("annotation").is_in(kept.annotations["annotation"].implode())
        subjects = pl.concat([kept.documents["document"], kept.annotations["annotation"]])
        return replace(
            kept,
            links=kept.links.filter(left),
            classes=kept.classes.filter(left),
            candidates=kept.candidates.filter(left),
            values=kept.values.filter(pl.col("subject").is_in(subjects.implode())),
        )

    def in_dataset(self, name: str) -> Frames:
        """Return the frames with all documents and annotations in the dataset of a name."""
        documents, annotations = (
            rows.with_columns(dataset=pl.lit(name)) for rows in (self.documents, self.annotations)
        )
        return replace(self, documents=documents, annotations=annotations)

    def one_layer(self) -> pl.DataFrame:
        """Return the annotations of the layer that is scored, which are all where a file has no others.

        >>> rows = pl.DataFrame({"annotation": ["a", "b"], "layer": ["x", "y"], "ignorable": [None, "layer"]})
        >>> Frames.of(annotations=rows).one_layer()["annotation"].to_list()
        ['a']
        """
        rows = self.annotations
        if rows["layer"].null_count() == len(rows):
            return rows
        return rows.filter(pl.col("ignorable").ne_missing(OTHER_LAYER))

    def gold(self) -> Frames:
        """Return the frames without the ignorable annotations."""
        return self.keep(annotations=self.annotations.filter(pl.col("ignorable").is_null())["annotation"])

    def write(self, folder: Path) -> None:
        """Write each frame as a Parquet file of its name into the folder, which must exist; raises `Error`."""
        for field in fields(self):
            write_parquet(getattr(self, field.name), folder / f"{field.name}.parquet")

    @classmethod
    def read(cls, folder: Path, *, sealed: bool = False) -> Frames:
        """Return the frames that `write` put into the folder, also before some column existed (see `of`).

        Those of a sealed folder are compared with their checksums first. Raises `StoreError` for a file that is gone
        or damaged.
        """
        if sealed:
            verify(folder, *(f"{name}.parquet" for name in SCHEMAS))
        found = {name: read_parquet(folder / f"{name}.parquet") for name in SCHEMAS}
        current = all(frame.columns == list(SCHEMAS[name]) for name, frame in found.items())
        return cls(**found) if current else cls.of(**found)


SCHEMAS: dict[str, dict[str, pl.DataType]] = {
    "documents": DOCUMENTS,
    "annotations": ANNOTATIONS,
    "links": LINKS,
    "classes": CLASSES,
    "regions": REGIONS,
    "candidates": CANDIDATES,
    "values": VALUES,
}

FINE_GRAINED = pl.col("class").str.starts_with(EL) | pl.col("class").str.starts_with(RMX)
"""Whether a class is a fine-grained category (`el:`, `rmx:`): how a mention is written, not what its entity is."""


def fit(frame: pl.DataFrame, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """Return the columns of a schema, in its order and of its types; those that the frame does not have are null.

    >>> fit(pl.DataFrame({"entity": ["x:Ada"], "more": [1]}), CANDIDATES).row(0)
    (None, 'x:Ada', None)
    """
    if frame.is_empty():
        return pl.DataFrame(schema=schema)
    columns = [
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in schema.items()
    ]
    return frame.select(columns)
