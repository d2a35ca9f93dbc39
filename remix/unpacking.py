"""Files taken out of archives of others: zip, and tar of any compression, with the limits of `remix.files`."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from remix.errors import BadInput, Error
from remix.files import open_bytes, readable
from remix.formats.source import SourceFile

LARGEST = 1 << 31
"""How many bytes the files that are taken out of an archive may have together."""
_LONGEST, _FARTHEST = 255, 1000
"""The bytes of a name, and of a path of names, that are taken: what any disk holds, below any folder."""


def unpack(archive: Path, folder: Path, wanted: Sequence[str]) -> None:
    """Put files and folders of an archive into a folder, as they are named with and without the archive's own folder.

    Raises `BadInput` for an archive that is damaged, or has members that no folder can hold: outside of it, of a name
    that no file can have, or of one that is both file and folder.
    """

    def list_wanted(name: str) -> list[str]:
        """Return what of the two names of a member is wanted: an archive of a repository has its files in a folder."""
        both = (name, name.partition("/")[2])
        return [path for path in both if any(path == one or path.startswith(f"{one}/") for one in wanted)]

    for name, content in _members(archive, lambda name: bool(list_wanted(name))):
        for path in list_wanted(name):
            _write(archive, folder / path, path, content)


def _write(archive: Path, file: Path, path: str, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise BadInput(archive, f"has {path} or what is above it both as a file and as a folder") from None


def _members(archive: Path, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files that are wanted; raises `BadInput`."""
    source = SourceFile(archive)
    members = iter(source.members.items()) if source.is_collection else _of_tar(archive, is_wanted)
    size = 0
    for name, content in members:
        _refuse_name(archive, name)
        size += len(content)
        if size > LARGEST:
            raise BadInput(archive, f"has more than {LARGEST:,} bytes of files that are wanted")
        if is_wanted(name):
            yield name, content


def _of_tar(archive: Path, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    # What the library says of damages is of many kinds (TarError, ValueError, OverflowError, …).
    try:
        with open_bytes(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as members:
            for member in members:
                _refuse_name(archive, member.name)
                if not (member.isfile() and is_wanted(member.name)):
                    continue
                if member.issparse() or member.size > LARGEST:  # a few bytes would become as many as they say
                    raise BadInput(archive, f"the member {member.name} says that it has {member.size:,} bytes")
                if content := members.extractfile(member):
                    yield member.name, content.read()
    except (Error, MemoryError, GeneratorExit):
        raise
    except Exception as error:
        raise BadInput(archive, f"the archive is damaged or of a kind that is not read ({error})") from None


def _refuse_name(archive: Path, name: str) -> None:
    if ".." in PurePosixPath(name).parts or name.startswith("/"):
        raise BadInput(archive, f"the member {readable(name)} lies outside the archive")
    parts = name.split("/")
    odd = readable(name) != name or "\0" in name
    if odd or len(name.encode()) > _FARTHEST or any(len(one.encode()) > _LONGEST for one in parts):
        raise BadInput(archive, f"the member {readable(name)[:80]!r} has a name that no file can have")
