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
from remix.formats.collections import is_collection, members_of

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
    def members(self) -> dict[str, bytes]:
        """Return the files of a folder or zip archive by their relative names; none of what is a file by itself."""
        return members_of(Path(self.path)) if self.is_collection else {}

    @cached_property
    def is_collection(self) -> bool:
        """Return whether this is a folder or a zip archive."""
        return not self.is_stdin and is_collection(Path(self.path))

    def beside(self, *names: str) -> bytes | None:
        """Return the content of the first of these files that is there, relative to the folder of this one."""
        if self.is_stdin:
            return None
        found = (Path(self.path).parent / name for name in names)
        return next((files.read_bytes(path) for path in found if path.is_file()), None)

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
