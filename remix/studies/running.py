"""A study run: prepared, computed where something is missing, and put together."""

from __future__ import annotations

import polars as pl

from remix import progress
from remix.studies import assembly, results
from remix.studies.definition import Study
from remix.studies.host import Host
from remix.studies.planning import StudyPlan
from remix.studies.preparation import Prepared
from remix.studies.results import Results
from remix.studies.shelf import StepShelf


def shelf_of(host: Host) -> StepShelf:
    """Return where a workspace keeps what steps of studies found."""
    folder = host.store.own("cache") / "studies"
    folder.mkdir(parents=True, exist_ok=True)
    return StepShelf(folder)


def compute(host: Host, shelf: StepShelf, plan: StudyPlan) -> int:
    """Return how many steps of a plan were not done yet, and are now."""
    jobs = plan.missing(shelf)
    number = sum(len(job.steps) for job in jobs)
    with progress.moving("study", total=number, unit=" steps") as done:
        for job in jobs:
            for _ in job.run(host, shelf):
                done(1)
    return number


def put_together(shelf: StepShelf, study: Study, made: Prepared, plan: StudyPlan) -> Results:
    """Return the results of a study whose steps are done."""
    scored, tested, counted = [results.SCORES.empty()], [results.DIFFERENCES.empty().drop("p_holm")], []
    for profile in study.profiles:
        held = None
        every = sorted(study.targets, key=lambda name: name != study.held_against)
        for target in every:
            cells = [one for one in plan.cells if (one.target, one.profile) == (target, profile) and one.key]
            if not cells:
                continue
            found = assembly.read_counts(shelf, target, profile, cells)
            held = found if target == study.held_against else held
            scored.append(assembly.score(study, found))
            if len(found.systems) > 1:
                tested.append(assembly.differences(study, found, parts=target == study.held_against))
            if held is not None and held is not found:
                originals = pl.concat(
                    shelf.get("documents", plan.documents[name], "documents").with_columns(target=pl.lit(name))
                    for name in (target, held.target)
                )
                tested.append(assembly.differences_of_targets(study, found, held, originals))
            if profile == study.profiles[0]:
                counted.append(assembly.counts_shown(study, found))
    rows = pl.concat([one for one in tested if len(one)] or tested[:1], how="diagonal_relaxed")
    counts = pl.concat(counted) if counted else results.COUNTED.empty()
    return assembly.assemble(
        shelf, study, made, plan, pl.concat(scored, how="diagonal_relaxed"), assembly.correct(rows), counts
    )
