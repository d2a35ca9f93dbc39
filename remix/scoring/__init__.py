"""Scoring: runs against gold, matched once, counted per document, summed up by the conventions of a profile.

`evaluate` and its like are the way of it, stage by stage; what each stage does is in the folder or file of its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import polars as pl

from remix import progress
from remix.errors import BadInput, UsageError
from remix.frames import Frames
from remix.measures.columns import vocabularies_of
from remix.measures.partitions import columns_of
from remix.names import FAILED
from remix.question import Question, Several, several
from remix.scoring.choice import Choice, case_of, choose, read_chosen, sign, signature_of_tasks
from remix.scoring.conventions.aspects import threshold_none
from remix.scoring.counting import counts_of
from remix.scoring.differences import Counting, differences, headlines, profile_names
from remix.scoring.errors import error_rows
from remix.scoring.errors.columns import complete
from remix.scoring.inputs import Inputs, Knowledge
from remix.scoring.inputs.case_tables import LabelledCounts
from remix.scoring.inputs.shortcomings import with_formless, with_shortcomings
from remix.scoring.inputs.sources import Keeper
from remix.scoring.matching import MATCHINGS, Case, Matching
from remix.scoring.matching.namespaces import tell_namespaces, with_uncompared
from remix.scoring.matching.offsets import Readings, read_offsets, tell_beyond, wrong_offsets
from remix.scoring.profiles import PROFILES, Profile, require_pairs
from remix.scoring.rows import (
    documents_of,
    expand,
    rows_of,
    sort_rows,
    task_name,
    with_means,
    with_means_of_repeats,
    with_vocabularies,
)
from remix.scoring.slicing import slice_named, tell_shared
from remix.scoring.statistics.weights import NO_DEGREES, Weights, weights_of
from remix.scoring.tasks import TASKS, Task, takes_spans
from remix.scoring.tuning import apply_threshold, follow_threshold, with_thresholds
from remix.vocabularies import COLUMNS as OF_CLASSES

__all__ = [
    "MATCHINGS",
    "PROFILES",
    "TASKS",
    "Matching",
    "Profile",
    "Task",
    "evaluate",
    "evaluate_profiles",
    "evaluate_question",
    "score_inputs",
]


def evaluate(
    gold: Frames,
    runs: Mapping[str, Frames],
    *,
    profile: Profile | str = "remix",
    task: Several = (),
    match: Several = (),
    by: Several = (),
    min_support: int = 0,
    documents: str = "",
    unit: str = "document",
    seed: int = 0,
    scope: str = "",
    spans: str = "all",
    intervals: bool = False,
    samples: int = 1_000,
    against: str = "",
    errors: Several = (),
    weight: str = "",
    fix_offsets: bool = False,
    threshold: str = "",
    known: Knowledge | None = None,
    tuning: tuple[Frames, Mapping[str, Frames]] | None = None,
) -> pl.DataFrame:
    """Return scores: a row per system, dataset, task, matching, slice and average.

    `runs` maps a system's name to its answers; documents are aligned by IRI, else by text. `remix.question.Question`
    says what each of the others asks; what is `known` beside gold and runs are a knowledge base, types, …, and `tuning`
    is the gold and the runs that `threshold='tuned:…'` tunes on.

    Columns: `system`, `dataset` ('all' is of all gold together, each mention and answer of documents that several
    datasets share once; 'mean' is the unweighted mean of datasets), `task`, `matching`, `profile`, `column` and `slice`
    (empty for the whole), `average` ('micro', 'macro'), `documents` (or contexts, where they are the unit),
    `documents_counted` ('all', or those with a 'kept' mention), `mentions`, `tp`, `fp`, `fn`, `ignored`, `precision`,
    `recall`, `f1`, `precision_in_scope` and `precision_on_mention` with an F1 each (`f1_in_scope`, `f1_on_mention`),
    `f1_precision` (which F1 is shown, drawn and tested, with its intervals: the same in all rows but those that know
    that of all answers alone), the numbers of documents that a macro average is over, `failed` (on how many documents
    the system failed, where any did), `formless` and `gold_formless` (how many of its answers, and of gold's mentions,
    tell no text where the matching compares it, where any do not), `revision_unknown` (whether nothing says on which
    revision of the texts a registered run was made, where that is so of any), `uncompared` (the share of a system's
    answers on linked mentions of which nothing tells whether they are gold's entity, as they are of another namespace,
    where there are any),
    `threshold_by` and `threshold`, and `signature`. Scores are fractions; undefined ones are null. Where they are asked
    for: bounds of scores,
    `interval_doubt`, and of slices `difference` with its interval, `p`, `p_precision`, both corrected, and `untested`
    (`intervals`); of slices by classes `vocabularies` (which there are, with their numbers of mentions, the one that is
    shown first), where there are several; `fuzzy_recall` and `fuzzy_f1`
    (`weight`); rows of error classes, `column` being 'error_class', with `errors`, `total` and `rate` (`errors`).

    Raises `UnknownName`, `UsageError` and `BadInput` with what is wrong.

    >>> texts = pl.DataFrame({"document": ["d"], "dataset": ["x"], "text": ["Ada met Alan"]})
    >>> def one(begin, end, entity):
    ...     mention = pl.DataFrame({"annotation": ["a"], "document": ["d"], "begin": [begin], "end": [end]})
    ...     link = pl.DataFrame({"annotation": ["a"], "entity": [entity]})
    ...     return Frames.of(documents=texts, annotations=mention, links=link)
    >>> rows = evaluate(one(0, 3, "e:Ada"), {"s": one(0, 3, "e:Ada")}, task="A2KB", match="strong")
    >>> rows.filter(pl.col("average") == "micro").select("tp", "fp", "fn", "f1").rows()
    [(1, 0, 0, 1.0)]
    """
    question = Question[Any](
        profile=profile,
        task=several(task),
        match=several(match),
        by=several(by),
        min_support=min_support,
        documents=documents,
        unit=unit,
        seed=seed,
        scope=scope,
        spans=spans,
        intervals=intervals,
        samples=samples,
        against=against,
        errors=several(errors),
        weight=weight,
        fix_offsets=fix_offsets,
        threshold=threshold,
    )
    for place, frames in {"gold": gold, **{f"run '{name}'": run for name, run in runs.items()}}.items():
        frames.check(place)
    inputs = Inputs(gold, runs, known or Knowledge())
    return score_inputs(inputs, choose(question), None if tuning is None else Inputs(*tuning, inputs.knowledge))


def evaluate_question(keeper: Keeper, choice: Choice) -> tuple[pl.DataFrame, list[str]]:
    """Return the scores, as `remix.scoring.evaluate` has them, and the names of gold's datasets.

    Repeats of a run (`NAME#1`, …) have a row of their means besides.
    """
    _refuse(choice)
    found, tuning = read_chosen(keeper, choice), None
    if choice.threshold.startswith("tuned:"):
        other = choice.on(choice.threshold.partition(":")[2])
        tuning = read_chosen(keeper, replace(other, by=(), against="", weight=""))
    rows = score_inputs(found, choice, tuning)
    return with_means_of_repeats(rows), found.gold.documents["dataset"].unique().sort().to_list()


def evaluate_profiles(
    keeper: Keeper, question: Question[str], *, every: bool = True
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the rows of several profiles, the score of each that is held against the others', and the differences.

    The profile of the question names them, separated by commas, or is 'all'; see `remix.scoring.differences` for the
    last two tables. The rows are all of a profile's (`every`) or those of that score. A profile that refuses gold or a
    run, as its tool does, is told and left out; where each does, what the first has to say is raised.
    """
    names = profile_names(question.profile)
    choices = [choose(replace(question, profile=name), headline=not every) for name in names]
    for choice in choices:
        _refuse(choice)
    found = read_chosen(keeper, choices[0])
    with progress.once():
        rows = _score_each(found, choices)
        every_run = [Counting(own) for own in found.split_by_registration()]
        scores, changes = (
            pl.concat([work(counting, [*rows]) for counting in every_run]) for work in (headlines, differences)
        )
        return pl.concat(rows.values(), how="diagonal_relaxed"), scores, changes


def _score_each(inputs: Inputs, choices: Sequence[Choice]) -> dict[str, pl.DataFrame]:
    """Return the rows of each choice by the name of its profile, without those that refuse gold or a run.

    Raises `BadInput`, as the first does, where all of them refuse.
    """
    rows: dict[str, pl.DataFrame] = {}
    refusals: list[BadInput] = []
    for choice in choices:
        try:
            rows[choice.profile.name] = score_inputs(inputs, choice)
        except BadInput as error:
            refusals.append(error)
            if len(choices) > 1:
                progress.note(f"profile '{choice.profile.name}' is left out: {error}")
    if not rows:
        raise refusals[0]
    return rows


def _refuse(choice: Choice) -> None:
    """Raise what counting would for a task or matching that the profile has not, before anything is read."""
    asked = expand(choice)
    for task, matching in product(asked.task, asked.match):
        choice.profile.refuse(task, matching)


def score_inputs(inputs: Inputs, choice: Choice, tuning: Inputs | None = None) -> pl.DataFrame:
    """Return the scores that `evaluate` returns; `tuning` is what a threshold is tuned on.

    Each task is scored with the runs that were made for it; the column `run_task` says which that is, where any run
    tells. Registered runs are scored on what they are registered on.
    """
    asked = follow_threshold(choice) if choice.threshold else choice
    inputs = _of_one_vocabulary(inputs, asked) if asked.by else inputs
    with progress.once():
        if inputs.made_for or inputs.given_spans:
            rows = _score_registered(inputs, asked, tuning)
        else:
            rows = _score_tasks(inputs, asked, None if tuning is None else tuning.with_runs_for(spans=False))
    return sort_by_task(rows, asked)


def sort_by_task(rows: pl.DataFrame, asked: Choice) -> pl.DataFrame:
    """Return rows in the order in which tasks were asked for, and else in their own."""
    places = {task: place for place, task in enumerate(dict.fromkeys(task_name(task) for task in asked.task))}
    order = pl.col("task").replace_strict(places, default=len(places), return_dtype=pl.Int64)
    return rows.sort(order, maintain_order=True)


def _score_registered(inputs: Inputs, asked: Choice, tuning: Inputs | None) -> pl.DataFrame:
    """Return the scores of runs that are scored on what each is registered on, by the tasks that each was made for."""
    parts = [_with_dataset(_score_apart(own, asked, tuning), own) for own in inputs.split_by_registration()]
    return sort_rows(_of_one_f1(parts), asked) if len(parts) > 1 else parts[0]


def _of_one_vocabulary(inputs: Inputs, asked: Choice) -> Inputs:
    """Return the inputs with the vocabularies of the classes of all gold, so that runs apart are sliced by one."""
    given = inputs.knowledge.vocabularies
    columns = {*columns_of(asked.by)} & {*OF_CLASSES} - {*given}
    found = {column: vocabularies_of(inputs.gold, column) for column in sorted(columns)}
    return replace(inputs, knowledge=replace(inputs.knowledge, vocabularies={**given, **found}))


def _with_dataset(rows: pl.DataFrame, inputs: Inputs) -> pl.DataFrame:
    """Return the rows with those of the dataset where, of several, runs are on one alone, whose rows are called 'all'.

    Runs that were made for tasks with spans may be on other datasets than those for tasks without.
    """
    if inputs.gold.documents["dataset"].n_unique() < 2:
        return rows
    of_spans = [task for task in rows["task"].drop_nulls().unique() if takes_spans(task)]
    parts = [rows]
    for spans in (False, True):
        own = rows.filter(pl.col("task").is_in(of_spans).fill_null(False) == spans)
        names = [] if own.is_empty() else [*inputs.with_runs_for(spans=spans).gold.documents["dataset"].unique()]
        parts += [own.with_columns(dataset=pl.lit(names[0]))] if len(names) == 1 else []
    return pl.concat(parts)


def _score_apart(inputs: Inputs, asked: Choice, tuning: Inputs | None) -> pl.DataFrame:
    """Return the scores of runs that are on the same documents."""
    parts: list[pl.DataFrame] = []
    for spans in (False, True) if inputs.given_spans else (False,):
        tasks = tuple(task for task in asked.task if not inputs.given_spans or takes_spans(task) == spans)
        if tasks:
            # Classes of errors are of no task; they are counted once.
            own = replace(asked, task=tasks, errors=() if parts else asked.errors)
            on = None if tuning is None else tuning.with_runs_for(spans=spans)
            parts.append(_score_tasks(inputs.with_runs_for(spans=spans), own, on))
    if len(parts) == 1:
        return parts[0]
    rows, signature = _of_one_f1(parts), signature_of_tasks(parts, asked.task)
    return rows.drop("signature", "signature_short").join(signature, on="system", how="left", maintain_order="left")


def _of_one_f1(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of all parts, those of several precisions with the F1 of one that all of them have."""
    rows = pl.concat(parts, how="diagonal_relaxed")
    taken = next(one for one in ("on mention", "in scope", "all") if one in rows["f1_precision"])
    shown = pl.when(pl.col("f1_precision") != "all").then(pl.lit(taken)).otherwise(pl.lit("all"))
    return rows.with_columns(f1_precision=shown)


def _score_tasks(inputs: Inputs, asked: Choice, tuning: Inputs | None) -> pl.DataFrame:
    """Return the scores of runs that were made for the same tasks: the stages in their order."""
    found = count_tasks(inputs, asked, tuning)
    inputs, counts, choice = found.inputs, found.counts, found.choice
    if choice.against:
        choice = replace(choice, against=slice_named(choice.against, counts["slice"]))
    rows = with_means(rows_of(counts, documents_of(found.whole), inputs.runs, choice, inputs.knowledge.kept), asked)
    rows = with_uncompared(rows, found.whole)
    weight = found.weights.name if found.weights else ""
    signatures = sign(inputs, asked, weight=weight, threshold=found.threshold, offsets=found.offsets)
    return complete_rows(rows, found, signatures)


def complete_rows(rows: pl.DataFrame, found: CountedTasks, signatures: pl.DataFrame | None) -> pl.DataFrame:
    """Return rows of scores with all that is said of their runs: shortcomings, tasks, thresholds, signatures.

    Without signatures the columns of these are null.
    """
    inputs, counts, choice = found.inputs, found.counts, found.choice
    rows = with_shortcomings(rows, inputs) if _speaks_against_runs(inputs) else rows
    own = choice.profile.own_rules
    rows = with_formless(rows, inputs, own.of_texts & {*choice.match} if own is not None else ())
    rows = with_vocabularies(rows, counts)
    if choice.errors:
        wrong = error_rows(found.whole, choice.errors, choice.match)
        rows = pl.concat([rows, wrong.with_columns(profile=pl.lit(choice.profile.name))], how="diagonal_relaxed")
    if inputs.made_for:
        task = pl.col("system").replace_strict(inputs.made_for, default=None, return_dtype=pl.String)
        rows = rows.with_columns(task.alias("run_task"))
    if signatures is None:
        signatures = pl.DataFrame(schema=dict.fromkeys(("system", "signature", "signature_short"), pl.String))
    if found.thresholds is not None:
        return with_thresholds(rows, counts, found.thresholds.join(signatures, on="system", how="left"))
    rows = rows.with_columns(threshold_by=pl.lit("none"), threshold=pl.lit(None, pl.Float64))
    return rows.join(signatures, on="system", how="left", maintain_order="left")


def _speaks_against_runs(inputs: Inputs) -> bool:
    """Return whether a run failed, tells no revision, or selected gold, which `with_shortcomings` tells in columns."""
    failed = any((run.values["term"] == FAILED).any() for run in inputs.runs.values())
    return failed or bool(inputs.unrevised) or any(one.selected_by for one in inputs.knowledge.backgrounds)


@dataclass(frozen=True, eq=False)
class CountedTasks:
    """The counts of runs that were made for the same tasks, and what they are of.

    `inputs` are as they were completed, `choice` has the parts of the tasks in their place, the `whole` is all of gold
    with the answers that counted; `weights`, `thresholds`, `threshold` and `offsets` are what was asked for, if it was.
    """

    inputs: Inputs
    choice: Choice
    whole: Case
    counts: LabelledCounts
    weights: Weights | None = None
    thresholds: pl.DataFrame | None = None
    threshold: str = ""
    offsets: str = ""


def count_tasks(
    inputs: Inputs, asked: Choice, tuning: Inputs | None = None, *, datasets: pl.DataFrame | None = None
) -> CountedTasks:
    """Return the counts of runs that were made for the same tasks, which their scores are made of.

    The threshold of what is asked is one that was followed. `datasets` (document, dataset) are those of gold that was
    read as one dataset: nothing that they share is looked for. Raises `UsageError` without a run.
    """
    if not inputs.runs:
        raise UsageError("nothing to evaluate: name a run")
    choice, weights = expand(asked), None
    if asked.weight and asked.profile.weigh is not None:
        profile, name = asked.profile.weigh(asked.profile, asked.weight)
        choice, weights = replace(choice, profile=profile, weight=""), Weights(name, NO_DEGREES)
    elif asked.weight:
        require_pairs(asked.profile)
    inputs = complete(inputs, asked) if asked.by or inputs.knowledge.kb is not None else inputs
    prepared = choice.profile.prepare(inputs)
    if choice.weight:
        weights = weights_of(prepared.gold, choice.weight, *inputs.knowledge.tables)
    whole, offsets = _match(prepared, choice)
    if datasets is not None:
        whole = replace(whole, mentions=whole.mentions.in_datasets(datasets))
    thresholds, threshold = None, ""
    if choice.threshold or choice.profile.conventions.threshold != threshold_none:
        whole, thresholds, threshold = apply_threshold(whole, inputs.gold, choice, tuning)
    counts = counts_of(whole, choice, weights if choice.weight else None)
    return CountedTasks(inputs, choice, whole, counts, weights, thresholds, threshold, offsets)


def _match(inputs: Inputs, choice: Choice) -> tuple[Case, str]:
    """Return the whole of gold with all answers, and as what offsets were read, where that is to be fixed."""
    whole, readings = case_of(inputs, choice), dict[str, Readings]()
    if choice.fix_offsets and (readings := wrong_offsets(whole, fixed=True)):
        whole = case_of(read_offsets(inputs, readings), choice)
    if progress.is_shown():
        _tell_doubts(whole, choice)
    return whole, ",".join(f"{name}={reading}" for name, reading in readings.items())


def _tell_doubts(whole: Case, choice: Choice) -> None:
    """Say what is odd about gold and runs that are compared; no number depends on it."""
    if not choice.fix_offsets:  # else it was said
        wrong_offsets(whole)
    tell_beyond(whole)
    if whole.originals is None:  # else the rows tell
        tell_shared(whole)
    tell_namespaces(whole)
