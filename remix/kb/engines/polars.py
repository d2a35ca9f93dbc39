"""polars: one process, in memory: the quickest for what is small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from remix.kb.engines import ROW_GROUP, Engine, Session


class _InMemory(Session):
    def _read(self, files: Sequence[Path]) -> pl.LazyFrame:
        return pl.scan_parquet(list(files))

    def _write(self, rows: pl.LazyFrame, to: Path, sort_by: Sequence[str], what: str) -> None:
        if sort_by:
            down = [column.startswith("-") for column in sort_by]
            rows = rows.sort([column.removeprefix("-") for column in sort_by], descending=down, nulls_last=down)
        rows.collect().write_parquet(to, row_group_size=ROW_GROUP)


@contextmanager
def _open(work: Path, memory: str) -> Iterator[_InMemory]:
    yield _InMemory()


ENGINE = Engine("polars", "One process, in memory: the quickest where all fits into it", _open)
