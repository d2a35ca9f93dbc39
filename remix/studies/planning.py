"""The plan of a study: which steps its targets need, by which keys, and which of them are done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from remix.measures.partitions import columns_of
from remix.scoring.inputs.columns import is_of_errors
from remix.scoring.inputs.gold import LEARNT
from remix.studies.applying import matchings_of, tasks_of
from remix.studies.counting import StudyRules
from remix.studies.definition import ALL, Study
from remix.studies.host import Host
from remix.studies.jobs import Job, ScoreJob
from remix.studies.preparation import Aim, Prepared
from remix.studies.scores import Tests
from remix.studies.shelf import StepShelf, key_of


@dataclass(frozen=True)
class StudyCell:
    """A system on a target by the rules of a profile: the key of its counts, or why there are none."""

    system: str
    target: str
    profile: str
    key: str = ""
    state: str = "there"
    told: str = ""


@dataclass(frozen=True)
class StudyPlan:
    """The steps of a study that read its workspace, as jobs, and the keys by which what they find is looked up.

    - `cells`: a system on a target by a profile; `cut`: the partitions over all datasets;
    - `documents`, `measures`: of each target; `outcomes`: of each dataset and system;
    - `thresholds`: of each system on the target that others are held against.
    """

    cells: tuple[StudyCell, ...]
    cut: str
    documents: Mapping[str, str]
    measures: Mapping[str, str]
    outcomes: Mapping[tuple[str, str], str]
    thresholds: Mapping[str, str]
    jobs: tuple[Job, ...]

    def without_failures(self, shelf: StepShelf) -> StudyPlan:
        """Return the plan, all of which was tried, with the cells that have no counts saying why."""
        failed = {one.key: shelf.why_not("count", one.key) for one in self.cells if one.key}
        cells = [
            replace(one, key="", state="failed", told=f"'{one.system}' cannot be scored on {one.target}: {why}")
            if (why := failed.get(one.key, ""))
            else one
            for one in self.cells
        ]
        judged = {of: key for of, key in self.outcomes.items() if shelf.has("outcomes", key)}
        cut = {of: key for of, key in self.thresholds.items() if shelf.has("thresholds", key)}
        return replace(self, cells=tuple(cells), outcomes=judged, thresholds=cut)

    @property
    def places(self) -> Iterator[tuple[str, str]]:
        """Return the kind and key of every step."""
        for job in self.jobs:
            yield from job.steps

    def missing(self, shelf: StepShelf) -> list[Job]:
        """Return the jobs whose steps are not done yet, without those that are."""
        found = []
        for job in self.jobs:
            alone: dict[str, Any] = {
                kind: key if key and not shelf.has(kind, key) else ""
                for kind, key in (("cut", job.cut), ("measures", job.measures), ("documents", job.documents))
            }
            several: dict[str, Any] = {
                kind: {name: key for name, key in keys.items() if shelf.lacks(of, key)}
                for kind, of, keys in (
                    ("counts", "count", job.counts),
                    ("outcomes", "outcomes", job.outcomes),
                    ("thresholds", "thresholds", job.thresholds),
                )
            }
            left = replace(job, **alone, **several)
            if left.steps:
                found.append(left)
        return found


def rules_of(study: Study) -> list[StudyRules]:
    """Return the rules of each profile of a study, by those of its tasks and matchings that the profile counts."""
    return [
        StudyRules(profile, tasks_of(study, profile), matchings_of(study, profile), study.by, study.unit)
        for profile in study.profiles
    ]


def plan_of(host: Host, study: Study, made: Prepared) -> StudyPlan:
    """Return the plan of a study whose workspace is prepared."""
    kb = host.kb
    common: dict[str, Any] = {"kb": kb.version if kb is not None else ""}
    entries = {entry.name: entry for entry in host.store.datasets()}
    present = [aim for aim in made.aims.values() if aim.state == "there"]
    datasets = [made.aims[name] for name in study.datasets if made.aims[name].state == "there"]
    homes = tuple(aim.gold[0] for aim in datasets)
    rules = rules_of(study)
    columns = {*study.columns, *columns_of(study.by)}
    if any(map(is_of_errors, columns)):
        common["judged"] = sorted((run.system, run.dataset, run.task, run.checksum) for run in made.runs)
    if columns & LEARNT:
        common["learnt"] = {name: [held.signature for held in entries[name].attached.values()] for name in homes}
    whole = {"content": [aim.content for aim in datasets], "names": homes, **common}
    asked = {"by": study.by, "columns": study.columns, "unit": study.unit}
    cut = key_of("cut", {**whole, **asked, "profile": study.profiles[0]}) if homes else ""
    documents = {aim.name: key_of("documents", {**_read(aim), **common}) for aim in present}
    measures = {aim.name: key_of("measures", {**_read(aim), **common}) for aim in present}
    cells, outcomes, thresholds = [], {}, {}
    for aim in made.aims.values():
        for one in study.scored:
            state, told = made.hole(one.name, aim)
            runs = sorted((run.dataset, run.task, run.checksum) for run in made.runs_of(one.name, aim))
            for own in rules:
                key = ""
                if state == "there":
                    # Parts are those over all datasets.
                    of_parts = cut if own.by else ""
                    key = key_of("count", {**_read(aim), **common, "runs": runs, "rules": asdict(own), "cut": of_parts})
                cells.append(StudyCell(one.name, aim.name, own.profile, key, state, told))
            if state == "there" and aim.kind == "dataset":
                first = {"task": study.tasks[0], "matching": study.matchings[0]}
                read = {**_read(aim), **common, "runs": runs, **first, "system": one.name}
                outcomes[aim.name, one.name] = key_of("outcomes", read)
            if state == "there" and aim.name == study.held_against:
                own_rules = asdict(replace(rules[0], by=()))
                thresholds[one.name] = key_of("thresholds", {**_read(aim), **common, "runs": runs, "rules": own_rules})
    jobs = [*_jobs(study, made, cells, rules, cut, documents, measures, outcomes, thresholds)]
    if cut:
        jobs.insert(0, Job(ALL, homes, rules[0], study.columns, cut=cut))
    return StudyPlan(tuple(cells), cut, documents, measures, outcomes, thresholds, tuple(jobs))


def _read(aim: Aim) -> dict[str, Any]:
    return {"target": aim.name, "content": aim.content, "kind": aim.kind}


def _jobs(
    study: Study,
    made: Prepared,
    cells: list[StudyCell],
    rules: list[StudyRules],
    cut: str,
    documents: Mapping[str, str],
    measures: Mapping[str, str],
    outcomes: Mapping[tuple[str, str], str],
    thresholds: Mapping[str, str],
) -> Iterator[Job]:
    for aim in made.aims.values():
        if aim.state != "there":
            continue
        yield Job(aim.name, aim.gold, rules[0], measures=measures[aim.name])
        for number, own in enumerate(rules):
            counts = {
                cell.system: cell.key
                for cell in cells
                if cell.key and (cell.target, cell.profile) == (aim.name, own.profile)
            }
            judged = {system: key for (target, system), key in outcomes.items() if target == aim.name and not number}
            first = documents[aim.name] if not number else ""
            summed = thresholds if aim.name == study.held_against and not number else {}
            yield Job(
                aim.name,
                aim.gold,
                own,
                parts=cut if own.by else "",
                documents=first,
                counts=counts,
                outcomes=judged,
                thresholds=summed,
            )


def score_jobs(study: Study, plan: StudyPlan) -> list[ScoreJob]:
    """Return the jobs that make scores and tests of counts: one for each target and profile that has any."""
    found = []
    for rules, target in product(rules_of(study), study.targets):
        profile = rules.profile
        tests = Tests(rules.tasks, rules.matchings, study.average, study.unit, study.samples, study.seed)
        cells, held_cells = (
            tuple(
                (one.system, one.key) for one in plan.cells if (one.target, one.profile) == (name, profile) and one.key
            )
            for name in (target, study.held_against)
        )
        if not cells:
            continue
        held = study.held_against if held_cells and target != study.held_against else ""
        own = held_cells if held else ()
        documents = {name: plan.documents[name] for name in (target, held) if name} if held else {}
        parts = target == study.held_against
        read = {"cells": cells, "held": own, "tests": asdict(tests), "documents": documents, "profile": profile}
        key = key_of("scores", {**read, "target": target, "parts": parts})
        found.append(ScoreJob(key, target, profile, tests, cells, held, own, documents, parts))
    return found
