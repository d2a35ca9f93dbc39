"""duckdb: one process, out of core, the default."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path

import duckdb

from remix.errors import UsageError
from remix.kb.engines import ROW_GROUP, Engine, Session
from remix.progress import moving


class _OutOfCore(Session):
    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def _read(self, files: Sequence[Path]) -> duckdb.DuckDBPyRelation:
        return self._connection.read_parquet([str(file) for file in files])

    def _write(self, rows: duckdb.DuckDBPyRelation, to: Path, sort_by: Sequence[str], what: str) -> None:
        try:
            if sort_by:
                rows = rows.order(", ".join(map(_order_by, sort_by)))
            with self._watch(what), _interrupting(self._connection):
                rows.write_parquet(str(to), compression="zstd", row_group_size=ROW_GROUP)
        except duckdb.OutOfMemoryException as error:
            raise MemoryError(_reason(error)) from None
        except duckdb.IOException as error:
            raise OSError(_reason(error)) from None
        except (duckdb.InterruptException, RuntimeError) as error:
            if "interrupted" in str(error).lower():  # what duckdb makes of Ctrl-C
                raise KeyboardInterrupt from None
            raise

    @contextmanager
    def _watch(self, what: str) -> Iterator[None]:
        """Show how much of the query that runs in the block is done: a thread asks while this one waits."""
        ended = threading.Event()

        def watch(done: Callable[[int], None]) -> None:
            before = 0
            while not ended.wait(0.5):
                share = max(before, int(self._connection.query_progress()))
                done(share - before)
                before = share

        with moving(what, 100, unit=" %") as done:
            watcher = threading.Thread(target=copy_context().run, args=(watch, done), daemon=True)
            watcher.start()
            try:
                yield
            finally:
                ended.set()
                watcher.join(timeout=1)


@contextmanager
def _interrupting(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Make Ctrl-C interrupt the query that runs in the block.

    duckdb by itself stops waiting for the query, and then waits for what its threads have begun, which may take hours.
    """
    if threading.current_thread() is not threading.main_thread():  # others receive no signals
        yield
        return
    pressed = threading.Event()

    def interrupt(*_: object) -> None:
        pressed.set()
        connection.interrupt()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)
    if pressed.is_set():  # when the query had just ended
        raise KeyboardInterrupt


@contextmanager
def _open(work: Path, memory: str) -> Iterator[_OutOfCore]:
    with duckdb.connect() as connection:
        try:
            connection.execute("SET memory_limit = ?", [memory])
        except duckdb.Error:
            raise UsageError(f"'{memory}' is no amount of memory: write it like 3GB") from None
        connection.execute("SET temp_directory = ?", [str(work / "spilled")])
        # Only what is sorted has an order; without one, rows need not wait for each other in memory.
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = true")  # without it there is no progress to ask for
        connection.execute("SET enable_progress_bar_print = false")
        yield _OutOfCore(connection)


def _order_by(column: str) -> str:
    return f'"{column[1:]}" DESC NULLS LAST' if column.startswith("-") else f'"{column}" ASC NULLS FIRST'


def _reason(error: Exception) -> str:
    """Return what an error says, without the record of its inner error that duckdb puts around it."""
    said = re.search(r'"exception_message":"((?:[^"\\]|\\.)*)"', str(error))
    return (said[1].replace('\\"', '"') if said else str(error)).strip().splitlines()[0]


ENGINE = Engine("duckdb", "One process, larger than memory", _open)
