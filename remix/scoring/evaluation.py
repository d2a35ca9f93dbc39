"""Runs against gold: the cases, their counts, and the rows of scores made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.frames import Frames
from remix.scoring.answers import Answers
from remix.scoring.asked import counted, with_means
from remix.scoring.background import Background
from remix.scoring.cases import Case
from remix.scoring.choice import Choice
from remix.scoring.columns import breakdown, values_by
from remix.scoring.errors import error_rows
from remix.scoring.mentions import Mentions, mentions_of
from remix.scoring.offsets import fixed, told, wrong_offsets
from remix.scoring.overlaps import overlaps
from remix.scoring.profiles import PROFILES
from remix.scoring.rows import rows_of
from remix.scoring.selecting import scope_of_queries
from remix.scoring.signatures import LENGTH, frames_hash, signed
from remix.scoring.slices import crossed, kb_cases, scope_named, scope_of_class, slice_named
from remix.scoring.thresholds import above, threshold_rule, thresholds_by
from remix.scoring.units import in_units
from remix.scoring.weights import Weights, require_pairs, weighed, weights_of
from remix.signature import content_hash

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

__all__ = ["case_of", "counts_of", "evaluate"]


def evaluate(
    gold: Frames,
    runs: Mapping[str, Frames],
    *,
    tasks: Sequence[str] | None = None,
    matchings: Sequence[str] | None = None,
    profile: str = "remix",
    by: Sequence[str] = (),
    columns: pl.DataFrame | None = None,
    document_columns: pl.DataFrame | None = None,
    types: pl.DataFrame | None = None,
    names: pl.DataFrame | None = None,
    subclasses: pl.DataFrame | None = None,
    kb: KnowledgeBase | None = None,
    background: Background | None = None,
    scope: str = "",
    spans: str = "all",
    bootstrap: int = 0,
    seed: int = 0,
    errors: Sequence[str] = (),
    weight: str = "",
    unit: str = "document",
    against: str = "",
    min_support: int = 0,
    threshold: str = "none",
    fix_offsets: bool = False,
    tuning: tuple[Frames, Mapping[str, Frames]] | None = None,
    contents: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Return scores: a row per system, dataset, task, matching, slice and average.

    Columns: `system`, `dataset` ('all' pools every document, 'mean' is the unweighted mean of datasets), `task`,
    `matching`, `profile`, `column` and `slice` (empty for the whole), `average` ('micro', 'macro'), `documents`,
    `mentions`, `tp`, `fp`, `fn`, `ignored`, `precision`, `recall`, `f1`, `precision_in_scope`, `precision_on_mention`,
    `f1_precision` (the precision that F1 takes), the numbers of documents that a macro average is over, intervals
    where `bootstrap` asks for samples, and `signature`. Scores are fractions; undefined ones are null.

    - `runs` maps a system's name to its answers; documents are aligned by IRI, else by text.
    - `tasks`, `matchings`: those of the profile unless given; a task can name its own, `A2KB(match=weak)`.
    - `by`: columns to slice by: `class`, any of `columns` (annotation and one column each) or `document_columns`
      (likewise), a property or measure; `a,b` crosses them, `a:quantiles:4` cuts numbers (see `breakdown`). Slices of
      fewer than `min_support` mentions are left out.
    - `types` (entity, class), by default the knowledge base's, tells which answers are in the scope of a class.
    - `names` (entity, name): what entities are called, for profiles that ask for it.
    - `subclasses` (class, parent), by default the knowledge base's: the hierarchy in which classes are compared.
    - `background`: where gold comes from and the queries it was cut by, which tell which answers are in scope; by
      default gold itself, cut by no query that is known.
    - `scope`: the class that gold was cut down to, where it is a remix by class; it goes before the queries.
    - `spans`: 'all' leaves dropped spans in D2KB's input, 'kept' takes them out, for D2KB alone.
    - `errors`: taxonomies (`remix.scoring.errors`) whose classes are counted in rows of their own, with the columns
      `errors`, `total` and `rate`; their `column` is 'error_class'.
    - `weight`: how much each annotation of gold is required, as `remix.scoring.weights.weights_of` has it; adds
      `fuzzy_recall` and `fuzzy_f1`.
    - `unit`: what macro averages are over and samples draw, 'document' or 'context': a line or, in a text of one
      line, a sentence. `documents` is their number.
    - `against`: with `by` and `bootstrap`, the slice that others are held against (see `differences_of_slices`), by
      default the whole; adds `difference`, its interval, `p` and `p_holm`.
    - `fix_offsets`: read the offsets of runs that `remix.scoring.offsets.wrong_offsets` finds to count in other units
      as what they seem to be; without it that is only said.
    - `threshold`: which answers count by their confidence, as `remix.scoring.thresholds.threshold_rule` has it: the
      columns `threshold_by` and `threshold` declare it. `tuning` is the gold and the runs that 'tuned:…' tunes on.
    - `contents`: the hashes of runs by system and of gold by '', for the signature, where they are known; the frames
      are hashed where they are not.

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
    rules = PROFILES[profile]
    choice = Choice(
        rules,
        tuple(tasks or rules.tasks),
        tuple(matchings or rules.matchings),
        tuple(by),
        scope,
        spans,
        bootstrap,
        seed,
        tuple(errors),
        unit=unit,
        against=against,
        min_support=min_support,
    )
    _check(runs, choice)
    prepared, answers = rules.prepare(gold, runs)
    if types is None and kb is not None:
        types = kb.types
    weights = None
    if weight:
        require_pairs(rules)
        weights = weights_of(prepared, weight, columns, document_columns)
        choice = replace(choice, weight=weights.name)
    known: dict[str, Any] = {"types": types, "names": names, "subclasses": subclasses}
    asked, choice = choice, counted(choice)
    whole, offsets = _read_right(prepared, answers, choice, fix_offsets, kb=kb, background=background, **known)
    tuned = None if tuning is None else case_of(*rules.prepare(*tuning), choice, kb=kb, **known)
    whole, thresholds = _thresholded(whole, choice, threshold, tuned)
    asked = replace(asked, threshold=_declared(threshold, tuning), offsets=offsets)
    signature = signed(asked, gold, runs, kb, [columns, document_columns], background, contents or {}, **known)
    counts = counts_of(whole, choice, columns=columns, document_columns=document_columns, weights=weights)
    choice = replace(choice, against=slice_named(against, counts["slice"]))
    rows = with_means(rows_of(counts, whole.mentions.documents, runs, choice), asked)
    if choice.errors:
        wrong = error_rows(whole, choice.errors, choice.matchings)
        wrong = wrong.with_columns(profile=pl.lit(choice.profile.name))
        rows = pl.concat([rows, wrong], how="diagonal_relaxed")
    signature = thresholds.join(signature, on="system", how="left")
    return rows.join(signature, on="system", how="left", maintain_order="left")


def _check(runs: Mapping[str, Frames], choice: Choice) -> None:
    if choice.spans not in ("all", "kept"):
        raise UsageError(f"spans are 'all' or 'kept', not '{choice.spans}'")
    if choice.against and not (choice.by and choice.bootstrap):
        raise UsageError(f"--against {choice.against} tests slices: it goes with --by and --bootstrap")
    if not runs:
        raise UsageError("nothing to evaluate: name a run")


def _read_right(gold: Frames, runs: Mapping[str, Frames], choice: Choice, fix: bool, **known: Any) -> tuple[Case, str]:
    """Return the whole of gold with all answers, and as what offsets were read, where that is to be fixed."""
    whole = case_of(gold, runs, choice, **known)
    readings = wrong_offsets(whole, gold.documents)
    if fix and readings:
        whole = case_of(gold, fixed(gold, runs, readings), choice, **known)
    told(whole, gold.documents)
    return whole, ",".join(f"{name}={reading}" for name, reading in readings.items()) if fix else ""


def _declared(threshold: str, tuning: tuple[Frames, Mapping[str, Frames]] | None) -> str:
    """Return the threshold as it stands in the signature: what it was tuned on by content; nothing for none."""
    rule, number = threshold_rule(threshold)
    if rule != "tuned" or tuning is None:
        return {"none": "", "fixed": f"{number}"}.get(rule, rule)
    return f"tuned,{content_hash(*map(frames_hash, (tuning[0], *tuning[1].values())))[:LENGTH]}"


def _thresholded(whole: Case, choice: Choice, threshold: str, tuning: Case | None) -> tuple[Case, pl.DataFrame]:
    """Return the case with the answers that count, and system, `threshold_by` and `threshold` of each run."""
    own = [rule.name for rule in choice.profile.rules if rule.aspect == "threshold"]
    rule, _ = threshold_rule(threshold)
    chosen = own and own != ["threshold-none"]
    if chosen and rule != "none":
        raise UsageError(f"profile '{choice.profile.name}' has a threshold of its own: leave --threshold out")
    found = thresholds_by(whole, choice.tasks[0], choice.matchings[0], choice.profile.count, threshold, tuning)
    declared = pl.lit("oracle" if chosen else rule).alias("threshold_by")
    return above(whole, found), found.join(_names(whole.mentions), on="system").select(
        "name", declared, "threshold"
    ).rename({"name": "system"})


def case_of(
    gold: Frames,
    runs: Mapping[str, Frames],
    choice: Choice,
    *,
    types: pl.DataFrame | None = None,
    names: pl.DataFrame | None = None,
    subclasses: pl.DataFrame | None = None,
    kb: KnowledgeBase | None = None,
    background: Background | None = None,
) -> Case:
    """Return the whole of gold with all answers."""
    mentions = mentions_of(gold, runs, kb)
    pairs = overlaps(mentions)
    mentions = in_units(mentions, gold.documents, choice.unit)
    answers = Answers(mentions, gold, runs, background or Background.of(gold, kb), types, names, subclasses)
    if choice.scope:
        known = [gold.classes["class"]] if types is None else [gold.classes["class"], types["class"]]
        scope = scope_of_class(mentions, scope_named(choice.scope, pl.concat(known)), types)
    else:
        scope = scope_of_queries(answers)
    return Case(mentions, mentions.gold, mentions.answers, pairs, scope=scope, known=answers)


def counts_of(
    whole: Case,
    choice: Choice,
    *,
    columns: pl.DataFrame | None = None,
    document_columns: pl.DataFrame | None = None,
    weights: Weights | None = None,
) -> pl.DataFrame:
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
        slicings = [
            values_by(answers.gold, one.column, columns, document_columns, one.scheme) for one in breakdown(column)
        ]
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
    kept = replace(case, gold=case.kept(), scope=None, _judged={})
    labels = {"column": case.column, "slice": case.value}
    parts = []
    for task in choice.tasks:
        seen = kept if task == "D2KB" and choice.spans == "kept" else case
        for matching in choice.matchings:
            counts = choice.profile.count(seen, task, matching)
            if degrees is not None:
                fuzzy = weighed(seen, task, matching, degrees)
                counts = counts.join(fuzzy, on=["system", "doc"], how="left", maintain_order="left")
            labelled = {"task": task, "matching": matching, **labels}
            parts.append(counts.with_columns(pl.lit(value).alias(name) for name, value in labelled.items()))
    return pl.concat(parts, how="diagonal_relaxed")
