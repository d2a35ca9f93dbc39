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


def _registry(name: str, module: str) -> Registry[Any]:
    """Return the registry of a module, which is loaded for it; it is called as the listing, in capitals."""
    found = getattr(importlib.import_module(module), name.upper())
    assert isinstance(found, Registry)
    return found


def _list_parts(rank: int, kind: str, name: str, module: str, summary: str, fields: str = "summary") -> Listing:
    """Return the listing of the registry of a module: the name of each part, and these fields of it."""

    def rows(_: Store, __: Path) -> Rows:
        for part in _registry(name, module):
            yield {field: _plain(getattr(part, field)) for field in ("name", *fields.split())}

    return Listing(name, summary, rows, kind, lambda: _registry(name, module), rank)


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
    from remix.measures.columns import OWN

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
    parts=lambda: _registry("measures", "remix.measures"),
    rank=0,
)
columns = Listing("columns", "what scores can be broken down by (--by), beside the classes and properties", _columns)
terms = Listing("terms", "the RDF terms of the measures, as queries name them", _terms)

profiles = _list_parts(
    1, "profile", "profiles", "remix.scoring.profiles", "the tools whose conventions scores can follow"
)
tasks = _list_parts(2, "task", "tasks", "remix.scoring.tasks", "what can be scored (--task)")
matchings = _list_parts(3, "matching", "matchings", "remix.scoring.matching", "when spans count as the same (--match)")
taxonomies = _list_parts(
    4, "taxonomy", "taxonomies", "remix.scoring.errors", "classes of errors (--errors)", "summary classes"
)
formats = _list_parts(
    5, "format", "formats", "remix.formats", "the formats of files that are read and written", "summary suffixes"
)
systems = _list_parts(6, "system", "systems", "remix.systems", "the systems that `remix annotate` runs")
adapters = _list_parts(
    6, "adapter", "adapters", "remix.systems.asked", "the systems that are asked at an --address", "summary address"
)
sources = _list_parts(7, "source", "sources", "remix.kb.sources", "what knowledge bases are built from")
engines = _list_parts(8, "engine", "engines", "remix.kb.engines", "what builds knowledge bases")
conventions = _list_parts(
    9, "convention", "conventions", "remix.scoring.profiles", "the rules that profiles are made of", "aspect words"
)
rules = _list_parts(
    12, "rule", "rules", "remix.checks", "what `remix check` looks for, and what to do about it", "severity summary fix"
)
views = _list_parts(13, "view", "views", "remix.web.page", "the pages of `remix serve`", "title menu")
