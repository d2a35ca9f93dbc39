"""Remixes: a query's selection out of any number of datasets, closed, measured afresh, with its manifest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from remix._version import __version__
from remix.errors import EmptySelection, UsageError
from remix.files import manifest_beside, write_together
from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures.enrichment import frames_of, named_frames
from remix.places import refuse_file_name
from remix.rdf.iris import dataset_iri
from remix.rdf.turtle import turtle
from remix.remixes.closure import (
    Closed,
    Editions,
    Narrow,
    Narrowed,
    close,
    find_emptied,
    limit_documents,
    tell_editions,
)
from remix.remixes.computed import (
    find_otherwise,
    reads_runs,
    runs_read,
    tell_compared,
    tell_otherwise,
    tell_runs,
    tell_unmeasured,
)
from remix.remixes.export import Exported, export
from remix.remixes.manifest import count_origins, describe, refuse_unknown
from remix.signature import Signature, content_hash
from remix.store import DatasetEntry, Store, in_one_state
from remix.store.missing import NO_RUN
from remix.tables import Printed

if TYPE_CHECKING:
    from remix.store.endpoint import Endpoint
    from remix.store.queries import Query
    from remix.store.selection import Selection


@dataclass(frozen=True, repr=False)
class Remix(Printed):
    """A dataset that a query yields.

    `frames` hold the IRIs of the store, with the remix as their dataset; `triples` have those of the written file.
    `counts` say what each origin gave, `waterfall` what each condition left, `notes` what the user should know. Of a
    balanced one `parts` has column, part, share, available, chosen, left_out and limits: whether all are in.
    """

    name: str
    iri: str
    frames: Frames
    triples: pl.DataFrame
    manifest: pl.DataFrame
    counts: pl.DataFrame
    waterfall: pl.DataFrame
    rewritten: str
    notes: tuple[str, ...]
    signature: Signature
    parts: pl.DataFrame = field(default_factory=pl.DataFrame)

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return what this is in one line, and the table that is shown of it."""
        documents, annotations = self.frames.documents.height, self.frames.annotations.height
        return f"remix {self.name}: {documents} documents, {annotations} annotations", self.counts

    def place(self, to: Path | str) -> tuple[Path, Path]:
        """Return the file and the manifest in a folder, or at a path that ends in `.ttl`, which is the file itself.

        Raises `UsageError` for a folder that is called like a file of another format.
        """
        target = Path(to)
        if is_folder_of(target):
            target /= f"{self.name}.ttl"
        return target, manifest_beside(target)

    def write(self, to: Path | str, *, force: bool = False) -> tuple[Path, Path]:
        """Return the two files written together: `NAME.ttl` and `NAME.manifest.ttl`, into a folder.

        See `place` for where. Raises `UsageError` for a file of that name without a manifest of remix beside it, unless
        `force` is given.
        """
        target, manifest = self.place(to)
        refuse_unknown([target], manifest, force=force)
        write_together({target: turtle(self.triples), manifest: turtle(self.manifest)})
        return target, manifest


def is_folder_of(target: Path) -> bool:
    """Return whether a remix is written into a folder, not to the file itself, which ends in `.ttl`.

    Raises `UsageError` for a folder that is called like a file of another format.
    """
    if target.suffix == ".ttl" and not target.is_dir():
        return False
    refuse_file_name(target)
    return True


@in_one_state
def build(
    store: Store,
    query: Query,
    *,
    values: Mapping[str, object] | None = None,
    set_from: str | None = None,
    name: str | None = None,
    base_iri: str = "urn:remix:dataset:",
    drop: bool = False,
    limit: int | None = None,
    seed: int | None = None,
    kb: KnowledgeBase | None = None,
    fix_variables: bool = False,
    allow_services: Iterable[str] = (),
    explain: bool = False,
    timeout: float = 600,
    dataset: Sequence[str] = (),
    edition: Sequence[str] = (),
    endpoint: Endpoint | None = None,
    narrow: Narrow | None = None,
    withheld: Iterable[str] = (),
) -> Remix:
    """Return the remix that a query selects from datasets of a store, by default named as the query.

    By default these are all that are loaded; a `dataset` that is named is the only one that the query sees. A text that
    several of them have counts once: kept is the edition of the dataset that is named first by `edition`, else by
    `dataset`, else the first by name, which is told; the edition 'all' keeps each.

    Annotations of kept documents that were not selected become ignorable, with `drop` they go. `limit` keeps so many
    documents, the first of each dataset by IRI or, with a `seed`, a sample. Measures of documents and of the remix are
    computed afresh, values on annotations are those of their origins. `narrow` leaves some of what the query selects,
    as `remix.remixes.balance` does. `withheld` are systems whose runs the store is without, which is told, as is by
    whose runs the query selects. The manifest names the documents that were
    emptied, unless a limit, the query or `drop` leaves open which these are. `explain` fills the waterfall. The query
    runs in a process of its own, which is killed after so many seconds, or at the `endpoint` that the store mirrors.

    Raises `QueryError`, `UnknownName`, `UsageError` for what is wrong with the query, its parameters or the name,
    `EmptySelection` for a query that selects nothing, `Timeout` for one that takes too long.
    """
    planned = _plan(
        store,
        query,
        values=values,
        set_from=set_from,
        name=name,
        base_iri=base_iri,
        drop=drop,
        limit=limit,
        seed=seed,
        kb=kb,
        fix_variables=fix_variables,
        allow_services=allow_services,
        explain=explain,
        timeout=timeout,
        dataset=dataset,
        edition=edition,
        endpoint=endpoint,
        narrow=narrow,
        withheld=withheld,
    )
    selection, closed = planned.selection, planned.closed
    made = export(store, planned.entries, planned.origin, closed, planned.name, planned.iri, kb)
    notes = (*selection.notes, *_warnings(closed, made, endpoint, drop=drop), *planned.notes)
    return Remix(
        planned.name,
        planned.iri,
        made.frames,
        made.triples,
        planned.manifest,
        planned.counts,
        selection.waterfall,
        selection.rewritten,
        notes,
        planned.signature,
        planned.parts,
    )


@in_one_state
def describe_remix(
    store: Store,
    query: Query,
    *,
    values: Mapping[str, object] | None = None,
    set_from: str | None = None,
    name: str | None = None,
    kb: KnowledgeBase | None = None,
    dataset: Sequence[str] = (),
    edition: Sequence[str] = (),
) -> pl.DataFrame:
    """Return the manifest that `build` gives the same remix, without what takes longest: its measures and triples.

    Raises as `build`.
    """
    planned = _plan(store, query, values=values, set_from=set_from, name=name, kb=kb, dataset=dataset, edition=edition)
    return planned.manifest


@dataclass(frozen=True, eq=False)
class _Planned:
    """A remix before its measures and triples are there: what it keeps of its origin, and what its manifest says."""

    name: str
    iri: str
    entries: list[DatasetEntry]
    origin: Frames
    closed: Closed
    selection: Selection
    manifest: pl.DataFrame
    counts: pl.DataFrame
    notes: tuple[str, ...]
    signature: Signature
    parts: pl.DataFrame


def _plan(
    store: Store,
    query: Query,
    *,
    values: Mapping[str, object] | None = None,
    set_from: str | None = None,
    name: str | None = None,
    base_iri: str = "urn:remix:dataset:",
    drop: bool = False,
    limit: int | None = None,
    seed: int | None = None,
    kb: KnowledgeBase | None = None,
    fix_variables: bool = False,
    allow_services: Iterable[str] = (),
    explain: bool = False,
    timeout: float = 600,
    dataset: Sequence[str] = (),
    edition: Sequence[str] = (),
    endpoint: Endpoint | None = None,
    narrow: Narrow | None = None,
    withheld: Iterable[str] = (),
) -> _Planned:
    """Return what `build` keeps, and how that is described; the parameters are those of `build`."""
    chosen = dict(values or {})
    text = query.bind(chosen, set_from)
    entries = [store.dataset(one) for one in sorted({*dataset})] or store.datasets()
    if not entries:
        raise EmptySelection(_explain_empty(query.name, pl.DataFrame(), entries))
    names = [entry.name for entry in entries]
    title, choice = _title(name, query, entries), Editions.of(names, dataset, edition)
    origin = named_frames(store, names) if dataset else frames_of(store)
    graphs = [iri for entry in entries for iri in entry.graphs()] if dataset else None
    limits = {"timeout": timeout, "graphs": graphs, "allow_services": tuple(allow_services)}
    how = {"fix_variables": fix_variables, "explain": explain, "allow_services": tuple(allow_services)}
    selection, left = _select(store, query, text, origin, entries, endpoint, limits, how)
    kept, others, left = _one_edition(choice, origin, selection.documents, left)
    documents, annotations = limit_documents(kept, limit, seed), selection.annotations
    narrowed = None if narrow is None else narrow(origin, _list_required(origin, documents, annotations))
    if narrowed is not None:
        documents, annotations, left = _narrow_selection(query.name, origin, documents, narrowed, left)
    closed = close(origin, documents, annotations, drop=drop)
    kept_of = str(choice) if len(others) or edition else ""
    told = {"editions": kept_of, "endpoint": "" if endpoint is None else endpoint.address}
    told |= {} if narrowed is None else narrowed.said
    told |= {"withheldRuns": ", ".join(sorted(withheld))} if withheld else {}
    parts = pl.DataFrame() if narrowed is None else narrowed.parts
    limited = "none" if limit is None else str(limit) if seed is None else f"{limit} by seed {seed}"
    otherwise = find_otherwise(store, kb, text, entries) if endpoint is None else {}
    measured = {"measures": ",".join(sorted({*otherwise.values()}))}
    choices = {"limit": limited, "left-out": "removed" if drop else "ignorable", **told, **measured}
    signature = _signature(title, text, entries, kb, choices)
    iri = dataset_iri(title, base_iri)
    counts, read = count_origins(origin, closed), runs_read(text, store.datasets(), dataset)
    said = {"query": text, "signature": str(signature), "knowledgeBase": kb.signature if kb else None, **told}
    manifest = describe(
        iri,
        title,
        entries,
        counts,
        said,
        parameters=query.values(chosen, set_from),
        emptied=None if drop or limit else left,
        others=others,
        parts=parts,
        runs=read,
    )
    notes = (*query.tell_unfit(chosen, set_from), *tell_editions(others), *(() if narrowed is None else narrowed.notes))
    notes += (*tell_runs(read), *tell_otherwise(otherwise, kb))
    if endpoint is None:
        notes += (*tell_unmeasured(text, entries), *tell_compared(store, text, entries))
    return _Planned(title, iri, entries, origin, closed, selection, manifest, counts, notes, signature, parts)


def _one_edition(
    editions: Editions, origin: Frames, documents: pl.Series, emptied: pl.DataFrame | None
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame | None]:
    """Return the documents that stay, those left out as other editions of them, and what the query empties of these."""
    others = editions.others(origin, documents)
    left_out = pl.col("document").is_in(others["document"].implode())
    kept = origin.documents.filter(pl.col("document").is_in(documents.implode()), ~left_out)
    return kept, others, None if emptied is None else editions.of_emptied(origin, emptied, kept["document"])


def _list_required(origin: Frames, documents: pl.Series, annotations: pl.Series) -> pl.Series:
    """Return which of the annotations are in these documents and count."""
    rows = origin.annotations.filter(
        pl.col("ignorable").is_null(),
        pl.col("document").is_in(documents.implode()),
        pl.col("annotation").is_in(annotations.implode()),
    )
    return rows["annotation"]


def _narrow_selection(
    query: str, origin: Frames, documents: pl.Series, narrowed: Narrowed, emptied: pl.DataFrame | None
) -> tuple[pl.Series, pl.Series, pl.DataFrame | None]:
    """Return the documents and annotations that stay, and what was emptied with that; raises `EmptySelection`."""
    stays = _list_required(origin, documents, narrowed.annotations)
    rows = origin.annotations.filter(pl.col("annotation").is_in(stays.implode()))
    holding = documents.filter(documents.is_in(rows["document"].unique().implode()))
    if holding.is_empty():
        raise EmptySelection(
            f"nothing is left of what {query} selects: {'; '.join(narrowed.notes) or 'all is left out'}"
        )
    if emptied is not None:
        out = documents.filter(~documents.is_in(holding.implode()))
        more = origin.documents.filter(pl.col("document").is_in(out.implode())).select("dataset", "document")
        emptied = pl.concat([emptied, more]).unique(maintain_order=True)
    return holding, stays, emptied


def check_name(title: str, datasets: Iterable[str] = ()) -> None:
    """Raise `UsageError` for what cannot name a remix, as it is part of the names of files and of an IRI.

    Nor can the name of one of the `datasets` that it is made of.

    >>> check_name("hard-persons.v2")
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", title):
        raise UsageError(f"'{title}' cannot name a remix: use up to 100 letters, digits, '-', '_' and '.'")
    if title in datasets:
        raise UsageError(f"a dataset of the workspace is named '{title}': give the remix another with --name")


def _title(name: str | None, query: Query, entries: Iterable[DatasetEntry]) -> str:
    """Return the name of the remix, which is part of its file's name and its IRI; raises `UsageError`."""
    title = re.sub(r"[^A-Za-z0-9._-]+", "-", query.name).strip("-.") or "query" if name is None else name
    check_name(title, (entry.name for entry in entries))
    return title


def _select(
    store: Store,
    query: Query,
    text: str,
    origin: Frames,
    entries: list[DatasetEntry],
    endpoint: Endpoint | None,
    limits: dict[str, Any],
    how: dict[str, Any],
) -> tuple[Selection, pl.DataFrame | None]:
    """Return what the query selects, and what it empties; raises `EmptySelection` where it selects nothing."""
    # A remix is read for its manifest without all that a query needs.
    from remix.store.selection import select
    from remix.store.worker import GuardedIndex

    opened = store.index()  # which keeps its generation there until the answers are
    with GuardedIndex(opened.path, **limits) as own:
        index = own if endpoint is None else endpoint
        selection = select(index, text, origin, name=query.source, **how)
        if len(selection.documents):
            left = find_emptied(index, selection.rewritten, origin, selection.annotations)
            return replace(selection, notes=(*selection.notes, *index.notes)), left
        if NO_RUN in index.notes:
            raise EmptySelection(f"{query.name} selects nothing: {NO_RUN}")
        explained = select(index, text, origin, name=query.source, **{**how, "explain": True})
        said = "".join(f"; {note}" for note in index.notes)
        raise EmptySelection(_explain_empty(query.name, explained.waterfall, entries) + said)


def _signature(
    name: str, text: str, entries: Iterable[DatasetEntry], kb: KnowledgeBase | None, choices: Mapping[str, str]
) -> Signature:
    inputs = [(entry.iri, entry.content, entry.enrichment or "") for entry in entries]
    # Registering a run changes the remixes alone that are selected by what came of runs.
    if reads_runs(text):
        inputs += [(entry.iri, name, held.signature) for entry in entries for name, held in entry.attached.items()]
    return Signature(
        {
            "remix": name,
            "inputs": content_hash(repr(inputs))[:12],
            "query": content_hash(text)[:12],
            **{choice: value for choice, value in choices.items() if value},
            "kb": kb.signature if kb else "none",
            "version": __version__,
        }
    )


def _explain_empty(query: str, waterfall: pl.DataFrame, entries: list[DatasetEntry]) -> str:
    """Return why nothing was selected, as far as the waterfall tells."""
    if not entries:
        return f"{query} selects nothing: the workspace holds no dataset; `remix load FILE` loads one"
    plain = [entry.name for entry in entries if entry.enrichment is None]
    hint = f"; {plain[0]} has no measures yet, `remix enrich` computes them" if plain else ""
    empty = waterfall.filter(documents=0)["condition"]
    last = f": nothing is left after {empty[0]}" if len(empty) else ""
    return f"{query} selects nothing{last}{hint}"


def _warnings(closed: Closed, made: Exported, endpoint: Endpoint | None, *, drop: bool) -> list[str]:
    found = []
    if endpoint is not None and made.skipped:
        found.append(
            f"no knowledge base is attached: documents and remix are without {', '.join(made.skipped)}, and their "
            f"other measures are those without one; annotations have what {endpoint.address} says of them "
            "(`remix kb attach` takes the one that it was measured with)"
        )
    if drop and len(closed.dropped):
        found.append(
            f"{len(closed.dropped)} annotations were removed: a system that finds them is charged with false positives,"
            " so precision will look lower than it is (without --drop they are kept as ignorable)"
        )
    if made.scoped:
        found.append(
            f"{made.scoped} documents or annotations have scoped IRIs: they share their IRI with another or have none"
        )
    return found
