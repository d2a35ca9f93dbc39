"""What a study writes into its workspace before anything is counted: datasets, measures, runs; and its remixes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from remix import progress
from remix.errors import Error
from remix.measures.enrichment import measured_otherwise
from remix.remixes.balance import EVERYTHING
from remix.remixes.filters.definition import split_reference
from remix.remixes.manifest import origins_of_remixes, read_manifest
from remix.runs.known import kinds_of, known_runs
from remix.runs.register import DamagedRun, Run, has_its_texts, list_runs
from remix.scoring.tasks import takes_spans
from remix.signature import content_hash
from remix.store.queries import Query, find
from remix.studies.definition import ALL, StudiedRemix, StudiedRun, StudiedSystem, Study
from remix.studies.host import Host
from remix.studies.shelf import StepShelf, key_of


@dataclass(frozen=True)
class Aim:
    """A target as it is: what gold is read from, by which content, and the loaded datasets that its documents are of.

    A remix is `selected_by` the runs of systems where its query reads these. `state` is 'there', or what it is instead,
    with what is `told` of it.
    """

    name: str
    kind: str
    gold: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    content: str = ""
    query: str = ""
    selected_by: tuple[str, ...] = ()
    state: str = "there"
    told: str = ""


@dataclass
class Prepared:
    """What there is of a study once its workspace is prepared: targets, and what became of systems that failed.

    `contents` are the hashes of datasets, `queries` those of the queries of remixes, by their names; `annotated` are
    the systems and datasets whose annotations alone changed since the run was registered; `origins` are what loaded
    remixes were cut from, by their names.
    """

    aims: dict[str, Aim] = field(default_factory=dict)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)
    queries: dict[str, str] = field(default_factory=dict)
    annotated: set[tuple[str, str]] = field(default_factory=set)
    origins: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def runs_of(self, system: str, aim: Aim) -> list[Run]:
        """Return the runs of a system that a target is scored with."""
        return list(dict.fromkeys(run for home in aim.homes for run in self.runs_on(system, home)))

    def runs_on(self, system: str, home: str) -> list[Run]:
        """Return the runs of a system that answer a loaded dataset: a remix has those on its origins in each task that
        the system has none of its own for, as `remix.runs.gathering.gather` has it."""
        own = [run for run in self.runs if (run.system, run.dataset) == (system, home)]
        tasks, origins = {run.task for run in own}, self.origins.get(home, ())
        own += [run for run in self.runs if run.system == system and run.dataset in origins and run.task not in tasks]
        return [run for run in own if self._is_of_now(run)]

    def _is_of_now(self, run: Run) -> bool:
        """Return whether a run is on its dataset as it is now, or on its texts, if it was given no spans."""
        same_texts = (run.system, run.dataset) in self.annotated and not takes_spans(run.task)
        return same_texts or run.content == self.contents.get(run.dataset)

    def hole(self, system: str, aim: Aim) -> tuple[str, str]:
        """Return the state of a system on a target, and what is told of it."""
        if aim.state != "there":
            return aim.state, aim.told
        if system in aim.selected_by:
            return "fitted", (
                f"{aim.name} was selected by what came of the run of '{system}', whose score would be fitted to that: "
                f"name it in `without` of [remixes.{aim.name}]"
            )
        if failed := [f"{name}: {self.failed[system, name]}" for name in aim.homes if (system, name) in self.failed]:
            return "failed", f"'{system}' failed on {'; '.join(failed)}"
        if lacking := [name for name in aim.homes if not self.runs_on(system, name)]:
            old = {run.dataset for run in self.runs if run.system == system}
            same = [name for name in lacking if (system, name) in self.annotated]
            others = [name for name in lacking if name in old and name not in same]
            why = [
                *([f"answers other texts than {', '.join(others)} has now"] if others else []),
                *(
                    [f"was registered before the annotations of {', '.join(same)} changed, whose spans it was given"]
                    if same
                    else []
                ),
                *([f"is not registered on {', '.join(new)}"] if (new := [n for n in lacking if n not in old]) else []),
            ]
            return "not registered", (
                f"'{system}' {' and '.join(why)}: `remix run add {system} FILE --on {lacking[0]}` registers answers"
            )
        return "there", ""


def made_for(study: Study, system: StudiedSystem) -> str:
    """Return the task that a system's answers are made for."""
    return system.task or ("D2KB" if takes_spans(study.tasks[0]) else "A2KB")


def annotation_key(host: Host, study: Study, system: StudiedSystem, content: str) -> str:
    """Return the key of the answers of a system to a dataset."""
    kb = host.kb
    read = {"content": content, "seed": study.seed, "task": made_for(study, system), "kb": kb.version if kb else ""}
    return key_of("annotate", {**read, **{k: v for k, v in asdict(system).items() if k not in ("kind", "task")}})


def is_answered(host: Host, shelf: StepShelf, study: Study, system: StudiedSystem, dataset: str, content: str) -> bool:
    """Return whether the registered run is what the study would make."""
    key = annotation_key(host, study, system, content)
    if not shelf.has("annotate", key):
        return False
    kept = (shelf.place("annotate", key) / "checksum").read_text(encoding="utf-8")
    task = made_for(study, system)
    runs = {(run.system, run.dataset, run.task): run.checksum for run in list_runs(host.runs_folder)}
    return runs.get((system.name, dataset, task)) == kept


def with_kinds(host: Host, study: Study) -> Study:
    """Return the study with the kind of each system and run that names none, which its registered run has."""
    kinds = kinds_of(known_runs(host.store))
    return replace(
        study,
        systems=tuple(replace(one, kind=one.kind or kinds.get(one.name, "system")) for one in study.systems),
        runs=tuple(replace(one, kind=one.kind or kinds.get(one.name, "system")) for one in study.runs),
    )


def load_missing(host: Host, study: Study) -> dict[str, str]:
    """Return what is told of datasets that are not there, after those in files and of the catalogue were loaded."""
    host.ensure_sample(study.datasets)
    absent = {}
    for name in study.datasets:
        if name in host.store.state.datasets:
            continue
        try:
            host.load(name)
        except Error as error:
            absent[name] = str(error)
    return absent


def loaded_name(host: Host, name: str) -> str:
    """Return what a dataset of the study is called in the workspace: a file as it was loaded."""
    from remix.files import default_name

    return name if name in host.store.state.datasets else default_name(name)


def prepare(
    host: Host,
    shelf: StepShelf,
    study: Study,
    say: Callable[[str], None] = progress.note,
    *,
    allowed: Sequence[str] = (),
) -> Prepared:
    """Return what there is of a study after what it writes into its workspace was written there.

    Filters ask the addresses alone that are `allowed`.
    """
    absent = load_missing(host, study)
    if study.kb:
        host.attach_kb(study.kb)
    if study.by or study.columns or study.remixes:
        plain = any(entry.enrichment is None for entry in host.store.datasets())
        if plain or measured_otherwise(host.store, host.kb):
            say("measures")
            host.enrich()
    made = Prepared()
    present = [name for name in study.datasets if name not in absent]
    for name in study.datasets:
        made.aims[name] = (
            Aim(name, "dataset", state="absent", told=absent[name])
            if name in absent
            else Aim(name, "dataset", (loaded_name(host, name),), (loaded_name(host, name),))
        )
    homes = [loaded_name(host, name) for name in present]
    contents = {entry.name: entry.content for entry in host.store.datasets()}
    made.contents = contents
    for system in study.systems:
        for name in homes:
            if is_answered(host, shelf, study, system, name, contents[name]):
                continue
            say(f"{system.name} on {name}")
            _annotate(host, shelf, study, system, name, contents[name], made)
    for run in study.runs:
        if run.files:
            _register(host, run, homes, made)
    made.runs, made.origins = list_runs(host.runs_folder), origins_of_remixes(host.store)
    made.annotated = _find_annotated(host, study, made)
    entries = {entry.name: entry for entry in host.store.datasets()}
    for name in present:
        home = loaded_name(host, name)
        made.aims[name] = Aim(name, "dataset", (home,), (home,), _content(entries[home]))
    if len(study.datasets) > 1:
        lost = [name for name in study.datasets if name in absent]
        content = content_hash(*(made.aims[name].content for name in present))
        told = f"{', '.join(lost)} is not there: {absent[lost[0]]}" if lost else ""
        made.aims[ALL] = Aim(
            ALL, "all", tuple(homes), tuple(homes), content, state="absent" if lost else "there", told=told
        )
    for remix in study.remixes:
        made.aims[remix.name] = _build(host, shelf, study, remix, made, say, allowed)
    return made


def _find_annotated(host: Host, study: Study, made: Prepared) -> set[tuple[str, str]]:
    """Return the systems and datasets of whose texts a run has the same, and which have other annotations now."""
    own, now = {one.name for one in study.scored}, made.contents
    for one in made.runs:
        if isinstance(one, DamagedRun) and one.system in own and one.dataset in now:
            made.failed[one.system, one.dataset] = one.damage
    held = [one for one in made.runs if not isinstance(one, DamagedRun)]
    moved = [one for one in held if one.system in own and now.get(one.dataset, one.content) != one.content]
    return {
        (one.system, one.dataset)
        for one in moved
        if has_its_texts(host.runs_folder, one, host.store.frames([one.dataset]).documents)
    }


def _content(entry: Any) -> str:
    """Return the hash of what is read of a loaded dataset: its data and their measures.

    What is learnt from runs changes with each run that is registered: who reads it has its signatures besides.
    """
    return content_hash(json_of([entry.name, entry.content, entry.enrichment or ""]))


def json_of(value: object) -> str:
    """Return a value as JSON, the same for the same value."""
    return json.dumps(value, sort_keys=True, default=str)


def _annotate(
    host: Host, shelf: StepShelf, study: Study, system: StudiedSystem, dataset: str, content: str, made: Prepared
) -> None:
    """Have a system answer on a dataset; what it fails with is kept, and the others go on."""
    task = made_for(study, system)
    held = {(run.system, run.dataset, run.task): run.source for run in list_runs(host.runs_folder)}
    try:
        if source := held.get((system.name, dataset, task), ""):
            raise Error(
                f"a run of this name was registered from {source}, and stays: call the system otherwise, or name the "
                f"run as [runs.{system.name}]"
            )
        with shelf.writing(
            "annotate", annotation_key(host, study, system, content), f"{system.name} on {dataset}"
        ) as place:
            rows = host.annotate(
                dataset,
                system.adapter or system.name,
                task=task,
                seed=study.seed,
                name=system.name,
                parameter=system.parameters,
                address=system.address,
            )
            if rows["failed"].sum() and not rows["answers"].sum():
                raise Error("it has no answer to any document: `remix annotate` says why")
            runs = {(run.system, run.dataset, run.task): run.checksum for run in list_runs(host.runs_folder)}
            (place / "checksum").write_text(runs[system.name, dataset, task], encoding="utf-8")
    except Error as error:
        made.failed[system.name, dataset] = str(error)
        progress.note(f"{system.name} on {dataset} failed: {error}")


def _register(host: Host, run: StudiedRun, homes: Sequence[str], made: Prepared) -> None:
    """Register answers in files, anew where a file of this name changed; what came from elsewhere stays, which is said.

    What a run came from is known by the names of its files alone, as no path is kept.
    """
    came_from = {one.source for one in list_runs(host.runs_folder) if one.system == run.name}
    same_files = came_from == {", ".join(Path(file).name for file in run.files)}
    try:
        host.add_run(
            run.name,
            [*run.files],
            on=homes if len(homes) == 1 else (),
            task=run.task,
            replace=same_files,
            format=run.format or (),
        )
    except Error as error:
        made.failed.update({(run.name, name): str(error) for name in homes})
        progress.note(f"run '{run.name}' is not registered: {error}")


def query_of(
    host: Host, study: Study, remix: StudiedRemix, *, allowed: Sequence[str] = (), kept_only: bool = False
) -> Query:
    """Return the query of a remix, whose datasets are loaded: for a filter, that of what it keeps of them."""
    seen = tuple(loaded_name(host, name) for name in remix.datasets or study.datasets)
    return host.find_query(
        remix.query or EVERYTHING,
        dataset=seen,
        service=remix.service,
        allow_service=tuple(allowed),
        kept_only=kept_only,
    )


def remix_key(host: Host, study: Study, remix: StudiedRemix, query: Query) -> str:
    """Return the key of a remix by its query; its datasets are loaded."""
    entries = {entry.name: entry for entry in host.store.datasets()}
    own = [entries[loaded_name(host, name)] for name in remix.datasets or study.datasets]
    kb = host.kb
    read = {
        "query": query.bind(remix.values, remix.set_from or None),
        "name": remix.name,
        "seen": {one.name: [_content(one), [held.signature for held in one.attached.values()]] for one in own},
        "kb": kb.version if kb else "",
        "choices": [remix.edition, remix.limit, remix.seed],
        "balance": [remix.balance, remix.balance_over, remix.balance_share, remix.balance_tolerance],
        "without": sorted(remix.without),
    }
    return key_of("remix", read)


def _build(
    host: Host,
    shelf: StepShelf,
    study: Study,
    remix: StudiedRemix,
    made: Prepared,
    say: Callable[[str], None],
    allowed: Sequence[str],
) -> Aim:
    """Return a remix as a target, built where it is not there yet."""
    named = split_reference(remix.query)
    if named is None:
        told = (plain := find(remix.query or EVERYTHING)).name
        made.queries[remix.name] = content_hash(plain.text)
    else:
        told = f"filter {named[1] or named[0].stem}"
    told += "".join(f" {name}={value}" for name, value in {**remix.values}.items())
    told += f" set={remix.set_from}" if remix.set_from else ""
    told += f" balance={','.join(remix.balance)}" if remix.balance else ""
    told += f" without={','.join(remix.without)}" if remix.without else ""
    names = remix.datasets or study.datasets
    if lost := [name for name in names if made.aims[name].state != "there"]:
        return Aim(remix.name, "remix", query=told, state="absent", told=made.aims[lost[0]].told)
    seen = tuple(made.aims[name].gold[0] for name in names)
    entries = {entry.name: entry for entry in host.store.datasets()}
    try:
        query = query_of(host, study, remix, allowed=allowed)
        made.queries[remix.name] = content_hash(query.text)
        key = remix_key(host, study, remix, query)
        place = shelf.place("remix", key)
        if not shelf.has("remix", key):
            say(f"remix {remix.name}")
            with shelf.writing("remix", key, remix.name) as aside:
                built = host.build(
                    query,
                    name=remix.name,
                    values=remix.values,
                    set_from=remix.set_from or None,
                    limit=remix.limit,
                    seed=remix.seed,
                    dataset=seen,
                    edition=remix.edition,
                    balance=remix.balance,
                    balance_over=remix.balance_over,
                    balance_share=remix.balance_share,
                    balance_tolerance=remix.balance_tolerance,
                    without=remix.without,
                )
                built.write(aside)
    except Error as error:
        return Aim(remix.name, "remix", query=told, state="failed", told=str(error))
    file = place / f"{remix.name}.ttl"
    manifest = read_manifest(file)
    homes = manifest.kept if manifest is not None else seen
    content = content_hash(file, place / f"{remix.name}.manifest.ttl", *(_content(entries[name]) for name in seen))
    selected_by = manifest.runs if manifest is not None else ()
    return Aim(remix.name, "remix", (str(file),), homes, content, told, selected_by)
