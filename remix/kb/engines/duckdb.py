"""duckdb: one process, out of core, the default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw

from remix.errors import Error, UsageError
from remix.kb.engines import Engine

ROW_GROUP = 20_480
"""Rows whose smallest and largest values are kept together: so much is read to find one key in a sorted file."""


class _Session:
    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def scan(self, files: Sequence[Path]) -> nw.LazyFrame[Any]:
        return nw.from_native(self._connection.read_parquet([str(file) for file in files]))

    def write(self, frame: nw.LazyFrame[Any], path: Path, sort_by: Sequence[str] = ()) -> None:
        rows: duckdb.DuckDBPyRelation = frame.to_native()
        aside = path.with_name(f"{path.name}.unfinished")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if sort_by:
                rows = rows.order(", ".join(f'"{column}" ASC NULLS FIRST' for column in sort_by))
            rows.write_parquet(str(aside), compression="zstd", row_group_size=ROW_GROUP)
            aside.rename(path)
        except duckdb.OutOfMemoryException as error:
            raise Error(f"{path} needs more memory or more room on the disk: {_first_line(error)}") from None
        except (duckdb.IOException, OSError) as error:
            raise Error(f"{path} cannot be written: {_first_line(error)}") from None


@contextmanager
def _open(work: Path, memory: str) -> Iterator[_Session]:
    with duckdb.connect() as connection:
        try:
            connection.execute("SET memory_limit = ?", [memory])
        except duckdb.Error:
            raise UsageError(f"'{memory}' is no amount of memory: write it like 3GB") from None
        connection.execute("SET temp_directory = ?", [str(work / "spilled")])
        # Only what is sorted has an order; without one, rows need not wait for each other in memory.
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")
        yield _Session(connection)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


ENGINE = Engine("duckdb", "One process, larger than memory", _open)
