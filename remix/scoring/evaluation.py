"""Runs against gold: the cases, their counts, and the rows of scores made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.frames import Frames
from remix.scoring.answers import Answers
from remix.scoring.asked import counted, with_means
from remix.scoring.cases import Case
from remix.scoring.choice import Choice, fields_of
from remix.scoring.columns import breakdown, columns_of, is_of_errors, values_by
from remix.scoring.errors import error_rows
from remix.scoring.knowledge import Inputs, Knowledge
from remix.scoring.mentions import Mentions, mentions_of
from remix.scoring.offsets import fixed, told, wrong_offsets
from remix.scoring.overlaps import overlaps
from remix.scoring.rows import rows_of
from remix.scoring.selecting import scope_of_queries
from remix.scoring.signatures import LENGTH, frames_hash, signed
from remix.scoring.slices import crossed, kb_cases, scope_named, scope_of_class, slice_named
from remix.scoring.thresholds import above, threshold_rule, thresholds_by
from remix.scoring.units import in_units
from remix.scoring.weights import Weights, require_pairs, weighed, weights_of
from remix.signature import content_hash

__all__ = ["case_of", "counts_of", "evaluate", "scored"]


def evaluate(
    gold: Frames,
    runs: Mapping[str, Frames],
    *,
    tuning: tuple[Frames, Mapping[str, Frames]] | None = None,
    **keywords: Any,
) -> pl.DataFrame:
    """Return scores: a row per system, dataset, task, matching, slice and average.

    `runs` maps a system's name to its answers; documents are aligned by IRI, else by text. Keywords are the fields of
    `Choice`, what is asked (`tasks`, `by`, …), with the profile by its name, and of `Knowledge`, what is known (`kb`,
    `types`, …). `tuning` is the gold and the runs that `threshold='tuned:…'` tunes on.

    Columns: `system`, `dataset` ('all' pools every document, 'mean' is the unweighted mean of datasets), `task`,
    `matching`, `profile`, `column` and `slice` (empty for the whole), `average` ('micro', 'macro'), `documents` (or
    contexts, where they are the unit), `mentions`, `tp`, `fp`, `fn`, `ignored`, `precision`, `recall`, `f1`,
    `precision_in_scope` and `precision_on_mention` with an F1 each (`f1_in_scope`, `f1_on_mention`), `f1_precision`
    (which F1 is shown, drawn and tested, with its intervals: the same in all rows), the numbers of documents that a
    macro average is over, `threshold_by` and `threshold`, and `signature`. Scores are fractions; undefined ones are
    null. Where they are asked for: intervals and, of slices, `difference` with its interval, `p` and `p_holm`
    (`bootstrap`); `fuzzy_recall` and `fuzzy_f1` (`weight`); rows of error classes, `column` being 'error_class', with
    `errors`, `total` and `rate` (`errors`).

    Raises `UnknownName`, `UsageError` and `BadInput` with what is wrong.

    >>> texts = pl.DataFrame({"document": ["d"], "dataset": ["x"], "text": ["Ada met Alan"]})
    >>> def one(begin, end, entity):
    ...     mention = pl.DataFrame({"annotation": ["a"], "document": ["d"], "begin": [begin], "end": [end]})
    ...     link = pl.DataFrame({"annotation": ["a"], "entity": [entity]})
    ...     return Frames.of(documents=texts, annotations=mention, links=link)
    >>> rows = evaluate(one(0, 3, "e:Ada"), {"s": one(0, 3, "e:Ada")}, tasks=["A2KB"], matchings=["strong"])
    >>> rows.filter(pl.col("average") == "micro").select("tp", "fp", "fn", "f1").rows()
    [(1, 0, 0, 1.0)]
    """
    asked, known = fields_of(keywords, Choice, Knowledge)
    inputs = Inputs(gold, runs, Knowledge(**known))
    return scored(inputs, Choice.of(**asked), None if tuning is None else Inputs(*tuning, inputs.knowledge))


def scored(inputs: Inputs, choice: Choice, tuning: Inputs | None = None) -> pl.DataFrame:
    """Return the scores that `evaluate` returns; `tuning` is what a threshold is tuned on."""
    rules = choice.profile
    asked = choice.filled(rules.tasks, rules.matchings)
    if not inputs.runs:
        raise UsageError("nothing to evaluate: name a run")
    inputs = replace(inputs, knowledge=inputs.knowledge.with_types())
    if any(is_of_errors(column) for column in columns_of(asked.by)):
        from remix.scoring.error_columns import with_errors

        inputs = with_errors(inputs, asked)
    prepared, choice = inputs.prepared(rules), counted(asked)
    weights = None
    if choice.weight:
        require_pairs(rules)
        weights = weights_of(prepared.gold, choice.weight, *inputs.knowledge.tables)
    whole, offsets = _read_right(prepared, choice)
    whole, thresholds = _thresholded(whole, choice, tuning)
    signature = signed(
        inputs,
        asked,
        weight="" if weights is None else weights.name,
        threshold=_declared(choice.threshold, tuning),
        offsets=offsets,
    )
    counts = counts_of(whole, choice, weights)
    choice = replace(choice, against=slice_named(choice.against, counts["slice"]))
    rows = with_means(rows_of(counts, whole.mentions.documents, inputs.runs, choice), asked)
    if choice.errors:
        wrong = error_rows(whole, choice.errors, choice.matchings)
        wrong = wrong.with_columns(profile=pl.lit(rules.name))
        rows = pl.concat([rows, wrong], how="diagonal_relaxed")
    signature = thresholds.join(signature, on="system", how="left")
    return rows.join(signature, on="system", how="left", maintain_order="left")


def _read_right(inputs: Inputs, choice: Choice) -> tuple[Case, str]:
    """Return the whole of gold with all answers, and as what offsets were read, where that is to be fixed."""
    gold, fix = inputs.gold, choice.fix_offsets
    whole = case_of(inputs, choice)
    readings = wrong_offsets(whole, gold.documents)
    if fix and readings:
        whole = case_of(replace(inputs, runs=fixed(gold, inputs.runs, readings)), choice)
    told(whole, gold.documents)
    return whole, ",".join(f"{name}={reading}" for name, reading in readings.items()) if fix else ""


def _declared(threshold: str, tuning: Inputs | None) -> str:
    """Return the threshold as it stands in the signature: what it was tuned on by content; nothing for none."""
    rule, number = threshold_rule(threshold)
    if rule != "tuned" or tuning is None:
        return {"none": "", "fixed": f"{number}"}.get(rule, rule)
    return f"tuned,{content_hash(*map(frames_hash, (tuning.gold, *tuning.runs.values())))[:LENGTH]}"


def _thresholded(whole: Case, choice: Choice, tuning: Inputs | None) -> tuple[Case, pl.DataFrame]:
    """Return the case with the answers that count, and system, `threshold_by` and `threshold` of each run."""
    own = [rule.name for rule in choice.profile.rules if rule.aspect == "threshold"]
    rule, _ = threshold_rule(choice.threshold)
    chosen = own and own != ["threshold-none"]
    if chosen and rule != "none":
        raise UsageError(f"profile '{choice.profile.name}' has a threshold of its own: leave --threshold out")
    tuned = None
    if tuning is not None:
        # Gold is cut from a background, what is tuned on is not.
        known = replace(tuning.knowledge.with_types(), background=None)
        tuned = case_of(replace(tuning, knowledge=known).prepared(choice.profile), choice)
    found = thresholds_by(whole, choice.tasks[0], choice.matchings[0], choice.profile.count, choice.threshold, tuned)
    declared = pl.lit("oracle" if chosen else rule).alias("threshold_by")
    return above(whole, found), found.join(_names(whole.mentions), on="system").select(
        "name", declared, "threshold"
    ).rename({"name": "system"})


def case_of(inputs: Inputs, choice: Choice) -> Case:
    """Return the whole of gold with all answers, of inputs as the profile prepared them."""
    gold, known = inputs.gold, inputs.knowledge
    mentions = mentions_of(gold, inputs.runs, known.kb)
    pairs = overlaps(mentions)
    mentions = in_units(mentions, gold.documents, choice.unit)
    answers = Answers(mentions, inputs)
    if choice.scope:
        classes = [gold.classes["class"]] if known.types is None else [gold.classes["class"], known.types["class"]]
        scope = scope_of_class(mentions, scope_named(choice.scope, pl.concat(classes)), known.types)
    else:
        scope = scope_of_queries(answers)
    return Case(mentions, mentions.gold, mentions.answers, pairs, scope=scope, known=answers)


def counts_of(whole: Case, choice: Choice, weights: Weights | None = None) -> pl.DataFrame:
    """Return the counts per document, task, matching and slice."""
    assert whole.known is not None
    mentions, answers = whole.mentions, whole.known
    degrees = None
    if weights is not None:
        degrees = whole.gold.select("g", "annotation").join(weights.degrees, on="annotation").select("g", "weight")
    parts = [_counted(whole, choice, degrees)]
    if choice.profile.kb_rows:
        parts += [_counted(case, choice, degrees) for case in kb_cases(whole)]
    for column in choice.by:
        if column in choice.profile.slices:
            parts += _sliced_by_profile(whole, choice, column, parts[0].columns)
            continue
        slicings = [values_by(answers.gold, one.column, *answers.tables, one.scheme) for one in breakdown(column)]
        cases = _supported(list(crossed(whole, slicings, answers, choice.profile.rest)), column, choice.min_support)
        parts += [_counted(case, choice, degrees) for case in progress.track(cases, f"slices by {column}")]
    counts = (
        pl.concat(parts, how="diagonal_relaxed").join(_names(mentions), on="system").join(mentions.documents, on="doc")
    )
    return counts.drop("system", "document").rename({"name": "system"})


def _supported(cases: list[Case], column: str, least: int) -> list[Case]:
    """Return the slices of enough mentions; raises `UsageError` where there are none."""
    if not cases:
        raise UsageError(f"no annotation of gold has a value in column '{column}'")
    found = [case for case in cases if not least or case.kept()["group"].n_unique() >= least]
    if not found:
        raise UsageError(f"no slice by '{column}' has {least} mentions: lower --min-support")
    if left := len(cases) - len(found):
        progress.note(f"by {column}: {left} slices of fewer than {least} mentions are left out")
    return found


def _sliced_by_profile(whole: Case, choice: Choice, column: str, order: list[str]) -> list[pl.DataFrame]:
    """Return the counts of every task and matching, sliced by a column that the profile has its own rule for."""
    parts = []
    for task in choice.tasks:
        for matching in choice.matchings:
            counts = choice.profile.slices[column](whole, task, matching)
            labels = {"task": task, "matching": matching, "column": column}
            parts.append(
                counts.with_columns(pl.lit(value).alias(name) for name, value in labels.items()).select(
                    one for one in order if one in labels or one in counts.columns
                )
            )
    return parts


def _names(mentions: Mentions) -> pl.DataFrame:
    number = pl.Series(range(len(mentions.systems)), dtype=pl.Int64)
    return pl.DataFrame({"system": number, "name": pl.Series(mentions.systems, dtype=pl.String)})


def _counted(case: Case, choice: Choice, degrees: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the counts of every task and matching of one case."""
    kept = replace(case, gold=case.kept(), _judged={})
    labels = {"column": case.column, "slice": case.value}
    parts = []
    for task in choice.tasks:
        seen = kept if task == "D2KB" and choice.spans == "kept" else case
        for matching in choice.matchings:
            counts = choice.profile.count(seen, task, matching)
            if degrees is not None:
                fuzzy = weighed(seen, task, matching, degrees)
                counts = counts.join(fuzzy, on=["system", "doc"], how="left", maintain_order="left")
            labelled = {"task": task, "matching": matching, **labels, "cut": case.is_cut()}
            parts.append(counts.with_columns(pl.lit(value).alias(name) for name, value in labelled.items()))
    return pl.concat(parts, how="diagonal_relaxed")
