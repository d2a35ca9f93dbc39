"""Curves, comparisons and agreement of what files and a workspace hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from remix import iris
from remix._version import __version__
from remix.errors import UnknownName, UsageError
from remix.scoring.agreement import agreement
from remix.scoring.averages import precision_of_f1, taking
from remix.scoring.choice import Choice
from remix.scoring.comparison import Comparison, Part, compared, slices_of
from remix.scoring.curves import CURVES
from remix.scoring.error_columns import with_errors
from remix.scoring.evaluation import case_of, counts_of
from remix.scoring.inputs import Keeper, Sources, read_frames, read_inputs
from remix.scoring.kept import kept_gold
from remix.scoring.signatures import LENGTH, frames_hash, signature_of_parts, signed
from remix.scoring.tasks import takes_spans
from remix.signature import Signature

__all__ = ["TESTS", "agreement_of", "compared_inputs", "curve"]

TESTS: Mapping[str, Any] = {"unfiltered": "", "score": "f1", "average": "micro", "samples": 10_000}
"""What `remix.scoring.comparison.compared` takes beside a choice, in the order of signatures, and by default."""


def curve(keeper: Keeper, sources: Sources, choice: Choice, kind: str) -> pl.DataFrame:
    """Return a curve of `remix.scoring.curves`, of the task and matching that profiles are compared by unless given.

    Raises `UnknownName` for another kind of curve, `UsageError` for a choice that curves do not take.
    """
    if kind not in CURVES:
        raise UnknownName("curve", kind, CURVES)
    choice = choice.only(("tasks", "matchings"), "changes no curve: leave it out").headline()
    found = read_inputs(keeper, sources, choice).for_tasks(spans=takes_spans(choice.tasks[0]))
    inputs = found.prepared(choice.profile)
    return CURVES[kind](case_of(inputs, choice), choice)


def compared_inputs(keeper: Keeper, sources: Sources, choice: Choice, **tests: Any) -> Comparison:
    """Return how systems compare on each dataset or file of gold, or on all of it and each slice of the columns `by`.

    Task and matching are by default those by which the profile is compared. `tests` are those of `TESTS`, as
    `remix.scoring.comparison.compared` has them. Raises `UsageError` for a choice that comparisons do
    not take, `UnknownName` and `BadInput` as `read_inputs`.
    """
    choice = choice.only(
        ("tasks", "matchings", "by", "min_support", "documents", "unit", "seed"), "is not for comparisons: leave it out"
    ).headline()
    if len(choice.tasks) + len(choice.matchings) > 2:
        raise UsageError("systems are compared by one task under one matching: name one")
    tests = {**TESTS, **tests, "seed": choice.seed}
    averages = choice.profile.averages
    if tests["average"] not in averages:
        raise UsageError(
            f"profile '{choice.profile.name}' has no {tests['average']} scores: --average {[*averages][0]}"
        )
    parts: dict[str, Part] = {}
    counted, signatures = [], []
    for own in [sources] if choice.by else sources.of_one_kind().one_by_one() or [sources]:
        read = read_inputs(keeper, own, choice).for_tasks(spans=takes_spans(choice.tasks[0]))
        found = with_errors(read, choice)
        whole = case_of(found.prepared(choice.profile), choice)
        counts, documents = counts_of(whole, choice), whole.mentions.documents
        counted.append(counts)
        signatures.append(signed(found, choice))
        of_gold = documents["dataset"].unique().sort()
        whole_name = "all" if len(of_gold) > 1 else of_gold[0]
        parts |= slices_of(counts, documents, whole_name, averages[tests["average"]])
    of_f1 = precision_of_f1(pl.concat(counted, how="diagonal_relaxed"))
    parts = {name: replace(part, counts=taking(part.counts, of_f1)) for name, part in parts.items()}
    found_pairs = compared(parts, signatures[0]["system"].to_list(), averages=averages, **tests)
    return replace(found_pairs, f1_precision=of_f1, signature=signature_of_parts(signatures, tests))


def agreement_of(keeper: Keeper, sources: Sources) -> pl.DataFrame:
    """Return how far two annotations of the same texts agree, two datasets by name or two files."""
    if len(sources.names) + len(sources.gold) != 2:
        raise UsageError("agreement is of two annotations: remix compare --gold A --gold B")
    first, second = (
        *(kept_gold(keeper.store, [name])[0] for name in sources.names),
        *(read_frames([file]) for file in sources.gold),
    )
    kb = keeper.kb
    fields = {"remix": __version__, "entities": iris.VERSION} | ({"kb": kb.version[:LENGTH]} if kb is not None else {})
    hashes = {name: frames_hash(frames)[:LENGTH] for name, frames in (("first", first), ("second", second))}
    return agreement(first, second, kb).with_columns(signature=pl.lit(str(Signature({**fields, **hashes}))))
