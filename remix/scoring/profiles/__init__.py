"""Profiles: the conventions of one tool, so that its published numbers come out. One file a profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from remix.errors import UsageError
from remix.frames import Frames
from remix.registry import Registry
from remix.scoring.conventions import (
    ASPECTS,
    CONVENTIONS,
    Choosing,
    Convention,
    Counter,
    Macro,
    Pairing,
    Reading,
    Repeated,
    Undefined,
)
from remix.scoring.matching import MATCHINGS, matching_named
from remix.scoring.matching.cases import Case
from remix.scoring.statistics import AVERAGES, Average, averages
from remix.scoring.tasks import SCOPED, task_named

__all__ = ["DEFAULTS", "PROFILES", "Profile", "composed", "conventions_named", "exchanged", "require_pairs"]


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


DEFAULTS = (
    "documents-of-gold",
    "nil-is-nil",
    "optional-ignored",
    "regions-respected",
    "alternatives-grouped",
    "repeated-once",
    "overlapping-kept",
    "threshold-none",
    "pair-maximum",
    "undefined-null",
    "macro-where-defined",
)
"""The conventions of the default profile, one of each aspect."""


def composed(
    profile: Profile,
    rules: tuple[str, ...],
    *,
    sources: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
) -> Profile:
    """Return the profile with what its conventions do to input, counts and averages.

    `rules` are names of conventions; aspects without one take the default's. `sources` names the file of the tool
    for an aspect. `notes` are rules that no convention stands for.
    """
    chosen = conventions_named(*rules)
    told = {rule.aspect: rule.words for rule in chosen}
    told |= dict(notes or {})
    if sources:
        told = {name: f"{text} ({sources[name]})" if name in sources else text for name, text in told.items()}
    return exchanged(replace(profile, conventions=told), chosen)


def conventions_named(*names: str) -> tuple[Convention, ...]:
    """Return the conventions of these names, the default's for the other aspects."""
    chosen = {CONVENTIONS[name].aspect: CONVENTIONS[name] for name in (*DEFAULTS, *names)}
    return tuple(chosen[aspect] for aspect in ASPECTS)


def exchanged(profile: Profile, rules: tuple[Convention, ...]) -> Profile:
    """Return the profile with these conventions, one of each aspect, in place of its own."""
    readings = [rule for rule in rules if isinstance(rule, Reading)]
    choosing = [rule for rule in rules if isinstance(rule, Choosing)]
    (pairing,) = (rule for rule in rules if isinstance(rule, Pairing))
    (undefined,) = (rule for rule in rules if isinstance(rule, Undefined))
    (macro,) = (rule for rule in rules if isinstance(rule, Macro))

    def prepare(gold: Frames, runs: Mapping[str, Frames]) -> tuple[Frames, dict[str, Frames]]:
        answers = dict(runs)
        for rule in readings:
            gold = rule.among(rule.gold(gold), answers)
            answers = {name: rule.run(run) for name, run in answers.items()}
        return gold, answers

    def count(case: Case, task: str, matching: str) -> pl.DataFrame:
        for rule in choosing:
            case = rule.choose(case, task, matching, pairing.count)
        counts = pairing.count(case, task, matching)
        counts = _of_every_document(case, counts) if macro.documents != "defined" else counts
        return counts if case.thresholds is None else _with_thresholds(case, counts, case.thresholds)

    return replace(
        profile,
        rules=rules,
        prepare=prepare,
        count=profile.around(count),
        averages=averages(undefined.scores, macro.documents, macro.harmonic),
    )


def _of_every_document(case: Case, counts: pl.DataFrame) -> pl.DataFrame:
    """Return the counts with rows of zeros for the other documents, and `has_gold`.

    In a slice a system that it asks nothing of and that answers nothing there has no rows.
    """
    keys = ["system", "doc"]
    systems = pl.DataFrame({"system": range(len(case.mentions.systems))}, schema={"system": pl.Int64})
    if case.column:
        counted = counts.filter(pl.sum_horizontal("tp", "fp", "fn") > 0)
        systems = systems.join(counted, on="system", how="semi", maintain_order="left")
    every = systems.join(case.mentions.documents.select("doc"), how="cross")
    counts = every.join(counts, on=keys, how="left", maintain_order="left")
    has_gold = pl.col("doc").is_in(case.kept()["doc"].unique().implode())
    none = pl.when(pl.col("tp").is_null()).then(0)
    zeros = [pl.coalesce(none, name).alias(name) for name in ("tp", "fp", "fn", "ignored")]
    # What a task has no precision for stays so in documents without counts.
    zeros += [pl.coalesce(none, name).alias(name) for name in SCOPED if counts[name].null_count() < len(counts)]
    return counts.with_columns(*zeros, has_gold=has_gold)


def _with_thresholds(case: Case, counts: pl.DataFrame, chosen: pl.DataFrame) -> pl.DataFrame:
    """Return the counts with the `threshold` that answers of the system had to be above in the document."""
    places = case.mentions.documents.select("doc", "dataset")
    chosen = chosen.select("system", "dataset", threshold="above")
    counts = counts.join(places, on="doc", how="left", maintain_order="left")
    return counts.join(chosen, on=["system", "dataset"], how="left", maintain_order="left").drop("dataset")


def require_pairs(profile: Profile) -> None:
    """Raise `UsageError` for a profile that does not tell which annotation of gold an answer stands for."""
    if profile.nearest is not None or CONVENTIONS["pair-maximum"] not in profile.rules:
        raise UsageError(
            f"profile '{profile.name}' pairs no answer with one annotation, which weights need: use remix or emnlp2019"
        )
