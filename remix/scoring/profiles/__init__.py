"""Profiles: the conventions of one tool, so that its published numbers come out. One file a profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from remix.frames import Frames
from remix.registry import Registry
from remix.scoring.averages import AVERAGES, Average
from remix.scoring.cases import Case
from remix.scoring.conventions import Convention, Counter, Repeated
from remix.scoring.matchings import MATCHINGS, matching_named
from remix.scoring.tasks import task_named

__all__ = ["PROFILES", "Profile"]


def as_given(gold: Frames, runs: Mapping[str, Frames]) -> tuple[Frames, dict[str, Frames]]:
    """Return gold and runs as they are."""
    return gold, dict(runs)


def by_task(case: Case, task: str, matching: str) -> pl.DataFrame:
    """Return the counts of a task of the registry under a matching of the registry."""
    return task_named(task).count(case, matching_named(matching))


@dataclass(frozen=True)
class Profile:
    """What one tool counts, and how.

    - `tasks`, `matchings`: the rows that it shows unless told otherwise;
    - `conventions`: each rule in words, by its name; printed by `remix show` and part of the signature;
    - `prepare(gold, runs)`: what the tool does to its input before it compares;
    - `count(case, task, matching)`: counts per system and document, as `Task.count` has them; a tool with matchings
      of its own resolves their names here;
    - `rest`: what a slice does with the gold outside it: 'dropped' (ignorable) or 'removed';
    - `averages`: how counts become precision, recall and F1;
    - `slices`: columns that the tool slices by in its own way: name to `count(case, task, matching)`, whose rows have
      `slice` besides;
    - `kb_rows`: whether InKB, EE and GSInKB are shown: 'nil', where gold or a run has NIL, or 'always';
    - `around(count)`: the counting of the profile made of that of its conventions, where these are not all;
    - `rules`: the conventions of `remix.scoring.conventions` that the profile is made of, or, where it has a `count`
      of its own, those that come nearest to it; empty where none do;
    - `meanings`: the matchings that the tool alone has, in words;
    - `headline`: the task and matching by which it is held against other profiles;
    - `nearest`: for a profile with a `count` of its own, the task and matching by which `rules` come nearest to that.
    """

    name: str
    summary: str
    source: str
    tasks: tuple[str, ...]
    matchings: tuple[str, ...]
    conventions: Mapping[str, str]
    prepare: Callable[[Frames, Mapping[str, Frames]], tuple[Frames, dict[str, Frames]]] = as_given
    count: Callable[[Case, str, str], pl.DataFrame] = by_task
    rest: str = "dropped"
    averages: Mapping[str, Average] = field(default_factory=lambda: AVERAGES)
    slices: Mapping[str, Callable[[Case, str, str], pl.DataFrame]] = field(default_factory=dict)
    kb_rows: str = ""
    around: Callable[[Counter], Counter] = lambda count: count
    rules: tuple[Convention, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
    headline: tuple[str, str] = ("A2KB", "strong")
    nearest: tuple[str, str] | None = None

    def collapses(self) -> bool:
        """Return whether annotations that repeat another of the same span and entity count once."""
        return all(rule.collapse for rule in self.rules if isinstance(rule, Repeated))

    def meaning(self, matching: str) -> str:
        """Return what a matching is in words; nothing for one that says itself what it compares."""
        if matching in self.meanings or matching.partition("(")[0] not in MATCHINGS:
            return self.meanings.get(matching, "")
        return matching_named(matching).summary


PROFILES: Registry[Profile] = Registry("profile", "remix.scoring.profiles", Profile)
