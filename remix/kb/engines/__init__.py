"""What carries out the relational steps of building a knowledge base: one file an engine, found by scanning.

The steps (`remix.kb.relations`) are narwhals expressions over lazy frames; an engine reads and writes the frames.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import narwhals as nw
import polars as pl

from remix.registry import Registry

__all__ = ["ENGINES", "ROW_GROUP", "Engine", "Session", "height"]

ROW_GROUP = 20_480
"""Rows whose smallest and largest values are kept together: so much is read to find one key in a sorted file."""


class Session(Protocol):
    """Reads Parquet files as lazy frames and writes lazy frames as Parquet, larger than memory."""

    @property
    def distributed(self) -> bool:
        """Return whether frames may be larger than this machine: nothing that grows with them is brought here."""
        ...

    def scan(self, files: Sequence[Path]) -> nw.LazyFrame[Any]:
        """Return the rows of Parquet files that have the same columns; at least one file."""
        ...

    def write(self, frame: nw.LazyFrame[Any], path: Path, sort_by: Sequence[str] = ()) -> None:
        """Write a frame sorted by columns (strings by code point, nulls first) as Parquet, whole or not at all.

        `path` is a file, or a folder of files whose rows follow each other in the order of the files' names. Raises
        `Error` where the disk is full or memory does not suffice.
        """
        ...

    def number(self, frame: nw.LazyFrame[Any], column: str, path: Path) -> None:
        """Write one column of a frame and `number`, the place from 0 of each row in its order; raises `Error`."""
        ...


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
