"""What an evaluation takes of the register: the answers of runs to these datasets, by task and name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from remix import progress
from remix.documents import align
from remix.errors import StoreError, UnknownName
from remix.frames import Frames
from remix.runs.register import DamagedRun, Run, list_runs, read_answers, read_answers_of
from remix.scoring.inputs.texts import laid_on_gold
from remix.systems import TASKS

if TYPE_CHECKING:
    from remix.store.targets import Target


def gather(
    folder: Path,
    gold: Sequence[Target],
    names: Iterable[str] = (),
    *,
    told: bool = True,
    runs: Sequence[Run] | None = None,
    origins: Mapping[str, Sequence[str]] = MappingProxyType({}),
    contents: Mapping[str, str] = MappingProxyType({}),
    lost_origins: Sequence[str] = (),
) -> dict[str, dict[str, Frames]]:
    """Return, by the task that they were made for, the answers of runs to these datasets, by the name of the run.

    The `dataset` of an answered document is the name of that which the run is registered on. Named are runs; by default
    they are all that are on any dataset of gold, and the others are told. For gold in files, such as remixes, a run is
    also taken with its answers to other datasets: documents are what is matched. A loaded remix is answered by what is
    registered on its `origins` as well, by each system that has no run for the task on the remix itself. A file that is
    called as a dataset of other `contents` that is loaded has none of the answers to that. Of runs that are named it is
    said, unless `told` is false, where they have no answer or no link. `runs` are those of the folder, where they are
    known; `lost_origins` say why a remix is not answered by what is registered on its origins.
    A run none of whose texts a dataset has any more, as after another edition was loaded in its place, is not on that,
    which is said; one that is named and on nothing else is taken, for who reads it to refuse. A damaged run is told
    where it is on other datasets.
    Raises `UnknownName` for a name without any run, `StoreError` where no run is on gold, and for one there that is
    damaged.
    """
    runs = _without_other_contents(list_runs(folder) if runs is None else runs, gold, contents)
    chosen, wanted = list(dict.fromkeys(names)), {target.name for target in gold}
    known = sorted({run.system for run in runs})
    _refuse_unknown(chosen, known, wanted)
    files = Frames.concat(target.frames for target in gold if not target.loaded)
    loaded = {target.name: target for target in gold if target.loaded}
    found: dict[str, dict[str, Frames]] = {}
    lost: dict[str, set[str]] = {}
    registered = _read_registered(folder, runs, wanted, origins, chosen or known, alone=files.documents.is_empty())
    for (task, name), (ran, reached, parts) in registered.items():
        own = [*parts]
        moved = [one for one in own if one in loaded and ran[one].content != loaded[one].content]
        gone = {one for one in moved if not _has_any_text(loaded[one].frames, parts[one])}
        if gone and (not chosen or gone < {*own}):
            lost.setdefault(name, set()).update(gone)
            own = [dataset for dataset in own if dataset not in gone]
        if not own:
            continue
        answers = Frames.concat(parts[dataset].in_dataset(dataset) for dataset in own)
        if chosen or (wanted | reached) & ran.keys() or len(align(files, answers, name, told=False)):
            found.setdefault(task, {})[name] = answers
            if chosen and told:
                _tell_empty(name, task, answers)
    if told:
        _tell_damaged(runs)
    _tell_lost(lost, left=bool(found))
    there = {*lost, *(name for one in found.values() for name in one)}
    if rest := [name for name in chosen or known if name not in there]:
        elsewhere = [run for run in runs if run.system in rest]
        _tell_elsewhere(elsewhere, rest, wanted, lost_origins, left=bool(found) and not chosen)
    return found


def _read_registered(
    folder: Path,
    runs: Sequence[Run],
    wanted: Collection[str],
    origins: Mapping[str, Sequence[str]],
    names: Sequence[str],
    *,
    alone: bool,
) -> dict[tuple[str, str], tuple[dict[str, Run], set[str], dict[str, Frames]]]:
    """Return by task and name the runs by dataset, the origins that they reach, and the answers of those to be taken.

    Those are the runs on the `wanted` datasets and on what these were cut from; where gold is not loaded datasets
    `alone` they may be all. The files of all are read at once, in half the time.
    """
    ran, reached, own = {}, {}, {}
    for key in product(TASKS, names):
        ran[key] = {run.dataset: run for run in runs if (run.task, run.system) == key}
        reached[key] = {one for remix in {*wanted} - ran[key].keys() for one in origins.get(remix, ())}
        whole = {*wanted} <= ran[key].keys() or alone
        asked = {*wanted} | reached[key]
        own[key] = sorted(
            one for one, run in ran[key].items() if one in asked or not (whole or isinstance(run, DamagedRun))
        )
    every = iter(read_answers_of(folder, [ran[key][dataset] for key in own for dataset in own[key]]))
    return {key: (ran[key], reached[key], {dataset: next(every) for dataset in own[key]}) for key in own}


def _without_other_contents(runs: Sequence[Run], gold: Sequence[Target], contents: Mapping[str, str]) -> Sequence[Run]:
    """Return the runs without those on a loaded dataset of other content whose name a file of gold has."""
    files = {one.name: one.content for one in gold if not one.loaded}
    others = {name for name, content in files.items() if contents.get(name, content) != content}
    return [run for run in runs if run.dataset not in others or run.content == files[run.dataset]]


def _refuse_unknown(chosen: Sequence[str], known: Sequence[str], wanted: Collection[str]) -> None:
    """Raise `UnknownName` for a name that no run has, `StoreError` where there is no run."""
    if unknown := [name for name in chosen if name not in known]:
        command = f"--run NAME={unknown[0]}" if Path(unknown[0]).suffix else "remix run list"
        raise UnknownName("run", unknown[0], known, command, does="takes a file" if "=" in command else "shows all")
    if not known:
        one = min(wanted)
        raise StoreError(
            f"no run is registered: `remix annotate {one} --system prior` makes one, "
            f"`remix run add NAME FILE --on {one}` takes yours"
        )


def _tell_elsewhere(
    runs: Sequence[Run], names: Sequence[str], wanted: Collection[str], lost_origins: Sequence[str], *, left: bool
) -> None:
    """Say of runs of these names on which datasets they are; raises `StoreError` unless others are `left`."""
    on = sorted({run.dataset for run in runs})
    who = "run {} is" if len(names) == 1 else "runs {} are"
    said = f"{who.format(', '.join(names))} registered on {', '.join(on)}, not on {', '.join(sorted(wanted))}"
    why = "".join(f"; {one}" for one in lost_origins)
    if not left:
        raise StoreError(f"{said}: `remix run add NAME FILE --on {min(wanted)}` registers answers to it{why}")
    progress.note(f"{said}, and left out{why}")


def _tell_lost(lost: Mapping[str, Collection[str]], *, left: bool) -> None:
    """Say of which datasets runs answer other texts than these have now; raises `StoreError` where no run is `left`."""
    if not lost:
        return
    told = [
        f"run '{name}' answers other texts than {' and '.join(sorted(those))} has now"
        for name, those in sorted(lost.items())
    ]
    name = min(lost)
    again = f"`remix run add {name} FILE --on {min(lost[name])}` registers answers again"
    if not left:
        raise StoreError(f"{'; '.join(told)}: {again}")
    progress.note(f"{'; '.join(told)}, and is left out there: {again}")


def _tell_damaged(runs: Sequence[Run]) -> None:
    """Say of runs whose description is damaged, and which were not read, that they are."""
    for run in runs:
        if isinstance(run, DamagedRun):
            progress.note(f"run '{run.system}' on {run.dataset} is left out: {run.damage}")


def _has_any_text(gold: Frames, answers: Frames) -> bool:
    """Return whether gold has any of the documents that are answered, with other white space or tokens, too."""
    with progress.enable(False):  # it is said where they are scored
        [laid] = laid_on_gold(gold, {"run": answers}).values()
    return not align(gold, laid, told=False).is_empty()


def gather_each(
    folder: Path, datasets: Collection[str], runs: Sequence[Run]
) -> dict[str, dict[str, dict[str, Frames]]]:
    """Return, by loaded dataset, what `gather` returns of it alone without names, of those that any of the runs is on.

    A run whose files are damaged takes its dataset out.
    """
    own = [run for run in runs if run.dataset in datasets and run.task in TASKS]
    damaged: set[str] = set()
    try:
        read = dict(zip(own, read_answers_of(folder, own), strict=True))
    except StoreError:
        read = {}
        for run in own:
            try:
                read[run] = read_answers(folder, run)
            except StoreError:
                damaged.add(run.dataset)
    found: dict[str, dict[str, dict[str, Frames]]] = {}
    for task in TASKS:
        for run in sorted(read, key=lambda run: run.system):
            if run.task == task and run.dataset not in damaged:
                answers = read[run].in_dataset(run.dataset)
                found.setdefault(run.dataset, {}).setdefault(task, {})[run.system] = answers
    return found


def _tell_empty(name: str, task: str, answers: Frames) -> None:
    """Say of a registered run that it has no answer or no link, as reading its file said when it was registered."""
    count = answers.annotations.height
    if not count:
        progress.note(f"run '{name}' in {task}: no-annotation: its {answers.documents.height} documents have no answer")
    elif answers.links.is_empty():
        progress.note(
            f"run '{name}' in {task}: no-link: not one of its {count} answers has a link, so that all are NIL"
        )
