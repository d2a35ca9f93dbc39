"""Reading any file as bytes, whatever its compression, and writing files that appear whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from remix.errors import BadInput, Error

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["default_name", "open_bytes", "open_measured", "read_bytes", "readable", "stem", "written"]

_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstandard"}
_COMPRESSED_SUFFIXES = (".gz", ".bz2", ".zst")


@contextmanager
def open_bytes(path: Path | str) -> Iterator[BinaryIO]:
    """Open a file for reading, decompressed by what its first bytes say; `-` is standard input.

    Raises `BadInput` for what is no readable file, and for a compressed file that is cut short or damaged,
    also when that shows only while the caller reads.
    """
    with open_measured(path) as (stream, _):
        yield stream


@contextmanager
def open_measured(path: Path | str) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """Open a file as `open_bytes` does, with what tells how many bytes of it, as it is on disk, have been taken."""
    name = "standard input" if str(path) == "-" else str(path)
    try:
        with sys.stdin.buffer if str(path) == "-" else Path(path).open("rb") as raw:
            reader: io.BufferedReader = io.BufferedReader(cast(io.RawIOBase, raw))
            yield _decompressed(reader), reader.tell if reader.seekable() else lambda: 0
    except IsADirectoryError:
        raise BadInput(name, "is a folder; name the files in it") from None
    except FileNotFoundError:
        raise BadInput(name, "no such file") from None
    except PermissionError:
        raise BadInput(name, "may not be read") from None
    except (EOFError, gzip.BadGzipFile) as error:
        raise BadInput(name, f"the compressed file is cut short or damaged ({error})") from None
    except OSError as error:
        raise BadInput(name, f"cannot be read ({error})") from None
    except Exception as error:  # zstandard and zlib have error classes of their own
        if type(error).__name__ in {"ZstdError", "error"}:
            raise BadInput(name, f"the compressed file is cut short or damaged ({error})") from None
        raise


def read_bytes(path: Path | str) -> bytes:
    """Return the whole decompressed content of a file; raises as `open_bytes`."""
    with open_bytes(path) as stream:
        return stream.read()


def _decompressed(raw: io.BufferedReader) -> BinaryIO:
    head = raw.peek(4)[:4]
    kind = next((k for magic, k in _COMPRESSIONS.items() if head.startswith(magic)), "")
    if kind == "gzip":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if kind == "bzip2":
        return cast(BinaryIO, bz2.BZ2File(raw))
    if kind == "zstandard":
        return io.BufferedReader(_Zstandard(raw), 1 << 17)
    return raw


class _Zstandard(io.RawIOBase):
    """Decompressed bytes of zstandard frames; unlike the library's reader it notices that the last one is cut short."""

    def __init__(self, raw: io.BufferedReader) -> None:
        import zstandard

        self._raw = raw
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._new_frame()
        self._ready = memoryview(b"")
        self._begun = False

    def readable(self) -> bool:
        """Return that the stream can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Return how many bytes were put into the buffer, 0 at the end of the last frame."""
        while not self._ready:
            block = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._begun = self._new_frame(), False
            block = block or self._raw.read(1 << 17)
            if not block:
                if self._begun:
                    raise EOFError("the last zstandard frame has no end")
                return 0
            self._begun = True
            # A view: cutting off what was read must not copy the rest, which may be a thousand times the block.
            self._ready = memoryview(self._frame.decompress(block))
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


@contextmanager
def written(path: Path | str) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its place at the end of the block, or leaves no trace.

    Raises `Error` with the reason where the disk is full or the folder may not be written.
    """
    target = Path(path)
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
        temporary = ""
    except OSError as error:
        raise Error(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def stem(path: Path | str) -> str:
    """Return a file's name without its extensions.

    >>> stem("data/RSS-500.ttl.gz"), stem("a.b.benchmark.jsonl")
    ('RSS-500', 'a.b.benchmark')
    """
    name = Path(path).name
    for suffix in _COMPRESSED_SUFFIXES:
        name = name.removesuffix(suffix)
    return name.rsplit(".", 1)[0] if "." in name[1:] else name


def readable(name: Path | str) -> str:
    """Return a name as text that can be written, also one of a file that is no UTF-8, or that was not taken for it.

    >>> readable("caf\\udcc3\\udca9.ttl"), readable("caf\\udce9.ttl")
    ('café.ttl', 'caf\ufffd.ttl')
    """
    text = re.sub("[\ud800-\udc7f\udd00-\udfff]", "\ufffd", str(name))
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def default_name(path: Path | str) -> str:
    """Return a dataset's name from its file: the stem in lower case with hyphens, without accents.

    >>> default_name("data/RSS-500.ttl.gz"), default_name("My corpus (2).nt"), default_name("Zürich.ttl")
    ('rss-500', 'my-corpus-2', 'zurich')
    """
    plain = unicodedata.normalize("NFKD", readable(stem(path)).casefold())
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    name = re.sub(r"[^0-9a-z]+", "-", letters).strip("-")
    return name or "dataset"
