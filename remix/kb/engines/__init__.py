"""What carries out the relational steps of building a knowledge base: one file an engine, found by scanning.

The steps (`remix.kb.relations`) are narwhals expressions over lazy frames; an engine reads and writes the frames.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import narwhals as nw
import polars as pl

from remix.errors import Error
from remix.places import aside_of
from remix.registry import Registry

ROW_GROUP = 20_480
"""Rows whose smallest and largest values are kept together: so much is read to find one key in a sorted file."""


class Session(ABC):
    """Reads Parquet files as lazy frames and writes lazy frames as Parquet, larger than memory."""

    distributed = False
    """Whether frames may be larger than this machine: then nothing that grows with them is brought here."""

    def scan(self, files: Sequence[Path]) -> nw.LazyFrame[Any]:
        """Return the rows of Parquet files that have the same columns; at least one file."""
        return cast(nw.LazyFrame[Any], nw.from_native(self._read(files)))

    def write(self, frame: nw.LazyFrame[Any], path: Path, sort_by: Sequence[str] = ()) -> None:
        """Write a frame as Parquet, whole or not at all, sorted by columns: strings by code point, nulls first.

        A column after '-' is sorted downwards, nulls last. `path` is a file, or a folder of files whose rows follow
        in the order of the files' names. Raises `Error` where the disk is full or memory does not suffice.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with aside_of(path) as aside:
                self._write(frame.to_native(), aside, sort_by, path.stem.replace("_", " "))
                aside.replace(path)
        except OSError as error:
            raise Error(f"{path} cannot be written: {error}") from None
        except MemoryError as error:
            raise Error(f"{path} needs more memory or more room on the disk: {error}") from None

    def number(self, frame: nw.LazyFrame[Any], column: str, path: Path) -> None:
        """Write one column of a frame and `number`, the place from 0 of each row in its order; raises `Error`."""
        self.write(frame.select(column).with_row_index("number", order_by=column), path, [column])

    @abstractmethod
    def _read(self, files: Sequence[Path]) -> Any:
        """Return the rows of files as the engine has them."""

    @abstractmethod
    def _write(self, rows: Any, to: Path, sort_by: Sequence[str], what: str) -> None:
        """Write rows of the engine; `what` is how they are called in a progress bar."""


@dataclass(frozen=True)
class Engine:
    """An engine: `open(work, memory)` gives a session that keeps what does not fit into memory in a folder.

    `memory` is what the engine may use, such as '3GB'; the process as a whole takes more.
    """

    name: str
    summary: str
    open: Callable[[Path, str], AbstractContextManager[Session]] = field(compare=False)


ENGINES: Registry[Engine] = Registry("engine", "remix.kb.engines", Engine)


def height(file: Path) -> int:
    """Return the number of rows of what a session wrote."""
    return int(pl.scan_parquet(file).select(pl.len()).collect().item())
