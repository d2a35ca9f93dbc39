"""The parts of remix that are found by scanning: measures with their columns and terms, formats, systems, profiles, ….

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


def _registry_at(place: str) -> Registry[Any]:
    """Return the registry at a place such as `remix.scoring.tasks:TASKS`, whose module is loaded for it."""
    module, _, name = place.partition(":")
    found = getattr(importlib.import_module(module), name)
    assert isinstance(found, Registry)
    return found


def _list_parts(rank: int, kind: str, name: str, summary: str, place: str, fields: str = "summary") -> Listing:
    """Return the listing of the registry at a place: the name of each part, and these fields of it."""

    def rows(_: Store, __: Path) -> Rows:
        for part in _registry_at(place):
            yield {field: _plain(getattr(part, field)) for field in ("name", *fields.split())}

    return Listing(name, summary, rows, kind, lambda: _registry_at(place), rank)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple | dict | frozenset) else value


def _measures(_: Store, __: Path) -> Rows:
    from remix.measures import MEASURES

    for one in MEASURES:
        values = [*(column.name for column in one.columns), *(summary.name for summary in one.summaries)]
        yield {
            "name": one.name,
            "values": [*dict.fromkeys(values)],
            "levels": list(one.levels),
            "unit": one.unit,
            "formula": one.formula,
        }


def _columns(_: Store, __: Path) -> Rows:
    from remix.measures import MEASURES
    from remix.scoring.inputs.columns import OWN

    for name, meaning in OWN.items():
        yield {"name": name, "of": "gold", "kind": "", "meaning": meaning}
    for measure in MEASURES:
        for column in measure.columns:
            yield {"name": column.name, "of": measure.name, "kind": column.kind, "meaning": column.meaning}


def _terms(_: Store, __: Path) -> Rows:
    from remix.measures.measurement import terms

    for one in terms():
        yield {
            "term": one.term,
            "levels": sorted(one.levels),
            "averages": sorted(one.averages),
            "kind": one.kind,
            "measure": one.measure.name,
            "meaning": one.comment,
        }


measures = Listing(
    "measures",
    "what describes datasets, documents and annotations",
    _measures,
    kind="measure",
    parts=lambda: _registry_at("remix.measures:MEASURES"),
    rank=0,
)
columns = Listing("columns", "what scores can be broken down by (--by), beside the classes and properties", _columns)
terms = Listing("terms", "the RDF terms of the measures, as queries name them", _terms)
profiles = _list_parts(
    1, "profile", "profiles", "the tools whose conventions scores can follow", "remix.scoring.profiles:PROFILES"
)
tasks = _list_parts(2, "task", "tasks", "what can be scored (--task)", "remix.scoring.tasks:TASKS")
matchings = _list_parts(
    3, "matching", "matchings", "when spans count as the same (--match)", "remix.scoring.matching:MATCHINGS"
)
taxonomies = _list_parts(
    4, "taxonomy", "taxonomies", "classes of errors (--errors)", "remix.scoring.errors:TAXONOMIES", "summary classes"
)
formats = _list_parts(
    5,
    "format",
    "formats",
    "the formats of files that are read and written",
    "remix.formats:FORMATS",
    "summary suffixes",
)
systems = _list_parts(6, "system", "systems", "the systems that `remix annotate` runs", "remix.systems:SYSTEMS")
sources = _list_parts(7, "source", "sources", "what knowledge bases are built from", "remix.kb.sources:SOURCES")
engines = _list_parts(8, "engine", "engines", "what builds knowledge bases", "remix.kb.engines:ENGINES")
conventions = _list_parts(
    9,
    "convention",
    "conventions",
    "the rules that profiles are made of",
    "remix.scoring.conventions:CONVENTIONS",
    "aspect words",
)
rules = _list_parts(
    12,
    "rule",
    "rules",
    "what `remix check` looks for, and what to do about it",
    "remix.checks:RULES",
    "severity summary fix",
)
views = _list_parts(13, "view", "views", "the pages of `remix serve`", "remix.web.page:VIEWS", "title menu")
