"""A file that can be opened several times, whatever its compression, also when it is standard input."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from remix import files
from remix.errors import BadInput

__all__ = ["Source"]

_HEAD = 1 << 16


@dataclass(frozen=True)
class Source:
    """A file to be read: its path (`-` is standard input), its name in messages, its first bytes."""

    path: Path | str

    @property
    def name(self) -> str:
        """Return what messages call the file."""
        return "standard input" if str(self.path) == "-" else str(self.path)

    @property
    def is_stdin(self) -> bool:
        """Return whether the file is standard input."""
        return str(self.path) == "-"

    @cached_property
    def _spooled(self) -> bytes:
        # Standard input can be read only once; reading may need to look twice.
        return files.read_bytes("-")

    @cached_property
    def head(self) -> bytes:
        """Return the first 64 kB, decompressed; raises `BadInput` for an empty or binary file."""
        with self.open() as stream:
            head = stream.read(_HEAD)
        if not head.strip():
            raise BadInput(self.name, "is empty")
        if not head.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\0" in head:
            raise BadInput(self.name, "is a binary file, not text")
        return head

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file from its beginning, decompressed; raises as `files.open_bytes`."""
        if self.is_stdin:
            yield io.BytesIO(self._spooled)
        else:
            with files.open_bytes(self.path) as stream:
                yield stream
