"""The one road to a knowledge base: parts of sources → staged rows → assembly, with prominence → its folder.

Each part is read once, into a folder `<part>.unfinished`, which takes its name when all is read: so is known what need
not be read again when a build is resumed. The rows of all become the parts of the knowledge base (`assembly`), and the
folder takes its name when it is whole. One builds in it at a time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from remix.errors import BadInput, Error, UsageError
from remix.kb.construction.assembly import Assembly, Rules
from remix.kb.engines import ENGINES, Engine, height
from remix.kb.knowledge import KnowledgeBase
from remix.kb.parts import FORMAT, UNCOUNTED
from remix.kb.sources import READERS, Choices, Origin, check_releases, origins_of
from remix.kb.staging import TABLES, Staging, strictly
from remix.locks import Busy, lock_file
from remix.places import discard, is_sound, move_folder, scratch_folder, seal, sweep
from remix.progress import note, stage
from remix.signature import content_hash

MEMORY = "3GB"


@dataclass(frozen=True)
class _StagedPart:
    """A part of a source and the folder in which its rows are staged, with `part.json` once all of them are."""

    origin: Origin
    folder: Path

    @property
    def files(self) -> dict[str, list[Path]]:
        """Return the files with its rows by table."""
        return {table: sorted((self.folder / table).glob("*.parquet")) for table in TABLES}

    @property
    def said(self) -> dict[str, Any]:
        """Return what was said of it when it was read: `rows` by table, and `problems`."""
        said: dict[str, Any] = json.loads((self.folder / "part.json").read_text(encoding="utf-8"))
        return said

    @property
    def must_say(self) -> dict[str, str]:
        """Return what is said of it if it was read: its content, and the readers of this version."""
        return {"fingerprint": self.origin.part.fingerprint, "readers": READERS}

    @property
    def is_read(self) -> bool:
        """Return whether it is all there, as readers of this version read it."""
        try:
            return self.must_say.items() <= self.said.items()
        except (OSError, ValueError):
            return False

    def ensure(self, *, strict: bool) -> None:
        """Read it, unless that was done before and, where it is to be `strict`, without a problem.

        What was read of a part that fails stays in `<folder>.unfinished` until it is tried again; the error says so.
        """
        called = f"{self.origin.kind} {self.origin.part.name}"
        if self.is_read and not (strict and self.said["problems"]):
            note(f"{called}: read before")
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        with stage(called):
            self._read(strict)

    def _read(self, strict: bool) -> None:
        aside = self.folder.with_name(f"{self.folder.name}.unfinished")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        staging = Staging(aside, strict=strict)
        try:
            self.origin.part.read(staging)
        except BadInput as error:
            if not staging.rows:
                raise
            kept = f"{error.reason}; the {sum(staging.rows.values())} rows that were read are kept apart in {aside}"
            raise BadInput(error.file, kept, line=error.line, column=error.column) from error
        problems = {kind: asdict(problem) for kind, problem in staging.problems.items()}
        said = {**self.must_say, "rows": staging.rows, "problems": problems}
        (aside / "part.json").write_text(json.dumps(said), encoding="utf-8")
        aside.rename(self.folder)

    def take_over(self, builds: Iterable[Path]) -> None:
        """Link what an unfinished build with other sources or choices has read of it, unless it is there already.

        So a file that is downloaded again after a failure is the only one that is read again.
        """
        number, _, name = self.folder.name.partition("-")
        for build in builds:
            for found in () if self.folder.exists() else sorted(build.glob(f"read/{len(number) * '[0-9]'}-{name}")):
                with suppress(OSError, Error):  # whoever builds there may finish and sweep it meanwhile
                    if _StagedPart(self.origin, found).is_read:
                        with scratch_folder(self.folder) as aside:
                            shutil.copytree(found, aside, copy_function=os.link, dirs_exist_ok=True)
                            move_folder(aside, self.folder)

    def describe(self) -> dict[str, Any]:
        """Return what `kb.json` says of it: place, fingerprint, date and licence, rows by table, and problems."""
        part = self.origin.part
        of_part = {key: getattr(part, key) for key in ("place", "fingerprint", "date", "licence", "size")}
        read = {key: self.said[key] for key in ("rows", "problems")}
        return {"source": self.origin.kind, "part": part.name, **of_part, **read}


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
) -> KnowledgeBase:
    """Return the knowledge base built from all the sources (kind and place) into the folder `<to>/<name>-<version>`.

    `build([("dbpedia", "2022.12.01"), ("anchors", "anchors.tsv")], Path("kb"), name="english")`.

    Each source is a kind (`remix.kb.sources`) and a place. The version is a hash of the parts' content and of the
    choices; what is built already is kept as it is, unless a file of it is damaged. What is read of the sources stays
    in a folder `<to>/.building-<name>-<version>` until the build is done: the same call goes on where an interrupted
    one ended, and one with other sources or choices takes over what was read of the same parts.
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
        raise UsageError(f"'{name}' cannot name a knowledge base: use up to 100 letters, digits, '-', '_' and '.'")
    works = ENGINES[engine], memory or os.environ.get("REMIX_MEMORY", MEMORY)
    rules = Rules(tuple(sorted(without_sources)), tuple(sorted(uncounted)), complete, damping, tolerance, scores)
    nothing = pl.Series([], dtype=pl.String)
    asked = {"forms": nothing if forms is None else forms, "entities": nothing if entities is None else entities}
    choices = Choices(tuple(languages), strict, **asked, cache=cache, refresh=refresh)
    origins = origins_of(sources, choices, date=date, licence=licence)
    if not mixed_releases:
        check_releases(origins)
    described = {"format": FORMAT, "readers": READERS, **asdict(rules), "languages": [*languages]}
    version = _hash_version(origins, described)
    folder, working = to / f"{name}-{version[:12]}", to / f".building-{name}-{version[:12]}"
    _clean(to, name, working, fresh=fresh)
    if not is_sound(folder):
        with lock_building(working):
            _assemble(origins, rules, working, folder, works, {"name": name, "version": version, **described}, strict)
    made = KnowledgeBase.open(folder)
    if strict:
        for part in made.described["sources"]:
            for kind, problem in part["problems"].items():  # it was built before, less strictly, and left that out
                raise BadInput(part["place"] or part["part"], strictly(kind, problem["first"]))
    return made


def _assemble(
    origins: Sequence[Origin],
    rules: Rules,
    working: Path,
    folder: Path,
    works: tuple[Engine, str],
    described: dict[str, Any],
    strict: bool,
) -> None:
    if is_sound(folder):  # built by somebody else meanwhile
        return
    engine, memory = works
    try:
        with stage("knowledge base"):
            # The folders are numbered, as several sources may have parts of one name.
            places = (re.sub(r"[^A-Za-z0-9._-]+", "-", one.part.name)[:80] for one in origins)
            staged = [
                _StagedPart(origin, working / "read" / f"{number:03d}-{origin.kind}-{place}")
                for number, (origin, place) in enumerate(zip(origins, places, strict=True))
            ]
            others = [one for one in _find_unfinished(folder.parent, described["name"]) if one != working]
            for part in staged:
                part.take_over(others)
                part.ensure(strict=strict)
            sources = [part.describe() for part in staged]
            _refuse_empty(sources, described["languages"])
            for place in ("work", "kb"):
                (working / place).mkdir(parents=True, exist_ok=True)
            each = [part.files for part in staged]
            files = {table: list(chain.from_iterable(files[table] for files in each)) for table in TABLES}
            with engine.open(working, memory) as session:
                found = Assembly(session, files, working / "work", working / "kb", rules).run()
            _finish(working, folder, {**described, **found, "sources": sources})
    except BaseException as error:
        note(f"what is read and built so far stays in {working}; the same command goes on from there")
        if isinstance(error, OSError):
            raise Error(f"{working} cannot be written: {error.strerror or error}") from error
        raise


def _hash_version(origins: Sequence[Origin], described: dict[str, Any]) -> str:
    """Return a hash of the choices and of what the parts hold; where their files lie makes no other version."""
    parts = [
        [one.kind, *(getattr(one.part, key) for key in ("name", "fingerprint", "date", "licence"))] for one in origins
    ]
    return content_hash(json.dumps({**described, "parts": parts}, sort_keys=True))


def _clean(to: Path, name: str, working: Path, *, fresh: bool) -> None:
    for folder in _find_unfinished(to, name):
        if fresh:
            note(
                f"{folder} of an unfinished build "
                + ("is removed" if remove_unfinished(folder) else "is in use and stays")
            )
        elif folder != working:
            note(f"{folder} of an unfinished build with other sources or choices is left; --fresh removes it")


def _refuse_empty(sources: Sequence[dict[str, Any]], languages: Sequence[str]) -> None:
    if any(part["rows"].get("surface_forms") for part in sources):
        return
    wrong = [f"{kind} ({problem['count']})" for part in sources for kind, problem in part["problems"].items()]
    why = f"; left out: {', '.join(wrong)}" if wrong else ""
    places = ", ".join(part["place"] or part["part"] for part in sources)
    raise BadInput(
        places,
        f"no surface forms are left: a knowledge base needs names of entities{why}; add a source that has names in "
        f"{', '.join(languages)} (`remix list sources` shows the kinds), or choose other languages with --lang",
    )


def _finish(working: Path, folder: Path, described: dict[str, Any]) -> None:
    try:
        made = working / "kb"
        described["rows"] = {file.stem: height(file) for file in sorted(made.glob("*.parquet"))}
        (made / "kb.json").write_text(json.dumps(described, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        sweep(made)
        seal(made)
        move_folder(made, folder)  # one that is there is damaged, or was left half removed
    except OSError as error:
        raise Error(f"{folder} cannot be written: {error.strerror or error}") from error
    discard(working)


def _find_unfinished(to: Path, name: str) -> list[Path]:
    """Return the folders of builds of a name that were not finished."""
    pattern = re.compile(rf"\.building-{re.escape(name)}-[0-9a-f]{{12}}")
    return sorted(path for path in to.glob(".building-*") if path.is_dir() and pattern.fullmatch(path.name))


@contextmanager
def lock_building(folder: Path) -> Iterator[None]:
    """Lock a building folder within the block, waiting for whoever builds the same; what is left stays.

    Raises `Error` where the folder cannot be written.
    """
    with ExitStack() as stack:
        file = _lock_file(folder)
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(lock_file(file, wait=True))
        except OSError as error:
            raise Error(f"{folder} cannot be written: {error.strerror or error}") from error
        stack.callback(file.unlink, missing_ok=True)  # who waits for it notices that it has no name any more
        yield


def remove_unfinished(folder: Path) -> bool:
    """Return whether a building folder was removed: it is not while somebody builds in it."""
    file = _lock_file(folder)
    try:
        with lock_file(file):
            discard(folder)
            file.unlink(missing_ok=True)
    except (Busy, OSError):
        return False
    return not folder.exists()


def _lock_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")
