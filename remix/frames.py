"""The frames that everything is counted on: one row per thing, columns as in the design."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, TypeAlias

import polars as pl

from remix.errors import BadInput, Error, StoreError
from remix.names import EL, RMX
from remix.places import verify
from remix.schemas import Schema, SchemaColumn, fit

DOCUMENTS = Schema(
    "documents",
    "a text",
    (
        SchemaColumn("document", pl.String(), "its IRI, of its dataset"),
        SchemaColumn("dataset", pl.String(), "the dataset that it is in", null=True),
        SchemaColumn("text", pl.String(), "the text; null where a format carries none", null=True),
        SchemaColumn("words", pl.Int64(), "how many runs without white space the text has", null=True),
        SchemaColumn("language", pl.String(), "its language", null=True),
        SchemaColumn("source", pl.String(), "where it comes from", null=True),
        SchemaColumn("given", pl.String(), "its IRI as the file has it", null=True),
    ),
    ("document",),
)

OTHER_LAYER = "layer"
"""Why an annotation is ignorable that is of another layer than the one that is scored."""

ANNOTATIONS = Schema(
    "annotations",
    "a mention, in one reading of it",
    (
        SchemaColumn("annotation", pl.String(), "its IRI, of its dataset"),
        SchemaColumn("document", pl.String(), "the document that it is in"),
        SchemaColumn("dataset", pl.String(), "the dataset of the document", null=True),
        SchemaColumn("begin", pl.Int64(), "where it begins, in code points; null where it has no place", null=True),
        SchemaColumn("end", pl.Int64(), "where it ends, exclusive", null=True),
        SchemaColumn("surface_form", pl.String(), "its text, as the file says it", null=True),
        SchemaColumn("is_nil", pl.Boolean(), "whether it is said to have no entity"),
        SchemaColumn(
            "ignorable",
            pl.String(),
            "why it is not required: 'optional', 'dropped' (by a remix) or 'layer' (of one that is not scored)",
            null=True,
        ),
        SchemaColumn("layer", pl.String(), "the layer that it is of, where a file has several", null=True),
        SchemaColumn("confidence", pl.Float64(), "how sure a system was", null=True),
        SchemaColumn("group", pl.String(), "what counts once, satisfied by any one of its options; else its own IRI"),
        SchemaColumn(
            "option", pl.String(), "the option of the group that it is of, all of whose annotations are required"
        ),
        SchemaColumn("given", pl.String(), "its IRI as the file has it", null=True),
    ),
    ("annotation",),
)

LINKS = Schema(
    "links",
    "an entity that is acceptable for an annotation; NIL has none",
    (
        SchemaColumn("annotation", pl.String(), "the annotation"),
        SchemaColumn("entity", pl.String(), "the IRI of the entity, in canonical form"),
        SchemaColumn("entity_as_given", pl.String(), "the entity as the file has it", null=True),
    ),
    ("annotation", "entity"),
)

CLASSES = Schema(
    "classes",
    "a class of an annotation",
    (
        SchemaColumn("annotation", pl.String(), "the annotation"),
        SchemaColumn("class", pl.String(), "the IRI of the class"),
        SchemaColumn("of_entity", pl.Boolean(), "whether the file says it of the linked entity, not of the mention"),
    ),
)

REGIONS = Schema(
    "regions",
    "a part of a document that is annotated exhaustively; a document without any is annotated as a whole",
    (
        SchemaColumn("document", pl.String(), "the document"),
        SchemaColumn("begin", pl.Int64(), "where it begins"),
        SchemaColumn("end", pl.Int64(), "where it ends, exclusive"),
    ),
)

CANDIDATES = Schema(
    "candidates",
    "an entity that was offered for an annotation",
    (
        SchemaColumn("annotation", pl.String(), "the annotation"),
        SchemaColumn("entity", pl.String(), "the IRI of the entity, in canonical form"),
        SchemaColumn("score", pl.Float64(), "its score", null=True),
    ),
)

VALUES = Schema(
    "values",
    "the value of a measure that a file has (`hfts:` and `rmx:` terms)",
    (
        SchemaColumn("subject", pl.String(), "what it is of: a document or an annotation"),
        SchemaColumn("term", pl.String(), "the IRI of the term"),
        SchemaColumn("number", pl.Float64(), "the value, where it is a number", null=True),
        SchemaColumn("text", pl.String(), "the value, where it is none", null=True),
    ),
)

TABLES = {table.name: table for table in (DOCUMENTS, ANNOTATIONS, LINKS, CLASSES, REGIONS, CANDIDATES, VALUES)}
SCHEMAS = {name: table.types for name, table in TABLES.items()}

Documents: TypeAlias = Annotated[pl.DataFrame, DOCUMENTS]
Annotations: TypeAlias = Annotated[pl.DataFrame, ANNOTATIONS]
Links: TypeAlias = Annotated[pl.DataFrame, LINKS]


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
        if not without and path.stat().st_size < _SMALL:
            return _read_small(path.read_bytes()).clone()
        columns = [column for column in pl.read_parquet_schema(path) if column not in without] if without else None
        return pl.read_parquet(path, columns=columns)
    except FileNotFoundError:
        raise StoreError(f"{path} is gone") from None
    except (OSError, *UNREADABLE) as error:
        raise StoreError(f"{path} is damaged ({_reason(error)})") from None


def read_each_parquet(files: Sequence[Path]) -> list[pl.DataFrame]:
    """Return what `read_parquet` returns of each of several files, in half the time; raises as that."""
    with suppress(OSError, *UNREADABLE):
        large = [file for file in files if file.stat().st_size >= _SMALL]
        read: dict[Path, pl.DataFrame] = {}
        for first in range(0, len(large), _AT_ONCE):
            own = large[first : first + _AT_ONCE]
            read |= zip(own, pl.collect_all(_scan([file]) for file in own), strict=True)
        return [read[file] if file in read else read_parquet(file) for file in files]
    # A file is gone or damaged, which is said of that file.
    return [read_parquet(file) for file in files]


_SMALL = 1024
"""Bytes up to which a file is known by its content: folders have many tables without rows, which are all the same."""


UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What polars raises of a file that is no Parquet, or of one in which a byte is another than was written."""

_AT_ONCE = 32
"""How many files are read at once: each takes a thread."""


@lru_cache(maxsize=512)
def _read_small(content: bytes) -> pl.DataFrame:
    return pl.read_parquet(content)


def _reason(error: BaseException) -> str:
    """Return the last thing that an error of polars or of the system says."""
    return str(error).splitlines()[0].rpartition(": ")[2]


def words(text: pl.Expr) -> pl.Expr:
    """Return the number of words of a text, that is of runs without Unicode white space.

    >>> pl.DataFrame({"t": ["a b\\u00a0c", ""]}).select(words(pl.col("t")))["t"].to_list()
    [3, 0]
    """
    return text.str.count_matches(r"\S+").cast(pl.Int64)


@dataclass(frozen=True, eq=False)
class Frames:
    """Documents and annotations of one or more datasets, as polars frames. Two are the same if they are one object.

    >>> Frames.empty().annotations.columns[:3]
    ['annotation', 'document', 'dataset']
    """

    documents: Documents
    annotations: Annotations
    links: Links
    classes: pl.DataFrame
    regions: pl.DataFrame
    candidates: pl.DataFrame
    values: pl.DataFrame

    @classmethod
    def empty(cls) -> Frames:
        """Return frames with every column and no row."""
        return cls(**{name: table.empty() for name, table in TABLES.items()})

    @classmethod
    def of(cls, **frames: pl.DataFrame) -> Frames:
        """Return frames made of those given, with missing frames empty and missing columns null.

        `words` is counted where it is missing; `group` and `option` become the annotation's own. Raises `BadInput` for
        values of another type.

        >>> one = Frames.of(documents=pl.DataFrame({"document": ["d"], "text": ["a b"]}))
        >>> one.documents["words"].to_list()
        [2]
        """
        made = {}
        for name, schema in SCHEMAS.items():
            try:
                made[name] = fit(frames.get(name, pl.DataFrame()), schema)
            except pl.exceptions.PolarsError as error:
                raise BadInput(name, f"a column is of another type ({str(error).splitlines()[0]})") from None
        if made["documents"]["words"].has_nulls():
            made["documents"] = made["documents"].with_columns(pl.col("words").fill_null(words(pl.col("text"))))
        made["classes"] = made["classes"].with_columns(pl.col("of_entity").fill_null(False))
        made["annotations"] = made["annotations"].with_columns(
            pl.col("is_nil").fill_null(False), pl.col("group", "option").fill_null(pl.col("annotation"))
        )
        return cls(**made)

    def check(self, place: object) -> None:
        """Raise `BadInput`, which names the place, where a frame is not as its table is declared (see `TABLES`)."""
        for name, table in TABLES.items():
            table.check(getattr(self, name), place)

    @classmethod
    def concat(cls, parts: Iterable[Frames]) -> Frames:
        """Return the rows of all parts, one after another; a part alone is returned itself."""
        every = list(parts)
        if len(every) < 2:
            return every[0] if every else cls.empty()
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
        """Return the frames with all documents and annotations in the dataset of a name, which is not hashed."""
        # As a constant, and not as a series: means of measures are summed in another order over that, and differ in
        # their last digit, which is in the hash of each remix that was built.
        documents, annotations = (
            rows.with_columns(dataset=pl.lit(name)) for rows in (self.documents, self.annotations)
        )
        made = replace(self, documents=documents, annotations=annotations).known_as(self.known_hash)
        made.__dict__["dataset_names"] = frozenset([name] if len(documents) else [])
        return made

    @cached_property
    def dataset_names(self) -> frozenset[str]:
        """Return the names of the datasets that the documents are of; one without a name is none.

        >>> Frames.of(documents=pl.DataFrame({"document": ["d", "e"], "dataset": ["news", None]})).dataset_names
        frozenset({'news'})
        """
        return frozenset(self.documents["dataset"].unique().drop_nulls())

    @property
    def known_hash(self) -> str:
        """Return what `remix.scoring.choice.frames_hash` does, where it was kept with their files, else nothing.

        It is no field of the frames, so that what is made of them with other rows has none.
        """
        return str(self.__dict__.get(_HASH, ""))

    def known_as(self, known_hash: str) -> Frames:
        """Return the same rows with their hash.

        >>> one = Frames.empty().known_as("a1b2")
        >>> one.in_dataset("news").known_hash, one.gold().known_hash
        ('a1b2', '')
        """
        made = replace(self)
        made.__dict__[_HASH] = known_hash
        return made

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
        for name in SCHEMAS:
            write_parquet(getattr(self, name), folder / f"{name}.parquet")

    @classmethod
    def read(cls, folder: Path, *, sealed: bool = False) -> Frames:
        """Return the frames that `write` put into the folder, also before some column existed (see `of`).

        Those of a sealed folder are compared with their checksums first. Raises `StoreError` for a file that is gone
        or damaged.
        """
        if sealed:
            verify(folder, *(f"{name}.parquet" for name in SCHEMAS))
        return cls._of_files({name: read_parquet(folder / f"{name}.parquet") for name in SCHEMAS})

    @classmethod
    def read_each(cls, folders: Sequence[Path]) -> list[Frames]:
        """Return what `read` returns of each of several folders, in half the time; raises as that."""
        every = read_each_parquet([folder / f"{name}.parquet" for folder in folders for name in SCHEMAS])
        parts = (every[first : first + len(SCHEMAS)] for first in range(0, len(every), len(SCHEMAS)))
        return [cls._of_files(dict(zip(SCHEMAS, part, strict=True))) for part in parts]

    @classmethod
    def _of_files(cls, found: dict[str, pl.DataFrame]) -> Frames:
        current = all(frame.columns == list(SCHEMAS[name]) for name, frame in found.items())
        return cls(**found) if current else cls.of(**found)

    @classmethod
    def read_all(cls, folders: Sequence[Path], *, sealed: bool = False) -> Frames:
        """Return the rows of all these folders, one after another; see `read`.

        One scan reads a table of all folders, in half the time of a reading of each file; of one folder it is the other
        way round.
        """
        if sealed:
            for folder in folders:
                verify(folder, *(f"{name}.parquet" for name in SCHEMAS))
        if len(folders) == 1:
            return cls.read_each(folders)[0]
        with suppress(OSError, *UNREADABLE):
            tables = {name: [folder / f"{name}.parquet" for folder in folders] for name in SCHEMAS}
            scans = (_scan(files, schema=SCHEMAS[name]) for name, files in tables.items())
            return cls(*pl.collect_all(scans)) if folders else cls.empty()
        # A file is of the time before some column existed, or is damaged, which is said of that file.
        return cls.concat(cls.read(folder) for folder in folders)


_HASH = "known hash"


def _scan(files: list[Path], schema: Mapping[str, pl.DataType] | None = None) -> pl.LazyFrame:
    return pl.scan_parquet(files, schema=schema, glob=False, hive_partitioning=False)


FINE_GRAINED = pl.col("class").str.starts_with(EL) | pl.col("class").str.starts_with(RMX)
"""Whether a class is a fine-grained category (`el:`, `rmx:`): how a mention is written, not what its entity is."""
