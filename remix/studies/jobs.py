"""The steps of a study that only read its workspace: what a process does at a time, as data that it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from remix import progress
from remix.scoring.inputs.sources import Keeper
from remix.studies.counting import Reading, StudyRules, count_system, cut, judge_system, measure_target, read_gold
from remix.studies.shelf import StepShelf, write_frames


@dataclass(frozen=True)
class Job:
    """Steps on a target that read the same: each is left out that has no key.

    `gold` are the names of loaded datasets, or one file. `columns` are those that the cut has besides those of
    partitions. `counts` and `outcomes` have the key of the step of each system.
    """

    target: str
    gold: tuple[str, ...]
    rules: StudyRules
    columns: tuple[str, ...] = ()
    cut: str = ""
    measures: str = ""
    documents: str = ""
    counts: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)

    @property
    def steps(self) -> list[tuple[str, str]]:
        """Return the kind and key of each step."""
        alone = {"cut": self.cut, "measures": self.measures, "documents": self.documents}
        several = {"count": self.counts, "outcomes": self.outcomes}
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

    def run(self, keeper: Keeper, shelf: StepShelf) -> Iterator[tuple[str, str]]:
        """Do the steps one after another, and yield the kind and key of each that is done."""
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
            systems = sorted({*self.counts, *self.outcomes})
            if not (systems or self.documents):
                return
            reading = Reading.of(keeper, self.rules, self.gold, systems)
            if self.documents:
                with shelf.writing("documents", self.documents, self.target) as place:
                    write_frames(place, read_gold(reading))
                yield "documents", self.documents
            for kind, keys, work in (("count", self.counts, count_system), ("outcomes", self.outcomes, judge_system)):
                for name, key in keys.items():
                    with shelf.writing(kind, key, f"{name} on {self.target}") as place:
                        write_frames(place, work(reading, name))
                    yield kind, key
