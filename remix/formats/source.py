"""Files, folders and zip archives: read as often as is needed, whatever their compression, and written whole."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from remix import files
from remix.errors import BadInput, Error
from remix.files import refuse_expansion, write_whole
from remix.places import folder_written
from remix.signature import content_hash

FILE_NAME = r"^[\p{L}\p{N}_~-][\p{L}\p{N}._~-]*$"
"""What a document may be called whose text is a file of that name."""

_LARGEST = 1 << 31
"""How many bytes the files of a collection may have together."""
_ZIP = b"PK\x03\x04"
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def _is_collection(path: Path) -> bool:
    """Return whether a path is a folder or a zip archive."""
    if path.is_dir():
        return True
    try:
        with path.open("rb") as stream:
            return stream.read(4) == _ZIP
    except OSError:
        return False


def _read_members(path: Path) -> dict[str, bytes]:
    """Return the files of a folder or zip archive by their relative names, sorted; hidden ones are left out.

    Raises `BadInput` for what cannot be read, members that lie outside the archive, two of one name, and more than
    2 GB, or than `remix.files.expansion_limit` says.
    """
    try:
        return dict(sorted(_of_folder(path).items())) if path.is_dir() else dict(sorted(_of_archive(path)))
    except OSError as error:
        raise BadInput(path, f"cannot be read ({error})") from None


_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OverflowError,
    EOFError,
    struct.error,
    LookupError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)
"""What reading a damaged archive, or one of a kind that is not known (encrypted, …), ends in."""


def _of_folder(path: Path) -> dict[str, bytes]:
    files = [file for file in path.rglob("*") if file.is_file() and not _hidden(file.relative_to(path).as_posix())]
    _refuse_too_much(path, sum(file.stat().st_size for file in files))
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in files}


def _of_archive(path: Path) -> list[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir() and not _hidden(info.filename)]
            _refuse_names(path, [info.filename for info in infos])
            unfolded = sum(info.file_size for info in infos)
            _refuse_too_much(path, unfolded)
            refuse_expansion(path, path.stat().st_size, unfolded)
            # More than a member says it has is not read.
            return [(info.filename, archive.open(info).read(info.file_size)) for info in infos]
    except _DAMAGES as error:
        raise BadInput(path, f"the archive is damaged or of a kind that is not read ({error})") from None


def _refuse_names(path: Path, names: list[str]) -> None:
    for given in names:
        name = PurePosixPath(given.replace("\\", "/"))
        if name.is_absolute() or ".." in name.parts:
            raise BadInput(path, f"the member {given} lies outside the archive")
    several = next((name for name, count in Counter(names).items() if count > 1), None)
    if several is not None:
        raise BadInput(path, f"has two members named {several}: only one could be read")


def _refuse_too_much(path: Path, size: int) -> None:
    if size > _LARGEST:
        raise BadInput(path, f"has {size:,} bytes of files, {_LARGEST:,} are read: split it")


def _hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) and part != ".." for part in PurePosixPath(name).parts)


def hash_files(contents: Mapping[str, bytes]) -> str:
    """Return the hash of files by their names, in whatever order they are."""
    return content_hash(*(part for name in sorted(contents) for part in (name, contents[name])))


def write_collection(path: Path, members: Iterable[tuple[str, bytes]]) -> None:
    """Write files into a new folder, or into a zip archive where the path ends in `.zip`, the same bytes each time.

    Raises `Error` where the folder exists and is not empty, and where it cannot be written.
    """
    if path.suffix == ".zip":
        with write_whole(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                archive.writestr(zipfile.ZipInfo(name, _NO_TIME), data, zipfile.ZIP_DEFLATED)
        return
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise Error(f"{path} exists: name a new folder, or a file that ends in .zip")
    with folder_written(path, sealed=False) as aside:
        for name, data in members:
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            (aside / name).write_bytes(data)


_HEAD = 1 << 16


def begin_of(content: bytes) -> bytes:
    """Return the first 64 kB of a file as formats are told by them: in UTF-8, without its mark and blanks before them.

    >>> begin_of("\\n{".encode("utf-16"))
    b'{'
    """
    head = content[:_HEAD]
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        head = head.decode("utf-16", errors="ignore").encode()
    return head.removeprefix(BOM_UTF8).lstrip()


def is_cut(head: bytes) -> bool:
    """Return whether what `begin_of` returns may end within a line, as of a file that goes on."""
    return len(head) > _HEAD // 4 and not head.endswith(b"\n")


@dataclass(frozen=True)
class SourceFile:
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
        return _read_members(Path(self.path)) if self.is_collection else {}

    @cached_property
    def is_collection(self) -> bool:
        """Return whether this is a folder or a zip archive."""
        return not self.is_stdin and _is_collection(Path(self.path))

    def beside(self, *names: str) -> bytes | None:
        """Return the content of the first of these other files that is there, relative to the folder of this one."""
        if self.is_stdin:
            return None
        own = Path(self.path)
        found = (own.parent / name for name in names)
        return next((files.read_bytes(path) for path in found if path.is_file() and not path.samefile(own)), None)

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
        if not head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) and b"\0" in head:
            raise BadInput(self.name, "is a binary file, not text")
        return head

    def read(self) -> bytes:
        """Return the whole content, decompressed."""
        with self.open() as stream:
            return stream.read()

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Return the files of a folder or zip archive, or the one that this is, by their names."""
        return self.members if self.is_collection else {self.name: self.read()}

    def files_that(self, sniff: Callable[[bytes, str], bool]) -> dict[str, bytes]:
        """Return the files of a folder or zip archive that are sniffed, or the one that this is, by their names."""
        return {
            name: data
            for name, data in self.files.items()
            if not self.is_collection or sniff(begin_of(data), PurePosixPath(name).name)
        }

    def place(self, name: str) -> str:
        """Return what messages call one of the files."""
        return f"{self.name}/{name}" if self.is_collection else self.name

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file from its beginning, decompressed; raises as `files.open_bytes`."""
        if self.is_stdin:
            yield io.BytesIO(self._spooled)
        else:
            with files.open_bytes(self.path) as stream:
                yield stream
