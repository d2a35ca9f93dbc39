"""Runs against gold: the cases, their counts, and the rows of scores made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.frames import Frames
from remix.scoring.cases import Case
from remix.scoring.choice import Choice
from remix.scoring.mentions import mentions_of
from remix.scoring.overlaps import overlaps
from remix.scoring.profiles import PROFILES
from remix.scoring.rows import rows_of
from remix.scoring.signatures import signed
from remix.scoring.slices import kb_cases, scope_of, sliced, values_by

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

__all__ = ["counts_of", "evaluate"]


def evaluate(
    gold: Frames,
    runs: Mapping[str, Frames],
    *,
    tasks: Sequence[str] | None = None,
    matchings: Sequence[str] | None = None,
    profile: str = "remix",
    by: Sequence[str] = (),
    columns: pl.DataFrame | None = None,
    types: pl.DataFrame | None = None,
    kb: KnowledgeBase | None = None,
    scope: str = "",
    spans: str = "all",
    bootstrap: int = 0,
    seed: int = 0,
) -> pl.DataFrame:
    """Return scores: a row per system, dataset, task, matching, slice and average.

    Columns: `system`, `dataset` ('all' pools every document, 'mean' is the unweighted mean of datasets), `task`,
    `matching`, `profile`, `column` and `slice` (empty for the whole), `average` ('micro', 'macro'), `documents`,
    `mentions`, `tp`, `fp`, `fn`, `ignored`, `precision`, `recall`, `f1`, `precision_in_scope`, `precision_on_mention`,
    `f1_precision` (the precision that F1 takes), the numbers of documents that a macro average is over, intervals
    where `bootstrap` asks for samples, and `signature`. Scores are fractions; undefined ones are null.

    - `runs` maps a system's name to its answers; documents are aligned by IRI, else by text.
    - `tasks`, `matchings`: those of the profile unless given.
    - `by`: columns to slice by: `class`, any of `columns` (annotation and one column each), a property or measure.
    - `types` (entity, class), by default the knowledge base's, tells which answers are in the scope of a class.
    - `scope`: the class that gold was cut down to, where it is a remix by class.
    - `spans`: 'all' leaves dropped spans in D2KB's input, 'kept' takes them out, for D2KB alone.

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
    )
    if spans not in ("all", "kept"):
        raise UsageError(f"spans are 'all' or 'kept', not '{spans}'")
    if not runs:
        raise UsageError("nothing to evaluate: name a run")
    prepared, answers = rules.prepare(gold, runs)
    if types is None and kb is not None:
        types = kb.types
    signature = signed(choice, gold, runs, kb, columns, types)
    counts, documents = counts_of(prepared, answers, choice, columns=columns, types=types, kb=kb)
    return rows_of(counts, documents, runs, choice).join(signature, on="system", how="left", maintain_order="left")


def counts_of(
    gold: Frames,
    runs: Mapping[str, Frames],
    choice: Choice,
    *,
    columns: pl.DataFrame | None = None,
    types: pl.DataFrame | None = None,
    kb: KnowledgeBase | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the counts per document, task, matching and slice, and the documents (doc, document, dataset)."""
    mentions = mentions_of(gold, runs, kb)
    pairs = overlaps(mentions)
    scoped = scope_of(mentions, choice.scope, types) if choice.scope else None
    whole = Case(mentions, mentions.gold, mentions.answers, pairs, scope=scoped)
    parts = [_counted(whole, choice)]
    if choice.profile.kb_rows:
        parts += [_counted(case, choice) for case in kb_cases(whole)]
    for column in choice.by:
        values = values_by(gold, column, columns)
        cases = list(sliced(whole, column, values, choice.profile.rest, types))
        if not cases:
            raise UsageError(f"no annotation of gold has a value in column '{column}'")
        parts += [_counted(case, choice) for case in progress.track(cases, f"slices by {column}")]
    names = pl.DataFrame({"system": range(len(runs)), "name": list(runs)}, schema_overrides={"system": pl.Int64})
    counts = pl.concat(parts).join(names, on="system").join(mentions.documents.select("doc", "dataset"), on="doc")
    return counts.drop("system").rename({"name": "system"}), mentions.documents


def _counted(case: Case, choice: Choice) -> pl.DataFrame:
    """Return the counts of every task and matching of one case."""
    kept = Case(case.mentions, case.kept(), case.answers, case.overlaps, case.column, case.value)
    labels = {"column": case.column, "slice": case.value}
    parts = []
    for task in choice.tasks:
        seen = kept if task == "D2KB" and choice.spans == "kept" else case
        for matching in choice.matchings:
            counts = choice.profile.count(seen, task, matching)
            labelled = {"task": task, "matching": matching, **labels}
            parts.append(counts.with_columns(pl.lit(value).alias(name) for name, value in labelled.items()))
    return pl.concat(parts)
