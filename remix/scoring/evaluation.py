"""Runs against gold: the cases, their counts, and the rows of scores made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Unpack

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.frames import Frames
from remix.scoring.choice import LENGTH, Asked, Choice, fields_of, frames_hash, sign, signature_of_tasks
from remix.scoring.conventions.threshold import threshold_none
from remix.scoring.errors import error_rows
from remix.scoring.errors.columns import Handling, with_errors
from remix.scoring.inputs import Background, Inputs, Knowledge
from remix.scoring.inputs.columns import breakdown, columns_of, is_of_errors, values_by
from remix.scoring.inputs.mentions import Mentions
from remix.scoring.inputs.namespaces import tell_namespaces
from remix.scoring.inputs.sources import Keeper, Sources, read_inputs
from remix.scoring.matching import Case
from remix.scoring.matching.offsets import read_offsets, tell_beyond, wrong_offsets
from remix.scoring.profiles import PROFILES, Profile, require_pairs
from remix.scoring.rows import expand, rows_of, sort_rows, task_name, with_means, with_means_of_repeats
from remix.scoring.slicing import cross, kb_cases, slice_named, whole_case
from remix.scoring.statistics.thresholds import above, threshold_rule, thresholds_by
from remix.scoring.statistics.weights import Weights, weigh, weights_of
from remix.scoring.tasks import takes_spans
from remix.signature import content_hash

if TYPE_CHECKING:
    from pathlib import Path

    from remix.kb import KnowledgeBase

__all__ = ["case_of", "counts_of", "evaluate", "evaluate_sources", "score_inputs"]


class AskedAndKnown(Asked, total=False):
    """The keywords of `evaluate`: the fields of `Choice` and of `Knowledge`."""

    profile: Profile | str
    columns: pl.DataFrame | None
    document_columns: pl.DataFrame | None
    types: pl.DataFrame | None
    names: pl.DataFrame | None
    subclasses: pl.DataFrame | None
    kb: KnowledgeBase | None
    shelf: tuple[Path, ...]
    backgrounds: tuple[Background, ...]
    stated: pl.DataFrame | None
    kept: frozenset[str]


def evaluate(
    gold: Frames,
    runs: Mapping[str, Frames],
    *,
    tuning: tuple[Frames, Mapping[str, Frames]] | None = None,
    **keywords: Unpack[AskedAndKnown],
) -> pl.DataFrame:
    """Return scores: a row per system, dataset, task, matching, slice and average.

    `runs` maps a system's name to its answers; documents are aligned by IRI, else by text. Keywords are the fields of
    `Choice`, what is asked (`tasks`, `by`, …), with the profile by its name, and of `Knowledge`, what is known (`kb`,
    `types`, …). `tuning` is the gold and the runs that `threshold='tuned:…'` tunes on.

    Columns: `system`, `dataset` ('all' pools every document, 'mean' is the unweighted mean of datasets), `task`,
    `matching`, `profile`, `column` and `slice` (empty for the whole), `average` ('micro', 'macro'), `documents` (or
    contexts, where they are the unit), `documents_counted` ('all', or those with a 'kept' mention), `mentions`, `tp`,
    `fp`, `fn`, `ignored`, `precision`, `recall`, `f1`,
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
    return score_inputs(inputs, Choice.of(**asked), None if tuning is None else Inputs(*tuning, inputs.knowledge))


def score_inputs(inputs: Inputs, choice: Choice, tuning: Inputs | None = None) -> pl.DataFrame:
    """Return the scores that `evaluate` returns; `tuning` is what a threshold is tuned on.

    Each task is scored with the runs that were made for it; the column `run_task` says which that is, where any run
    tells. Registered runs are scored on what they are registered on.
    """
    choice = _follow_threshold(choice)
    asked = choice.fill(choice.profile.tasks, choice.profile.matchings)
    with progress.once():
        apart = inputs.apart()
        parts = [_scored_tasks(own, asked, tuning) for own in apart]
    if len(parts) > 1:
        rows = sort_rows(_of_one_f1([_of_datasets(rows, own) for rows, own in zip(parts, apart, strict=True)]), asked)
    else:
        rows = parts[0]
    places = {task: place for place, task in enumerate(dict.fromkeys(task_name(task) for task in asked.tasks))}
    order = pl.col("task").replace_strict(places, default=len(places), return_dtype=pl.Int64)
    return rows.sort(order, maintain_order=True)


def _of_datasets(rows: pl.DataFrame, inputs: Inputs) -> pl.DataFrame:
    """Return the rows with those of the dataset where it is one alone, whose rows are called 'all' else."""
    names = inputs.for_tasks(spans=False).gold.documents["dataset"].unique()
    return pl.concat([rows, rows.with_columns(dataset=pl.lit(names[0]))]) if len(names) == 1 else rows


def _scored_tasks(inputs: Inputs, asked: Choice, tuning: Inputs | None) -> pl.DataFrame:
    """Return the scores of runs that are on the same documents."""
    parts: list[pl.DataFrame] = []
    for spans in (False, True) if inputs.given_spans else (False,):
        tasks = tuple(task for task in asked.tasks if not inputs.given_spans or takes_spans(task) == spans)
        if tasks:
            # Classes of errors are of no task; they are counted once.
            own = replace(asked, tasks=tasks, errors=() if parts else asked.errors)
            on = None if tuning is None else tuning.for_tasks(spans=spans)
            parts.append(_score_tasks(inputs.for_tasks(spans=spans), own, on))
    if len(parts) == 1:
        return parts[0]
    rows, signature = _of_one_f1(parts), signature_of_tasks(parts, asked.tasks)
    return rows.drop("signature", "signature_short").join(signature, on="system", how="left", maintain_order="left")


def _of_one_f1(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of all parts, which show the F1 of one precision.

    That is the one that every part has: tasks with spans have one precision, so that they show whichever F1 others do.
    """
    rows = pl.concat(parts, how="diagonal_relaxed")
    taken = next(one for one in ("on mention", "in scope", "all") if one in rows["f1_precision"])
    return rows.with_columns(f1_precision=pl.lit(taken))


def _score_tasks(inputs: Inputs, asked: Choice, tuning: Inputs | None) -> pl.DataFrame:
    rules = asked.profile
    if not inputs.runs:
        raise UsageError("nothing to evaluate: name a run")
    inputs = replace(inputs, knowledge=inputs.knowledge.with_types())
    if any(is_of_errors(column) for column in columns_of(asked.by)):
        inputs = with_errors(
            inputs, columns_of(asked.by), Handling(asked.matchings, asked.threshold, asked.fix_offsets)
        )
    _tell_made_for(inputs.made_for, asked.tasks)
    prepared, choice = rules.prepare(inputs), expand(asked)
    weights = None
    if choice.weight:
        require_pairs(rules)
        weights = weights_of(prepared.gold, choice.weight, *inputs.knowledge.tables)
    whole, offsets = _read_right(prepared, choice)
    rule = _rule(inputs, choice, tuning)
    whole, thresholds = _apply_threshold(whole, choice, rule, tuning)
    signature = sign(
        inputs,
        asked,
        weight="" if weights is None else weights.name,
        threshold=_declare_threshold(choice, rule, tuning),
        offsets=offsets,
    )
    counts = counts_of(whole, choice, weights)
    choice = replace(choice, against=slice_named(choice.against, counts["slice"]))
    rows = rows_of(counts, whole.mentions.documents, inputs.runs, choice, inputs.knowledge.kept)
    rows = _with_thresholds(with_means(rows, asked), counts)
    if choice.errors:
        wrong = error_rows(whole, choice.errors, choice.matchings)
        wrong = wrong.with_columns(profile=pl.lit(rules.name))
        rows = pl.concat([rows, wrong], how="diagonal_relaxed")
    signature = thresholds.join(signature, on="system", how="left")
    if inputs.made_for:
        task = pl.col("system").replace_strict(inputs.made_for, default=None, return_dtype=pl.String)
        rows = rows.with_columns(task.alias("run_task"))
    rows = rows.join(signature, on="system", how="left", maintain_order="left")
    return rows.with_columns(pl.coalesce("threshold", "threshold_of_profile").alias("threshold")).drop(
        "threshold_of_profile"
    )


def _tell_made_for(made_for: Mapping[str, str], tasks: Iterable[str]) -> None:
    """Say which tasks are scored with answers to another one."""
    for task in tasks:
        needed = "D2KB" if takes_spans(task) else "A2KB"
        if others := sorted(name for name, made in made_for.items() if made != needed):
            progress.note(
                f"{task} of {', '.join(others)} is scored with answers to {made_for[others[0]]}, as there are none to "
                f"{needed}: `remix annotate --task {needed}` or `remix run add … --task {needed}` registers some"
            )


def _read_right(inputs: Inputs, choice: Choice) -> tuple[Case, str]:
    """Return the whole of gold with all answers, and as what offsets were read, where that is to be fixed."""
    gold, fix = inputs.gold, choice.fix_offsets
    whole = case_of(inputs, choice)
    readings = wrong_offsets(whole, gold.documents)
    if fix and readings:
        whole = case_of(replace(inputs, runs=read_offsets(gold, inputs.runs, readings)), choice)
    tell_beyond(whole, gold.documents)
    tell_namespaces(whole.mentions, whole.overlaps, inputs.knowledge.kb, inputs.knowledge.shelf)
    return whole, ",".join(f"{name}={reading}" for name, reading in readings.items()) if fix else ""


def _follow_threshold(choice: Choice) -> Choice:
    """Return the choice with the profile that follows the threshold asked for in place of a rule of its own."""
    if not choice.threshold or not _threshold_of(choice.profile):
        return choice
    rules = replace(choice.profile.conventions, threshold=threshold_none)
    return replace(choice, profile=replace(choice.profile, conventions=rules))


def _threshold_of(profile: Profile) -> bool:
    """Return whether a profile has a rule for thresholds of its own."""
    return profile.conventions.threshold != threshold_none


def _rule(inputs: Inputs, choice: Choice, tuning: Inputs | None) -> str:
    """Return by what rule thresholds are chosen; what was tuned on the very gold that is scored is an oracle."""
    rule, _ = threshold_rule(choice.threshold)
    if rule == "tuned" and tuning is not None:
        return _check_tuning(inputs.gold, tuning.gold)
    return "oracle" if _threshold_of(choice.profile) else rule


def _declare_threshold(choice: Choice, rule: str, tuning: Inputs | None) -> str:
    """Return the threshold as it stands in the signature: what it was tuned on by content; nothing for none.

    None is told where it takes the place of a rule of the profile.
    """
    if not choice.threshold:
        return ""
    if choice.threshold.startswith("tuned:") and tuning is not None:
        return f"{rule},{content_hash(*map(frames_hash, (tuning.gold, *tuning.runs.values())))[:LENGTH]}"
    none = "none" if _threshold_of(PROFILES[choice.profile.name]) else ""
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


def _apply_threshold(whole: Case, choice: Choice, rule: str, tuning: Inputs | None) -> tuple[Case, pl.DataFrame]:
    """Return the case with the answers that count, and system, `threshold_by` and `threshold` of each run."""
    tuned = None
    if tuning is not None:
        # Gold is cut from a background, what is tuned on is not.
        known = replace(tuning.knowledge.with_types(), backgrounds=(), stated=None)
        tuned = case_of(choice.profile.prepare(replace(tuning, knowledge=known)), choice)
    found = thresholds_by(whole, choice.tasks[0], choice.matchings[0], choice.profile.count, choice.threshold, tuned)
    named = found.join(_names(whole.mentions), on="system")
    return above(whole, found), named.select(system="name", threshold_by=pl.lit(rule), threshold="threshold")


def _with_thresholds(rows: pl.DataFrame, counts: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with `threshold_of_profile`: what the profile's own rule chose for the dataset of a row."""
    if "threshold" not in counts.columns:
        return rows.with_columns(threshold_of_profile=pl.lit(None, pl.Float64))
    keys = ["system", "dataset", "task", "matching", "column", "slice"]
    chosen = counts.group_by(keys).agg(threshold_of_profile=pl.col("threshold").drop_nulls().first())
    if counts["dataset"].n_unique() == 1:
        chosen = chosen.with_columns(dataset=pl.lit("all"))
    return rows.join(chosen, on=keys, how="left", maintain_order="left")


def case_of(inputs: Inputs, choice: Choice) -> Case:
    """Return the whole of gold with all answers, of inputs as the profile prepared them."""
    return whole_case(
        inputs,
        collapse=choice.profile.conventions.repeated.collapse,
        unit=choice.unit,
        scope=choice.scope,
        documents=choice.documents,
    )


def counts_of(whole: Case, choice: Choice, weights: Weights | None = None) -> pl.DataFrame:
    """Return the counts per document, task, matching and slice.

    With slices, `members` names what a row is of: slices of the same mentions and answers have the same.
    """
    mentions, answers = whole.mentions, whole.known
    degrees = None
    if weights is not None:
        degrees = whole.gold.select("g", "annotation").join(weights.degrees, on="annotation").select("g", "weight")
    parts = [_count(whole, choice, degrees)]
    if choice.profile.kb_rows:
        cases = kb_cases(whole, always=choice.profile.kb_rows == "always")
        parts += [_count(case, choice, degrees) for case in cases]
    for column in choice.by:
        if column in choice.profile.slices:
            parts += _sliced_by_profile(whole, choice, column, parts[0].columns)
            continue
        slicings = [values_by(answers.gold, one.column, *answers.tables, one.scheme) for one in breakdown(column)]
        cases = _keep_supported(list(cross(whole, slicings, answers, choice.profile.rest)), column, choice.min_support)
        parts += [_count(case, choice, degrees) for case in progress.track(cases, f"slices by {column}")]
    counts = (
        pl.concat(parts, how="diagonal_relaxed").join(_names(mentions), on="system").join(mentions.documents, on="doc")
    )
    return counts.drop("system", "document").rename({"name": "system"})


def _keep_supported(cases: list[Case], column: str, least: int) -> list[Case]:
    """Return the slices of enough mentions; raises `UsageError` where there are none."""
    if not cases:
        raise UsageError(f"no annotation of gold has a value in column '{column}'")
    found = [case for case in cases if not least or case.kept["group"].n_unique() >= least]
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


def _count(case: Case, choice: Choice, degrees: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the counts of every task and matching of one case."""
    case = case.in_kept_documents() if choice.documents == "kept" and case.column else case
    kept = replace(case, gold=case.kept)
    labels = {"column": case.column, "slice": case.value}
    if choice.by:
        rows = (case.kept["g"], case.answers["a"])
        labels["members"] = sha256(b"|".join(one.to_numpy().tobytes() for one in rows)).hexdigest()
    parts = []
    for task in choice.tasks:
        seen = kept if task == "D2KB" and choice.spans == "kept" else case
        for matching in choice.matchings:
            counts = choice.profile.count(seen, task, matching)
            if degrees is not None:
                fuzzy = weigh(seen, task, matching, degrees)
                counts = counts.join(fuzzy, on=["system", "doc"], how="left", maintain_order="left")
            labelled = {"task": task, "matching": matching, **labels, "cut": case.is_cut()}
            parts.append(counts.with_columns(pl.lit(value).alias(name) for name, value in labelled.items()))
    return pl.concat(parts, how="diagonal_relaxed")


def evaluate_sources(keeper: Keeper, sources: Sources, choice: Choice) -> tuple[pl.DataFrame, list[str]]:
    """Return the scores, as `remix.scoring.evaluate` has them, and the names of gold's datasets.

    Repeats of a run (`NAME#1`, …) have a row of their means besides.
    """
    found, tuning = read_inputs(keeper, sources, choice.needs()), None
    if choice.threshold.startswith("tuned:"):
        other = sources.for_tuning(choice.threshold.partition(":")[2])
        tuning = read_inputs(keeper, other, replace(choice, by=(), against="", weight="").needs())
    rows = score_inputs(found, choice, tuning)
    return with_means_of_repeats(rows), found.gold.documents["dataset"].unique().sort().to_list()
