"""Reading any file as bytes, whatever its compression, and writing files that appear whole or not at all."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import math
import os
import re
import shutil
import stat
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from remix.errors import BadInput, Error, UsageError
from remix.places import aside_of, discard, set_aside

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstandard"}
_COMPRESSED_SUFFIXES = (".gz", ".bz2", ".zst")

EXPANSION, FREE = 250, 1 << 28
"""How many times its size a compressed file may become, and how many bytes it may become whatever its size."""
_PIECE = 1 << 9
"""How many bytes of zstandard are decompressed at once: each may become thirty thousand."""


@contextmanager
def open_bytes(path: Path | str, *, own: bool = False) -> Iterator[BinaryIO]:
    """Open a file for reading, decompressed by what its first bytes say; `-` is standard input.

    Raises `BadInput` for what is no readable file, and for a compressed file that is cut short or damaged,
    also when that shows only while the caller reads; and for one that becomes more than `expansion_limit` says,
    unless it is remix's `own`.
    """
    with open_measured(path, own=own) as (stream, _):
        yield stream


@contextmanager
def open_measured(path: Path | str, *, own: bool = False) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """Open a file as `open_bytes` does, with what tells how many bytes of it, as it is on disk, have been taken."""
    name = "standard input" if str(path) == "-" else str(path)
    try:
        with sys.stdin.buffer if str(path) == "-" else Path(path).open("rb") as raw:
            counted = _Counted(raw)
            reader: io.BufferedReader = io.BufferedReader(cast(io.RawIOBase, counted))
            yield _decompress(reader, name, None if own else counted), lambda: counted.taken
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


def read_bytes(path: Path | str, *, own: bool = False) -> bytes:
    """Return the whole decompressed content of a file; raises as `open_bytes`."""
    with open_bytes(path, own=own) as stream:
        return stream.read()


def expansion_limit(size: int) -> int:
    """Return how many bytes a compressed file of a size may become.

    The environment variable `REMIX_MAX_EXPANSION` says how many times its size, 250 by default; whatever its size, a
    file may become 256 MB. Raises `UsageError` where the variable is no number above 0.

    >>> expansion_limit(1_000), expansion_limit(10_000_000)
    (268435456, 2500000000)
    """
    said = os.environ.get("REMIX_MAX_EXPANSION", str(EXPANSION))
    try:
        factor = float(said)
    except ValueError:
        factor = math.nan
    if not factor > 0:
        raise UsageError(f"REMIX_MAX_EXPANSION is a number above 0, not '{readable(said)}'")
    return max(FREE, int(min(factor, 1e9) * size))


def refuse_expansion(name: object, size: int, becomes: int) -> None:
    """Raise `BadInput` where a compressed file becomes more than a file of its size may."""
    if becomes > expansion_limit(size):
        reason = f"{size:,} compressed bytes become more than {expansion_limit(size):,}"
        raise BadInput(name, f"{reason}: if it is meant to, set REMIX_MAX_EXPANSION={max(2 * becomes // size, 1000)}")


def _decompress(raw: io.BufferedReader, name: str, counted: _Counted | None) -> BinaryIO:
    head = raw.peek(4)[:4]
    kind = next((k for magic, k in _COMPRESSIONS.items() if head.startswith(magic)), "")
    if not kind:
        return raw
    blocks = _unfold(raw, kind)
    return io.BufferedReader(_Blocks(blocks if counted is None else _limit(blocks, name, counted)), 1 << 17)


def _unfold(raw: io.BufferedReader, kind: str) -> Iterator[bytes]:
    """Yield decompressed bytes, block by block."""
    if kind != "zstandard":
        stream = gzip.GzipFile(fileobj=raw) if kind == "gzip" else bz2.BZ2File(raw)
        yield from iter(lambda: stream.read1(1 << 17), b"")
        return
    import zstandard

    # Unlike the library's own reader this notices that the last frame is cut short.
    new_frame = zstandard.ZstdDecompressor().decompressobj
    frame, rest = None, b""
    while block := rest or raw.read(_PIECE):
        frame = frame or new_frame()
        yield frame.decompress(block)
        rest = frame.unused_data
        frame = None if frame.eof else frame
    if frame is not None:
        raise EOFError("the last zstandard frame has no end")


def _limit(blocks: Iterator[bytes], name: str, counted: _Counted) -> Iterator[bytes]:
    """Yield decompressed bytes, as many as their file may become; raises `BadInput` beyond the limit."""
    given = 0
    for block in blocks:
        given += len(block)
        if given > FREE:
            refuse_expansion(name, counted.taken, given)
        yield block


class _Counted(io.RawIOBase):
    """A file as it is on disk, with the number of bytes that were taken of it."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.taken = 0

    def readable(self) -> bool:
        """Return that the stream can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Return how many bytes were put into the buffer, 0 at the end."""
        count: int = self._raw.readinto(buffer)  # type: ignore[attr-defined]
        self.taken += count
        return count

    def readall(self) -> bytes:
        """Return all that is left; by itself it would come in pieces of 8 kB."""
        left = self._raw.read()
        self.taken += len(left)
        return left


class _Blocks(io.RawIOBase):
    """Blocks of bytes as a stream."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Return that the stream can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Return how many bytes were put into the buffer, 0 behind the last block."""
        while not self._ready:
            block = next(self._blocks, None)
            if block is None:
                return 0
            # A view: cutting off what was read must not copy the rest, which may be long.
            self._ready = memoryview(block)
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def readall(self) -> bytes:
        """Return all that is left; by itself it would come in pieces of 8 kB."""
        left, self._ready = self._ready, memoryview(b"")
        return b"".join((left, *self._blocks))


@contextmanager
def write_whole(path: Path | str) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its place at the end of the block, or leaves no trace.

    What is there is overwritten; a symbolic link stays, and what it leads to is written. A device, a pipe or an open
    descriptor (`/dev/stdout`) is never replaced: it takes the bytes at the end of the block.

    Raises `Error` with the reason where the disk is full or the place may not be written.
    """
    try:
        target = _destination(Path(path))
        if isinstance(target, int) or not _replaceable(target):
            with tempfile.TemporaryFile() as stream:
                yield cast(IO[bytes], stream)
                stream.seek(0)
                _pour(cast(IO[bytes], stream), target)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with aside_of(target) as aside:
            with aside.open("wb") as whole:
                yield whole
                whole.flush()
                os.fsync(whole.fileno())
            aside.replace(target)
    except BrokenPipeError:  # whoever read the pipe has seen enough
        raise
    except OSError as error:
        raise Error(f"{path} cannot be written: {error.strerror or error}") from error


def refuse_unwritable(path: Path | str) -> None:
    """Raise `Error` where `write_whole` could not write, as far as that is known before; nothing is written.

    It is for what takes long to compute.
    """
    try:
        target = _destination(Path(path))
        if isinstance(target, int) or not _replaceable(target):
            return
        folder = next(one for one in target.parents if one.exists())
        number = errno.ENOTDIR if not folder.is_dir() else 0 if os.access(folder, os.W_OK | os.X_OK) else errno.EACCES
        if number:
            raise OSError(number, os.strerror(number))
    except OSError as error:
        raise Error(f"{path} cannot be written: {error.strerror or error}") from error


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write files that belong together: all are on the disk beside their places before any takes its place.

    The last takes it first, after what there was of the others is out of the way: wherever a killed command ends, what
    is there is as the last describes it, or not there. Raises as `write_whole`; then all is as it was.
    """
    before: dict[Path, Path] = {}

    def settle(kind: type[BaseException] | None, *_: object) -> None:
        for path, old in before.items():
            if kind is not None and not path.exists():
                old.rename(path)
            else:
                discard(old)

    with ExitStack() as stack:
        stack.push(settle)
        for path, content in contents.items():
            stream = stack.enter_context(write_whole(path))
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        for path in [*contents][:-1]:
            if path.is_file() and not path.is_symlink():
                before[path] = set_aside(path)


def _destination(path: Path) -> Path | int:
    """Return the file that a path leads to, or the open descriptor of this process that it stands for."""
    for _ in range(40):
        folder = path.parent.resolve()
        if path.name.isdigit() and str(folder) in ("/dev/fd", f"/proc/{os.getpid()}/fd"):
            return int(path.name)
        if not path.is_symlink():
            return folder / path.name
        path = folder / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _replaceable(target: Path) -> bool:
    """Return whether a target is a file, or nothing yet, rather than a device or a pipe."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return stat.S_ISREG(mode)


def _pour(stream: IO[bytes], target: Path | int) -> None:
    sys.stdout.flush()  # what was printed comes first
    with os.fdopen(os.dup(target), "wb") if isinstance(target, int) else target.open("wb") as out:
        shutil.copyfileobj(stream, out)


def stem(path: Path | str) -> str:
    """Return a file's name without its extensions.

    >>> stem("data/RSS-500.ttl.gz"), stem("a.b.benchmark.jsonl")
    ('RSS-500', 'a.b.benchmark')
    """
    name = Path(path).name
    for suffix in _COMPRESSED_SUFFIXES:
        name = name.removesuffix(suffix)
    return name.rsplit(".", 1)[0] if "." in name[1:] else name


def manifest_beside(file: Path | str) -> Path:
    """Return where the manifest of a remix or of a published dataset stands.

    >>> manifest_beside("remixes/persons_hard.ttl").name, manifest_beside("news.ttl.gz").name
    ('persons_hard.manifest.ttl', 'news.manifest.ttl')
    """
    return Path(file).with_name(f"{stem(file)}.manifest.ttl")


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


def distinct_names(files: Sequence[Path | str]) -> list[str]:
    """Return the default name of each file; several files of one name are told apart by a number.

    >>> distinct_names(["a/x.ttl", "b/x.ttl", "x-2.ttl", "a/x.ttl"])
    ['x', 'x-3', 'x-2', 'x']
    """
    own = [default_name(file) for file in files]
    found: dict[Path, str] = {}
    for file, name in zip(files, own, strict=True):
        taken, number, called = set(found.values()), 2, name
        while called in taken or (called != name and called in own):
            called, number = f"{name}-{number}", number + 1
        found.setdefault(Path(file).absolute(), called)
    return [found[Path(file).absolute()] for file in files]
