"""Curves, comparisons and agreement of what files and a workspace hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from remix import iris
from remix._version import __version__
from remix.errors import UnknownName, UsageError
from remix.scoring.agreement import agreement
from remix.scoring.choice import Choice
from remix.scoring.columns import columns_of
from remix.scoring.comparison import Comparison, Part, compared, slices_of
from remix.scoring.curves import CURVES
from remix.scoring.evaluation import case_of, counts_of
from remix.scoring.inputs import Keeper, read_frames, read_inputs
from remix.scoring.kept import kept_gold
from remix.scoring.profiles import PROFILES
from remix.scoring.signatures import LENGTH, frames_hash, signature_of_parts
from remix.signature import Signature

__all__ = ["agreement_of", "compared_inputs", "curve"]


def curve(
    keeper: Keeper,
    names: Sequence[str],
    gold: Sequence[Path | str],
    runs: Sequence[str],
    *,
    kind: str,
    profile: str = "remix",
    tasks: Sequence[str] = (),
    matchings: Sequence[str] = (),
    systems: Sequence[str] = (),
    entities: Path | None = None,
) -> pl.DataFrame:
    """Return a curve of `remix.scoring.curves`, of the task and matching that profiles are compared by unless given.

    The rest is as for `evaluated`. Raises `UnknownName` for another kind of curve.
    """
    if kind not in CURVES:
        raise UnknownName("curve", kind, CURVES)
    found, rules = read_inputs(keeper, names, gold, runs, systems, (), entities), PROFILES[profile]
    choice = Choice(rules, tuple(tasks) or rules.headline[:1], tuple(matchings) or rules.headline[1:])
    prepared, answers = rules.prepare(found.gold, found.runs)
    return CURVES[kind](case_of(prepared, answers, choice, **found.known), choice)


def compared_inputs(
    keeper: Keeper,
    names: Sequence[str],
    gold: Sequence[Path | str],
    runs: Sequence[str],
    *,
    task: str = "",
    matching: str = "",
    profile: str = "remix",
    by: Sequence[str] = (),
    unit: str = "document",
    systems: Sequence[str] = (),
    entities: Path | None = None,
    **choices: Any,
) -> Comparison:
    """Return how systems compare on each dataset or file of gold, or on all of it and each slice of the columns `by`.

    Task and matching are by default those by which the profile is compared. The other choices are those of
    `remix.scoring.comparison.compared`.
    """
    rules = PROFILES[profile]
    choice = Choice(rules, (task or rules.headline[0],), (matching or rules.headline[1],), tuple(by), unit=unit)
    single = [((name,), ()) for name in names] + [((), (file,)) for file in gold]
    parts: dict[str, Part] = {}
    signatures = []
    measured = [column for column in columns_of(by) if column not in rules.slices]
    for own, files in [(names, gold)] if by else single:
        found = read_inputs(keeper, own, files, runs, systems, measured, entities)
        prepared, answers = rules.prepare(found.gold, found.runs)
        whole = case_of(prepared, answers, choice, **found.known)
        counts, documents = counts_of(whole, choice, **found.tables), whole.mentions.documents
        signatures.append(found.signed(choice))
        of_gold = documents["dataset"].unique().sort()
        parts |= slices_of(counts, documents, "all" if len(of_gold) > 1 else of_gold[0])
    signature = signature_of_parts(signatures, choices)
    return replace(compared(parts, signatures[0]["system"].to_list(), **choices), signature=signature)


def agreement_of(keeper: Keeper, names: Sequence[str], gold: Sequence[Path | str]) -> pl.DataFrame:
    """Return how far two annotations of the same texts agree, two datasets by name or two files."""
    if len(names) + len(gold) != 2:
        raise UsageError("agreement is of two annotations: remix compare --gold A --gold B")
    first, second = (
        *(kept_gold(keeper.store, [name])[0] for name in names),
        *(read_frames([file]) for file in gold),
    )
    fields = {"remix": __version__, "entities": iris.VERSION}
    hashes = {name: frames_hash(frames)[:LENGTH] for name, frames in (("first", first), ("second", second))}
    return agreement(first, second).with_columns(signature=pl.lit(str(Signature({**fields, **hashes}))))
