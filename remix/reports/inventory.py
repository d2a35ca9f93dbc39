"""What there is: the parts of remix and the content of a workspace, as tables and as text."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix import catalog, resources
from remix._version import __version__
from remix.errors import UnknownName
from remix.store import DatasetEntry, Store
from remix.store.queries import Query, find, shipped

if TYPE_CHECKING:
    from remix.scoring.profiles import Profile

__all__ = ["KINDS", "about", "listing", "shown"]

Rows = list[dict[str, object]]


def listing(kind: str, store: Store, runs: Path) -> pl.DataFrame:
    """Return a row for each thing of a kind (see `KINDS`); raises `UnknownName` for another kind.

    >>> listing("matchings", Store(Path("nowhere")), Path("nowhere")).columns
    ['name', 'summary']
    """
    if kind not in KINDS:
        raise UnknownName("kind of thing", kind, KINDS, "remix list --help")
    rows = KINDS[kind](store, runs)
    return pl.DataFrame(rows, infer_schema_length=None)


def shown(name: str, store: Store) -> str:
    """Return what is known of a loaded dataset, a query, a measure or a profile, as text.

    A profile may be written `profile:NAME`, which is a profile whatever else has the name. Raises `UnknownName` for
    what is none of them.
    """
    if name.startswith("profile:"):
        from remix.scoring.profiles import PROFILES

        return _profile(PROFILES[name.removeprefix("profile:")])
    datasets = store.state.datasets
    if name in datasets:
        return _dataset(datasets[name], store)
    if name.removesuffix(".rq") in shipped() or Path(name).is_file():
        return _query(find(name))
    from remix.measures import MEASURES

    if name in MEASURES:
        return _fields(MEASURES[name], ("formula", "unit", "levels", "high", "low", "empty", "needs", "citation"))
    from remix.scoring.profiles import PROFILES

    if name in PROFILES:
        return _profile(PROFILES[name])
    if name in catalog.entries():
        return _fields(catalog.entry(name), ("title", "licence", "citation", "url", "counts"))
    known = [*datasets, *shipped(), *MEASURES.names(), *PROFILES.names(), *catalog.entries()]
    raise UnknownName("dataset, query, measure or profile", name, known, "remix list")


def about(store: Store) -> pl.DataFrame:
    """Return the state of a workspace and the versions in use, as columns `what` and `value`."""
    entries = store.datasets()
    rows = {
        "remix": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("polars", "pyoxigraph", "rdflib")},
        "queries": str(resources.folder("queries")),
        "workspace": str(store.folder),
        "datasets": str(len(entries)),
        "documents": str(sum(entry.documents for entry in entries)),
        "annotations": str(sum(entry.annotations for entry in entries)),
        "triples": str(sum(count for _, count in store.state.graphs().values())),
        "enriched": str(sum(entry.enrichment is not None for entry in entries)),
        "index": store.state.generation or "none",
        "knowledge base": str(store.kb_folder or "none"),
    }
    return pl.DataFrame({"what": list(rows), "value": list(rows.values())})


def _datasets(store: Store, _: Path) -> Rows:
    loaded = [
        {
            "name": entry.name,
            "loaded": True,
            "documents": entry.documents,
            "annotations": entry.annotations,
            "triples": entry.triples,
            "enriched": entry.enrichment is not None,
            "title": "",
        }
        for entry in store.datasets()
    ]
    names = {entry.name for entry in store.datasets()}
    blank = dict.fromkeys(("documents", "annotations", "triples", "enriched"))
    known = [
        {"name": name, "loaded": False, **blank, "title": entry.title}
        for name, entry in catalog.entries().items()
        if name not in names
    ]
    return [*loaded, *known]


def _queries(_: Store, __: Path) -> Rows:
    every = [find(file) for file in shipped().values()]
    return [
        {"name": one.name, "summary": one.summary, "parameters": list(one.parameters), "sets": list(one.sets)}
        for one in every
    ]


def _sets(_: Store, __: Path) -> Rows:
    every = [find(file) for file in shipped().values()]
    return [
        {"query": one.name, "set": name, "values": ", ".join(f"{key}={value}" for key, value in values.items())}
        for one in every
        for name, values in one.sets.items()
    ]


def _measures(_: Store, __: Path) -> Rows:
    from remix.measures import MEASURES

    return [
        {"name": one.name, "levels": list(one.levels), "unit": one.unit, "formula": one.formula} for one in MEASURES
    ]


def _formats(_: Store, __: Path) -> Rows:
    from remix.formats import FORMATS

    return [{"name": one.name, "summary": one.summary, "suffixes": list(one.suffixes)} for one in FORMATS]


def _systems(_: Store, __: Path) -> Rows:
    from remix.systems import SYSTEMS

    return [{"name": one.name, "summary": one.summary} for one in SYSTEMS]


def _profiles(_: Store, __: Path) -> Rows:
    from remix.scoring.profiles import PROFILES

    return [{"name": one.name, "summary": one.summary} for one in PROFILES]


def _matchings(_: Store, __: Path) -> Rows:
    from remix.scoring.matchings import MATCHINGS

    return [{"name": one.name, "summary": one.summary} for one in MATCHINGS]


def _taxonomies(_: Store, __: Path) -> Rows:
    from remix.scoring.errors import TAXONOMIES

    return [{"name": one.name, "summary": one.summary, "classes": list(one.classes)} for one in TAXONOMIES]


def _sources(_: Store, __: Path) -> Rows:
    from remix.kb.sources import SOURCES

    return [{"name": one.name, "summary": one.summary} for one in SOURCES]


def _engines(_: Store, __: Path) -> Rows:
    from remix.kb.engines import ENGINES

    return [{"name": one.name, "summary": one.summary} for one in ENGINES]


def _runs(_: Store, runs: Path) -> Rows:
    from remix.systems.runs import list_runs

    return [
        {"system": one.system, "dataset": one.dataset, "task": one.task, "seed": one.seed, "kb": one.kb[:12]}
        for one in list_runs(runs)
    ]


KINDS: Mapping[str, Callable[[Store, Path], Rows]] = {
    "datasets": _datasets,
    "queries": _queries,
    "sets": _sets,
    "measures": _measures,
    "formats": _formats,
    "systems": _systems,
    "profiles": _profiles,
    "matchings": _matchings,
    "taxonomies": _taxonomies,
    "sources": _sources,
    "engines": _engines,
    "runs": _runs,
}
"""The kinds of things that can be listed."""


def _dataset(entry: DatasetEntry, store: Store) -> str:
    known = catalog.entries().get(entry.name)
    lines = {
        "dataset": entry.name,
        "IRI": entry.iri,
        "documents": entry.documents,
        "annotations": entry.annotations,
        "triples": entry.triples,
        "enrichment": entry.enrichment or "none; `remix enrich` computes it",
        "beside it": ", ".join(entry.attached) or "nothing; `remix evaluate … --store` keeps runs",
        "source": entry.source,
        "format": entry.format,
        "content": entry.content,
        "title": known.title if known else "unknown",
        "licence": known.licence if known else "unknown",
        "citation": known.citation if known else "unknown",
    }
    repairs = store.report(entry.name).get("repairs")
    said = repairs if isinstance(repairs, list) else []
    text = "".join(f"{key}: {value}\n" for key, value in lines.items())
    return text + "".join(f"repaired: {one['kind']} ({one['count']}), such as {one['example']}\n" for one in said)


def _query(query: Query) -> str:
    parts = [f"{query.name}: {query.summary}" if query.summary else query.name]
    if query.description:
        parts.append(query.description)
    if query.parameters:
        lines = [
            f"  {one.name} = {one.default}" + (f"    {one.description}" if one.description else "")
            for one in query.parameters.values()
        ]
        parts.append("parameters (--set NAME=VALUE):\n" + "\n".join(lines))
    for name, values in query.sets.items():
        given = ", ".join(f"{key}={value}" for key, value in values.items())
        parts.append(f"--set-from {name}: {given}")
    code = "\n".join(line for line in query.text.splitlines() if not line.startswith("#+"))
    return "\n\n".join([*parts, code.strip()]) + "\n"


def _profile(profile: Profile) -> str:
    """Return a profile with its rules and their sources, one a line."""
    rules = "".join(f"  {key}: {value}\n" for key, value in profile.conventions.items())
    return f"{_fields(profile, ('summary', 'source', 'tasks', 'matchings'))}conventions:\n{rules}"


def _fields(thing: object, names: tuple[str, ...]) -> str:
    """Return the fields of a thing that say something, one a line."""
    text = f"{getattr(thing, 'name', '')}\n"
    for name in names:
        value = getattr(thing, name)
        if isinstance(value, Mapping):
            value = ", ".join(f"{key} {item}" for key, item in value.items())
        elif isinstance(value, tuple):
            value = ", ".join(map(str, value))
        text += f"{name}: {value}\n" if value else ""
    return text
