"""Where a knowledge base comes from: one file a kind of source, found by scanning.

A source is read part by part (a file, or what an endpoint is asked) into a `Staging`; what is read already is not
read again when a build is resumed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date as Date
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import polars as pl

from remix.errors import UsageError
from remix.kb.staging import Staging
from remix.registry import Registry

READERS = "3"
"""Part of every version and of all that is read; grows when a source reads other rows of the same content."""


@dataclass(frozen=True)
class Choices:
    """What a user can say of every source; each takes what concerns it.

    - `languages`: language tags to keep; the first is that of labels;
    - `strict`: whether a line that cannot be read stops the build;
    - `forms`, `entities`: what an endpoint is asked for, the surface forms and canonical entities of datasets;
    - `cache`: a folder that outlives a failed build;
    - `refresh`: whether an endpoint is asked again for what the cache has.
    """

    languages: Sequence[str] = ("en",)
    strict: bool = False
    forms: pl.Series = field(default_factory=lambda: pl.Series("form", [], dtype=pl.String))
    entities: pl.Series = field(default_factory=lambda: pl.Series("entity", [], dtype=pl.String))
    cache: Path | None = None
    refresh: bool = False


@dataclass(frozen=True)
class Part:
    """A piece of a source that is read at one go.

    `fingerprint` is a hash of its content (of the bytes as downloaded, for a file) and of the choices that change what
    is read of it; it is part of the version of the knowledge base. `date` and `licence` are empty where unknown;
    `size` is in bytes, 0 where there is none. `read` puts its rows into the staging.
    """

    name: str
    fingerprint: str
    read: Callable[[Staging], None] = field(compare=False)
    place: str = ""
    date: str = ""
    licence: str = ""
    size: int = 0


@dataclass(frozen=True)
class Source:
    """A kind of source: `parts(place, choices)` returns what is to be read of a folder, a file or a URL.

    It raises `UsageError` for a place that is none of the kind, before anything is read.
    """

    name: str
    summary: str
    parts: Callable[[str, Choices], list[Part]] = field(compare=False)


SOURCES: Registry[Source] = Registry("source", "remix.kb.sources", Source)

_APART = 14
"""Days between the files of one release: one is extracted over days, the next follows after a month."""


@dataclass(frozen=True)
class Origin:
    """A part of a source and the kind of source that it is of."""

    kind: str
    part: Part


def origins_of(
    sources: Sequence[tuple[str, str]], choices: Choices, *, date: str = "", licence: str = ""
) -> list[Origin]:
    """Return the parts of sources given as kind and place; `date` and `licence` are for parts that say none.

    Raises `UsageError` for no source, an unknown kind, a place that is none of its kind, and a source given twice.
    """
    if not sources:
        raise UsageError(
            f"a knowledge base is built from sources, and none is given; kinds: {', '.join(SOURCES.names())}"
        )
    places = [(kind, Path(place).resolve() if Path(place).exists() else place) for kind, place in sources]
    twice = next((source for source, place in zip(sources, places, strict=True) if places.count(place) > 1), None)
    if twice:
        raise UsageError(f"the source {' '.join(twice)} is given twice: its counts would be doubled")
    return [
        Origin(kind, replace(part, date=part.date or date, licence=part.licence or licence))
        for kind, place in sources
        for part in SOURCES[kind].parts(place, choices)
    ]


def check_releases(origins: Sequence[Origin]) -> None:
    """Raise `UsageError` where parts of one kind are of different releases: their dates are weeks apart."""
    dated = [origin for origin in origins if origin.part.date]
    for kind, parts in groupby(sorted(dated, key=attrgetter("kind")), key=attrgetter("kind")):
        by_date = sorted((origin.part for origin in parts), key=lambda part: (_days(part.date), part.date, part.name))
        first, last = by_date[0], by_date[-1]
        if first.date != last.date and _days(last.date) - _days(first.date) > _APART:
            raise UsageError(
                f"two releases are mixed: {_place(first)} of {kind} is of {first.date}, {_place(last)} of {last.date}; "
                "keep one, or accept it with --mixed-releases"
            )


def _place(part: Part) -> str:
    return part.place or part.name


def _days(date: str) -> int:
    """Return the number of a day written like 2022-12-01, 2022.12.01 or 2022-12, by which days are told apart."""
    found = re.match(r"(\d{4})[-.]?(\d{2})(?:[-.]?(\d{2}))?", date)
    if not found:
        return 0
    year, month, day = (int(part or 1) for part in found.groups())
    try:
        return Date(year, month, day).toordinal()
    except ValueError:
        return 0
