"""The one road to a knowledge base: parts of sources → staged rows → assembly, with prominence → its folder.

Each part is read once (`folder`), the rows of all become the parts of the knowledge base (`assembly`), and the folder
takes its name when it is whole.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from remix.errors import BadInput, Error, UsageError
from remix.kb.construction.assembly import Assembly, Rules
from remix.kb.construction.folder import (
    Staged,
    building_folder,
    find_unfinished,
    hold,
    part_folders,
    read_part,
    remove_unfinished,
    take_over,
)
from remix.kb.engines import ENGINES, Engine, height
from remix.kb.parts import FORMAT, UNCOUNTED
from remix.kb.sources import READERS, Choices, Origin, check_releases, origins_of
from remix.kb.staging import TABLES, strictly
from remix.places import discard, move_folder, seal, sweep
from remix.progress import note, stage
from remix.signature import content_hash

__all__ = ["build"]

MEMORY = "3GB"


def build(
    sources: Sequence[tuple[str, str]],
    to: Path,
    *,
    name: str,
    languages: Sequence[str] = ("en",),
    strict: bool = False,
    without_sources: Iterable[str] = (),
    uncounted: Iterable[str] = UNCOUNTED,
    complete: bool = False,
    damping: float = 0.85,
    tolerance: float = 1e-12,
    scores: str = "computed",
    forms: pl.Series | None = None,
    entities: pl.Series | None = None,
    date: str = "",
    licence: str = "",
    mixed_releases: bool = False,
    fresh: bool = False,
    engine: str = "duckdb",
    memory: str = "",
    cache: Path | None = None,
    refresh: bool = False,
) -> Path:
    """Return the folder `<to>/<name>-<version>` with the knowledge base that was built from all the sources.

    Each source is a kind (`remix.kb.sources`) and a place. The version is a hash of the parts' content and of the
    choices; what is built already is kept as it is. What is read of the sources stays in a folder
    `<to>/.building-<name>-<version>` until the build is done: the same call goes on where an interrupted one ended,
    and one with other sources or choices takes over what was read of the same parts.
    `fresh` removes what unfinished builds of that name left behind, and begins anew.

    Of the sources: `languages` are those to keep, `strict` makes the first line that cannot be read an error, `forms`
    and `entities` are what an endpoint is asked for, `cache` keeps its answers, and `refresh` asks for them again;
    `date` and `licence` are declared for parts that say none. Parts of one kind that are of different releases are
    refused unless `mixed_releases`.

    Of the rows: those of sources that match `without_sources` are left out of every table. Counts of the `uncounted`
    sources are ignored: they would be taken for a prior. `complete` declares that an entity that is not in it does
    not exist. Prominence is computed over the links by `damping` and `tolerance`; where there are no links, and with
    `scores='published'`, the scores are those that a source has.

    `engine` does the relational work within `memory` (by default REMIX_MEMORY, or 3GB).

    Raises `UsageError` for unknown kinds, engines and places, `BadInput` for a damaged source, and where no surface
    form is left; an earlier knowledge base is not touched.
    """
    if scores not in ("computed", "published"):
        raise UsageError(f"scores are computed or published, not '{scores}'")
    if not re.fullmatch(r"\w[\w.-]{0,99}", name):
        raise UsageError(f"'{name}' cannot name a knowledge base: use letters, digits, '-', '_' and '.'")
    works = ENGINES[engine], memory or os.environ.get("REMIX_MEMORY", MEMORY)
    rules = Rules(tuple(sorted(without_sources)), tuple(sorted(uncounted)), complete, damping, tolerance, scores)
    nothing = pl.Series([], dtype=pl.String)
    asked = {"forms": nothing if forms is None else forms, "entities": nothing if entities is None else entities}
    choices = Choices(tuple(languages), strict, **asked, cache=cache, refresh=refresh)
    origins = origins_of(sources, choices, date=date, licence=licence)
    if not mixed_releases:
        check_releases(origins)
    described = {"format": FORMAT, "readers": READERS, **asdict(rules), "languages": [*languages]}
    version = _version(origins, described)
    folder, working = to / f"{name}-{version[:12]}", building_folder(to, name, version)
    _clean(to, name, working, fresh=fresh)
    if not (folder / "kb.json").exists():
        with hold(working):
            _build(origins, rules, working, folder, works, {"name": name, "version": version, **described}, strict)
    if strict:
        _refuse_left_out(folder)
    return folder


def _build(
    origins: Sequence[Origin],
    rules: Rules,
    working: Path,
    folder: Path,
    works: tuple[Engine, str],
    described: dict[str, Any],
    strict: bool,
) -> None:
    if (folder / "kb.json").exists():  # built by somebody else meanwhile
        return
    engine, memory = works
    try:
        with stage("knowledge base"):
            folders = part_folders(working / "read", origins)
            others = [one for one in find_unfinished(folder.parent, described["name"]) if one != working]
            staged = []
            for origin, part in zip(origins, folders, strict=True):
                take_over(origin, part, others)
                staged.append(read_part(origin, part, strict=strict))
            _refuse_empty(staged, described["languages"])
            for place in ("work", "kb"):
                (working / place).mkdir(parents=True, exist_ok=True)
            with engine.open(working, memory) as session:
                found = Assembly(session, _by_table(staged), working / "work", working / "kb", rules).run()
            _finish(working, folder, {**described, **found, "sources": [one.describe() for one in staged]})
    except BaseException as error:
        note(f"what is read and built so far stays in {working}; the same command goes on from there")
        if isinstance(error, OSError):
            raise Error(f"{working} cannot be written: {error.strerror or error}") from error
        raise


def _version(origins: Sequence[Origin], described: dict[str, Any]) -> str:
    parts = [
        [one.kind, *(getattr(one.part, key) for key in ("name", "fingerprint", "date", "licence"))] for one in origins
    ]
    return content_hash(json.dumps({**described, "parts": parts}, sort_keys=True))


def _clean(to: Path, name: str, working: Path, *, fresh: bool) -> None:
    for folder in find_unfinished(to, name):
        if fresh:
            note(
                f"{folder} of an unfinished build "
                + ("is removed" if remove_unfinished(folder) else "is in use and stays")
            )
        elif folder != working:
            note(f"{folder} of an unfinished build with other sources or choices is left; --fresh removes it")


def _by_table(staged: Sequence[Staged]) -> dict[str, list[Path]]:
    return {table: [file for part in staged for file in part.files.get(table, [])] for table in TABLES}


def _refuse_empty(staged: Sequence[Staged], languages: Sequence[str]) -> None:
    if any(part.rows.get("surface_forms") for part in staged):
        return
    wrong = [f"{kind} ({problem['count']})" for part in staged for kind, problem in part.problems.items()]
    why = f"; left out: {', '.join(wrong)}" if wrong else ""
    places = ", ".join(part.origin.part.place or part.origin.part.name for part in staged)
    raise BadInput(
        places,
        f"no surface forms are left: a knowledge base needs names of entities{why}; add a source that has names in "
        f"{', '.join(languages)} (`remix list sources` shows the kinds), or choose other languages with --lang",
    )


def _refuse_left_out(folder: Path) -> None:
    """Raise `BadInput` for what was built before, less strictly, and leaves out what could not be read."""
    described = json.loads((folder / "kb.json").read_text(encoding="utf-8"))
    for part in described["sources"]:
        for kind, problem in part["problems"].items():
            raise BadInput(part["place"] or part["part"], strictly(kind, problem["first"]))


def _finish(working: Path, folder: Path, described: dict[str, Any]) -> None:
    try:
        made = working / "kb"
        described["rows"] = {file.stem: height(file) for file in sorted(made.glob("*.parquet"))}
        (made / "kb.json").write_text(json.dumps(described, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        sweep(made)
        seal(made)
        move_folder(made, folder)  # one that is there was left half removed
    except OSError as error:
        raise Error(f"{folder} cannot be written: {error.strerror or error}") from error
    discard(working)
