"""What there is: the parts of remix and the content of a workspace, as tables and as text."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from inspect import cleandoc
from pathlib import Path
from typing import Any

import polars as pl

from remix import catalog, resources
from remix._version import __version__
from remix.errors import BadInput, UnknownName, UsageError
from remix.formats import SIZES
from remix.registry import Registry
from remix.remixes.filters import EntityFilter
from remix.remixes.manifest import read_manifest
from remix.reports.listings import LISTINGS
from remix.reports.listings.content import sizes_in
from remix.store import DatasetEntry, Store
from remix.store.construct import construct_of
from remix.store.queries import Query, find, shipped_queries


def listing(kind: str, store: Store, runs: Path, wanted: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Return a row for each thing of a kind (see `LISTINGS`) that has what is wanted in the columns of these names.

    Raises `UnknownName` for another kind, `UsageError` for a column that the kind does not have.

    >>> listing("matchings", Store(Path("nowhere")), Path("nowhere")).columns
    ['name', 'summary']
    """
    found = pl.DataFrame([*LISTINGS[kind].rows(store, runs)], infer_schema_length=None)
    for column, value in (wanted or {}).items():
        if column not in found.columns:
            raise UsageError(f"{kind} have no {column}: `remix list datasets --{column} {value}`")
        whole = pl.col(column) if found.schema[column] == pl.List else pl.concat_list(column)
        fits = pl.element().str.contains(f"(?i){re.escape(value)}")
        found = found.filter(whole.list.eval(fits).list.any())
    return found


def brief_listing(kind: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of a listing that people are shown on a line."""
    return rows.select([name for name in LISTINGS[kind].brief if name in rows.columns] or rows.columns)


def show_part(name: str, store: Store) -> str:
    """Return what is known of a thing by its name, or of a remix or query by its file, as text.

    That is a dataset, a query, a measure, or any part: a profile, a task, a format, …. Before the name may stand what
    it is, as in `profile:NAME`, where several have the name. Raises `UnknownName` for what is none of them.
    """
    kind, colon, rest = name.partition(":")
    if colon and kind in (registries := _registries()):
        return _part(registries[kind][rest])
    datasets = store.state.datasets
    if name in datasets:
        return _dataset(datasets[name], store)
    if (file := Path(name)).is_file() and file.suffix != ".rq":
        return _remix(file)
    if name.removesuffix(".rq") in shipped_queries() or file.is_file():
        return _query(find(name))
    for parts in _registries().values():
        if name in parts:
            return _part(parts[name])
    if found := catalog.find(name):
        return _look_up(found)
    from remix.measures import measure_named

    with suppress(UnknownName):
        return _part(measure_named(name))  # by a term or a row of it
    of_parts = [part for parts in _registries().values() for part in parts.names()]
    known = [*datasets, *shipped_queries(), *of_parts, *catalog.entries()]
    raise UnknownName("dataset, query, measure or other part", name, known, "remix list kinds")


def show_construct(
    find: Callable[[], Query], name: str, values: Mapping[str, object], set_from: str | None, *, whole: bool
) -> str:
    """Return the CONSTRUCT that a query with these values stands for; `find` returns the query of the name.

    Raises `UsageError` for what is no query, and for values where the `whole` is not asked for.
    """
    try:
        query = find()
    except UnknownName as error:
        raise UsageError(f"--construct is for queries, and '{name}' is none: {error}") from None
    if not whole:
        raise UsageError("--set and --set-from give a query its values: they go with --construct")
    iri = f"urn:remix:dataset:{re.sub('[^A-Za-z0-9._-]+', '-', query.name).strip('-.') or 'query'}"
    return construct_of(query.bind(values, set_from), iri, name=query.name)


def _registries() -> dict[str, Registry[Any]]:
    """Return the registries by what one of their parts is called, in the order in which a name is looked for."""
    listings = sorted((one for one in LISTINGS if one.parts), key=lambda one: (one.rank, one.name))
    return {one.kind: one.parts() for one in listings if one.parts}


def about(store: Store) -> pl.DataFrame:
    """Return the state of a workspace and the versions in use, as columns `what` and `value`."""
    entries = store.datasets()
    sizes = [sizes_in(store, entry) for entry in entries]
    rows = {
        "remix": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("polars", "pyoxigraph", "rdflib")},
        "queries": str(resources.folder("queries")),
        "workspace": str(store.folder),
        "datasets": str(len(entries)),
        **{name: str(sum(one[name] for one in sizes)) for name in SIZES},
        "triples": str(sum(count for _, count in store.state.graphs().values())),
        "enriched": str(sum(entry.enrichment is not None for entry in entries)),
        "index": store.state.generation or "none",
        "knowledge base": str(store.kb_folder or "none"),
    }
    return pl.DataFrame({"what": list(rows), "value": list(rows.values())})


def describe_dataset(entry: DatasetEntry, store: Store) -> dict[str, object]:
    """Return what is known of a loaded dataset: sizes, measures, where it comes from, licence and citation."""
    known = catalog.recognise(entry.name, entry.source)
    return {
        "dataset": entry.name,
        "IRI": entry.iri,
        **sizes_in(store, entry),
        "triples": entry.triples,
        "enrichment": entry.enrichment or "none; `remix enrich` computes it",
        "beside it": ", ".join(entry.attached) or "nothing; `remix run add` and `remix annotate` register runs",
        "source": entry.source,
        "format": entry.format,
        "content": entry.content,
        "title": known.title if known else "unknown",
        "licence": known.licence if known else "unknown",
        "citation": known.citation if known else "unknown",
        "known issues": "; ".join(known.issues) if known else "unknown",
        **({"BibTeX": catalog.bibtex(known)} if known and known.citation else {}),
    }


def _dataset(entry: DatasetEntry, store: Store) -> str:
    text = "".join(f"{key}: {value}\n" for key, value in describe_dataset(entry, store).items())
    repairs = found if isinstance(found := store.report(entry.name).get("repairs"), list) else []
    return text + "".join(f"repaired: {one['kind']} ({one['count']}), such as {one['example']}\n" for one in repairs)


def _look_up(found: Sequence[catalog.Entry]) -> str:
    """Return what the catalogue knows of a dataset, split by split where it has several, and its citation as BibTeX."""
    told = "title task language kb format licence licence_source access counts issues url member sha256 bytes obtain "
    told += "citation"
    parts = [
        _fields(one, told) + f"here: {one.place if one.is_here() else f'no; `remix fetch {one.name}`'}\n"
        for one in found
    ]
    citations = dict.fromkeys(catalog.bibtex(one) for one in found)
    return "\n".join([*parts, *citations]) + "\n"


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


def show_filter(one: EntityFilter) -> str:
    """Return what a filter asks of whom, as text."""
    said = one.definition
    does = "combines by" if said.kind == "combinator" else "asks"
    asked = ", ".join(said.members) if said.members else said.text.strip()
    return f"{one.name}: a filter ({said.kind}) of {one.file.path.name}\n\n{does} {said.service}:\n{asked}\n"


def _remix(file: Path) -> str:
    """Return what the manifest beside a remix says of it; raises `BadInput` for a file without one."""
    found = read_manifest(file)
    if found is None:
        raise BadInput(file, f"has no manifest beside it, so it is no remix; `remix check {file}` says what it holds")
    lines = [f"remix: {file.name.removesuffix('.ttl')}", f"signature: {found.signature}"]
    lines += [f"parameter: {name} = {value}" for name, value in found.parameters.items()]
    lines += [f"origin: {name} (content {content[:12]})" for name, content in found.contents.items()]
    return "\n".join([*lines, "", found.query.strip()]) + "\n"


def _part(part: object) -> str:
    """Return what a part says of itself, one field a line; of a profile its rules and their sources, too."""
    told = "title severity summary fix words aspect description formula unit levels high low empty needs citation "
    text = _fields(part, told + "source tasks matchings classes suffixes holds")
    if isinstance(parameters := getattr(part, "parameters", None), type) and is_dataclass(parameters):
        text += _parameters(parameters)
    if mapping := getattr(part, "mapping", None):
        return f"{text}\n{mapping.file.read_text(encoding='utf-8')}"
    rules = "".join(f"  {key}: {value}\n" for key, value in getattr(part, "rules", dict)().items())
    return f"{text}conventions:\n{rules}" if rules else text


def _parameters(kind: type[Any]) -> str:
    """Return what can be said to a system by --parameter, with the defaults and what is said of them."""
    lines = [f"  {one.name} = {'' if one.default is None else one.default}" for one in fields(kind)]
    said = cleandoc(kind.__doc__ or "")
    own = "" if said.startswith(f"{kind.__name__}(") else f"\n{said}\n"  # which dataclasses say of themselves
    return "parameters (--parameter NAME=VALUE):\n" + "\n".join(lines) + f"\n{own}"


def _fields(thing: object, names: str) -> str:
    """Return the fields of a thing that say something, one a line."""
    text = f"{getattr(thing, 'name', '')}\n"
    for name in names.split():
        value = getattr(thing, name, None)
        if isinstance(value, Mapping):
            value = ", ".join(f"{key} {item}" for key, item in value.items())
        elif isinstance(value, tuple | frozenset):
            value = ", ".join(map(str, value if isinstance(value, tuple) else sorted(value)))
        text += f"{name}: {value}\n" if value else ""
    return text
