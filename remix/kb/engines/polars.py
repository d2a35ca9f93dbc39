"""polars: one process, in memory: the quickest for what is small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from remix.errors import Error
from remix.kb.engines import ROW_GROUP, Engine
from remix.places import aside_of


class _InMemory:
    distributed = False

    def scan(self, files: Sequence[Path]) -> nw.LazyFrame[Any]:
        """Return the rows of Parquet files, nothing of them read yet."""
        return nw.from_native(pl.scan_parquet(list(files)))

    def write(self, frame: nw.LazyFrame[Any], path: Path, sort_by: Sequence[str] = ()) -> None:
        """Write rows as Parquet, sorted by columns (downwards after '-'); the file has its name once it is whole."""
        rows: pl.LazyFrame = frame.to_native()
        if sort_by:
            down = [column.startswith("-") for column in sort_by]
            rows = rows.sort([column.removeprefix("-") for column in sort_by], descending=down, nulls_last=down)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with aside_of(path) as aside:
                rows.collect().write_parquet(aside, row_group_size=ROW_GROUP)
                aside.replace(path)
        except OSError as error:
            raise Error(f"{path} cannot be written: {error}") from None

    def number(self, frame: nw.LazyFrame[Any], column: str, path: Path) -> None:
        """Write a column, sorted, with the number of each value from 0 as `index`."""
        self.write(frame.select(column).with_row_index("number", order_by=column), path, [column])


@contextmanager
def _open(work: Path, memory: str) -> Iterator[_InMemory]:
    yield _InMemory()


ENGINE = Engine("polars", "One process, in memory: the quickest where all fits into it", _open)
