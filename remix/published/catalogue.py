"""The catalogue of published results: one TOML file each in `datasets/published/`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from remix import resources
from remix.catalog import Entry
from remix.errors import BadInput, UnknownName, nearest


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files of a repository, which lie in one folder there and in one here: their names with their SHA-256.

    The hashes are of the files as the repository has them; here they may be compressed.
    """

    folder: str
    repository: str
    commit: str
    path: str
    sha256: Mapping[str, str] = field(default_factory=dict)

    def url(self, name: str) -> str:
        """Return where one of them is fetched from."""
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{self.path}/{name}"


@dataclass(frozen=True, kw_only=True)
class KnownDifference:
    """A cell that does not come out: what comes out in its place, and why."""

    cell: str
    found: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """Published figures of one shape, with the rows of an evaluation that they are.

    - `figures`: a regular expression of the files that have them (of TSV, CSV, or JSON, of which each number is a row
      with its `path` and `value`);
    - `where`: regular expressions that cells of a published row have to fit, by column; the named groups of these and
      of `figures` are known in what follows as `{group}`;
    - `names`: what groups are called otherwise, by group: `{label: {ALL: ""}}`;
    - `gold`, `run`, `relax`, `entities`: the files that are scored;
    - `row`: task, matching, average and slice of the row that has the figures;
    - `cells`: the columns of the figures with ours, among which are `given` and `asked` (how many answers there are,
      and how many are asked for), `answered`, the one by the other, and `f1_of_means`;
    - `profile`, `by`: as `remix evaluate` has them;
    - `gold_format`, `run_format`: the formats of both where their content does not say it;
    - `values`: figures that no file has, each as a row of columns;
    - `as_written`: whether entities are compared letter by letter, as gold and answers write them;
    - `percent`: whether scores are published as percentages;
    - `count`: how many cells there are;
    - `known`: the cells that do not come out.
    """

    name: str
    gold: tuple[str, ...]
    run: tuple[str, ...]
    row: Mapping[str, str]
    cells: Mapping[str, str]
    profile: str
    figures: str = ""
    where: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    relax: str = ""
    entities: str = ""
    by: tuple[str, ...] = ()
    gold_format: str = ""
    run_format: str = ""
    values: tuple[Mapping[str, str], ...] = ()
    as_written: bool = False
    percent: bool = False
    count: int = 0
    known: tuple[KnownDifference, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PublishedResult:
    """Published results of one paper or campaign.

    `absent` says why there is nothing to score where nobody may hand out what it needs.
    """

    name: str
    title: str
    citation: str
    licence: str
    files: tuple[Files, ...] = ()
    tables: tuple[PublishedTable, ...] = ()
    absent: str = ""

    def entries(self) -> dict[str, Entry]:
        """Return the files of the result by their names here, as what can be fetched."""
        return {
            f"{one.folder}/{name}": Entry(
                f"{self.name}/{name}", self.title, self.licence, self.citation, url=one.url(name), sha256=sha256
            )
            for one in self.files
            for name, sha256 in one.sha256.items()
        }


def results(folder: Path | None = None) -> dict[str, PublishedResult]:
    """Return what is known by its name; raises `BadInput` with the file and key that is none."""
    files = resources.files("datasets/published", ".toml") if folder is None else _in(folder)
    return {name: _read(file) for name, file in files.items()}


def results_named(names: Iterable[str], folder: Path | None = None) -> list[PublishedResult]:
    """Return the results of these names, of `all` or no name all of them; raises `UnknownName`."""
    known = results(folder)
    wanted = list(names) or ["all"]
    for name in wanted:
        if name != "all" and name not in known:
            raise UnknownName("published result", name, [*known, "all"], "remix list published")
    return list(known.values()) if "all" in wanted else [known[name] for name in wanted]


def _in(folder: Path) -> dict[str, Path]:
    return {file.stem: file for file in sorted(folder.glob("*.toml"))}


@cache
def _read(file: Path) -> PublishedResult:
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(file, f"is no published result: {error}") from None
    shared = said.pop("defaults", {})
    tables = [{**shared, **table} for table in said.pop("tables", [])]
    every = []
    for table in tables:
        known = tuple(_make(file, KnownDifference, "known", one) for one in table.pop("known", []))
        one = _make(file, PublishedTable, "tables", {**table, "known": known})
        for pattern in (one.figures, *one.where.values()):
            _check_pattern(file, pattern)
        every.append(one)
    parts = {"files": tuple(_make(file, Files, "files", one) for one in said.pop("files", [])), "tables": tuple(every)}
    found: PublishedResult = _make(file, PublishedResult, "the file", {**said, **parts, "name": file.stem})
    return found


def _check_pattern(file: Path, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise BadInput(file, f"'{pattern}' is no regular expression: {error}") from None


def _make(file: Path, kind: type[Any], where: str, said: Mapping[str, Any]) -> Any:
    """Return a record of what a file says; raises `BadInput` with the key that is missing or unknown."""
    known = {one.name: one for one in fields(kind)}
    if unknown := [key for key in said if key not in known]:
        raise BadInput(file, f"{where} has the unknown key '{unknown[0]}'{nearest(unknown[0], known)}")
    needed = [name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
    if lacking := [name for name in needed if name not in said]:
        raise BadInput(file, f"{where} lacks the key '{lacking[0]}'")
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in said.items()})
