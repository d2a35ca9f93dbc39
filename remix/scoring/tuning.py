"""Thresholds that are asked for: by which rule they are chosen, on what they were tuned, and what they leave."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix import progress
from remix.frames import Frames
from remix.scoring.choice import LENGTH, Choice, case_of, frames_hash
from remix.scoring.conventions.aspects import threshold_none
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.case_tables import LabelledCounts
from remix.scoring.matching import Case
from remix.scoring.profiles import PROFILES, Profile
from remix.scoring.statistics.thresholds import above, threshold_rule, thresholds_by
from remix.signature import content_hash


def follow_threshold(choice: Choice) -> Choice:
    """Return the choice with the profile that follows the threshold asked for in place of a rule of its own."""
    if not choice.threshold or not _has_rule(choice.profile):
        return choice
    rules = replace(choice.profile.conventions, threshold=threshold_none)
    return replace(choice, profile=replace(choice.profile, conventions=rules))


def apply_threshold(whole: Case, gold: Frames, choice: Choice, tuning: Inputs | None) -> tuple[Case, pl.DataFrame, str]:
    """Return the case with the answers that count; system, `threshold_by` and `threshold` of each run; what is signed.

    `gold` is what is scored, as it was read; `tuning` what the threshold is tuned on.
    """
    rule, _ = threshold_rule(choice.threshold)
    if rule == "tuned" and tuning is not None:
        rule = _check_tuning(gold, tuning.gold)
    elif _has_rule(choice.profile):
        rule = "oracle"
    tuned = None
    if tuning is not None:
        # Gold is cut from a background, what is tuned on is not.
        known = replace(tuning.knowledge.with_types(), backgrounds=(), stated=None)
        tuned = case_of(choice.profile.prepare(replace(tuning, knowledge=known)), choice).pool()
    profile, asked = choice.profile, (choice.task[0], choice.match[0], choice.profile.count, choice.threshold)
    found = thresholds_by(whole.pool(), *asked, tuned, of_nothing=_f1_of_nothing(profile))
    named = found.join(whole.mentions.names, on="system")
    rows = named.select(system="name", threshold_by=pl.lit(rule), threshold="above")
    return above(whole, found), rows, _declare(choice, rule, tuning)


def _f1_of_nothing(profile: Profile) -> float:
    """Return the F1 of a profile where nothing is asked and nothing answered, 0 where it is undefined."""
    counts = dict.fromkeys(("tp", "tp_of_gold", "fp", "fn", "fp_in_scope", "fp_on_mention"), 0)
    f1 = profile.conventions.undefined.scores()["f1"]
    return float(pl.DataFrame([counts]).select(f1.fill_null(0.0)).item())


def _has_rule(profile: Profile) -> bool:
    """Return whether a profile has a rule for thresholds of its own."""
    return profile.conventions.threshold != threshold_none


def _declare(choice: Choice, rule: str, tuning: Inputs | None) -> str:
    """Return the threshold as it stands in the signature: what it was tuned on by content; nothing for none.

    None is told where it takes the place of a rule of the profile.
    """
    if not choice.threshold:
        return ""
    if choice.threshold.startswith("tuned:") and tuning is not None:
        return f"{rule},{content_hash(*map(frames_hash, (tuning.gold, *tuning.runs.values())))[:LENGTH]}"
    none = "none" if _has_rule(PROFILES[choice.profile.name]) else ""
    return {"none": none, "fixed": f"{threshold_rule(choice.threshold)[1]}"}.get(rule, rule)


def _check_tuning(gold: Frames, tuning: Frames) -> str:
    """Return what a threshold is that was tuned on some gold: an 'oracle' where that holds all that is scored.

    Mentions are the same by text (document where there is none), offsets and entity. Where some are, that is said.
    """
    own, known = (_statements(one) for one in (gold, tuning))
    seen, every = len(own.join(known, on=own.columns, how="semi", nulls_equal=True)), len(own)
    if seen == every > 0:
        progress.note("the threshold was tuned on what is scored: it is an oracle, as nobody has it for new texts")
    elif seen:
        progress.note(f"the threshold was tuned on {seen} of the {every} mentions that are scored: partly an oracle")
    return "oracle" if seen == every > 0 else "tuned"


def _statements(gold: Frames) -> pl.DataFrame:
    """Return text, begin, end and entity of what gold requires, each once."""
    texts = gold.documents.select("document", text=pl.coalesce("text", "document"))
    rows = gold.gold().annotations.join(texts, on="document").join(gold.links, on="annotation", how="left")
    return rows.select("text", "begin", "end", "entity").unique()


def with_thresholds(rows: pl.DataFrame, counts: LabelledCounts, runs: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with what is said of each run (system, `threshold`, …).

    The threshold is that of the run, else what the profile's own rule chose for the dataset of a row.
    """
    rows = rows.join(runs, on="system", how="left", maintain_order="left")
    if "threshold" not in counts.columns:
        return rows
    keys = ["system", "dataset", "task", "matching", "column", "slice"]
    chosen = counts.group_by(keys).agg(threshold_of_profile=pl.col("threshold").drop_nulls().first())
    if counts["dataset"].n_unique() > 1:
        chosen = chosen.filter(pl.col("dataset") != "all")
    rows = rows.join(chosen, on=keys, how="left", maintain_order="left")
    own = pl.coalesce("threshold", "threshold_of_profile").alias("threshold")
    return rows.with_columns(own).drop("threshold_of_profile")
