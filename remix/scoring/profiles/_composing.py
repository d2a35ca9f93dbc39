"""Profiles made of conventions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from remix.frames import Frames
from remix.scoring.averages import averages
from remix.scoring.cases import Case
from remix.scoring.conventions import ASPECTS, CONVENTIONS, Choosing, Convention, Macro, Pairing, Reading, Undefined
from remix.scoring.profiles import Profile
from remix.scoring.tasks import SCOPED

__all__ = ["DEFAULTS", "composed", "conventions_named", "exchanged"]

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
