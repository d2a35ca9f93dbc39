"""Fetching known datasets into the cache that all workspaces share: verified, once, with their licence accepted.

pooch keeps the cache (what is there, what is tried again, a file that appears whole); `remix.downloads` asks, by
requests, so that nothing leads where it would not go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.pool import ThreadPool
from pathlib import Path
from threading import Event, Lock

from remix import progress
from remix.catalog import Entry, cache_folder, entries, find, folder_hash
from remix.connections import Failure, first_line, without_secrets
from remix.errors import BadInput, Error, UnknownName, UsageError
from remix.files import write_whole
from remix.locks import Busy, lock_file
from remix.places import folder_written
from remix.signature import content_hash
from remix.unpacking import LARGEST, unpack

AT_ONCE, RETRIES, TIMEOUT = 4, 2, 60.0
"""Files at the same time; how often a connection that breaks is tried again; the seconds that it may be silent."""
_BLOCK = 1 << 20
_MORE = 1 << 16
"""How many bytes more than are known are read, to tell what came: a page of HTML, say."""


@dataclass(frozen=True)
class Fetched:
    """What became of a dataset or split.

    `status` is fetched, there (before), ships, restricted (and not named itself), by hand or failed; `reason` says why
    it is not there, or what it needs further, and what to do.
    """

    name: str
    status: str
    bytes: int
    place: Path | None
    reason: str = ""

    def row(self) -> dict[str, object]:
        """Return the outcome as one row of a table."""
        return {"dataset": self.name, "status": self.status, "bytes": self.bytes, "place": str(self.place or "")}


def fetch(
    datasets: Iterable[str], *, accept_licence: bool | Callable[[str], bool] = False, mirror: Path | str | None = None
) -> list[Fetched]:
    """Return what became of each dataset or split; what is in the cache is verified and not fetched again.

    A dataset stands for its splits, those that need a permission (`Entry.access`) excepted, which are named one by one.
    `accept_licence` is whether the licences are accepted, or a function that shows one and says so; it is kept, so that
    a licence is asked for before the first download only. `mirror` is a folder or an address where the files lie as in
    the cache (`<first 12 digits of the hash>/<name>`), or side by side.

    Raises `UnknownName`, and `UsageError` for a licence that is not accepted; then nothing is fetched.
    """
    wanted = {one.name: (one, alone) for name in datasets for one, alone in _name(name)}
    return fetch_entries(wanted.values(), accept_licence=accept_licence, mirror=mirror)


def fetch_entries(
    wanted: Iterable[tuple[Entry, bool]],
    *,
    accept_licence: bool | Callable[[str], bool] = False,
    mirror: Path | str | None = None,
) -> list[Fetched]:
    """Return what became of entries, each with whether it was named by itself; see `fetch`."""
    wanted = list(wanted)
    outcomes: dict[str, Fetched] = {}
    lacking: list[Entry] = []
    for one, alone in wanted:
        outcome = _outcome_without_fetching(one, alone=alone)
        if outcome is None:
            lacking.append(one)
        else:
            outcomes[one.name] = outcome
    if lacking:
        require_licences(lacking, accept_licence)
        with _alone(cache_folder()):
            outcomes |= {one.name: one for one in _fetch_all(lacking, str(mirror or "").rstrip("/"))}
    return [outcomes[one.name] for one, _ in wanted]


def _name(name: str) -> list[tuple[Entry, bool]]:
    found = find(name)
    if not found:
        known = entries().values()
        names = {*(one.name for one in known), *(one.dataset for one in known)}
        raise UnknownName("dataset in the catalogue", name, names, "remix list datasets")
    return [(one, len(found) == 1) for one in found]


def _outcome_without_fetching(entry: Entry, *, alone: bool) -> Fetched | None:
    if entry.path is not None:
        return Fetched(entry.name, "ships", entry.path.stat().st_size, entry.path)
    if entry.is_here():
        return Fetched(entry.name, "there", entry.bytes, entry.place)
    if not (entry.url and entry.sha256):
        reason = f"'{entry.name}' is not handed out in one file: {entry.obtain}"
        return Fetched(entry.name, "by hand", entry.bytes, None, reason)
    if entry.access and not alone:
        reason = f"'{entry.name}' needs a permission ({entry.access}): `remix fetch {entry.name}` if you have it"
        return Fetched(entry.name, "restricted", entry.bytes, entry.place, reason)
    return None


def require_licences(lacking: Sequence[Entry], accept: bool | Callable[[str], bool]) -> None:
    """Raise `UsageError` unless each licence is accepted, now or before; none is kept as accepted then."""
    notes = {}
    for one in lacking:
        text = f"{one.dataset}: {one.licence}" + (f" ({one.licence_source})" if one.licence_source else "")
        text += f"\n  needs: {one.access}" if one.access else ""
        notes[cache_folder() / "licences" / f"{one.dataset}-{content_hash(text)[:12]}.txt"] = text
    notes = {file: text for file, text in notes.items() if not file.exists()}
    for text in notes.values():
        if not callable(accept):
            progress.note(f"licence of {text}")
        if not (accept(text) if callable(accept) else accept):
            said = " ".join(text.split())
            raise UsageError(
                f"the licence is not accepted, and nothing is fetched: {said}; --accept-licence accepts it"
            )
    for file, text in notes.items():
        with write_whole(file) as stream:
            stream.write(f"{text}\n".encode())


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Be the one process that fetches into a cache; what one that was interrupted left behind is removed."""
    try:
        with lock_file(cache / "lock"):
            pass
    except Busy:
        progress.note(f"another process fetches into {cache}: this one waits for it")
    with lock_file(cache / "lock", wait=True):
        try:
            yield
        finally:
            for left in cache.glob("*/tmp????????"):  # pooch's name for what it has not got whole
                left.unlink(missing_ok=True)
            for folder in cache.iterdir():
                with suppress(OSError):
                    folder.rmdir()  # of which nothing was kept


def _fetch_all(lacking: Sequence[Entry], mirror: str) -> Iterator[Fetched]:
    """Yield what became of each; several are fetched at once, the splits of one archive one after another."""
    by_address: dict[str, list[Entry]] = {}
    for one in lacking:
        by_address.setdefault(one.url, []).append(one)
    stop, lock = Event(), Lock()
    with progress.moving("fetch", sum(one.bytes for one in lacking if not one.member), "B") as moved:

        def done(count: int) -> None:
            with lock:
                moved(count)

        def fetch_group(group: list[Entry]) -> list[Fetched]:
            return [_fetch_entry(one, _Download(one, mirror, done, stop)) for one in group]

        # The threads are daemons, so that an interruption does not wait for a server that is silent.
        with ThreadPool(min(AT_ONCE, len(by_address))) as pool:
            try:
                for outcomes in [pool.apply_async(fetch_group, (group,)) for group in by_address.values()]:
                    while not outcomes.ready():
                        outcomes.wait(0.2)  # without an end it is not interrupted everywhere
                    yield from outcomes.get()
            finally:
                stop.set()


def _fetch_entry(entry: Entry, download: _Download) -> Fetched:
    """Return what became of an entry; whatever went wrong is its reason."""
    try:
        file = download.to_cache()
        if entry.member:
            _unpack(file, entry)
    except OSError as error:
        place = cache_folder()
        reason = f"{place} cannot be written: {error.strerror or error}; REMIX_CACHE=DIR names another folder"
        return Fetched(entry.name, "failed", 0, entry.place, reason)
    except Error as error:
        return Fetched(entry.name, "failed", 0, entry.place, str(error))
    return Fetched(entry.name, "fetched", entry.bytes, entry.place, entry.obtain)


class _Download:
    """One file on its way into the cache: what pooch calls a downloader."""

    def __init__(self, entry: Entry, mirror: str, done: Callable[[int], None], stop: Event) -> None:
        self._entry, self._mirror, self._done, self._stop = entry, mirror, done, stop
        known = content_hash(entry.url) if entry.member else entry.sha256
        self._name = f"{known[:12]}/{entry.url.rsplit('/', 1)[-1]}"
        self._sha256 = "" if entry.member else entry.sha256

    def to_cache(self) -> Path:
        """Return the file in the cache, fetched where it is not there; raises `Error`, and `OSError` of writing."""
        import pooch
        import requests

        pooch.get_logger().setLevel("ERROR")  # the bar tells what it does, the error what fails
        registry, urls = {self._name: self._sha256 or None}, {self._name: self._entry.url}
        cache = pooch.create(cache_folder(), "", registry=registry, urls=urls, retry_if_failed=RETRIES)
        try:
            return Path(cache.fetch(self._name, downloader=self))
        except (Failure, requests.ConnectionError) as problem:
            raise Error(
                f"'{self._entry.name}' cannot be fetched, and nothing of it is kept: {problem}; try again, name a "
                f"place that has the file (--mirror DIR|URL), or put it at {cache_folder() / self._name}"
            ) from None

    def __call__(self, url: str, file: str, _: object) -> None:
        """Write what is at the address, or at the mirror, into a file; raises what pooch tries again, or `Failure`."""
        import requests

        problems: list[str] = []
        again = False
        for place in self._places(url):
            try:
                return self._copy(place, Path(file))
            except Failure as failure:
                shown = without_secrets(place) if place.startswith(("http://", "https://")) else place
                problems.append(f"{shown} {failure}")
                again = failure.late or failure.broken or failure.status >= 500
        said = "; ".join(problems)
        raise requests.ConnectionError(said) if again else Failure(said)

    def _places(self, url: str) -> list[str]:
        """Return where to look: at a mirror as in the cache, and side by side."""
        if not self._mirror:
            return [url]
        return [f"{self._mirror}/{name}" for name in (self._name, self._name.rpartition("/")[2])]

    def _copy(self, place: str, file: Path) -> None:
        """Write what is at a place into a file, not much more of it than is known; raises `Failure`."""
        digest, size, head = hashlib.sha256(), 0, b""
        most = self._entry.bytes + _MORE if self._sha256 and self._entry.bytes else LARGEST
        with file.open("wb") as stream:
            for block in _blocks(place):
                if self._stop.is_set():
                    raise Failure("was interrupted")
                digest.update(block)
                stream.write(block)
                size, head = size + len(block), head if len(head) > 2000 else head + block[:2000]
                self._done(len(block))
                if size > most:
                    known = f"expected were {self._entry.bytes if self._sha256 else most:,} bytes"
                    raise Failure(f"{tell_content(head)}: {known}, there came more", large=True)
        came = digest.hexdigest()
        if self._sha256 and came != self._sha256:
            expected = f"{self._entry.bytes:,} bytes with the SHA-256 {self._sha256}"
            raise Failure(f"{tell_content(head)}: expected were {expected}, there came {size:,} bytes with {came}")


def tell_content(head: bytes) -> str:
    """Return what there is where another file was expected, by its beginning."""
    page = head.lstrip()[:14].lower().startswith((b"<!doctype html", b"<html"))
    return f"has a web page ('{first_line(head)}')" if page else "has another file"


def _blocks(place: str) -> Iterator[bytes]:
    """Yield what is at an address or path; raises `Failure`."""
    if place.startswith(("http://", "https://")):
        from remix.downloads import download  # which brings requests: only who downloads waits for it

        yield from download(place, timeout=TIMEOUT)
        return
    try:
        with Path(place).open("rb") as stream:
            yield from iter(lambda: stream.read(_BLOCK), b"")
    except OSError as error:
        raise Failure(f"cannot be read: {error.strerror or error}") from None


def _unpack(archive: Path, entry: Entry) -> None:
    """Put the member of an archive that an entry is, and what it needs beside it, into the cache; raises `Error`.

    Whatever goes wrong, the archive is removed: nobody knows its hash, and the next time it would be taken as it is.
    """
    try:
        with folder_written(cache_folder() / entry.sha256[:12], sealed=False) as aside:
            unpack(archive, aside, (entry.member, *entry.beside))
            made = aside / entry.member
            came = folder_hash(made) if made.is_dir() else content_hash(made) if made.exists() else "nothing"
            if came != entry.sha256:
                expected = f"expected is the SHA-256 {entry.sha256}, there is {came}"
                raise BadInput(archive, f"{entry.member} in it is not '{entry.name}': {expected}")
    except BadInput as error:
        archive.unlink(missing_ok=True)
        raise BadInput(archive, f"{error.reason}; it is removed, and fetched again the next time") from None
    except Exception:
        archive.unlink(missing_ok=True)
        raise
