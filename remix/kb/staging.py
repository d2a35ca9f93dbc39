"""The rows of sources on their way into a knowledge base: Parquet files, a folder for each table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.frames import write_parquet
from remix.kb.forms import keys

_COLUMNS = {
    "surface_forms": "key surface_form entity count source",
    "links": "source target origin",
    "types": "entity class source",
    "subclasses": "class parent source",
    "labels": "entity label source",
    "redirects": "redirect target source",
    "sameas": "wikidata entity count source",
    "disambiguations": "page entity source",
    "demonyms": "key demonym entity source",
    "scores": "entity pagerank hits hub source",
}
_NUMBERS = {"count": pl.Int64(), "pagerank": pl.Float64(), "hits": pl.Float64(), "hub": pl.Float64()}
TABLES: dict[str, dict[str, pl.DataType]] = {
    table: {name: _NUMBERS.get(name, pl.String()) for name in columns.split()} for table, columns in _COLUMNS.items()
}
"""What is staged: IRIs canonical (classes as their vocabulary has them), no nulls but in counts and scores.

`key` is the normalised surface form, or demonym (what the people and things of a place are called, as 'Dutch'); it is
filled in by `write`. A disambiguation page is no entity: its forms are
staged as rows of `surface_forms`, one a candidate, and the pair in `disambiguations`."""

ENTITIES: dict[str, tuple[str, ...]] = {
    table: tuple(name for name in columns if name in ("entity", "redirect", "target", "page", "wikidata"))
    for table, columns in TABLES.items()
} | {"links": ("source", "target")}
"""The columns of each table that hold entities."""

KEYED = {"surface_forms": "surface_form", "demonyms": "demonym"}
"""The tables with a `key`, and the column that it is made of."""

SHOWN = 10
_ROWS = 250_000


@dataclass
class Problem:
    """One kind of thing that was wrong in a part: how often, and the first ten with their places."""

    count: int = 0
    first: list[str] = field(default_factory=list)


def strictly(kind: str, examples: list[str]) -> str:
    """Return what is said of a problem that stops a strict build."""
    return f"{kind}: {', '.join(examples[:1])}; mend it, or build without --strict, which leaves it out and counts it"


class Staging:
    """A folder that takes the rows of one part; `strict` makes the first problem an error.

    Within a `with` block of it rows can be added; they are written at its end, also where reading has failed.

    >>> import tempfile
    >>> staging = Staging(Path(tempfile.mkdtemp()))
    >>> staging.write("labels", pl.DataFrame({"entity": ["e:A"], "label": ["A"], "source": ["label"]}))
    >>> staging.rows
    {'labels': 1}
    """

    def __init__(self, folder: Path, *, strict: bool = False) -> None:
        self.folder = folder
        self.strict = strict
        self.rows: dict[str, int] = {}
        self.problems: dict[str, Problem] = {}
        self._files = 0
        self._gathered: dict[str, list[pl.DataFrame]] = {}

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, *_: object) -> None:
        for table in list(self._gathered):
            self.write(table, pl.concat(self._gathered.pop(table)))

    def add(self, table: str, rows: pl.DataFrame) -> None:
        """Take rows of a table, which are written when they are worth a file."""
        if rows.is_empty():
            return
        gathered = self._gathered.setdefault(table, [])
        gathered.append(rows)
        if sum(some.height for some in gathered) >= _ROWS:
            self.write(table, pl.concat(self._gathered.pop(table)))

    def write(self, table: str, rows: pl.DataFrame) -> None:
        """Write rows of a table; columns in any order, missing nullable ones are null, keys are made here."""
        if table in KEYED and "key" not in rows.columns:
            rows = rows.with_columns(key=keys(rows[KEYED[table]])).filter(pl.col("key") != "")
        if rows.is_empty():
            return
        fitted = rows.select(
            (pl.col(name) if name in rows.columns else pl.lit(None)).cast(kind).alias(name)
            for name, kind in TABLES[table].items()
        )
        (self.folder / table).mkdir(parents=True, exist_ok=True)
        write_parquet(fitted, self.folder / table / f"{self._files:06d}.parquet", passing=True)
        self._files += 1
        self.rows[table] = self.rows.get(table, 0) + rows.height

    def problem(self, kind: str, count: int, examples: Iterable[str], *, place: object = "") -> None:
        """Note what was wrong and left out; `strict` raises `BadInput` with the first example instead."""
        if not count:
            return
        examples = list(examples)
        if self.strict:
            raise BadInput(place, strictly(kind, examples or [str(count)]))
        known = self.problems.setdefault(kind, Problem())
        known.count += count
        known.first += examples[: SHOWN - len(known.first)]
