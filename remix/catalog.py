"""Known datasets: one TOML file each in `datasets/`, with its splits, where they are, and what is known of them.

The keys of a file are the fields of `Entry`. A table `splits.NAME` holds what one split of the dataset has of its own;
all else it takes from the dataset. Only the files that a name may stand in are read to find it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from remix import resources
from remix.errors import BadInput, Error, UnknownName, UsageError, nearest
from remix.places import spell_checksums
from remix.signature import content_hash

if TYPE_CHECKING:
    from remix.formats import Repair


@dataclass(frozen=True)
class Entry:
    """A known dataset, or one split of it (`zelda/shadowlinks-top`).

    - `path`: a file that ships with the project; or
    - `url`, `sha256`, `bytes`: a file that is fetched; of an archive (zip, tar.gz) `member` is the file or folder in it
      that `sha256` is of (of a folder see `folder_hash`), and `beside` are folders with the texts that it needs; or
    - `obtain`: how it is obtained and converted where nobody may hand it out, or nobody hands it out in one piece.

    `access` says what has to be obtained before it may be used. `format` is how it is read, `task` what it can be
    scored with, `kb` and `language` what its links and texts are in, `issues` what is known to be wrong in it, and
    `counts` the numbers of `remix.formats.LoadReport` that it has.
    """

    name: str
    title: str
    licence: str
    citation: str
    path: Path | None = None
    url: str = ""
    sha256: str = ""
    bytes: int = 0
    member: str = ""
    beside: tuple[str, ...] = ()
    format: str = ""
    task: tuple[str, ...] = ()
    kb: tuple[str, ...] = ()
    language: tuple[str, ...] = ()
    licence_source: str = ""
    access: str = ""
    obtain: str = ""
    issues: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def dataset(self) -> str:
        """Return the name of the dataset that this is, or is a split of."""
        return self.name.partition("/")[0]

    @property
    def loaded_name(self) -> str:
        """Return what it is called in a workspace, where a slash would divide an IRI."""
        return self.name.replace("/", "-")

    @property
    def place(self) -> Path:
        """Return where it is, or will be once it is fetched."""
        if self.path is not None:
            return self.path
        return cache_folder() / self.sha256[:12] / (self.member or self.url.rsplit("/", 1)[-1])

    def is_here(self) -> bool:
        """Return whether it can be read: it ships, or is in the cache and has its hash."""
        if self.path is not None:
            return True
        place = self.place
        if not self.sha256 or not place.exists():
            return False
        return self.sha256 == (folder_hash(place) if place.is_dir() else content_hash(place))


def cache_folder() -> Path:
    """Return the folder of what is fetched, for all workspaces: `REMIX_CACHE`, by default the platform's place."""
    if said := os.environ.get("REMIX_CACHE"):
        return Path(said).expanduser()
    import pooch

    return Path(pooch.os_cache("nel-remix"))


def folder_hash(folder: Path) -> str:
    """Return the SHA-256 of a folder: that of a line `<sha256 of the file>  <path>` for each file, sorted by path."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return content_hash(spell_checksums({path.relative_to(folder).as_posix(): content_hash(path) for path in files}))


def entries(folder: Path | None = None) -> Mapping[str, Entry]:
    """Return what is known by its name: what ships or other distributions add, unless a folder is given.

    All files are read for this; raises `BadInput` with file and key for one that is no entry.
    """
    return MappingProxyType({one.name: one for file in _files(folder).values() for one in _read(file)})


def names(folder: Path | None = None) -> list[str]:
    """Return what the files of the catalogue are called, of which none is read for this."""
    return list(_files(folder))


def find(name: str, folder: Path | None = None) -> tuple[Entry, ...]:
    """Return the splits of the dataset of that name, or the one of that name or URL; none where it is not known.

    A split is named with a slash, or as it is called once it is loaded (`zelda-shadowlinks-top`).
    """
    if name.startswith(("http://", "https://")):
        return tuple(one for one in entries(folder).values() if one.url == name)[:1]
    files = _files(folder)
    if name in files:
        return _read(files[name])
    near = [file for stem, file in files.items() if name.startswith((f"{stem}/", f"{stem}-"))]
    return tuple(one for file in near for one in _read(file) if name in (one.name, one.loaded_name))


def entries_by_place() -> dict[Path, Entry]:
    """Return what is known by the file that it is, or will be once it is fetched; all files are read for this."""
    found = dict[Path, Entry]()
    for one in entries().values():
        found.setdefault(one.place.resolve(), one)
    return found


def recognise(name: str, source: str, places: Callable[[], Mapping[Path, Entry]] = entries_by_place) -> Entry | None:
    """Return the entry that a dataset is which was loaded from a file; None for what has no more than the name of one.

    It is an entry where the file is the one that ships or was fetched, or where its content is that of the entry of
    its name, wherever it comes from. `places` gives those of all entries: one that keeps them, where many datasets are
    asked about.
    """
    file, named = Path(source), find(name)
    own = next((one for one in named if one.place.resolve() == file), None)
    if own is not None:
        return own
    if found := places().get(file):
        return found
    return next((one for one in named if _is_content_of(one, file)), None)


def _is_content_of(entry: Entry, file: Path) -> bool:
    if not file.exists() or not (entry.sha256 or entry.path):
        return False
    wanted = entry.sha256 or content_hash(entry.place)
    return wanted == (folder_hash(file) if file.is_dir() else content_hash(file))


def local(file: str, folder: Path | None = None) -> list[tuple[str, Entry | None]]:
    """Return the path of a file, and what the catalogue knows of it; of a dataset that of each split that is here.

    The file is a path, `-`, or the name or URL of what is known. Raises `Error` for what is known and not fetched, and
    `UnknownName` for a URL that is not known.
    """
    url = file.startswith(("http://", "https://"))
    if file == "-" or (not url and Path(file).exists()) or not (found := find(file, folder)):
        if url:
            raise UnknownName(
                "dataset in the catalogue", file, (one.url for one in entries(folder).values() if one.url)
            )
        return [(file, None)]
    here = [one for one in found if one.is_here()]
    if not here:
        way = "" if any(one.url for one in found) else ", which says how to obtain it"
        raise Error(f"'{file}' is known and not fetched: `remix fetch {found[0].name if url else file}`{way}")
    return [(str(one.place), one) for one in here]


def local_file(file: str) -> tuple[str, Entry | None]:
    """Return what `local` does of a file or one split; raises `UsageError` for a dataset of several."""
    [(path, known), *others] = local(file)
    if known and others:
        raise UsageError(f"'{file}' has {1 + len(others)} splits: name one of them, as {known.name}")
    return path, known


def count_differences(entry: Entry, counts: Mapping[str, Any]) -> tuple[Repair, ...]:
    """Return where the counts of a report are not those of an entry, as a finding of the kind `count`; else none."""
    from remix.formats import Repair

    wrong = [f"{counts[key]:,} {key} instead of {n:,}" for key, n in entry.counts.items() if counts.get(key, n) != n]
    return (Repair("count", len(wrong), f"the catalogue knows '{entry.name}' otherwise: {', '.join(wrong)}"),) * bool(
        wrong
    )


def bibtex(entry: Entry) -> str:
    """Return the citations of an entry as BibTeX, made of `Authors: Title, Venue Year`; what is none is a note.

    >>> known = Entry("x", "X", "CC0", "Ada, Lee et al.: On Names, and More, LREC 2014; see the page")
    >>> print(bibtex(known))
    @inproceedings{ada2014,
      author = {Ada and Lee and others},
      title = {{On Names, and More}},
      booktitle = {LREC},
      year = {2014}
    }
    @misc{x,
      title = {{X}},
      note = {see the page}
    }
    """
    return "\n".join(_cite(text.strip(), entry) for text in entry.citation.split("; "))


_CITED = r"([^:]+): (.+?), ?([^,]*?) ?(\d{4})(?: \(.*\))?"


def authors(entry: Entry) -> list[str]:
    """Return who made what is cited of an entry, each once, as far as its citations say it.

    >>> authors(Entry("x", "X", "CC0", "Ada, Lee et al.: On Names, LREC 2014; see the page"))
    ['Ada', 'Lee et al.']
    """
    cited = (re.fullmatch(_CITED, text.strip()) for text in entry.citation.split("; "))
    named = (name.strip() for found in cited if found for name in found[1].split(","))
    return list(dict.fromkeys(name for name in named if name))


def licence_iri(licence: str) -> str | None:
    """Return the IRI of a licence that an entry names for all of it, None where there is none.

    >>> licence_iri("CC BY-SA 4.0"), licence_iri("Apache-2.0"), licence_iri("none stated")
    ('http://creativecommons.org/licenses/by-sa/4.0/', 'https://spdx.org/licenses/Apache-2.0.html', None)
    """
    if found := re.fullmatch(r"CC[ -](BY(?:-(?:SA|NC|ND))*)[ -](\d\.\d)", licence):
        return f"http://creativecommons.org/licenses/{found[1].lower()}/{found[2]}/"
    if found := re.fullmatch(r"(Apache-2\.0|MIT|[AL]?GPL-\d\.\d|BSD-\d-Clause)", licence):
        return f"https://spdx.org/licenses/{found[1]}.html"
    return "http://creativecommons.org/publicdomain/zero/1.0/" if re.fullmatch(r"CC0(?: 1\.0)?", licence) else None


def _cite(text: str, entry: Entry) -> str:
    found = re.fullmatch(_CITED, text)
    if found is None:
        kind, key = "misc", entry.loaded_name
        fields = {"title": f"{{{entry.title}}}", "note": text, "url": entry.url}
    else:
        authors = [name.strip() for name in found[1].replace(" et al.", ", others").split(",")]
        key = re.sub(r"\W", "", authors[0].split()[-1].lower()) + found[4]
        kind = "inproceedings" if found[3] else "misc"
        fields = {"author": " and ".join(authors), "title": f"{{{found[2]}}}", "booktitle": found[3], "year": found[4]}
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@{kind}{{{key},\n{lines}\n}}"


def _files(folder: Path | None) -> dict[str, Path]:
    if folder is None:
        return resources.files("datasets", ".toml")
    return {file.stem: file for file in sorted(folder.glob("*.toml"))}


_TEXT: Callable[[object], bool] = lambda value: isinstance(value, str) and bool(value.strip())  # noqa: E731
_TEXTS: Callable[[object], bool] = lambda value: isinstance(value, list) and all(map(_TEXT, value))  # noqa: E731
_COUNTED = ("documents", "annotations", "linked", "nil", "mentions", "mentions_linked", "mentions_nil")

_KEYS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(
        ("title", "licence", "citation", "path", "member", "format", "licence_source", "access", "obtain"),
        ("a text", _TEXT),
    ),
    **dict.fromkeys(("task", "kb", "language", "issues", "beside"), ("a list of texts", _TEXTS)),
    "url": (
        "an address that begins with https:// or http://",
        lambda x: _TEXT(x) and x.startswith(("https://", "http://")),
    ),
    "sha256": ("64 hexadecimal digits", lambda x: _TEXT(x) and bool(re.fullmatch("[0-9a-f]{64}", x))),
    "bytes": ("a whole number", lambda x: type(x) is int and x >= 0),
    "counts": (
        f"a table of whole numbers with the keys {', '.join(_COUNTED)}",
        lambda x: isinstance(x, dict) and set(x) <= {*_COUNTED} and all(type(n) is int and n >= 0 for n in x.values()),
    ),
    "splits": (
        "a table of tables",
        lambda x: isinstance(x, dict) and bool(x) and all(isinstance(n, dict) for n in x.values()),
    ),
}
"""The keys of a file: what each is, and what says so."""


@cache
def _read(file: Path) -> tuple[Entry, ...]:
    """Return the entries of a TOML file; raises `BadInput` with the key that is missing, unknown or no such value."""
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(file, f"is no catalogue entry: {error}") from None
    _check(file, said, "")
    splits = said.pop("splits", None)
    if splits is None:
        return (_entry(file, file.stem, said, ""),)
    for name, own in splits.items():
        _check(file, own, f"splits.{name}.")
    return tuple(
        _entry(file, f"{file.stem}/{name}", {**said, **own}, f"splits.{name}.") for name, own in splits.items()
    )


def _check(file: Path, said: Mapping[str, Any], within: str) -> None:
    for key, value in said.items():
        if key not in _KEYS or (within and key == "splits"):
            raise BadInput(file, f"has the unknown key '{within}{key}'{nearest(key, _KEYS)}")
        what, holds = _KEYS[key]
        if not holds(value):
            raise BadInput(file, f"'{within}{key}' is {what}, not {value!r:.80}")


def _entry(file: Path, name: str, said: Mapping[str, Any], within: str) -> Entry:
    for key in ("title", "licence", "citation"):
        if key not in said:
            raise BadInput(file, f"lacks the key '{within}{key}'")
    if not (said.keys() & {"path", "obtain"} or said.keys() >= {"url", "sha256"}):
        raise BadInput(file, f"lacks '{within}url' and '{within}sha256'; what is not fetched has 'path' or 'obtain'")
    found: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in said.items()}
    if "path" in said:
        found["path"] = file.parent / said["path"]
    return Entry(name, **found)
