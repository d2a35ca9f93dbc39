"""Known datasets: one TOML file each in `datasets/`, with place, hash, licence, citation and expected counts."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType

from remix import resources
from remix.errors import BadInput, Error, UnknownName
from remix.files import written
from remix.signature import content_hash

__all__ = ["Entry", "entries", "entry", "local"]

_TIMEOUT = 60.0


@dataclass(frozen=True)
class Entry:
    """A known dataset: a file that ships with the project (`path`) or is fetched (`url`, `sha256`)."""

    name: str
    title: str
    licence: str
    citation: str
    path: Path | None = None
    url: str = ""
    sha256: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> Entry:
        """Return the entry of a TOML file; raises `BadInput` where a key is missing or unknown."""
        try:
            said = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadInput(file, f"is no catalogue entry: {error}") from None
        known = {one.name for one in fields(cls)} - {"name"}
        if unknown := sorted(set(said) - known):
            raise BadInput(file, f"unknown key '{unknown[0]}'; known: {', '.join(sorted(known))}")
        if missing := sorted({"title", "licence", "citation"} - set(said)):
            raise BadInput(file, f"lacks the key '{missing[0]}'")
        if "path" in said:
            said["path"] = file.parent / said["path"]
        elif not (said.get("url") and said.get("sha256")):
            raise BadInput(file, "needs a path, or a url with its sha256")
        return cls(name=file.stem, **said)


@cache
def entries(folder: Path | None = None) -> Mapping[str, Entry]:
    """Return the known datasets by name: those that ship or that other distributions add, unless a folder is given."""
    files = resources.files("datasets", ".toml").values() if folder is None else sorted(folder.glob("*.toml"))
    found = [Entry.read(file) for file in files]
    return MappingProxyType({one.name: one for one in found})


def entry(name: str, folder: Path | None = None) -> Entry:
    """Return the known dataset of that name, or with that URL; raises `UnknownName`."""
    known = entries(folder)
    if name in known:
        return known[name]
    for one in known.values():
        if one.url and one.url == name:
            return one
    raise UnknownName("dataset in the catalogue", name, known)


def local(file: str, cache_folder: Path, folder: Path | None = None) -> tuple[str, str | None]:
    """Return the path of a file, and the name of the dataset where the file is a catalogue entry's.

    The file is a path, `-`, the name of a catalogue entry or the URL of one; what must be fetched is
    fetched into the cache folder, verified by its hash, and fetched only once.

    Raises `UnknownName` for a URL that is no entry's, `Error` where fetching fails or the hash differs.
    """
    url = file.startswith(("http://", "https://"))
    if file == "-" or (not url and (Path(file).exists() or file not in entries(folder))):
        return file, None
    found = entry(file, folder)
    return str(found.path if found.path is not None else _fetch(found, cache_folder)), found.name


def _fetch(found: Entry, cache_folder: Path) -> Path:
    from remix.client import Failure, download  # most runs fetch nothing, and it takes a tenth of the start

    target = cache_folder / found.sha256[:12] / found.url.rsplit("/", 1)[-1]
    if target.exists() and content_hash(target) == found.sha256:
        return target
    digest = hashlib.sha256()
    try:
        with written(target) as stream:
            for block in download(found.url, timeout=_TIMEOUT):
                digest.update(block)
                stream.write(block)
            if digest.hexdigest() != found.sha256:
                raise Error(
                    f"{found.url} is not what the catalogue knows as '{found.name}': its SHA-256 is "
                    f"{digest.hexdigest()[:12]}…, not {found.sha256[:12]}…; nothing was kept"
                )
    except Failure as failure:
        raise Error(f"{found.url} cannot be fetched ({failure}); try again, or load a file") from None
    return target
