"""Where a knowledge base comes from: one file a kind of source, found by scanning.

A source is read part by part (a file, or what an endpoint is asked) into a `Staging`; what is read already is not
read again when a build is resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from remix.kb.staging import Staging
from remix.registry import Registry

__all__ = ["READERS", "SOURCES", "Choices", "Part", "Source"]

READERS = "1"
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
