"""Answers of filters that are kept: what a service said of each entity, so that another dataset asks for the rest."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from remix.errors import Error
from remix.files import write_whole
from remix.frames import read_parquet
from remix.locks import lock_file
from remix.signature import content_hash

_SCHEMA = {"entity": pl.String(), "kept": pl.Boolean()}


@dataclass(frozen=True)
class KeptAnswers:
    """What a query to a service answered, an entity a row, in one file of a folder; without a folder nothing is kept.

    The file is named by the hashes of query and service, so that it holds the answers to these alone.
    """

    folder: Path | None
    query: str
    service: str

    @property
    def file(self) -> Path | None:
        """Return the file that the answers are kept in."""
        if self.folder is None:
            return None
        return self.folder / f"{content_hash(self.query, ' ', self.service)[:32]}.parquet"

    def read(self) -> pl.DataFrame:
        """Return entity and kept, whether it was, of those that were asked about; a damaged file has none."""
        if self.file is None or not self.file.is_file():
            return pl.DataFrame(schema=_SCHEMA)
        try:
            rows = read_parquet(self.file)
        except Error:
            return pl.DataFrame(schema=_SCHEMA)
        return rows if dict(rows.schema) == _SCHEMA else pl.DataFrame(schema=_SCHEMA)

    def add(self, answers: pl.DataFrame) -> None:
        """Keep further answers, in the place of older ones; others may do so at the same time."""
        if self.file is None or answers.is_empty():
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            stack.enter_context(lock_file(self.file.with_suffix(".lock"), wait=True))
            rows = pl.concat([answers, self.read()]).unique("entity", keep="first").sort("entity")
            rows.write_parquet(stack.enter_context(write_whole(self.file)))
