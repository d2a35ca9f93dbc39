"""What a run gets wrong as a column to slice by: `error:SYSTEM`, or `error:SYSTEM:TAXONOMY`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.scoring.errors import rows_under
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.columns import ERROR, is_of_errors, run_of
from remix.scoring.matching import MATCHINGS, Case
from remix.scoring.matching.misreadings import read_offsets, wrong_offsets
from remix.scoring.profiles import PROFILES
from remix.scoring.slicing import whole_case
from remix.scoring.statistics.thresholds import above, threshold_rule

CORRECT = "correct"
"""The value of mentions that a system gets right, and on which it makes no error of the taxonomy."""

OTHER = "other"
"""The value of mentions that a system gets wrong in a way that the taxonomy has no class for."""


@dataclass(frozen=True)
class Handling:
    """How runs are read whose errors are a column: the first of `matchings` that the registry has, the threshold of
    confidence, and whether offsets are fixed; each as `Choice` has it."""

    matchings: tuple[str, ...]
    threshold: str = ""
    fix_offsets: bool = False


def error_classes(inputs: Inputs, taxonomy: str, handling: Handling) -> pl.DataFrame:
    """Return annotation and value: the error classes of the one run on gold's required annotations.

    Without a class a mention is 'correct' where the run has its span and link, 'other' where not. An annotation in
    several classes has a row for each; all alternatives of a mention have the classes of the mention. Errors without a
    mention of gold (extra answers) are in none. By the conventions of the profile remix, under the first matching of
    the choice that the registry has, or strong; threshold and offsets are as it says.

    Raises `UnknownName` for a taxonomy that does not exist, `UsageError` for one that classes no mentions, and for a
    threshold that is no number.
    """
    matching = next((name for name in handling.matchings if name in MATCHINGS), "strong")
    case = _case(inputs, handling)
    rows = rows_under(case, taxonomy, matching)
    kept = case.kept.select("g", "annotation", "group")
    if len(kept) and len(rows) and rows["g"].null_count() == len(rows):
        raise UsageError(f"taxonomy '{taxonomy}' classes no mentions of gold: write --by {ERROR}:SYSTEM:neleval")
    classes = rows.filter("error").join(kept, on="g").select("group", value="class").unique()
    found = kept.join(classes, on="group", how="left", maintain_order="left")
    right = case.judge("link", MATCHINGS[matching]).groups["group"].unique()
    otherwise = pl.when(pl.col("group").is_in(right.implode())).then(pl.lit(CORRECT)).otherwise(pl.lit(OTHER))
    return found.select("annotation", pl.coalesce("value", otherwise)).unique().sort("annotation", "value")


def _case(inputs: Inputs, handling: Handling) -> Case:
    """Return gold and the run with its offsets read, and its answers chosen, as they are where they are scored."""
    rules = PROFILES["remix"]
    prepared = rules.prepare(inputs)
    case = whole_case(prepared)
    if handling.fix_offsets and (readings := wrong_offsets(case)):
        case = whole_case(read_offsets(prepared, readings))
    rule, number = threshold_rule(handling.threshold)
    if rule not in ("none", "fixed"):
        raise UsageError(
            f"--by {ERROR}:… and --threshold {handling.threshold} do not go together: write a number, as 0.3"
        )
    return above(case, pl.DataFrame({"system": [0], "threshold": [number]}, schema_overrides={"threshold": pl.Float64}))


def with_errors(inputs: Inputs, names: Iterable[str], handling: Handling) -> Inputs:
    """Return the inputs with a column for each `error:SYSTEM` that the choice slices by.

    A system is one of the runs or of the other runs. Without a taxonomy in its name a column has the classes of
    neleval. What classes there are, and what of the choice they depend on, says `error_classes`.

    Raises `UsageError` for a column without system, `UnknownName` for a system that has no run here, both also as
    `error_classes`.
    """
    runs = {**inputs.others, **inputs.runs}
    columns = inputs.knowledge.columns
    for name in dict.fromkeys(names):
        if not is_of_errors(name):
            continue
        system, taxonomy = run_of(name, runs)
        if system not in runs:
            raise UnknownName("run", system, runs)
        own = error_classes(replace(inputs, runs={system: runs[system]}), taxonomy, handling).rename({"value": name})
        columns = own if columns is None else columns.join(own, on="annotation", how="full", coalesce=True)
    return replace(inputs, knowledge=replace(inputs.knowledge, columns=columns))
