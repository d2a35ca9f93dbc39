"""Reading a source that a test has written, and the rows that it staged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from remix.kb.sources import Choices, Source
from remix.kb.staging import TABLES, Staging

Read = Callable[..., Staging]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read all parts of a source; `read(SOURCE, place, languages=("de",))` returns the staging."""

    def reading(source: Source, place: Path, **choices: Any) -> Staging:
        folder = tmp_path / "staged"
        staging = Staging(folder, strict=choices.get("strict", False))
        for part in source.parts(str(place), Choices(**choices)):
            part.read(staging)
        return staging

    return reading


def rows(staging: Staging, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """Return the staged rows of a table, sorted."""
    folder = staging.folder / table
    if not folder.exists():
        return []
    frame = pl.concat(pl.read_parquet(file) for file in sorted(folder.iterdir()))
    assert dict(frame.schema) == TABLES[table]
    return sorted(frame.select(*columns).rows(), key=repr)
