"""The parts of remix that are found by scanning: formats, systems, profiles, tasks, ….

What each is made of is told by `remix show NAME`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from remix.registry import Registry
from remix.reports.listings import Listing, Rows

if TYPE_CHECKING:
    from remix.store import Store

__all__ = ["list_parts", "registry_at"]


def registry_at(place: str) -> Registry[Any]:
    """Return the registry at a place such as `remix.scoring.tasks:TASKS`, whose module is loaded for it."""
    module, _, name = place.partition(":")
    found = getattr(importlib.import_module(module), name)
    assert isinstance(found, Registry)
    return found


def list_parts(kind: str, name: str, summary: str, place: str, *fields: str, rank: int = 100) -> Listing:
    """Return the listing of the registry at a place: the name of each part, its summary, and further fields of it."""

    def rows(_: Store, __: Path) -> Rows:
        for part in registry_at(place):
            yield {field: _plain(getattr(part, field)) for field in ("name", *(fields or ("summary",)))}

    return Listing(name, summary, rows, kind, lambda: registry_at(place), rank)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple | dict | frozenset) else value


profiles = list_parts(
    "profile", "profiles", "the tools whose conventions scores can follow", "remix.scoring.profiles:PROFILES", rank=1
)
tasks = list_parts("task", "tasks", "what can be scored (--task)", "remix.scoring.tasks:TASKS", rank=2)
matchings = list_parts(
    "matching", "matchings", "when spans count as the same (--match)", "remix.scoring.matching:MATCHINGS", rank=3
)
taxonomies = list_parts(
    "taxonomy",
    "taxonomies",
    "classes of errors (--errors)",
    "remix.scoring.errors:TAXONOMIES",
    *("summary", "classes"),
    rank=4,
)
formats = list_parts(
    "format",
    "formats",
    "the formats of files that are read and written",
    "remix.formats:FORMATS",
    *("summary", "suffixes"),
    rank=5,
)
systems = list_parts("system", "systems", "the systems that `remix annotate` runs", "remix.systems:SYSTEMS", rank=6)
sources = list_parts("source", "sources", "what knowledge bases are built from", "remix.kb.sources:SOURCES", rank=7)
engines = list_parts("engine", "engines", "what builds knowledge bases", "remix.kb.engines:ENGINES", rank=8)
conventions = list_parts(
    "convention",
    "conventions",
    "the rules that profiles are made of",
    "remix.scoring.conventions:CONVENTIONS",
    *("aspect", "words"),
    rank=9,
)

rules = list_parts(
    "rule",
    "rules",
    "what `remix check` looks for, and what to do about it",
    "remix.checks:RULES",
    *("severity", "summary", "fix"),
    rank=12,
)
views = list_parts("view", "views", "the pages of `remix serve`", "remix.web.page:VIEWS", *("title", "menu"), rank=13)
