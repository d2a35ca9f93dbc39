"""A study run: prepared, computed where something is missing, and put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.locks import Busy, lock_file
from remix.signature import content_hash
from remix.studies import assembly, results
from remix.studies.definition import Study
from remix.studies.host import Host
from remix.studies.jobs import Done, Job, ScoreJob
from remix.studies.planning import StudyPlan, score_jobs
from remix.studies.preparation import Prepared
from remix.studies.results import Results
from remix.studies.shelf import StepShelf
from remix.studies.workers import do_jobs


def shelf_of(host: Host) -> StepShelf:
    """Return where a workspace keeps what steps of studies found."""
    folder = host.store.own("cache") / "studies"
    folder.mkdir(parents=True, exist_ok=True)
    return StepShelf(folder)


@contextmanager
def alone(shelf: StepShelf, study: Study) -> Iterator[None]:
    """Hold a study, so that no other process runs it in this workspace; raises `UsageError` where one does."""
    try:
        with lock_file(shelf.folder / f"{content_hash(study.name)[:16]}.lock"):
            yield
    except Busy:
        raise UsageError(f"the study '{study.name}' runs in another process: wait for it, or end it") from None


def compute(host: Host, shelf: StepShelf, study: Study, plan: StudyPlan, parallel: int) -> tuple[int, StudyPlan]:
    """Return how many steps were not done yet, and are now, and the plan with the cells that could not be counted."""
    jobs = plan.missing(shelf)
    waves = [[job for job in jobs if job.cut], [job for job in jobs if not job.cut]]  # others read what the cut found
    done = [one for wave in waves for one in _do(host, shelf, wave, parallel, "study")]
    plan = plan.without_failures(shelf)
    last = [job for job in score_jobs(study, plan) if not shelf.has("scores", job.key)]
    every = [*_do(host, shelf, last, parallel, "scores and tests")]
    needed = [*plan.places, *(step for job in score_jobs(study, plan) for step in job.steps)]
    shelf.tidy(shelf.place(*step) for step in needed)
    return len({*done}) + len(every), plan


def _do(host: Host, shelf: StepShelf, jobs: Sequence[Job | ScoreJob], parallel: int, what: str) -> Iterator[Done]:
    with progress.moving(what, total=sum(len(job.steps) for job in jobs), unit=" steps") as done:
        for one in do_jobs(host, host.folder, shelf, jobs, parallel):
            done(1)
            yield one


def put_together(shelf: StepShelf, study: Study, made: Prepared, plan: StudyPlan) -> Results:
    """Return the results of a study whose steps are done."""
    scored, tested = [results.SCORES.empty()], [results.DIFFERENCES.empty().drop("p_holm")]
    counted = [results.COUNTED.empty()]
    for job in score_jobs(study, plan):
        scored.append(shelf.get("scores", job.key, "scores"))
        tested.append(shelf.get("scores", job.key, "differences"))
        if job.profile == study.profiles[0]:
            counted.append(shelf.get("scores", job.key, "counts"))
    rows = pl.concat(tested, how="diagonal_relaxed")
    return assembly.assemble(
        shelf,
        study,
        made,
        plan,
        pl.concat(scored, how="diagonal_relaxed"),
        assembly.correct(rows),
        pl.concat(counted, how="diagonal_relaxed").select([*results.COUNTED.types]),
    )
