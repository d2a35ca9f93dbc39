"""Outcomes made anew where what they were derived from has changed: all of them, as one change of the store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from remix import progress
from remix.documents import align
from remix.errors import Error
from remix.places import scratch_folder
from remix.runs.due import leave_due, notes_of
from remix.runs.gathering import gather
from remix.runs.register import list_runs
from remix.runs.stored import (
    Graphs,
    MadeOutcomes,
    bound_to,
    drop_difficulty,
    graphs_beside,
    make_outcomes,
    systems_of,
)
from remix.scoring.inputs.gold import kept_gold
from remix.signature import Signature
from remix.store import Store, in_one_state

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

Asked: TypeAlias = dict[tuple[str, str], set[str]]
"""The systems whose outcomes on a dataset are made, by their matching and the taxonomies of errors."""


@in_one_state
def refresh_outcomes(store: Store, kb: KnowledgeBase | None, folder: Path, *, missing: bool = False) -> None:
    """Make the outcomes anew that are of another knowledge base, other gold or another version than there are now.

    They are those of the registered answers by the matching and the taxonomies that they had. Outcomes of answers that
    are not registered any more go, which is said. With `missing` those are made as well that a registered run has none
    of, as after its dataset was loaded again, and so are those that are still due (`outcomes_due`). What was made waits
    in files until all of it is put into the store, as one change: where the work ends sooner the store is as it was.
    Outcomes on a dataset of which a run cannot be read stay as they are, which is said, and are still due.
    """
    due = notes_of(folder)
    asked, gone = _list_stale(store, kb, folder, due, missing=missing or bool(due))
    left: list[str] = []
    if asked or gone:
        with scratch_folder(store.own("cache") / "outcomes") as aside:
            graphs: dict[str, Graphs] = {}
            changed = bool(gone)
            for name in progress.track([*dict.fromkeys([*gone, *asked])], "outcomes of runs"):
                try:
                    made = _make(store, kb, folder, name, asked.get(name, {}))
                except Error as error:
                    stay = "stay as they were" if systems_of(store.dataset(name)) else "are not made"
                    progress.note(f"the outcomes of runs on {name} {stay}: {error}")
                    left.append(name)
                    continue
                found = graphs_beside(store, store.dataset(name), made, gone.get(name, ()))
                if made or name in gone:
                    graphs[name] = _put_aside(aside / name, found)
                changed |= any(status != "unchanged" for one in made for _, _, status, *_ in one.rows)
            if not _attach(store, graphs, changed=changed):
                return  # what is left is still due
    leave_due(folder, left, due)


def _list_stale(
    store: Store, kb: KnowledgeBase | None, folder: Path, due: Mapping[Path, str], *, missing: bool
) -> tuple[dict[str, Asked], dict[str, set[str]]]:
    """Return, by dataset, the systems whose outcomes are to be made, and those whose outcomes go, which is said."""
    runs = [run for run in list_runs(folder) if run.task == "A2KB"]
    asked: dict[str, Asked] = {}
    gone: dict[str, set[str]] = {}
    for entry in store.datasets():
        name, bound, held = entry.name, bound_to(entry, kb), systems_of(entry)
        registered = {run.system for run in runs if run.dataset == name}
        fields = {system: Signature.parse(line).fields for system, line in held.items()}
        stale = {system for system in held if any(fields[system].get(one, "") != now for one, now in bound.items())}
        stale |= registered if name in due.values() else set()
        for system in sorted(stale - registered):
            progress.note(f"the outcomes of run '{system}' on {name} are gone: its answers are not registered any more")
            gone.setdefault(name, set()).add(system)
        for system in registered & (stale | (registered - held.keys() if missing else set())):
            own = fields.get(system, {"matching": "strong", "errors": "neleval"})
            by = (own.get("matching", ""), own.get("errors", ""))
            asked.setdefault(name, {}).setdefault(by, set()).add(system)
    return asked, gone


def _make(store: Store, kb: KnowledgeBase | None, folder: Path, name: str, asked: Asked) -> list[MadeOutcomes]:
    """Return the outcomes of systems on a dataset; runs on other texts than it has now are told and left out."""
    made = []
    for (matching, errors), systems in sorted(asked.items()):
        gold, known = kept_gold(store, [name])
        answers = gather(folder, known, sorted(systems), told=False).get("A2KB", {})
        kept = {system: run for system, run in answers.items() if len(align(gold, run, system, told=False))}
        for system in sorted(answers.keys() - kept.keys()):
            progress.note(f"run '{system}' answers other texts than {name} has now: `remix run add` its answers again")
        if kept:
            told = errors.split(",") if errors else []
            made.append(make_outcomes(store, gold, kept, kb, matching=matching, errors=told, registered=kept))
    return made


def _put_aside(folder: Path, graphs: Graphs) -> Graphs:
    """Return graphs with their triples in files of a folder, as those of many datasets need not fit into memory."""
    import zstandard

    folder.mkdir()
    found: Graphs = {}
    for number, (name, graph) in enumerate(graphs.items()):
        if graph is None or isinstance(graph[0], Path):
            found[name] = graph
            continue
        file = folder / f"{number}.nt.zst"
        file.write_bytes(zstandard.ZstdCompressor(level=1).compress(graph[0]))
        found[name] = (file, graph[1])
    return found


def _attach(store: Store, graphs: dict[str, Graphs], *, changed: bool) -> bool:
    """Put graphs into the store, and return whether these are all of them.

    They are those beside what no other process has changed meanwhile: of what was loaded anew, or has other outcomes,
    they were made of what is not there any more.
    """
    seen = {entry.name: (entry.content, entry.attached) for entry in store.datasets()}
    entries = Store(store.folder).datasets()
    now = {entry.name for entry in entries if seen.get(entry.name) == (entry.content, entry.attached)}
    kept = {name: found for name, found in graphs.items() if name in now}
    if changed:
        drop_difficulty((entry for entry in store.datasets() if entry.name in now), kept)
    with progress.stage("graphs of runs"):
        store.attach(kept)
    return graphs.keys() <= now
