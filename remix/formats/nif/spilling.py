"""Rows set aside on disk by bucket while a stream passes, in one file, read back bucket by bucket."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl

from remix.files import written

__all__ = ["Spill", "spilled"]


class Spill:
    """Takes rows in any order; `finish` writes the index, without which the file does not count."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream = path.open("wb")
        self._index: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(self, rows: pl.DataFrame) -> None:
        """Set rows aside by their column `bucket`, which is dropped."""
        for (bucket,), part in rows.partition_by(
            "bucket", as_dict=True, include_key=False, maintain_order=True
        ).items():
            place, buffer = self._stream.tell(), io.BytesIO()
            part.write_ipc(buffer, compression="lz4")
            self._stream.write(buffer.getbuffer())
            self._index[str(bucket)].append((place, self._stream.tell() - place))

    def finish(self, found: dict[str, Any]) -> None:
        """Write the index, with what was found on the way, after all rows are on disk."""
        self._stream.close()
        with written(self.path.with_suffix(".json")) as stream:
            stream.write(json.dumps({"index": self._index, "found": found}).encode())

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def spilled(path: Path, index: dict[str, list[list[int]]], bucket: int) -> list[pl.DataFrame]:
    """Return the rows of a bucket, in the order in which they were set aside."""
    with path.open("rb") as stream:
        parts = []
        for place, length in index.get(str(bucket), []):
            stream.seek(place)
            parts.append(pl.read_ipc(io.BytesIO(stream.read(length))))
    return parts
