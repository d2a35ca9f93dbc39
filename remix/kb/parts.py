"""The parts of a knowledge base on disk: what each is sorted by, how rows are found in it, which are left out."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache, partial, reduce
from operator import or_
from pathlib import Path
from typing import Any, Self

import polars as pl

from remix.errors import MissingKnowledge, StoreError
from remix.frames import UNREADABLE
from remix.kb.forms import normalise
from remix.kb.prominence import place_columns
from remix.kb.staging import KEYED, TABLES
from remix.places import verify

FORMAT = "9"
"""Part of every version; grows when a knowledge base of the same sources would come out differently."""

SMALL = 1 << 20
"""Files of up to so many bytes are compared with their checksums whenever the knowledge base is opened."""
COMPARED = 64 << 20
"""Larger files, of up to so many bytes, when a process first asks them: in 0.05 s; beyond that when it is attached."""
FEW = 50
"""Up to so many values are looked up one by one, which skips the row groups of a sorted part that hold none."""
SORTED_BY = {
    "demonyms": "key",
    "dictionary": "key",
    "dictionary_by_entity": "entity",
    "disambiguations": "page",
    "entities": "entity",
    "redirects": "redirect",
    "resolution": "iri",
    "resolution_by_entity": "entity",
    "sameas": "wikidata",
    "subclasses": "class",
    "surface_forms": "key",
    "types": "entity",
}
"""The column that the rows of a part are sorted by. `entities` and `types` are sorted by number, too."""

_EMPTY: dict[str, dict[str, pl.DataType]] = {part: TABLES[part] for part in ("subclasses", "demonyms")}
"""Parts that a knowledge base may lack."""

_WITH_SOURCES = ("surface_forms", "types")
"""Parts of which rows may be left out by their source."""

GOLD = ("gold:*",)
"""Sources that were derived from a gold standard: a dataset measured by them is measured by itself."""

UNCOUNTED = ("candidate:*", "system:*", "redirect-title", "wikidata-label-or-alias")
"""Sources whose counts say how often a tool or a list named the pair, not how often people meant the entity."""


class Parts:
    """The parts of a knowledge base in their folder, without the rows of sources that are left out of it.

    A part is scanned when it is first asked for, and read as far as a question needs it.
    """

    def __init__(
        self,
        folder: Path,
        described: dict[str, Any],
        *,
        left_out: tuple[str, ...] = (),
        keeps_gold: bool = False,
        case_sensitive: bool = False,
    ) -> None:
        self.folder = folder
        self.described = described
        self.name: str = described["name"]
        self.version: str = described["version"]
        self.complete: bool = described["complete"]
        self.left_out, self.keeps_gold, self.case_sensitive = left_out, keeps_gold, case_sensitive
        self._scans: dict[str, pl.LazyFrame] = {}

    @property
    def choices(self) -> dict[str, Any]:
        """Return which of its rows are left out, and whether it keeps gold and case, as `open` takes them."""
        return {name: getattr(self, name) for name in ("left_out", "keeps_gold", "case_sensitive")}

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process, or machine, opens it for itself.
        return partial(type(self).open, **self.choices), (self.folder.absolute(),)

    @classmethod
    def open(
        cls, folder: Path, *, left_out: tuple[str, ...] = (), keeps_gold: bool = False, case_sensitive: bool = False
    ) -> Self:
        """Return the knowledge base of a folder; raises `MissingKnowledge` where there is none, or one of old."""
        try:
            described = json.loads((folder / "kb.json").read_text(encoding="utf-8"))
            how = {"keeps_gold": keeps_gold, "case_sensitive": case_sensitive}
            kb = cls(folder, described, left_out=left_out, **how)
        except (OSError, ValueError, KeyError, TypeError):
            raise MissingKnowledge(
                f"{folder} holds no knowledge base: build one with `remix kb build --from tables DIR`"
            ) from None
        if described.get("format") != FORMAT:
            formats = f"format {described.get('format', 'unknown')} in place of {FORMAT}"
            raise MissingKnowledge(
                f"{folder} holds a knowledge base that another version of remix built, by which measures had other "
                f"values ({formats}): build it again by the same `remix kb build`, or attach another; "
                "`remix kb attach` takes the one that ships with remix"
            )
        kb.verify(largest=SMALL)
        return kb

    def verify(self, *, largest: float = math.inf) -> None:
        """Compare the files, those of up to `largest` bytes, with what was built; raises `StoreError`."""
        try:
            verify(self.folder, largest=largest)
        except StoreError as error:
            raise StoreError(f"{error}: build the knowledge base '{self.name}' again") from None

    def has(self, part: str) -> bool:
        """Return whether the knowledge base was built with a part."""
        return (self.folder / f"{part}.parquet").exists()

    def scan(self, part: str) -> pl.LazyFrame:
        """Return a part as a lazy frame, so that filters on sorted columns read only what they need.

        Raises `StoreError` where the part is gone or damaged.
        """
        rows = self._scan(part)
        if part in KEYED and self.case_sensitive:
            rows = rows.with_columns(key=normalise(pl.col(KEYED[part]), case_sensitive=True))
        if self.left_out and part in _WITH_SOURCES:
            from_left_out = pl.col("source").is_in(match_sources(self.sources, self.left_out))
            rows = rows.filter(~from_left_out.fill_null(False))
        if part == "entities":
            rows = self._with_places(rows)
        return rows

    def _scan(self, part: str) -> pl.LazyFrame:
        # A lazy frame remembers the footer of its file, which takes longer to read than a row group.
        if part not in self._scans:
            file = self.folder / f"{part}.parquet"
            if not file.exists() and part in _EMPTY:
                return pl.LazyFrame(schema=_EMPTY[part])
            if not file.exists():
                raise StoreError(f"{file} is gone: build the knowledge base '{self.name}' again")
            try:
                # A small part is asked for many times, and read in the time that one question to the file takes.
                state = file.stat()
                small = state.st_size <= SMALL
                if file.is_file() and SMALL < state.st_size <= COMPARED:
                    _compare(file, state.st_ino, state.st_mtime_ns, state.st_size)
                rows = pl.read_parquet(file).lazy() if small else pl.scan_parquet(file)
                if part in SORTED_BY:
                    rows = rows.set_sorted(SORTED_BY[part])
                rows.collect_schema()
            except (OSError, *UNREADABLE):
                raise StoreError(f"{file} is damaged: build the knowledge base '{self.name}' again") from None
            except StoreError as error:
                raise StoreError(f"{error}: build the knowledge base '{self.name}' again") from None
            self._scans[part] = rows
        rows = self._scans[part]
        # What is known through gold alone is unknown without it.
        return rows.filter(~pl.col("of_gold")) if part == "entities" and self._without_gold else rows

    @property
    def sources(self) -> list[str]:
        """Return the sources of forms and types, sorted, also those that are left out."""
        return sorted({*self.described["form_sources"], *self.described["type_sources"]})

    @property
    def _without_gold(self) -> bool:
        gold = match_sources(self.sources, GOLD)
        return bool(gold) and set(gold) <= set(match_sources(self.sources, self.left_out))

    def rows(self, part: str, column: str, values: pl.Series, select: Iterable[str] = ()) -> pl.DataFrame:
        """Return the rows of a part whose column has one of the values, by default with all columns, in any order."""
        names = [*select] or self.scan(part).collect_schema().names()
        return self.find(part, column, values.drop_nulls().unique(), names).drop("place")

    def find(self, part: str, column: str, values: pl.Series, select: Iterable[str]) -> pl.DataFrame:
        """Return columns of the rows of a part whose column has one of the values, with `place`, that of the value.

        The values all differ; the rows are in any order.
        """
        try:
            return self._find(part, column, values, [*select])
        except UNREADABLE:
            raise StoreError(
                f"{self.folder / part}.parquet is damaged: build the knowledge base '{self.name}' again"
            ) from None

    def _find(self, part: str, column: str, values: pl.Series, names: list[str]) -> pl.DataFrame:
        if part != "entities":
            return find_rows(self.scan(part), column, values, names, is_sorted=self._is_sorted(part, column))
        # What follows from a rank is computed for the rows that are found alone.
        stored = dict.fromkeys(one for name in names for one in _columns_of(name))
        rows = find_rows(self._scan(part), column, values, stored, is_sorted=self._is_sorted(part, column))
        return self._with_places(rows.lazy()).select("place", *names).collect()

    def _with_places(self, entities: pl.LazyFrame) -> pl.LazyFrame:
        """Return entities with percentile and segment of each score whose rank and equals are among the columns."""
        columns = entities.collect_schema().names()
        return entities.with_columns(
            place
            for score, count in self.described["scored"].items()
            if f"{score}_equal" in columns
            for place in place_columns(score, pl.lit(count))
        )

    def _is_sorted(self, part: str, column: str) -> bool:
        """Return whether the rows of a part lie sorted by a column."""
        if column == "number":
            return part in ("entities", "types")
        return SORTED_BY.get(part) == column and not (part in KEYED and self.case_sensitive)


@lru_cache(maxsize=256)
def _compare(file: Path, *_: int) -> None:
    """Compare a file in one state with its checksum, once in a process; raises `StoreError` where it has changed."""
    verify(file.parent, file.name)


def _columns_of(column: str) -> list[str]:
    """Return the columns of entities on disk that a column is made of: percentile and segment follow from the rank."""
    score, place, _ = re.sub("_(percentile|segment)$", "\n", column).partition("\n")
    return [f"{score}_rank", f"{score}_equal"] if place else [column]


def match_sources(sources: Iterable[str | None], patterns: Iterable[str]) -> list[str]:
    """Return the sources that match any of the patterns, written as in a shell.

    >>> match_sources(["gold:a", "label", None], ["gold:*"])
    ['gold:a']
    """
    patterns = list(patterns)
    names = sorted({name for name in sources if name is not None})
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def find_rows(
    rows: pl.LazyFrame, column: str, values: pl.Series, select: Iterable[str], *, is_sorted: bool = True
) -> pl.DataFrame:
    """Return `place`, that of the value among the values, and columns of the rows that have it, in any order.

    The values all differ. Where the rows are sorted by the column, many values are merged with them as they
    stream by, which needs no memory.
    """
    names = [*select]
    keys = pl.DataFrame({column: values.cast(rows.collect_schema()[column])}).with_row_index("place").drop_nulls()
    wanted = rows.select(*dict.fromkeys([column, *names]))
    if keys.height <= FEW:
        # Statistics skip row groups for `==`, but not for `is_in`.
        wanted = wanted.filter(reduce(or_, [pl.col(column) == value for value in keys[column]], pl.lit(False)))
        return wanted.collect().join(keys, on=column, maintain_order="left").select("place", *names)
    if is_sorted:
        wanted, keys = wanted.set_sorted(column), keys.sort(column).set_sorted(column)
    return wanted.join(keys.lazy(), on=column).select("place", *names).collect(engine="streaming")
