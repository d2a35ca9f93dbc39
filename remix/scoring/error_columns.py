"""What a run gets wrong as a column to slice by: `error:SYSTEM`, or `error:SYSTEM:TAXONOMY`."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.errors import UnknownName
from remix.scoring.choice import Choice
from remix.scoring.columns import columns_of, is_of_errors, run_of
from remix.scoring.errors import TAXONOMIES
from remix.scoring.evaluation import case_of
from remix.scoring.knowledge import Inputs
from remix.scoring.matchings import MATCHINGS
from remix.scoring.profiles import PROFILES

__all__ = ["CORRECT", "error_classes", "with_errors"]

CORRECT = "correct"
"""The value of mentions on which a system makes no error of the taxonomy."""


def error_classes(inputs: Inputs, taxonomy: str, matching: str) -> pl.DataFrame:
    """Return annotation and value: the error classes of the one run on gold's required annotations, or 'correct'.

    An annotation in several classes has a row for each; all alternatives of a mention have the classes of the mention.
    Errors without a mention of gold (extra answers) are in none. By the conventions of the profile remix.

    Raises `UnknownName` for a taxonomy that does not exist.
    """
    rules, chosen = PROFILES["remix"], TAXONOMIES[taxonomy]
    case = case_of(inputs.prepared(rules), Choice(rules, ("A2KB",), (matching,)))
    rows = chosen.classify(case, (matching,)).rows
    # A taxonomy with matchings of its own gives its first.
    known = [*rows["matching"].unique().sort()]
    rows = rows.filter("error", matching=matching if matching in known or not known else known[0]).drop_nulls("g")
    kept = case.kept().select("g", "annotation", "group")
    classes = rows.join(kept, on="g").select("group", value="class").unique()
    found = kept.join(classes, on="group", how="left", maintain_order="left")
    return found.select("annotation", pl.col("value").fill_null(CORRECT)).unique().sort("annotation", "value")


def with_errors(inputs: Inputs, choice: Choice) -> Inputs:
    """Return the inputs with a column for each `error:SYSTEM` that the choice slices by.

    A system is one of the runs or of the other runs. Without a taxonomy in its name a column has the classes of
    neleval, under the first matching asked for that the registry has, or strong.

    Raises `UsageError` for a column without system, `UnknownName` for a system that has no run here.
    """
    runs = {**inputs.others, **inputs.runs}
    matching = next((name for name in choice.matchings if name in MATCHINGS), "strong")
    columns = inputs.knowledge.columns
    for name in dict.fromkeys(columns_of(choice.by)):
        if not is_of_errors(name):
            continue
        system, taxonomy = run_of(name, runs)
        if system not in runs:
            raise UnknownName("run", system, runs)
        own = error_classes(replace(inputs, runs={system: runs[system]}), taxonomy, matching).rename({"value": name})
        columns = own if columns is None else columns.join(own, on="annotation", how="full", coalesce=True)
    return replace(inputs, knowledge=replace(inputs.knowledge, columns=columns))
