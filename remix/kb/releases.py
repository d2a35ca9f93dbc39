"""Releases of public knowledge bases: one TOML file each in `datasets/releases/`, fetched file by file.

Their files are large, so that a download which broke off goes on where it ended. Of most releases nobody publishes a
SHA-256: what is not known is written down when a file first comes, and whatever comes later is compared with it.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from remix import progress, resources
from remix.catalog import Entry, cache_folder
from remix.connections import BLOCK, Failure, without_secrets
from remix.errors import BadInput, Error, UnknownName, nearest
from remix.fetching import RETRIES, TIMEOUT, Fetched, require_licences, tell_content
from remix.files import write_whole
from remix.locks import lock_file
from remix.places import SUMS, checksums, set_aside, spell_checksums
from remix.signature import content_hash

_ABSENT = (404, 410)


@dataclass(frozen=True, kw_only=True)
class ReleaseFile:
    """A file of a release: its path below the release's address, and what a knowledge base has of it.

    `bytes` and `sha256` are 0 and empty where nobody tells them. An `optional` file is left out where it is not there.
    """

    path: str
    gives: str
    bytes: int = 0
    sha256: str = ""
    optional: bool = False

    @property
    def name(self) -> str:
        """Return what the file is called."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Release:
    """A release of a knowledge base: the files of it that are read, where they are, and by which source.

    `hashes` says where the hashes are from; `lang` are the languages that a build keeps.
    """

    name: str
    title: str
    source: str
    date: str
    licence: str
    citation: str
    address: str
    files: tuple[ReleaseFile, ...]
    lang: tuple[str, ...] = ("en",)
    licence_source: str = ""
    hashes: str = ""

    @property
    def folder(self) -> Path:
        """Return the folder of the cache that its files come into; halves of files and hashes stand beside it."""
        return cache_folder() / "releases" / self.name / "files"

    @property
    def is_here(self) -> bool:
        """Return whether all of its files are in the cache, but for optional ones."""
        return all((self.folder / one.name).is_file() for one in self.files if not one.optional)

    def entry(self, file: ReleaseFile) -> Entry:
        """Return a file as what can be fetched."""
        about = (f"{self.name}/{file.name}", self.title, self.licence, self.citation)
        url = f"{self.address.removesuffix('/')}/{file.path}"
        return Entry(*about, url=url, sha256=file.sha256, bytes=file.bytes, licence_source=self.licence_source)


def releases() -> dict[str, Release]:
    """Return what is known by its name; raises `BadInput` with the file and key that is none.

    >>> releases()["dbpedia-2016-10"].files[0].bytes
    190221571
    """
    return {name: read_release(file) for name, file in resources.files("datasets/releases", ".toml").items()}


def release_named(name: str) -> Release:
    """Return the release of a name, or the one that a TOML file declares; raises `UnknownName` and `BadInput`."""
    if name.endswith(".toml"):
        return read_release(Path(name))
    known = releases()
    if name not in known:
        raise UnknownName("release of a knowledge base", name, known, "remix list releases")
    return known[name]


def read_release(file: Path) -> Release:
    """Return what a TOML file says; raises `BadInput` with the key that is missing, unknown or no such value."""
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(file, f"is no release: {error}") from None
    if not isinstance(said.get("files"), list) or not said["files"]:
        raise BadInput(file, "lacks its files: a table [[files]] with path and gives for each")
    parts = tuple(_make(file, ReleaseFile, "files", one) for one in said["files"])
    if wrong := next((one for one in parts if not re.fullmatch("([0-9a-f]{64})?", one.sha256)), None):
        raise BadInput(file, f"sha256 of {wrong.name} is 64 hexadecimal digits, or left out where it is not known")
    if ".." in "".join(one.path for one in parts) or len({one.name for one in parts}) < len(parts):
        raise BadInput(file, "has two files of one name, or a path that leads out of its address")
    made: Release = _make(file, Release, "the file", {**said, "files": parts, "name": file.stem})
    if not made.address.startswith(("http://", "https://")):
        raise BadInput(file, f"address begins with http:// or https://, not '{made.address[:40]}'")
    return made


def _make(file: Path, kind: type[Any], where: str, said: Mapping[str, Any]) -> Any:
    known = {one.name: one for one in fields(kind)}
    if unknown := next((key for key in said if key not in known), None):
        raise BadInput(file, f"{where} has the unknown key '{unknown}'{nearest(unknown, known)}")
    if lacking := next((key for key, one in known.items() if one.default is MISSING and key not in said), None):
        raise BadInput(file, f"{where} lacks the key '{lacking}'")
    for key, value in said.items():
        wanted = {"int": int, "bool": bool, "str": str}.get(str(known[key].type))
        if wanted is not None and type(value) is not wanted:
            raise BadInput(file, f"'{key}' in {where} is no {wanted.__name__}: {value!r:.60}")
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in said.items()})


def fetch_release(
    release: Release, *, accept_licence: bool | Callable[[str], bool] = False, mirror: Path | str | None = None
) -> list[Fetched]:
    """Return what became of each file of a release; what is in the cache is compared with its hash.

    A `status` is fetched, there (before), absent (an optional file that is nowhere) or failed. What came of a file that
    broke off is kept, and the next call goes on from there. `mirror` is a folder or an address that has the files side
    by side. Raises `UsageError` for a licence that is not accepted, `Error` where the disk has no room.
    """
    folder = release.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with lock_file(folder.parent / "lock", wait=True):
            known = checksums(folder.parent) if (folder.parent / SUMS).exists() else {}
            lacking = [one for one in release.files if not _is_there(folder, one, known)]
            if lacking:
                require_licences([release.entry(one) for one in lacking], accept_licence)
                _require_room(folder, lacking)
            return [*_fetch_files(release, lacking, known, str(mirror or ""))]
    except OSError as error:
        place = f"{folder} cannot be written: {error.strerror or error}"
        raise Error(f"{place}; REMIX_CACHE=DIR names another folder") from None


def _is_there(folder: Path, file: ReleaseFile, known: Mapping[str, str]) -> bool:
    """Return whether a file is there as it should be; one of other content is put aside, and that is said."""
    place, expected = folder / file.name, file.sha256 or known.get(file.name, "")
    if not place.is_file():
        return False
    if not expected or content_hash(place) == expected:
        return True
    progress.note(f"{place} is not what is known of it: it is put aside as {set_aside(place).name}, and fetched again")
    return False


def _require_room(folder: Path, files: Iterable[ReleaseFile]) -> None:
    halves = {one.name: _half(folder, one) for one in files}
    needed = sum(max(0, one.bytes - (_size(halves[one.name]))) for one in files)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise Error(
            f"{folder} has room for {free:,} bytes, and {needed:,} are to come: REMIX_CACHE=DIR names another folder"
        )


def _half(folder: Path, file: ReleaseFile) -> Path:
    return folder.parent / f"{file.name}.part"


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _fetch_files(
    release: Release, lacking: list[ReleaseFile], known: Mapping[str, str], mirror: str
) -> Iterator[Fetched]:
    folder, sums = release.folder, dict(known)
    with progress.moving(f"fetch {release.name}", sum(one.bytes for one in lacking), "B") as moved:
        for file in release.files:
            name, place = f"{release.name}/{file.name}", folder / file.name
            if file not in lacking:
                if not (file.sha256 or file.name in sums):  # somebody put it there
                    sums[file.name] = content_hash(place)
                    _keep_checksums(folder, sums)
                yield Fetched(name, "there", _size(place), place)
                continue
            url = f"{mirror.removesuffix('/')}/{file.name}" if mirror else release.entry(file).url
            shown = without_secrets(url) if "://" in url else url
            try:
                sha256 = _fetch_file(file, url, _half(folder, file), sums.get(file.name, ""), moved)
            except Failure as failure:
                absent = file.optional and (failure.status in _ABSENT or not ("://" in url or Path(url).exists()))
                kept = _size(_half(folder, file))
                if not kept:
                    _half(folder, file).unlink(missing_ok=True)
                half = f"; {kept:,} bytes of it are kept, and the same command goes on from there" if kept else ""
                reason = f"'{name}' cannot be fetched: {shown} {failure}{half}"
                hint = (
                    "" if absent else f"; try again, name a place that has it (--mirror DIR|URL), or put it at {place}"
                )
                yield Fetched(name, "absent" if absent else "failed", 0, None, reason + hint)
                continue
            _half(folder, file).rename(place)
            sums[file.name] = sha256
            _keep_checksums(folder, sums)
            told = "" if file.sha256 else f"nobody tells the hash of '{name}': {sha256} is kept to compare with"
            yield Fetched(name, "fetched", _size(place), place, told)


def _keep_checksums(folder: Path, sums: Mapping[str, str]) -> None:
    with write_whole(folder.parent / SUMS) as stream:
        stream.write(spell_checksums(sums).encode())


def _fetch_file(file: ReleaseFile, url: str, half: Path, before: str, moved: Callable[[int], None]) -> str:
    """Return the SHA-256 of what came; raises `Failure`, and leaves what came before it broke off."""
    tries = 0
    while True:
        try:
            _go_on(file, url, half, moved)
            break
        except Failure as failure:
            if failure.status == 416 and _size(half):  # all that can come is there, or it is given from its beginning
                if file.bytes and _size(half) == file.bytes:
                    break
                half.unlink()
            elif not (failure.late or failure.broken or failure.status >= 500) or tries == RETRIES:
                raise
            tries += 1
    sha256, expected = content_hash(half), file.sha256 or before
    if (expected and sha256 != expected) or (file.bytes and _size(half) != file.bytes):
        with half.open("rb") as stream:
            what = tell_content(stream.read(2000))
        came = f"there came {_size(half):,} with {sha256}"
        half.unlink()
        wanted = f"{file.bytes:,} bytes" if file.bytes else "one"
        raise Failure(f"{what}: expected is {wanted} with the SHA-256 {expected or 'that nobody tells'}, {came}")
    return sha256


def _go_on(file: ReleaseFile, url: str, half: Path, moved: Callable[[int], None]) -> None:
    """Append what follows the half of a file that is there; raises `Failure`, also for more than is known of it."""
    size = _size(half)
    with half.open("ab") as stream, closing(_blocks(url, size)) as blocks:
        for block in blocks:
            stream.write(block)
            size += len(block)
            moved(len(block))
            if file.bytes and size > file.bytes:
                stream.close()
                half.unlink()
                raise Failure(f"has another file: expected were {file.bytes:,} bytes, there came more", large=True)


def _blocks(place: str, begin: int) -> Generator[bytes]:
    """Yield what follows so many bytes of what is at an address or path; raises `Failure`."""
    if "://" in place:
        from remix.downloads import download  # which brings requests: only who downloads waits for it

        yield from download(place, timeout=TIMEOUT, begin=begin)
        return
    try:
        with Path(place).open("rb") as stream:
            stream.seek(begin)
            yield from iter(lambda: stream.read(BLOCK), b"")
    except OSError as error:
        raise Failure(f"cannot be read: {error.strerror or error}") from None
