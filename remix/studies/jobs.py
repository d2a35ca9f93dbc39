"""The steps of a study that only read its workspace: what a process does at a time, as data that it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.scoring.inputs.sources import Keeper
from remix.studies.counting import (
    Reading,
    StudyRules,
    count_systems,
    cut,
    judge_system,
    measure_target,
    read_gold,
    sum_thresholds,
)
from remix.studies.results import DIFFERENCES
from remix.studies.scores import TargetCounts, Tests, differences, read_counts, rows_of_systems
from remix.studies.shelf import StepShelf, write_frames

Done = tuple[str, str]
"""The kind and key of a step that was done, or tried: the shelf keeps why it cannot be."""


@dataclass(frozen=True)
class Job:
    """Steps on a target that read the same: each is left out that has no key.

    `gold` are the names of loaded datasets, or one file. `columns` are those that the cut has besides those of
    partitions, `parts` is the key of the cut whose boundaries hold. `counts`, `outcomes` and `thresholds` have the
    key of the step of each system.
    """

    target: str
    gold: tuple[str, ...]
    rules: StudyRules
    columns: tuple[str, ...] = ()
    parts: str = ""
    cut: str = ""
    measures: str = ""
    documents: str = ""
    counts: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[str, str] = field(default_factory=dict)

    @property
    def steps(self) -> list[tuple[str, str]]:
        """Return the kind and key of each step."""
        alone = {"cut": self.cut, "measures": self.measures, "documents": self.documents}
        several = {"count": self.counts, "outcomes": self.outcomes, "thresholds": self.thresholds}
        return [(kind, key) for kind, key in alone.items() if key] + [
            (kind, key) for kind, keys in several.items() for key in keys.values()
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the job as JSON has it."""
        return asdict(self)

    @classmethod
    def of_json(cls, said: Mapping[str, Any]) -> Job:
        """Return the job that JSON says."""
        rules: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in said["rules"].items()}
        lists = {key: tuple(said[key]) for key in ("gold", "columns")}
        return cls(**{**said, **lists, "rules": StudyRules(**rules)})

    def run(self, keeper: Keeper, shelf: StepShelf) -> Iterator[Done]:
        """Do the steps one after another, and yield the kind and key of each that is done, or was tried."""
        with progress.enable(False):
            if self.measures:
                with shelf.writing("measures", self.measures, self.target) as place:
                    write_frames(place, measure_target(keeper, self.target, self.gold))
                yield "measures", self.measures
            if self.cut:
                with shelf.writing("cut", self.cut, self.target) as place:
                    wanted = replace(self.rules, by=(*self.rules.by, *self.columns))
                    write_frames(place, cut(Reading.of(keeper, wanted, self.gold), self.rules.by))
                yield "cut", self.cut
            systems = sorted({*self.counts, *self.outcomes, *self.thresholds})
            if not (systems or self.documents):
                return
            boundaries = shelf.get("cut", self.parts, "boundaries") if self.parts else None
            reading = Reading.of(keeper, self.rules, self.gold, systems, boundaries)
            if self.documents:
                with shelf.writing("documents", self.documents, self.target) as place:
                    write_frames(place, read_gold(reading))
                yield "documents", self.documents

            @cache
            def together() -> dict[str, dict[str, pl.DataFrame]]:
                with suppress(UsageError):  # one of them cannot be counted: each is asked for itself
                    return count_systems(reading, [*self.counts])
                return {}

            def count(reading: Reading, name: str) -> dict[str, pl.DataFrame]:
                return together().get(name) or count_systems(reading, [name])[name]

            for kind, keys, work in (
                ("count", self.counts, count),
                ("outcomes", self.outcomes, judge_system),
                ("thresholds", self.thresholds, sum_thresholds),
            ):
                for name, key in keys.items():
                    try:
                        with shelf.writing(kind, key, f"{name} on {self.target}") as place:
                            write_frames(place, work(reading, name))
                    except UsageError as error:
                        shelf.refuse(kind, key, str(error))
                    yield kind, key


@dataclass(frozen=True)
class ScoreJob:
    """The step that makes scores and tests of the counts of all systems (`cells`: system and key) on a target.

    `held` is the target that this one is held against, with its cells and the keys of the documents of both; empty for
    that target itself, whose parts are tested.
    """

    key: str
    target: str
    profile: str
    tests: Tests
    cells: tuple[tuple[str, str], ...]
    held: str = ""
    held_cells: tuple[tuple[str, str], ...] = ()
    documents: Mapping[str, str] = field(default_factory=dict)
    parts: bool = False

    @property
    def steps(self) -> list[tuple[str, str]]:
        """Return the kind and key of the step."""
        return [("scores", self.key)]

    def as_json(self) -> dict[str, Any]:
        """Return the job as JSON has it."""
        return asdict(self)

    @classmethod
    def of_json(cls, said: Mapping[str, Any]) -> ScoreJob:
        """Return the job that JSON says."""
        tests: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in said["tests"].items()}
        cells = {name: tuple((system, key) for system, key in said[name]) for name in ("cells", "held_cells")}
        return cls(**{**said, **cells, "tests": Tests(**tests)})

    def run(self, keeper: Keeper, shelf: StepShelf) -> Iterator[Done]:
        """Do the step, and yield its kind and key."""
        with progress.enable(False), shelf.writing("scores", self.key, self.target) as place:
            found = read_counts(shelf, self.target, self.profile, self.cells)
            held = _read_whole(shelf, self.held, self.profile, self.held_cells) if self.held else None
            rows = rows_of_systems(self.tests, found, shelf, held=held, documents=self.documents)
            tested = [DIFFERENCES.empty().drop("p_holm")]
            if len(found.systems) > 1:
                tested.append(differences(self.tests, found, shelf, parts=self.parts))
            tested.append(rows.differences)
            every = pl.concat([one for one in tested if len(one)] or tested[:1], how="diagonal_relaxed")
            write_frames(place, {"scores": rows.scores, "differences": every, "counts": rows.counts})
        yield "scores", self.key


@lru_cache(maxsize=1)
def _read_whole(shelf: StepShelf, target: str, profile: str, cells: tuple[tuple[str, str], ...]) -> TargetCounts:
    """Return the counts on a target without its parts, which many targets are held against one after another."""
    return read_counts(shelf, target, profile, cells, parts=False)


def job_of_json(said: Mapping[str, Any]) -> Job | ScoreJob:
    """Return the job that JSON says, of either kind."""
    return ScoreJob.of_json(said) if "cells" in said else Job.of_json(said)
