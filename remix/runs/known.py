"""The runs that are registered, with what they are in a comparison, read once for each state of their folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from remix.runs.register import DamagedRun, Run, list_runs
from remix.runs.registration import is_shipped
from remix.systems import SYSTEMS
from remix.systems.record import Record, read_record

if TYPE_CHECKING:
    from remix.store import Store


@dataclass(frozen=True)
class KnownRun:
    """A run, what can change its scores (`signature`), its kind (`remix.systems.KINDS`), the revision of its texts.

    The kind is that of a system of remix that was run here, or whose answers ship; what was taken from other files is a
    system, whatever its name. One that is `inherited` is registered on what its dataset, a remix, was cut from.
    """

    run: Run
    signature: str
    kind: str
    revision: str = ""
    inherited: bool = False


def known_runs(store: Store) -> Sequence[KnownRun]:
    """Return the runs that are registered in a workspace, sorted by name, damaged ones too; raises as `list_runs`."""
    folder = store.folder / "runs"
    return store.cached(("known runs", _stamp(folder)), lambda: [_know(folder, run) for run in list_runs(folder)])


def inherited_runs(store: Store, names: Collection[str]) -> list[KnownRun]:
    """Return the runs on the origins of the loaded remixes among these datasets, as runs on these.

    A system that has a run for a task on the remix itself is not among them, as `remix.runs.gathering.gather` has it;
    of several origins that a run is on the first stands for it.
    """
    # Files alone are scored without the libraries that this brings.
    from remix.remixes.manifest import origins_of_remixes

    runs, found = known_runs(store), list[KnownRun]()
    for remix, origins in origins_of_remixes(store).items():
        if remix not in names:
            continue
        there = {(one.run.system, one.run.task) for one in runs if one.run.dataset == remix}
        for one in runs:
            key = (one.run.system, one.run.task)
            if one.run.dataset in origins and key not in there:
                there.add(key)
                found.append(replace(one, run=replace(one.run, dataset=remix), inherited=True))
    return found


def compared_systems(runs: Iterable[KnownRun], datasets: Collection[str], shown: Collection[str]) -> list[str]:
    """Return the systems that errors on several datasets are judged of, sorted.

    They are those that are `shown`, and those that have a run on each of the datasets, with which alone these can be
    compared: 'missed by all' is said of them.
    """
    on: dict[str, set[str]] = {}
    for one in runs:
        if one.run.dataset in datasets:
            on.setdefault(one.run.system, set()).add(one.run.dataset)
    return sorted(system for system, own in on.items() if system in shown or own == {*datasets})


def kinds_of(runs: Sequence[KnownRun]) -> dict[str, str]:
    """Return the kind of each name: a baseline or an oracle is what is one on all of its datasets."""
    found: dict[str, str] = {}
    for one in runs:
        found[one.run.system] = one.kind if found.get(one.run.system, one.kind) == one.kind else "system"
    return found


def _know(folder: Path, run: Run) -> KnownRun:
    record = None if isinstance(run, DamagedRun) else read_record(folder / run.folder_name)
    revision = record.revision if record is not None else ""
    return KnownRun(run, f"{vars(run)} {revision}", _find_kind(run, record), revision)


def _find_kind(run: Run, record: Record | None) -> str:
    name = record.system if record is not None else run.system
    taken = bool(run.source) and not is_shipped(run)
    return "system" if taken or name not in SYSTEMS else SYSTEMS[name].kind


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return what is another where a run is: each is written whole, in the place of the one before."""
    try:
        with os.scandir(folder) as found:
            states = [(one.name, one.stat()) for one in found if not one.name.startswith(".")]
    except OSError:
        return ()
    return tuple(sorted((name, state.st_mtime_ns, state.st_ino) for name, state in states))
