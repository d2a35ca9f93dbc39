"""Counts of a case, of all of it and of each slice that is asked for, by every task and matching."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256

import polars as pl

from remix import progress
from remix.dense import distinct
from remix.errors import UsageError
from remix.measures.columns import values_by
from remix.measures.partitions import breakdown, is_bounds, label_of
from remix.scoring.choice import Choice
from remix.scoring.conventions.aspects import pair_maximum, threshold_none
from remix.scoring.inputs.case_tables import NIL, Counts, LabelledCounts
from remix.scoring.matching import Case, Counter, matching_named, with_detail
from remix.scoring.profiles import Profile
from remix.scoring.slicing import cross, kb_cases
from remix.scoring.statistics.weights import CRITERIA, Weights, weigh


class NoValues(UsageError):
    """Gold has no value in a column that it is to be sliced by."""

    def __init__(self, column: str) -> None:
        self.column = column
        super().__init__(f"no annotation of gold has a value in column '{column}'")


Slices = dict[str, tuple[list[Case], str]]
"""The cases of each column that gold is sliced by, and the `vocabularies` of its values."""


def counts_of(whole: Case, choice: Choice, weights: Weights | None = None) -> LabelledCounts:
    """Return the counts per document, task, matching and slice: of dataset 'all' and, of several datasets, of each.

    'all' is all gold together, each mention and answer of documents that datasets share once (`Case.pool`).

    With slices, `members` names what a row is of: slices of the same mentions and answers have the same; by classes,
    `vocabularies` are those that there are, the one that is shown first. Where slices
    are to be tested, `held` lists the mentions of a slice in a document, and beside those of the whole `entity`,
    `found` (how much of a mention is) and `answered` (whether it is) list what `differences_of_slices` tests.
    """
    answers, degrees = whole.evidence, None
    if weights is not None:
        degrees = (
            whole.gold.select("mention", "annotation")
            .join(weights.degrees, on="annotation")
            .select("mention", "weight")
        )
    slices: Slices = {}
    for column in choice.by:
        if own_rule(choice.profile, column) is None:
            known = answers.knowledge
            slicings = [
                values_by(answers.gold, one, *known.tables, known.vocabularies, known.partitions)
                for one in breakdown(column)
            ]
            cases = list(cross(whole, slicings, choice.profile.outside_slice))
            shown = [(one.asked.column, one.vocabularies) for one in slicings if one.vocabularies is not None]
            told = "; ".join(f"{name}: {one}" for name, one in shown if one.others)
            slices[column] = _keep_supported(cases, column, choice.min_support), told
    pooled = counts = _count_slices(whole, slices, choice, degrees)
    if whole.originals is not None:
        together = {name: ([case.pool() for case in cases], told) for name, (cases, told) in slices.items()}
        pooled = _count_slices(whole.pool(), together, choice, degrees)
    pooled = pooled.with_columns(dataset=pl.lit("all"))
    several = whole.mentions.documents["dataset"].n_unique() > 1
    return pl.concat([pooled, counts], how="diagonal_relaxed") if several else pooled


def _count_slices(whole: Case, slices: Slices, choice: Choice, degrees: pl.DataFrame | None) -> LabelledCounts:
    """Return the counts of a case, of its linked and its NIL mentions, and of its slices by each column."""
    parts = [_count(whole, choice, degrees)]
    if choice.profile.kb_rows:
        cases = kb_cases(whole, always=choice.profile.kb_rows == "always")
        parts += [_count(case, choice, degrees) for case in cases]
    for column in choice.by:
        if (rule := own_rule(choice.profile, column)) is not None:
            parts += _sliced_by_profile(whole, choice, label_of(column), rule, parts[0].columns)
            continue
        cases, told = slices[column]
        sliced = [_count(case, choice, degrees) for case in progress.track(cases, f"slices by {column}")]
        parts += [one.with_columns(vocabularies=pl.lit(told)) if told else one for one in sliced]
    places, names = whole.mentions.documents, whole.mentions.names
    counts = pl.concat(parts, how="diagonal_relaxed").join(names, on="system").join(places, on="doc")
    return counts.drop("system", "document").rename({"name": "system"})


def _keep_supported(cases: list[Case], column: str, least: int) -> list[Case]:
    """Return the slices of enough mentions; raises `NoValues` where there is no slice, `UsageError` where none has."""
    if not cases:
        raise NoValues(column)
    found = [case for case in cases if not least or case.kept["group"].n_unique() >= least]
    _tell_left(column, len(cases) - len(found), least, some=bool(found))
    return found


def own_rule(profile: Profile, column: str) -> Counter | None:
    """Return the rule that a profile has of its own for a column, or for columns that are crossed, maybe by bounds.

    Raises `UsageError` for columns that it has a rule for alone, and not crossed so, and for bounds of others.
    """
    parts = breakdown(column)
    bounds = [one.scheme if is_bounds(one.scheme) else "" for one in parts]
    asked = [replace(one, scheme="" if bound else one.scheme).label for one, bound in zip(parts, bounds, strict=True)]
    rule = profile.slices.get(" × ".join(asked))
    if any(bounds) and (made := profile.bounded.get(" × ".join(asked))):
        return made(bounds)
    if any(bounds) and rule is not None:
        cut = " or ".join(f"'{name.replace(' × ', ',')}'" for name in profile.bounded)
        raise UsageError(
            f"'{column}' has bounds, and the profile '{profile.name}' cuts {cut or 'no column'} by such: leave them out"
        )
    if rule is None and len(asked) > 1 and (alone := [name for name in asked if name in profile.slices]):
        near = [one for one in profile.slices if " × " in one and {*one.split(" × ")} & {*alone}]
        crossed = "".join(f"'{one.replace(' × ', ',')}', which it crosses, or " for one in near)
        raise UsageError(
            f"the profile '{profile.name}' slices by {' and '.join(alone)} in its own way, and does not cross that "
            f"with what '{column}' names: write {crossed}{' or '.join(alone)} alone, or choose another profile"
        )
    return rule


def _sliced_by_profile(whole: Case, choice: Choice, column: str, rule: Counter, order: list[str]) -> list[pl.DataFrame]:
    """Return the counts of every task and matching, sliced by a column that the profile has its own rule for.

    Slices have enough mentions of gold, those that are found or missed; raises `UsageError` where none has.
    """
    parts, least, left = [], choice.min_support, 0
    for task in choice.task:
        found = {matching: rule(whole, task, matching) for matching in choice.match}
        few = _few(found.values(), least) if least else []
        left += len(few)
        for matching, counts in found.items():
            labels = {"task": task, "matching": matching, "column": column}
            counts = counts.filter(~pl.col("slice").is_in(few))
            counts = counts.with_columns(pl.lit(value).alias(name) for name, value in labels.items())
            parts.append(counts[[one for one in order if one in counts.columns]])
    _tell_left(column, left, least, some=not left or any(len(one) for one in parts))
    return parts


def _few(every: Iterable[pl.DataFrame], least: int) -> list[str]:
    """Return the slices that have fewer mentions by each of several counts, as matchings need not count all."""
    sizes = []
    for counts in every:
        found = pl.col("tp_of_gold" if "tp_of_gold" in counts.columns else "tp")
        sizes.append(
            counts.group_by("system", "slice").agg(mentions=(found.sum() + pl.col("fn").sum()).cast(pl.Float64))
        )
    most = pl.concat(sizes).group_by("slice").agg(pl.col("mentions").max())
    return most.filter(pl.col("mentions") < least)["slice"].to_list()


def _tell_left(column: str, left: int, least: int, *, some: bool) -> None:
    """Tell how many slices have too few mentions; raises `UsageError` where these are all."""
    if not some:
        raise UsageError(f"no slice by '{column}' has {least} mentions: lower --min-support")
    if left:
        progress.note(f"by {column}: {left} slices of fewer than {least} mentions are left out")


def _count(case: Case, choice: Choice, degrees: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the counts of every task and matching of one case."""
    case = case.in_kept_documents() if choice.documents == "kept" and case.column else case
    labels = {"column": case.column, "slice": case.value}
    if choice.by:
        rows = (case.kept["mention"], case.answers["answer"])
        labels["members"] = sha256(b"|".join(one.to_numpy().tobytes() for one in rows)).hexdigest()
    cut = bool((case.gold["ignorable"] == "dropped").any())
    count, parts = choice.profile.count, []
    for task in choice.task:
        seen = replace(case, gold=case.kept) if task == "D2KB" and choice.spans == "kept" else case
        for matching in choice.match:
            counts = count(seen, task, matching)
            if degrees is not None:
                fuzzy = weigh(seen, task, matching, degrees)
                counts = counts.join(fuzzy, on=["system", "doc"], how="left", maintain_order="left")
            if choice.intervals and choice.by:
                counts = _with_mentions(counts, case, choice, task, matching)
            named = {"task": task, "matching": matching, **labels, "cut": cut}
            parts.append(counts.with_columns(pl.lit(value).alias(name) for name, value in named.items()))
    return pl.concat(parts, how="diagonal_relaxed")


def _with_mentions(counts: Counts, case: Case, choice: Choice, task: str, matching: str) -> Counts:
    """Return the counts with lists of the mentions that each document holds and, of the whole, what became of them."""
    conventions = choice.profile.conventions
    told = (
        not choice.profile.own_rules and conventions.pairing == pair_maximum and conventions.threshold == threshold_none
    )
    how = matching_named(matching) if told and task in CRITERIA else None
    if how is None or how.shares is None:
        return counts
    mentions = case.kept.unique("group", keep="first", maintain_order=True).select("doc", "group", "mention", "link")
    if case.column:
        held = mentions.group_by("doc", maintain_order=True).agg(held="group")
        return counts.join(held, on="doc", how="left", maintain_order="left")
    judged = case.judge(CRITERIA[task], how)
    keys = ["system", "group"]
    found = how.shares(case, judged).group_by(keys).agg(found=pl.col("share").max())
    answered = judged.pairs.join(case.kept.select("mention", "group"), on="mention").select(keys).unique()
    rows = case.mentions.for_each_system(_with_entity(case, mentions))
    rows = rows.join(found, on=keys, how="left", maintain_order="left")
    rows = rows.join(answered.with_columns(answered=pl.lit(True)), on=keys, how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("found").fill_null(0.0).cast(pl.Float64), pl.col("answered").fill_null(False))
    lists = rows.group_by("system", "doc", maintain_order=True).agg("entity", "found", "answered", held="group")
    return counts.join(lists, on=["system", "doc"], how="left", maintain_order="left")


def _with_entity(case: Case, mentions: pl.DataFrame) -> pl.DataFrame:
    """Return the mentions with the number of their `entity`; of NIL those of one form are one."""
    forms = with_detail(case, "surface_form").gold.select("mention", form=pl.col("surface_form").str.to_lowercase())
    rows = mentions.join(forms, on="mention", how="left", maintain_order="left")
    every, places = distinct(rows["form"])
    named = every.rank("dense").cast(pl.Int64).gather(places)
    nil = -1 - pl.coalesce(2 * named, 2 * pl.col("group") + 1)
    return rows.with_columns(entity=pl.when(pl.col("link") == NIL).then(nil).otherwise("link")).drop("form")
