"""What a study reads of its targets and counts on them: gold, partitions, counts of systems, outcomes, measures.

Each function here is what a step does. It reads as `remix evaluate` reads, and counts by the same stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from remix.errors import UsageError
from remix.frames import Frames
from remix.measures import compute
from remix.measures.classes import class_mapping
from remix.measures.columns import Slicing, column_values, values_by
from remix.measures.partitions import Subset, breakdown, columns_of, label_of
from remix.question import Question
from remix.runs.outcomes import outcomes
from remix.scoring import count_tasks
from remix.scoring.choice import Choice, case_of, choose, read_chosen
from remix.scoring.counting import NoValues
from remix.scoring.errors.columns import complete
from remix.scoring.inputs import Inputs, Knowledge
from remix.scoring.inputs.shortcomings import failures_of
from remix.scoring.inputs.sources import Keeper
from remix.scoring.matching import Case
from remix.scoring.rows import documents_of
from remix.scoring.statistics.thresholds import sums_by_threshold, together
from remix.scoring.statistics.weights import CRITERIA
from remix.scoring.tasks import takes_spans
from remix.store.targets import targets
from remix.vocabularies import Vocabularies

_NOBODY = "nobody"
"""The name of answers that are none, where gold is read alone."""


@dataclass(frozen=True)
class StudyRules:
    """How is scored: a profile with tasks and matchings, sliced `by` columns, over documents or contexts (`unit`)."""

    profile: str
    tasks: tuple[str, ...]
    matchings: tuple[str, ...]
    by: tuple[str, ...] = ()
    unit: str = "document"

    def choice(self, gold: Sequence[str], systems: Sequence[str]) -> Choice:
        """Return what is asked of these systems on gold; without a system gold is read alone."""
        nobody = {} if systems else {_NOBODY: Frames.empty()}
        question = Question[str](
            datasets=tuple(gold),
            run=tuple(systems),
            answers=nobody,
            profile=self.profile,
            task=self.tasks,
            match=self.matchings,
            by=self.by,
            unit=self.unit,
        )
        return choose(question)


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read of a target: gold with the runs of systems, and what is asked of them."""

    inputs: Inputs
    choice: Choice

    @classmethod
    def of(
        cls,
        keeper: Keeper,
        rules: StudyRules,
        gold: Sequence[str],
        systems: Sequence[str] = (),
        boundaries: pl.DataFrame | None = None,
    ) -> Reading:
        """Return what is read of gold (names of loaded datasets, or one file) and of registered runs.

        The `boundaries` of partitions are those that `cut` returned, where there are any.
        """
        choice = rules.choice(gold, systems)
        inputs = read_chosen(keeper, choice)
        if boundaries is not None:
            inputs = replace(inputs, knowledge=_with_partitions(inputs.knowledge, boundaries))
        return cls(inputs, choice)

    def of_systems(self, names: Sequence[str], *, spans: bool) -> Inputs:
        """Return the inputs with some runs, those made for tasks that do or do not give the spans of gold."""
        own = {key: run for key, run in self.inputs.given_spans.items() if key in names}
        runs = {name: self.inputs.runs[name] for name in names}
        return replace(self.inputs, runs=runs, given_spans=own).with_runs_for(spans=spans)


def read_gold(reading: Reading) -> dict[str, pl.DataFrame]:
    """Return what a target has of the datasets that it comes from.

    - `documents`: document, home (its dataset), original (its IRI there) and mentions, how many are required;
    - `mentions`: original, begin, end and entity (the first by IRI, null for NIL) of each that is required.
    """
    inputs = complete(reading.inputs, reading.choice)
    case = case_of(reading.choice.profile.prepare(inputs), reading.choice, scoped=False).pool()
    counted = case.kept.group_by("doc").agg(mentions=pl.col("group").n_unique().cast(pl.Int64))
    rows = case.mentions.documents.join(counted, on="doc", how="left", maintain_order="left")
    rows = rows.group_by("document", "dataset", maintain_order=True).agg(pl.col("mentions").fill_null(0).sum())
    backgrounds = inputs.knowledge.backgrounds
    none = pl.DataFrame(schema={"gold": pl.String, "document": pl.String})
    places = pl.concat([none, *(one.places.select(none.columns) for one in backgrounds)]).unique("gold", keep="first")
    rows = rows.join(places.rename({"document": "original"}), left_on="document", right_on="gold", how="left")
    rows = rows.join(inputs.homes.unique("gold", keep="first"), left_on="document", right_on="gold", how="left")
    found = rows.select(
        "document",
        pl.coalesce("home", "dataset").alias("home"),
        pl.coalesce("original", "document").alias("original"),
        "mentions",
    )
    own = _mentions(case)[1].join(_spans(case), on="annotation").join(found, on="document")
    names = ("original", "begin", "end", "entity")
    return {"documents": found.sort("document"), "mentions": own.select(names).unique().sort(names)}


def count_systems(reading: Reading, names: Sequence[str]) -> dict[str, dict[str, pl.DataFrame]]:
    """Return, by system, its counts on a target, of all gold together, its documents, and on how many it failed.

    `counts` are labelled counts with the document and, of several contexts in one, `nth`; `documents` has these two.
    What a system's are does not depend on the others: they are counted together as the query of a remix is asked once
    of all answers. A column that no mention of the target has a value in has no parts there.
    """
    try:
        return _count_systems(reading, names, reading.choice)
    except NoValues as lacking:
        by = tuple(one for one in reading.choice.by if one != lacking.column)
        return count_systems(replace(reading, choice=replace(reading.choice, by=by)), names)


def _count_systems(reading: Reading, names: Sequence[str], choice: Choice) -> dict[str, dict[str, pl.DataFrame]]:
    counts, documents = [], []
    for spans in (False, True):
        tasks = tuple(task for task in choice.task if takes_spans(task) == spans)
        if not tasks:
            continue
        found = count_tasks(reading.of_systems(names, spans=spans), replace(choice, task=tasks))
        places = documents_of(found.whole).filter(dataset="all").sort("doc")
        places = places.with_columns(nth=pl.int_range(pl.len(), dtype=pl.Int64).over("document"))
        rows = found.counts.filter(dataset="all").join(places.select("doc", "document", "nth"), on="doc")
        counts.append(rows.drop("doc"))
        documents.append(places.select("document", "nth"))
    every = pl.concat(counts, how="diagonal_relaxed").drop("members", "vocabularies", strict=False)
    every = every.filter((pl.col("column") != "kb") | ("kb" in choice.by))
    found_documents = pl.concat(documents).unique().sort("document", "nth")
    failures = failures_of(replace(reading.inputs, runs={name: reading.inputs.runs[name] for name in names}))
    failed = {name: failures.filter(system=name)["document"].n_unique() for name in names}
    return {
        name: {
            "counts": every.filter(system=name),
            "documents": found_documents,
            "failed": pl.DataFrame({"failed": [failed[name]]}),
        }
        for name in names
    }


def judge_system(reading: Reading, name: str) -> dict[str, pl.DataFrame]:
    """Return annotation, outcome ('correct', 'wrong', 'missed') and confidence of what a system made of mentions.

    That is by the first task and matching, under the rules of the profile remix, whichever else is asked.
    """
    from remix.scoring.matching import matchings_among

    choice = reading.choice
    matching = matchings_among(choice.match)[0]
    inputs = reading.of_systems([name], spans=takes_spans(choice.task[0]))
    found = outcomes(replace(inputs, knowledge=inputs.knowledge.with_types()), matching)
    groups = found.case.kept.select("annotation", "group").unique("annotation")
    answered = found.answers.filter(pl.col("outcome") != "ignored").join(groups, on="annotation")
    answered = answered.sort("answer").group_by("group").agg(confidence=pl.col("confidence").first(), answered=pl.len())
    rows = found.gold.drop("group").join(groups, on="annotation").join(answered, on="group", how="left")
    wrong = pl.when(pl.col("answered").is_null()).then(pl.lit("missed")).otherwise(pl.lit("wrong"))
    outcome = pl.when(pl.col("outcome") == "tp").then(pl.lit("correct")).otherwise(wrong)
    rows = rows.select("annotation", outcome=outcome, confidence=pl.col("confidence").cast(pl.Float64))
    return {"outcomes": rows.unique("annotation").sort("annotation")}


def sum_thresholds(reading: Reading, name: str) -> dict[str, pl.DataFrame]:
    """Return above (null is none), tp, fp and fn of a system's answers above each threshold that changes anything.

    That is by the first task and matching, over all gold together. Without confidence there is no row, nor of a task
    that does not say which answers are right.
    """
    choice = reading.choice
    task, matching = choice.task[0], choice.match[0]
    if task not in CRITERIA:
        return {"thresholds": _NO_SUMS}
    inputs = complete(reading.of_systems([name], spans=takes_spans(task)), choice)
    case = case_of(choice.profile.prepare(inputs), choice).pool()
    sums = sums_by_threshold(case, task, matching, choice.profile.count, together(case))
    return {"thresholds": pl.concat([_NO_SUMS, sums.select(pl.col(*_NO_SUMS.columns).cast(pl.Float64))])}


_NO_SUMS = pl.DataFrame(schema=dict.fromkeys(("above", "tp", "fp", "fn"), pl.Float64))


def cut(reading: Reading, by: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Return the mentions of all datasets with the values of columns, and the parts that partitions cut them into.

    What was read has the columns of partitions (`by`) and further ones.

    - `mentions`: mention, dataset, document, annotation, entity, class and the columns;
    - `annotations`: annotation and mention, those of alternatives among them, with document, begin and end;
    - `parts`: column, level, part, slice, low, high; `members`: mention, column, slice;
    - `boundaries`: label (of a column with its scheme), number, name, low, high of what numbers are cut into, or the
      vocabularies of a column of classes.
    """
    choice = reading.choice
    inputs = complete(reading.inputs, choice)
    case = case_of(choice.profile.prepare(inputs), choice, scoped=False)
    groups, mentions = _mentions(case)
    known, gold = inputs.knowledge, case.evidence.gold
    members, parts, boundaries = [], [], [_NO_BOUNDARIES]
    for text in by:
        slicings = [values_by(gold, one, *known.tables, known.vocabularies) for one in breakdown(text)]
        boundaries += [_boundaries_of(one) for one in slicings]
        rows = groups.select("mention").unique().with_columns(slice=pl.lit(""))
        for nth, one in enumerate(slicings):
            key = "document" if one.of_documents else "annotation"
            own = groups.join(one.values.drop_nulls(), on=key).select("mention", "value").unique()
            joined = rows.join(own, on="mention")
            value = pl.col("value") if not nth else pl.concat_str("slice", pl.lit(" × "), "value")
            rows = joined.select("mention", slice=value)
        label, level = label_of(text), "document" if all(one.of_documents for one in slicings) else "annotation"
        members.append(rows.select("mention", pl.lit(label).alias("column"), "slice"))
        parts.append(_parts_of(slicings, rows["slice"], label, level))
    none = pl.DataFrame(schema={"mention": pl.Int64, "column": pl.String, "slice": pl.String})
    for column in dict.fromkeys(columns_of(choice.by)):
        mentions = _with_column(mentions, groups, column_values(gold, column, *known.tables), column)
    return {
        "mentions": mentions,
        "annotations": groups.unique(["annotation", "mention"]).join(_spans(case), on="annotation").sort("annotation"),
        "parts": pl.concat([_NO_PARTS, *parts]),
        "boundaries": pl.concat(boundaries),
        "members": pl.concat([none, *members]).sort("column", "slice", "mention"),
    }


_NO_PARTS = pl.DataFrame(
    schema={
        "column": pl.String,
        "level": pl.String,
        "part": pl.Int64,
        "slice": pl.String,
        "low": pl.Float64,
        "high": pl.Float64,
    }
)


def _parts_of(slicings: Sequence[Slicing], slices: pl.Series, label: str, level: str) -> pl.DataFrame:
    """Return the parts of a column in order, with its boundaries where it is one; what has no value is part 0."""
    if len(slicings) > 1:
        crossed = [(label, level, n, name, None, None) for n, name in enumerate(slices.unique().sort(), 1)]
        return pl.DataFrame(crossed, schema=_NO_PARTS.schema, orient="row")
    there = set(slices)
    rows = [(label, level, p.number, p.name, p.low, p.high) for p in slicings[0].parts if p.name in there]
    return pl.DataFrame(rows, schema=_NO_PARTS.schema, orient="row")


_NO_BOUNDARIES = pl.DataFrame(
    schema={
        "label": pl.String,
        "column": pl.String,
        "number": pl.Int64,
        "name": pl.String,
        "file": pl.String,
        "low": pl.Float64,
        "high": pl.Float64,
        "vocabularies": pl.String,
    }
)


def _boundaries_of(slicing: Slicing) -> pl.DataFrame:
    """Return what numbers are cut into, or the vocabularies of classes, so that parts of gold are cut alike."""
    asked, parts = slicing.asked, slicing.parts
    rows: list[tuple[object, ...]] = []
    if len(parts) > 1 and all(one.category is None for one in parts):
        rows = [
            (asked.label, asked.column, one.number, one.name, one.file_name, one.low, one.high, "") for one in parts
        ]
    if slicing.vocabularies is not None:
        rows.append((asked.label, asked.column, 0, "", "", None, None, str(slicing.vocabularies)))
    return pl.DataFrame(rows, schema=_NO_BOUNDARIES.schema, orient="row")


def _with_partitions(known: Knowledge, boundaries: pl.DataFrame) -> Knowledge:
    """Return what is known with the partitions and vocabularies of all datasets together."""
    partitions: dict[str, tuple[Subset, ...]] = {}
    vocabularies = {}
    for row in boundaries.iter_rows(named=True):
        if row["vocabularies"]:
            # A vocabulary that is named says nothing of what the column shows where it is asked for as it is, too.
            if row["label"] == row["column"] or row["column"] not in vocabularies:
                vocabularies[row["column"]] = Vocabularies.parse(row["vocabularies"])
        else:
            own = Subset(row["number"], row["name"], row["file"], row["low"], row["high"])
            partitions[row["label"]] = (*partitions.get(row["label"], ()), own)
    return replace(known, partitions=partitions, vocabularies={**known.vocabularies, **vocabularies})


def _mentions(case: Case) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return annotation, document and mention of all that is required, and a row for each mention."""
    rows = case.kept.select("mention", "group", "doc", "annotation", "begin").rename({"mention": "nth"})
    rows = rows.join(case.mentions.documents, on="doc", maintain_order="left")
    firsts = rows.sort("nth").unique("group", keep="first", maintain_order=True)
    firsts = firsts.sort("dataset", "document", "begin", "annotation").with_columns(
        mention=pl.int_range(pl.len(), dtype=pl.Int64)
    )
    groups = rows.join(firsts.select("group", "mention"), on="group").select("annotation", "document", "mention")
    coarse = case.evidence.gold.classes.filter(pl.col("class").is_in(class_mapping()["coarse"].unique().implode()))
    named = coarse.select("annotation", pl.col("class").str.extract(r"([^/#:]+)$").alias("class"))
    classes = groups.join(named, on="annotation").group_by("mention").agg(pl.col("class").sort().first())
    links = (
        groups.join(case.evidence.gold.links, on="annotation").group_by("mention").agg(pl.col("entity").sort().first())
    )
    mentions = firsts.select("mention", "dataset", "document", "annotation").sort("mention")
    for table in (links, classes):
        mentions = mentions.join(table, on="mention", how="left", maintain_order="left")
    return groups, mentions


def _spans(case: Case) -> pl.DataFrame:
    """Return annotation, begin and end of all that is required."""
    return case.kept.select("annotation", "begin", "end").unique("annotation")


def _with_column(mentions: pl.DataFrame, groups: pl.DataFrame, values: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the mentions with the values of a column, of several the first."""
    if column in mentions.columns:
        return mentions
    key = "document" if "document" in values.columns else "annotation"
    own = groups.join(values.drop_nulls("value"), on=key)
    first = own.group_by("mention").agg(pl.col("value").sort().first().alias(column))
    if not first[column].dtype.is_numeric():
        first = first.with_columns(pl.col(column).cast(pl.String))
    return mentions.join(first, on="mention", how="left", maintain_order="left")


def measure_target(keeper: Keeper, name: str, gold: Iterable[str]) -> dict[str, pl.DataFrame]:
    """Return measure, average, value and coverage of a target, computed on it alone, of several datasets on all."""
    names = [*gold]
    frames = Frames.concat(one.frames.in_dataset(one.name) for one in targets(keeper.store, names))
    whole: Any = frames.in_dataset(name) if len(names) > 1 else frames
    if whole.annotations.is_empty():
        raise UsageError(f"'{name}' has no annotation, so that there is nothing to measure")
    rows = compute(whole, keeper.kb).datasets
    numbers = [pl.col(name).cast(pl.Float64).fill_nan(None) for name in ("value", "coverage")]
    return {"measures": rows.select("measure", "average", *numbers)}
