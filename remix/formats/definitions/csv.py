"""Simple tables: a mention a row, with the columns `document`, `begin`, `end`, `entity` in a header line.

Separated by commas, semicolons or tabs. `surface_form`, `confidence` and `class` are read where they are there; other
names of columns that are read: `datasets/formats/csv.toml`. A mention without entity, or with one that spells NIL,
is NIL. Rows have no texts; offsets are code points, end exclusive.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from remix.files import write_whole
from remix.formats import Loss
from remix.formats.mapping import shipped_mapping
from remix.formats.mapping.definition import format_of
from remix.formats.writing import lay_out
from remix.frames import Frames


def _write(frames: Frames, path: Path) -> tuple[Loss, ...]:
    _, rows, losses = lay_out(frames, r"^[^\x00\r\n]+$")
    document, entity = pl.col("label").alias("document"), pl.col("identifiers").list.first().alias("entity")
    with write_whole(path) as stream:
        rows.select(document, "begin", "end", "surface_form", entity, "confidence", "class").write_csv(stream)
    return losses


HOLDS = frozenset({"dangling", "nil", "classes", "confidence", "unplaced"})

csv = format_of(shipped_mapping("csv"), write=_write, holds=HOLDS)
