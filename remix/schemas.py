"""What a table has in it, declared once: the name, type and meaning of each column, and what is different in each row.

A function that takes a table says which by the name of its type (`Documents`, `Annotations`, `Counts`), which leads to
the declaration. Frames are checked where they enter, by `Schema.check`; in between nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from remix.errors import BadInput, nearest


@dataclass(frozen=True)
class SchemaColumn:
    """A column: its type, what it means, whether it may be null, and whether it may be left out.

    Where a number may be a fraction, whole ones may be integers.
    """

    name: str
    type: pl.DataType
    meaning: str
    null: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Schema:
    """A table: what a row of it is, its columns in their order, and the columns that no two rows have alike.

    A frame may have further columns.
    """

    name: str
    row: str
    columns: tuple[SchemaColumn, ...]
    key: tuple[str, ...] = ()

    @property
    def types(self) -> dict[str, pl.DataType]:
        """The types of the columns that are always there, by their names."""
        return {column.name: column.type for column in self.columns if not column.optional}

    def empty(self) -> pl.DataFrame:
        """Return the table without any row."""
        return self._empty.clone()

    @cached_property
    def _empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.types)

    def check(self, frame: pl.DataFrame, place: object) -> None:
        """Raise `BadInput`, which names the place, for a frame that is no such table.

        >>> links = Schema("links", "an entity of a mention", (SchemaColumn("entity", pl.String(), "the entity"),))
        >>> links.check(pl.DataFrame({"entity": ["x:Ada", None]}), "gold")
        Traceback (most recent call last):
        remix.errors.BadInput: gold: links: 'entity' (the entity) has no value in 1 of 2 rows
        >>> links.check(pl.DataFrame({"entry": ["x:Ada"]}), "gold")
        Traceback (most recent call last):
        remix.errors.BadInput: gold: links: there is no column 'entity'; did you mean 'entry'?
        """
        for fault in self._faults(frame):
            raise BadInput(place, f"{self.name}: {fault}")

    def _faults(self, frame: pl.DataFrame) -> Iterator[str]:
        for column in self.columns:
            name = column.name
            if name not in frame.columns:
                if not column.optional:
                    yield f"there is no column '{name}'{nearest(name, frame.columns)}"
                continue
            if frame.schema[name] != column.type and not (column.type.is_float() and frame.schema[name].is_integer()):
                yield f"'{name}' ({column.meaning}) is of {column.type}, not of {frame.schema[name]}"
            if not column.null and (missing := frame[name].null_count()):
                yield f"'{name}' ({column.meaning}) has no value in {missing} of {len(frame)} rows"
        # Rows of different hashes are different, which is known in a fifth of the time.
        if not self.key or frame.select(self.key).hash_rows().n_unique() == len(frame):
            return
        if repeated := len(frame) - frame.n_unique(subset=self.key):
            row = frame.filter(pl.struct(self.key).is_duplicated()).select(self.key).row(0)
            shown = ", ".join(str(value) for value in row)
            yield f"{repeated} of {len(frame)} rows have the {' and '.join(self.key)} of another, such as {shown}"


def fit(frame: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Return the columns of a schema, in its order and of its types; those that the frame does not have are null.

    >>> schema = {"annotation": pl.String(), "entity": pl.String(), "score": pl.Float64()}
    >>> fit(pl.DataFrame({"entity": ["x:Ada"], "more": [1]}), schema).row(0)
    (None, 'x:Ada', None)
    """
    if frame.is_empty():
        return pl.DataFrame(schema=schema)
    columns = {name: pl.col(name) if name in frame.columns else pl.lit(None) for name in schema}
    return frame.select(column.cast(schema[name]).alias(name) for name, column in columns.items())
