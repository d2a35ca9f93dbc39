"""The parts of remix that are found by scanning: formats, systems, profiles, tasks, ….

What each is made of is told by `remix show NAME`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from remix.registry import Registry
from remix.reports.listings import Listing, Rows

if TYPE_CHECKING:
    from remix.store import Store

__all__ = ["registry_of"]


def registry_of(place: str) -> Registry[object]:
    """Return the registry at a place such as `remix.scoring.tasks:TASKS`, whose module is loaded for it."""
    module, _, name = place.partition(":")
    found = getattr(importlib.import_module(module), name)
    assert isinstance(found, Registry)
    return found


def _listing(name: str, summary: str, place: str, *further: str) -> Listing:
    """Return the listing of a registry: name and summary of each part, and further fields of it."""

    def rows(_: Store, __: Path) -> Rows:
        for part in registry_of(place):
            more = {field: _plain(getattr(part, field)) for field in further}
            yield {"name": getattr(part, "name"), "summary": getattr(part, "summary"), **more}  # noqa: B009

    return Listing(name, summary, rows)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple | dict | frozenset) else value


formats = _listing("formats", "the formats of files that are read and written", "remix.formats:FORMATS", "suffixes")
systems = _listing("systems", "the systems that `remix annotate` runs", "remix.systems:SYSTEMS")
profiles = _listing("profiles", "the tools whose conventions scores can follow", "remix.scoring.profiles:PROFILES")
tasks = _listing("tasks", "what can be scored (--task)", "remix.scoring.tasks:TASKS")
matchings = _listing("matchings", "when spans count as the same (--match)", "remix.scoring.matchings:MATCHINGS")
taxonomies = _listing("taxonomies", "classes of errors (--errors)", "remix.scoring.errors:TAXONOMIES", "classes")
sources = _listing("sources", "what knowledge bases are built from", "remix.kb.sources:SOURCES")
engines = _listing("engines", "what builds knowledge bases", "remix.kb.engines:ENGINES")
