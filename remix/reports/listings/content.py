"""What a workspace holds and what it could load and ask: datasets, runs and queries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from remix.formats import SIZES
from remix.reports.listings import LISTINGS, Listing, Rows

if TYPE_CHECKING:
    from remix.catalog import Entry
    from remix.store import DatasetEntry, Store
    from remix.store.queries import Query


def sizes_in(store: Store, entry: DatasetEntry) -> dict[str, int]:
    """Return how large a loaded dataset is, by the names of `SIZES`, as its report said it when it was loaded."""
    said = store.report(entry.name)
    return {name: int(str(said.get(name, 0))) for name in SIZES}


def sizes_on_texts(store: Store, entry: DatasetEntry) -> dict[str, int]:
    """Return the sizes without annotations of texts that are not there, which are in no score, measure or list."""
    sizes = sizes_in(store, entry)
    return {**sizes, **{name: sizes[name] - sizes["dangling"] for name in ("annotations", "mentions")}}


def _datasets(store: Store, _: Path) -> Rows:
    from remix import catalog

    loaded, places = store.datasets(), cache(catalog.entries_by_place)
    for entry in loaded:
        yield {
            "name": entry.name,
            "loaded": True,
            **_say(catalog.recognise(entry.name, entry.source, places)),
            **sizes_in(store, entry),
            "enriched": entry.enrichment is not None,
        }
    names = {entry.name for entry in loaded}
    for known in catalog.entries().values():
        if known.loaded_name not in names:
            sizes = {name: known.counts.get(name) for name in SIZES}
            yield {"name": known.name, "loaded": False, **_say(known), **sizes, "enriched": None}


def _say(known: Entry | None) -> dict[str, object]:
    """Return what the catalogue says of a dataset; the lists are empty for one that it does not know."""
    lists = {name: list(getattr(known, name, ())) for name in ("task", "language", "kb")}
    return {"title": known.title if known else "", **lists, "licence": known.licence if known else ""}


def _runs(_: Store, runs: Path) -> Rows:
    from remix.runs.register import DamagedRun, list_runs
    from remix.systems.record import Record, describe_record, read_record

    for one in list_runs(runs):
        named = {"run": one.system, "dataset": one.dataset, "task": one.task}
        if isinstance(one, DamagedRun):
            nothing = {"documents": None, "answers": None, "source": f"damaged: {one.damage}", "seed": None, "kb": ""}
            yield {**named, **nothing, **describe_record(Record("", ""))}
            continue
        counts = {"documents": one.documents, "answers": one.answers}
        made = {"source": one.source or "remix annotate", "seed": one.seed, "kb": one.kb[:12]}
        record = read_record(runs / one.folder_name)
        told = describe_record(record or Record(one.system, ""))
        yield {**named, **counts, **made, **told}


def _queries(_: Store, __: Path) -> Rows:
    for one in _list_shipped():
        yield {"name": one.name, "summary": one.summary, "parameters": list(one.parameters), "sets": list(one.sets)}


def _sets(_: Store, __: Path) -> Rows:
    for one in _list_shipped():
        for name, values in one.sets.items():
            yield {"query": one.name, "set": name, "values": ", ".join(f"{k}={value}" for k, value in values.items())}


def _list_shipped() -> Iterator[Query]:
    from remix.store.queries import find, shipped_queries

    return map(find, shipped_queries().values())


def _results(_: Store, __: Path) -> Rows:
    from remix.published.catalogue import results

    for one in results().values():
        cells = sum(table.count for table in one.tables)
        profiles = sorted({table.profile for table in one.tables})
        yield {
            "name": one.name,
            "title": one.title,
            "profile": profiles,
            "cells": cells or None,
            "licence": one.licence,
            "absent": one.absent,
        }


def _releases(_: Store, __: Path) -> Rows:
    from remix.kb.releases import releases

    for one in releases().values():
        known = sum(file.bytes for file in one.files)
        yield {
            "name": one.name,
            "title": one.title,
            "date": one.date,
            "files": len(one.files),
            "megabytes_known": known // 1_000_000 or None,
            "hashes_known": sum(bool(file.sha256) for file in one.files),
            "here": one.is_here,
            "licence": one.licence,
            "address": one.address,
        }


def _kinds(_: Store, __: Path) -> Rows:
    for one in LISTINGS:
        yield {"name": one.name, "summary": one.summary}


_BRIEF = ("name", "loaded", "documents", "mentions", "language", "kb", "licence", "title")
datasets = Listing(
    "datasets", "the datasets that are loaded, and those of the catalogue that could be", _datasets, brief=_BRIEF
)
_BRIEF_RUN = ("run", "dataset", "task", "documents", "answers", "source", "seed", "kb", "date", "revision", "failed")
runs = Listing("runs", "the answers of systems that are kept", _runs, brief=_BRIEF_RUN)
kinds = Listing("kinds", "the kinds of things that `remix list` shows", _kinds)
queries = Listing("queries", "the queries that ship with remix", _queries)
published = Listing("published", "the published results that `remix reproduce` scores", _results)
releases = Listing("releases", "the public knowledge bases that `remix fetch kb` fetches and builds", _releases)
sets = Listing("sets", "the named sets of parameters that queries have (--set-from)", _sets)
