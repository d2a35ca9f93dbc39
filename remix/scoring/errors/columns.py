"""What a run gets wrong as a column to slice by: `error:SYSTEM`, or `error:SYSTEM:TAXONOMY`."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix import progress
from remix.errors import UnknownName, UsageError
from remix.measures.partitions import ERROR, columns_of
from remix.scoring.choice import Choice
from remix.scoring.errors import rows_under
from remix.scoring.inputs import Inputs
from remix.scoring.inputs.columns import is_of_errors, run_of
from remix.scoring.matching import Case, matching_named, matchings_among
from remix.scoring.matching.offsets import read_offsets, wrong_offsets
from remix.scoring.profiles import PROFILES
from remix.scoring.slicing import whole_case
from remix.scoring.statistics.thresholds import above, threshold_rule

CORRECT = "correct"
"""The value of mentions that a system gets right, and on which it makes no error of the taxonomy."""

OTHER = "other"
"""The value of mentions that a system gets wrong in a way that the taxonomy has no class for."""


def complete(inputs: Inputs, choice: Choice) -> Inputs:
    """Return the inputs as every way of scoring completes them: with types, and columns of errors.

    The types are those of their entities, the columns (annotation and value) one for each `error:SYSTEM` that the
    choice slices by. A system is one of the runs or of the other runs. The values are the error classes of its run on
    gold's required annotations, without a taxonomy in the column's name those of neleval. Without a class a mention is
    'correct' where the run has its span and link, 'other' where not. An annotation in several classes has a row for
    each; all alternatives of a mention have the classes of the mention. Errors without a mention of gold (extra
    answers) are in none. By the conventions of the profile remix, under the first matching of the choice that the
    registry has, or strong; threshold and offsets are as it says.

    Raises `UsageError` for a column without system, for a taxonomy that classes no mentions, and for a threshold that
    is no number; `UnknownName` for a system that has no run here, and for a taxonomy that does not exist.
    """
    inputs = replace(inputs, knowledge=inputs.knowledge.with_types())
    runs = {**inputs.others, **inputs.runs}
    columns = inputs.knowledge.columns
    for name in dict.fromkeys(columns_of(choice.by)):
        if not is_of_errors(name):
            continue
        system, taxonomy = run_of(name, runs)
        if system not in runs:
            raise UnknownName("run", system, runs)
        # What is to be said of a run is said where it is scored.
        with progress.enable(system in inputs.runs and progress.is_shown()):
            case = _case(replace(inputs, runs={system: runs[system]}), choice)
        own = _error_classes(case, taxonomy, choice).rename({"value": name})
        columns = own if columns is None else columns.join(own, on="annotation", how="full", coalesce=True)
    return replace(inputs, knowledge=replace(inputs.knowledge, columns=columns))


def _case(inputs: Inputs, choice: Choice) -> Case:
    """Return gold and the run with its offsets read, and its answers chosen, as they are where they are scored."""
    prepared = PROFILES["remix"].prepare(inputs)
    case = whole_case(prepared)
    if choice.fix_offsets and (readings := wrong_offsets(case, fixed=True)):
        case = whole_case(read_offsets(prepared, readings))
    rule, number = threshold_rule(choice.threshold)
    if rule not in ("none", "fixed"):
        raise UsageError(
            f"--by {ERROR}:… and --threshold {choice.threshold} do not go together: write a number, as 0.3"
        )
    return above(case, pl.DataFrame({"system": [0], "above": [number]}, schema_overrides={"above": pl.Float64}))


def _error_classes(case: Case, taxonomy: str, choice: Choice) -> pl.DataFrame:
    """Return annotation and value: what the one run of a case makes of gold's required annotations."""
    matching = matchings_among(choice.match)[0]
    rows = rows_under(case, taxonomy, matching)
    kept = case.kept.select("mention", "annotation", "group")
    if len(kept) and len(rows) and rows["mention"].null_count() == len(rows):
        raise UsageError(f"taxonomy '{taxonomy}' classes no mentions of gold: write --by {ERROR}:SYSTEM:neleval")
    classes = rows.filter("error").join(kept, on="mention").select("group", value="class").unique()
    found = kept.join(classes, on="group", how="left", maintain_order="left")
    right = case.judge("link", matching_named(matching)).groups["group"].unique()
    otherwise = pl.when(pl.col("group").is_in(right.implode())).then(pl.lit(CORRECT)).otherwise(pl.lit(OTHER))
    return found.select("annotation", pl.coalesce("value", otherwise)).unique().sort("annotation", "value")
