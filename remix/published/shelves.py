"""Where the files of a published result are: in a folder, or in the cache, fetched by their addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from remix import progress
from remix.errors import BadInput
from remix.fetching import fetch_entries
from remix.files import read_bytes
from remix.published.catalogue import PublishedResult
from remix.signature import content_hash

_COMPRESSED = (".gz", ".zst", ".bz2", ".xz")


class Shelf(dict[str, Path]):
    """Files by their names, which are those of a result's catalogue entry, without what they are compressed by."""

    def fitting(self, patterns: Iterable[str]) -> list[Path]:
        """Return the files that fit patterns with `*` and `?`, in the order of the patterns."""
        return [self[name] for pattern in patterns for name in sorted(self) if fnmatchcase(name, pattern)]


def shelf_of_folder(folder: Path) -> Shelf:
    """Return the files of a folder; raises `BadInput` where it is none."""
    if not folder.is_dir():
        raise BadInput(folder, "is no folder: --data names one with the files of published results")
    found = Shelf()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = file.relative_to(folder).as_posix()
        found.setdefault(name.removesuffix(file.suffix) if file.suffix in _COMPRESSED else name, file)
    return found


def shelf_of_cache(
    result: PublishedResult, *, accept_licence: bool | Callable[[str], bool] = False, mirror: Path | str | None = None
) -> Shelf:
    """Return the files of a result in the cache, fetched where they are not there; what fails is told and left out."""
    entries = result.entries()
    done = fetch_entries([(one, True) for one in entries.values()], accept_licence=accept_licence, mirror=mirror)
    for one in done:
        if one.status == "failed":
            progress.note(one.reason)
    return Shelf({name: one.place for name, one in entries.items() if one.is_here()})


def changed_files(result: PublishedResult, shelf: Mapping[str, Path]) -> list[str]:
    """Return the files of a result that are there with other content than is known of them, by their names."""
    known = {f"{one.folder}/{name}": sha256 for one in result.files for name, sha256 in one.sha256.items()}
    here = {name: sha256 for name, sha256 in known.items() if name in shelf}
    return [name for name, sha256 in here.items() if content_hash(read_bytes(shelf[name])) != sha256]
