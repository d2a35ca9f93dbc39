"""What a workspace holds, what changed in it last, what in it is out of date, and what to do next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from remix.errors import Error, UsageError
from remix.kb import KnowledgeBase
from remix.measures.enrichment import signature_of_store
from remix.remixes.computed import runs_read
from remix.remixes.manifest import read_manifest
from remix.runs.known import known_runs
from remix.runs.register import DamagedRun, Run, list_runs
from remix.runs.stored import command_that_stores, is_of_this_form, systems_of
from remix.signature import Signature
from remix.store import DatasetEntry, Store

_PARTS = {
    "kb": "another knowledge base",
    "datasets": "other datasets beside it",
    "classes": "another mapping of classes",
    "remix": "another version of remix",
}
"""What of a signature of measures is said in words where it is another now."""
_MANY = 3
"""Names that a sentence lists; of more it says how many."""


@dataclass(frozen=True)
class Holdings:
    """What a workspace holds: its datasets, those of them that are remixes, its runs, and the knowledge base's name."""

    datasets: Sequence[DatasetEntry]
    remixes: Sequence[str]
    runs: Sequence[Run]
    kb: str

    @property
    def systems(self) -> list[str]:
        """Return the names of the systems that have answered, sorted."""
        return sorted({run.system for run in self.runs})

    @property
    def enriched(self) -> list[str]:
        """Return the names of the datasets whose measures are stored."""
        return [entry.name for entry in self.datasets if entry.enrichment]


def read_holdings(store: Store) -> Holdings:
    """Return what a workspace holds; raises `StoreError` where it cannot be read.

    >>> read_holdings(Store(Path("nowhere"))).systems
    []
    """
    entries = store.datasets()
    loaded = {entry.name for entry in entries}
    remixes = []
    for entry in entries:
        with suppress(Error, OSError):  # the file that it was loaded from may be gone, or no file
            remixes += [entry.name] if read_manifest(Path(entry.source)) is not None else []
    runs = [run for run in list_runs(store.folder / "runs") if run.dataset in loaded]
    return Holdings(entries, remixes, runs, "" if store.kb_folder is None else store.kb_folder.name)


def list_changes(store: Store, held: Holdings) -> pl.DataFrame:
    """Return when (UTC), what and name of what was loaded, enriched, registered or attached, the latest first.

    The times are those of the folders that hold them, to the minute; what was written within a minute is one row.
    """
    places: list[tuple[str, str, Path]] = [("loaded", one.name, Path(one.folder)) for one in held.datasets]
    places += [("enriched", one.name, Path(one.enrichment_file).parent) for one in held.datasets if one.enrichment_file]
    places += [("run registered", f"{run.system} on {run.dataset}", Path("runs", run.folder_name)) for run in held.runs]
    if held.kb and store.kb_folder is not None:
        places.append(("knowledge base built", held.kb.rpartition("-")[0] or held.kb, store.kb_folder))
    rows = []
    for what, name, place in places:
        with suppress(OSError):
            at = datetime.fromtimestamp((store.folder / place).stat().st_mtime, UTC)
            rows.append((at.strftime("%Y-%m-%d %H:%M"), what, name))
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("when", "what", "name"), pl.String), orient="row")
    together = frame.group_by("when", "what", maintain_order=True).agg(pl.col("name"))
    named = together.with_columns(pl.col("name").map_elements(_list_names, return_dtype=pl.String))
    return named.sort("when", descending=True, maintain_order=True)


def _list_names(names: Sequence[str]) -> str:
    """Return names in a few words.

    >>> _list_names(["a", "b"]), _list_names(["a", "b", "c", "d"])
    ('a, b', 'a, b and 2 more')
    """
    known = [*names]
    return ", ".join(known) if len(known) <= _MANY else f"{', '.join(known[:2])} and {len(known) - 2} more"


def list_outdated(store: Store, kb: KnowledgeBase | None, held: Holdings) -> dict[str, list[str]]:
    """Return what is older than what it was made of: a sentence, with the commands that renew it.

    Those are measures that were stored with another knowledge base or beside other datasets, runs on a dataset whose
    content is another now, and outcomes that an earlier version stored.
    """
    found: dict[str, list[str]] = {}
    now = signature_of_store(store, kb)
    reasons: dict[str, list[str]] = {}
    for entry in held.datasets:
        for reason in _differences(entry, now):
            reasons.setdefault(reason, []).append(entry.name)
    for reason, names in reasons.items():
        found[f"The stored measures of {_list_names(names)} were made with {reason} than there is now."] = [
            "remix enrich"
        ]
    contents = {entry.name: entry.content for entry in held.datasets}
    for run in held.runs:
        if isinstance(run, DamagedRun):
            found[f"The run {run.system} on {run.dataset} is damaged."] = [
                f"remix run drop {run.system} --on {run.dataset}"
            ]
        elif run.content != contents[run.dataset]:
            said = f"{run.system} answered other content of {run.dataset} than is loaded now."
            found[said] = [f"remix annotate {run.dataset} --system {run.system}"]
    return {**found, **_list_earlier(held.datasets, held.runs)}


def list_earlier_outcomes(store: Store, text: str, datasets: Collection[str] = ()) -> dict[str, list[str]]:
    """Return which outcomes that a query reads, by default of all datasets, an earlier version stored.

    They are a sentence each, with the command that stores them anew.
    """
    entries = [entry for entry in store.datasets() if not datasets or entry.name in datasets]
    read = {*runs_read(text, entries)}
    return _list_earlier(entries, [one.run for one in known_runs(store) if one.run.system in read])


def _list_earlier(entries: Iterable[DatasetEntry], runs: Iterable[Run]) -> dict[str, list[str]]:
    """Return which outcomes of registered runs an earlier version stored, with the command that stores them anew."""
    registered = {(run.system, run.dataset) for run in runs}
    earlier: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        for system, signature in systems_of(entry).items():
            fields = Signature.parse(signature).fields
            if (system, entry.name) in registered and not is_of_this_form(fields):
                earlier.setdefault((system, fields.get("matching", "strong")), []).append(entry.name)
    found = dict[str, list[str]]()
    for (system, matching), names in earlier.items():
        by = f" by {matching} matching" if matching != "strong" else ""
        said = (
            f"The stored outcomes{by} of {system} beside {_list_names(names)} are those of an earlier version of remix."
        )
        found[said] = [command_that_stores(names, [system], matching)]
    return found


def _differences(entry: DatasetEntry, now: Mapping[str, str]) -> Iterator[str]:
    with suppress(UsageError):  # a store may be given values that remix has not computed
        stored = Signature.parse(entry.enrichment).fields if entry.enrichment else {}
        yield from (words for name, words in _PARTS.items() if name in stored and stored[name] != now.get(name))


def propose_commands(held: Holdings) -> dict[str, list[str]]:
    """Return what to do next, as far as it is not done yet: a sentence, with commands that do it."""
    if not held.datasets:
        return {
            "No dataset is loaded yet: load a file, or one that remix knows.": ["remix load FILE", "remix fetch NAME"]
        }
    first = held.datasets[0].name
    found: dict[str, list[str]] = {}
    if not held.kb:
        said = "No knowledge base is attached: readings of names, prominence and types are not known."
        found[said] = ["remix fetch kb NAME", "remix kb build", "remix kb attach FOLDER"]
    if plain := [entry.name for entry in held.datasets if not entry.enrichment]:
        said = f"The measures of {_list_names(plain)} are not stored: queries and partitions do not see them."
        found[said] = ["remix enrich"]
    if not held.runs:
        said = "No system has answered: have one answer, or add answers from anywhere."
        own = [f"remix annotate {first} --system prior"] if held.kb else []
        found[said] = [*own, f"remix run add NAME FILE --on {first}"]
    elif len(held.systems) == 1:
        said = f"{held.systems[0]} has answered alone: another system, were it a baseline, says what its scores mean."
        found[said] = [f"remix annotate {first} --system prior", f"remix run add NAME FILE --on {first}"]
    else:
        found["Compare the systems in a terminal, as data or as a table for a paper."] = [
            "remix compare",
            "remix evaluate -o latex",
        ]
    if held.enriched and held.kb and not held.remixes:
        found["Carve a benchmark out of what is loaded: the builder shows what a query keeps."] = [
            "remix build --query persons_hard"
        ]
    found["Take all of it along, as one file or as a folder for others."] = ["remix report", f"remix publish {first}"]
    return found
