"""Studies: systems × remixes × partitions, computed step by step, and the tables, figures and sentences made of them.

A study is asked for in a TOML file; its steps fill `Results`, a record of declared tables; each exhibit (a table or a
figure of a paper, or sentences) is one file in `exhibits/` that looks at nothing but the results.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from remix import progress
from remix.resources import files
from remix.studies.checking import check
from remix.studies.definition import Study, read_study, study_of
from remix.studies.host import Host
from remix.studies.manifest import StudyManifest, manifest_of
from remix.studies.output import ExhibitParts, check_folder, draw_kept, is_written, show, write
from remix.studies.planning import StudyPlan, plan_of
from remix.studies.preparation import Prepared, prepare, with_kinds
from remix.studies.preview import preview
from remix.studies.reproduction import hold_against
from remix.studies.results import Results, tell_uncounted
from remix.studies.running import alone, compute, put_together, shelf_of
from remix.studies.shelf import StepShelf

__all__ = ["Results", "Studied", "Study", "read_study", "run_study", "study_of"]


@dataclass(frozen=True, eq=False)
class Studied:
    """What came out of a study: `results` and what exhibits show of them, the `manifest`, and the folder, if any.

    `unchanged` says that the folder held all of it already, `computed` how many steps were done for it.
    """

    study: Study
    manifest: StudyManifest
    shelf: StepShelf = field(repr=False)
    made: Prepared = field(repr=False)
    plan: StudyPlan = field(repr=False)
    folder: Path | None = None
    unchanged: bool = False
    computed: int = 0

    @cached_property
    def results(self) -> Results:
        """Return all that the study found, as declared tables."""
        return put_together(self.shelf, self.study, self.made, self.plan)

    @cached_property
    def parts(self) -> list[ExhibitParts]:
        """Return what each exhibit shows."""
        return show(self.results, self.study.exhibits)


def run_study(
    host: Host,
    study: Study | Mapping[str, Any] | Path | str,
    *,
    to: Path | None = None,
    allow: Sequence[str] = (),
    parallel: int | None = None,
) -> Studied:
    """Return what came out of a study, of which only what is missing is computed.

    The method `study` of a workspace says what the others are. Raises `StudyFaults` with all that is wrong in its
    definition, `UsageError` for a folder of something else.
    """
    asked = given_study(study)
    host.ensure_sample(asked.datasets)
    asked = check(host, asked, allow)
    held = None if to is None else check_folder(to, asked.name)
    shelf = shelf_of(host)
    with alone(shelf, asked):
        made = prepare(host, shelf, asked, allowed=allow)
        asked = with_kinds(host, asked)
        number = parallel or len(os.sched_getaffinity(0))
        computed, plan = compute(host, shelf, asked, plan_of(host, asked, made), number)
    found = Studied(asked, manifest_of(host, asked, made), shelf, made, plan, computed=computed)
    if to is None:
        return found
    if is_written(to, held, found.manifest):
        assert held is not None
        return replace(found, manifest=held, folder=to, unchanged=True)
    for told in tell_uncounted(found.results):
        progress.note(told)
    title = asked.title or f"Study: {asked.name}"
    written = write(to, found.results, found.parts, found.manifest, title, draw_kept(shelf))
    done = replace(found, manifest=written, folder=to)
    vars(done).update(results=found.results, parts=found.parts)
    return done


def preview_study(
    host: Host, study: Study | Mapping[str, Any] | Path | str, *, allow: Sequence[str] = ()
) -> pl.DataFrame:
    """Return the steps of a study, what is there of them, requests and seconds; see `remix.studies.preview`."""
    asked = given_study(study)
    host.ensure_sample(asked.datasets)
    asked = check(host, asked, allow)
    return preview(host, shelf_of(host), asked)


def reproduce_study(
    host: Host, manifest: Path, *, allow: Sequence[str] = (), parallel: int | None = None
) -> pl.DataFrame:
    """Return what came out again of a study, run from its manifest; see `remix.studies.reproduction`."""
    published = StudyManifest.read(manifest)
    found = run_study(host, study_of(published.definition), allow=allow, parallel=parallel)
    return hold_against(manifest.parent, published, found.manifest, found.results)


def given_study(study: Study | Mapping[str, Any] | Path | str) -> Study:
    """Return a study as it is given: itself, its keys and values, a TOML file, or the name of one that ships."""
    if isinstance(study, Study):
        return study
    shipped = files("datasets/studies", ".toml")
    if isinstance(study, str) and study in shipped:
        return read_study(shipped[study])
    return study_of(study) if isinstance(study, Mapping) else read_study(study)
