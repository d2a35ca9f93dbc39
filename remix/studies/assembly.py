"""The results of a study, made of what its steps found: scores, differences, and the tables that exhibits look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import polars as pl

from remix.question import Question
from remix.schemas import fit
from remix.scoring.choice import Choice, choose, fill
from remix.scoring.profiles import PROFILES
from remix.scoring.rows import expand, rows_of, with_means
from remix.scoring.statistics import precision_of_f1, with_fp_of_f1
from remix.scoring.statistics.contrasts import contrasts_of_systems, contrasts_of_targets
from remix.scoring.statistics.intervals import LEAST_UNITS
from remix.scoring.statistics.significance import holm_within
from remix.studies import results
from remix.studies.definition import Study
from remix.studies.planning import StudyCell, StudyPlan
from remix.studies.preparation import Aim, Prepared
from remix.studies.results import Results
from remix.studies.shelf import StepShelf

_WHOLE = pl.col("column") == ""


@dataclass(frozen=True, eq=False)
class TargetCounts:
    """The counts of all systems on a target by a profile, with the documents that they are over.

    `counts` have the false positives of the precision that is shown as `fp`, and the number of a document as `doc`;
    `places` has doc, document and nth; `shown` is which precision each column shows.
    """

    target: str
    profile: str
    systems: tuple[str, ...]
    counts: pl.DataFrame
    places: pl.DataFrame
    shown: Mapping[str, str]
    failed: Mapping[str, int]


def read_counts(shelf: StepShelf, target: str, profile: str, cells: Sequence[StudyCell]) -> TargetCounts:
    """Return the counts of the systems of these cells."""
    parts = {cell.system: shelf.get("count", cell.key, "counts") for cell in cells}
    places = pl.concat([shelf.get("count", cell.key, "documents") for cell in cells]).unique().sort("document", "nth")
    places = places.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("doc"), "document", "nth")
    counts = pl.concat(parts.values(), how="diagonal_relaxed").join(places, on=["document", "nth"])
    shown, every = {}, []
    whole = counts.filter(_WHOLE)
    for (column,), own in counts.group_by("column", maintain_order=True):
        of = precision_of_f1(pl.concat([whole, own]) if column else own)
        shown[str(column)] = of
        every.append(with_fp_of_f1(own, of).with_columns(fp="fp_of_f1", cut=pl.lit(False)))
    failed = {cell.system: int(shelf.get("count", cell.key, "failed")["failed"][0]) for cell in cells}
    return TargetCounts(target, profile, tuple(parts), pl.concat(every), places, shown, failed)


def choice_of(study: Study, profile: str) -> Choice:
    """Return what is asked of rows by a profile; their counts are there."""
    asked = fill(choose(Question[str](profile=profile, unit=study.unit)), study.tasks, study.matchings)
    return replace(asked, intervals=True)


def score(study: Study, found: TargetCounts) -> pl.DataFrame:
    """Return the rows of scores of all systems on a target and its parts."""
    choice = choice_of(study, found.profile)
    own = found.places.select("doc", "document", dataset=pl.lit("its own"))
    places = pl.concat([own, own.with_columns(dataset=pl.lit("all"))])
    if len(own) < LEAST_UNITS:
        choice = replace(choice, intervals=False)
    counts = found.counts.drop("document", "nth", "fp_of_f1")
    rows = with_means(rows_of(counts, places, found.systems, expand(choice), ()), choice)
    sizes = _documents_of_parts(counts)
    rows = rows.filter(dataset="all").join(sizes, on=["column", "slice"], how="left", maintain_order="left")
    failed = pl.col("system").replace_strict(found.failed, return_dtype=pl.Int64)
    of_f1 = pl.col("column").replace_strict(found.shown, default="all", return_dtype=pl.String)
    return rows.with_columns(
        target=pl.lit(found.target),
        failed=failed,
        f1_precision=of_f1,
        documents=pl.when(_WHOLE).then("documents").otherwise("held").fill_null(0).cast(pl.Int64),
        mentions=pl.col("mentions").fill_null(0).cast(pl.Int64),
        state=pl.lit("there"),
        told=pl.lit(""),
    ).drop("held", "dataset")


def _documents_of_parts(counts: pl.DataFrame) -> pl.DataFrame:
    """Return column, slice and `held`: in how many documents a part has mentions."""
    held = counts.filter(pl.col("tp") + pl.col("fn") > 0)
    return held.group_by("column", "slice").agg(held=pl.col("doc").n_unique().cast(pl.Int64))


def differences(study: Study, found: TargetCounts, *, parts: bool) -> pl.DataFrame:
    """Return the difference of each two systems on a target and, with `parts`, on each of its parts."""
    keys = ["task", "matching", "column", "slice"]
    counts = found.counts if parts else found.counts.filter(_WHOLE)
    rows = contrasts_of_systems(
        counts,
        keys,
        found.places,
        found.systems,
        average=study.average,
        samples=study.samples,
        seed=study.seed,
        averages=PROFILES[found.profile].averages,
    )
    every = pl.when(_WHOLE).then(found.places.height).otherwise("documents").cast(pl.Int64)
    rows = rows.with_columns(documents=every)
    labels = {"family": "systems", "target": found.target, "against": found.target, "profile": found.profile}
    return rows.with_columns(pl.lit(value).alias(name) for name, value in labels.items())


def differences_of_targets(
    study: Study, found: TargetCounts, unfiltered: TargetCounts, originals: pl.DataFrame
) -> pl.DataFrame:
    """Return the difference of each system on a target and on the one that targets are held against.

    `originals` (target, document, original) say which documents of both are the same.
    """
    both = [one for one in found.systems if one in unfiltered.systems]
    one, other = (
        each.places.join(originals.filter(target=each.target).select("document", "original"), on="document", how="left")
        .with_columns(pl.coalesce("original", "document").alias("original"))
        .select("doc", "original", "nth")
        for each in (found, unfiltered)
    )
    every = pl.concat([one, other]).select("original", "nth").unique().sort("original", "nth")
    every = every.with_columns(place=pl.int_range(pl.len(), dtype=pl.Int64))
    documents = every.select(doc="place")
    parts = []
    for task, matching in product(*(found.counts[name].unique().sort() for name in ("task", "matching"))):
        rows = [
            _sums_by_original(each.counts.filter(_WHOLE, task=task, matching=matching), places, every)
            for each, places in ((found, one), (unfiltered, other))
        ]
        if any(each.is_empty() for each in rows):
            continue
        tested = contrasts_of_targets(
            rows[0], rows[1], documents, both, average=study.average, averages=PROFILES[found.profile].averages
        )
        parts.append(tested.with_columns(task=pl.lit(task), matching=pl.lit(matching)))
    if not parts:
        return pl.DataFrame()
    labels = {
        "family": "unfiltered",
        "target": found.target,
        "against": unfiltered.target,
        "profile": found.profile,
        "column": "",
        "slice": "",
    }
    return pl.concat(parts).with_columns(pl.lit(value).alias(name) for name, value in labels.items())


def _sums_by_original(counts: pl.DataFrame, places: pl.DataFrame, originals: pl.DataFrame) -> pl.DataFrame:
    """Return the counts by the numbers of originals: documents that are one in the other target count together."""
    own = counts.join(places, on="doc").join(originals, on=["original", "nth"])
    sums = [name for name in ("tp", "fp", "fn", "fp_of_f1", "tp_of_gold") if name in own.columns]
    others = [name for name in ("has_gold",) if name in own.columns]
    grouped = own.group_by("system", "place", maintain_order=True).agg(pl.col(sums).sum(), pl.col(others).any())
    return grouped.with_columns(_UNSCOPED).rename({"place": "doc"})


_UNSCOPED = [pl.lit(None, pl.Int64).alias(name) for name in ("fp_in_scope", "fp_on_mention")]


def correct(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the differences with p corrected by Holm over their family."""
    return fit(rows.with_columns(p_holm=holm_within("family")), results.DIFFERENCES.types)


def assemble(
    shelf: StepShelf,
    study: Study,
    made: Prepared,
    plan: StudyPlan,
    scored: pl.DataFrame,
    tested: pl.DataFrame,
    counts: pl.DataFrame,
) -> Results:
    """Return the results of a study, of what steps found and of the scores and tests that were made of it."""
    documents = [
        shelf.get("documents", key, "documents").with_columns(target=pl.lit(name))
        for name, key in plan.documents.items()
    ]
    none = results.COMPOSITION.empty()
    every = (
        pl.concat(documents)
        if documents
        else pl.DataFrame(schema={"target": pl.String, "home": pl.String, "mentions": pl.Int64})
    )
    sizes = every.group_by("target").agg(documents=pl.len().cast(pl.Int64), mentions=pl.col("mentions").sum())
    composition = every.group_by("target", dataset="home", maintain_order=True).agg(
        documents=pl.len().cast(pl.Int64), mentions=pl.col("mentions").sum()
    )
    cut = {
        name: shelf.get("cut", plan.cut, name) if plan.cut else None
        for name in ("mentions", "annotations", "parts", "members")
    }
    mentions, members = cut["mentions"], cut["members"]
    called = {aim.gold[0]: aim.name for aim in made.aims.values() if aim.kind == "dataset" and aim.gold}
    found = {
        "targets": _targets(study, made, sizes),
        "systems": _systems(study, plan),
        "composition": _name_datasets(composition, called) if documents else none,
        "measures": _measures(shelf, plan),
        "scores": _scores(study, made, plan, scored, sizes),
        "differences": tested,
        "counts": counts,
    }
    if mentions is not None and members is not None and cut["parts"] is not None and cut["annotations"] is not None:
        mentions = _name_datasets(mentions, called)
        found["mentions"], found["members"] = mentions, members
        found["parts"] = _sizes_of_parts(cut["parts"], members, mentions)
        found["outcomes"] = _outcomes(shelf, plan, cut["annotations"])
    empty: dict[str, Any] = {name: schema.empty() for name, schema in results.TABLES.items()}
    from remix.measures.partitions import label_of

    return Results(
        **{**empty, **found},
        profile=study.profiles[0],
        task=study.tasks[0],
        matching=study.matchings[0],
        unfiltered=study.held_against,
        columns=tuple(label_of(text) for text in study.by),
    )


def _name_datasets(rows: pl.DataFrame, called: Mapping[str, str]) -> pl.DataFrame:
    return rows.with_columns(pl.col("dataset").replace(called))


def _targets(study: Study, made: Prepared, sizes: pl.DataFrame) -> pl.DataFrame:
    aims: list[Aim] = [made.aims[name] for name in study.targets]
    rows = pl.DataFrame(
        [(one.name, one.kind, one.query, nth, one.state, one.told) for nth, one in enumerate(aims)],
        schema={
            "target": pl.String,
            "kind": pl.String,
            "query": pl.String,
            "place": pl.Int64,
            "state": pl.String,
            "told": pl.String,
        },
        orient="row",
    )
    rows = rows.join(sizes, on="target", how="left", maintain_order="left")
    return rows.with_columns(pl.col("documents", "mentions").fill_null(0)).select(results.TARGETS.types.keys())


def _systems(study: Study, plan: StudyPlan) -> pl.DataFrame:
    rows = []
    for nth, one in enumerate(study.scored):
        own = [cell for cell in plan.cells if cell.system == one.name]
        holes = [cell for cell in own if cell.state != "there"]
        lost = len(holes) == len(own)
        kind = one.kind or ("oracle" if one.name.startswith("oracle") else "system")
        rows.append((one.name, kind, nth, holes[0].state if lost else "there", holes[0].told if lost else ""))
    return pl.DataFrame(rows, schema=results.SYSTEMS.types, orient="row")


def _measures(shelf: StepShelf, plan: StudyPlan) -> pl.DataFrame:
    parts = [
        shelf.get("measures", key, "measures").with_columns(target=pl.lit(name)) for name, key in plan.measures.items()
    ]
    return fit(pl.concat(parts), results.MEASURES.types) if parts else results.MEASURES.empty()


def _scores(study: Study, made: Prepared, plan: StudyPlan, scored: pl.DataFrame, sizes: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of scores with those of the cells that are missing, which have a state and no number."""
    first = [*results.SCORES.types]
    holes = [
        {
            "system": cell.system,
            "target": cell.target,
            "profile": cell.profile,
            "task": task,
            "matching": matching,
            "column": "",
            "slice": "",
            "average": average,
            "failed": 0,
            "state": cell.state,
            "told": cell.told,
        }
        for cell in plan.cells
        if cell.state != "there"
        for task, matching, average in product(study.tasks, study.matchings, PROFILES[cell.profile].averages)
    ]
    if holes:
        rows = pl.DataFrame(holes).join(sizes, on="target", how="left", maintain_order="left")
        rows = rows.with_columns(pl.col("documents", "mentions").fill_null(0))
        scored = pl.concat([scored, rows], how="diagonal_relaxed")
    missing = [
        pl.lit(None, kind).alias(name) for name, kind in results.SCORES.types.items() if name not in scored.columns
    ]
    scored = scored.with_columns(missing)
    numbers = [pl.col(name).cast(kind) for name, kind in results.SCORES.types.items() if kind.is_float()]
    return scored.with_columns(numbers).select(*first, *(name for name in scored.columns if name not in first))


def _sizes_of_parts(parts: pl.DataFrame, members: pl.DataFrame, mentions: pl.DataFrame) -> pl.DataFrame:
    """Return the parts with how many documents and mentions each dataset, and all of them, have in them."""
    rows = members.join(mentions.select("mention", "dataset", "document"), on="mention")
    both = pl.concat([rows, rows.with_columns(dataset=pl.lit("all"))]) if mentions["dataset"].n_unique() > 1 else rows
    both = both if mentions["dataset"].n_unique() > 1 else pl.concat([both, rows.with_columns(dataset=pl.lit("all"))])
    counted = both.group_by("column", "slice", "dataset").agg(
        documents=pl.col("document").n_unique().cast(pl.Int64), mentions=pl.col("mention").n_unique().cast(pl.Int64)
    )
    names = pl.DataFrame({"dataset": [*mentions["dataset"].unique().sort(), "all"]})
    every = parts.with_row_index("order").join(names, how="cross")
    found = every.join(counted, on=["column", "slice", "dataset"], how="left", maintain_order="left")
    found = found.with_columns(pl.col("documents", "mentions").fill_null(0)).sort("order", maintain_order=True)
    return found.select(results.PARTS.types.keys())


def _outcomes(shelf: StepShelf, plan: StudyPlan, annotations: pl.DataFrame) -> pl.DataFrame:
    parts = [results.OUTCOMES.empty()]
    for (_, system), key in plan.outcomes.items():
        rows = shelf.get("outcomes", key, "outcomes").join(annotations, on="annotation")
        rows = rows.sort("annotation").unique("mention", keep="first", maintain_order=True)
        parts.append(fit(rows.with_columns(system=pl.lit(system)), results.OUTCOMES.types))
    return pl.concat(parts).sort("mention", "system")


def counts_shown(study: Study, found: TargetCounts) -> pl.DataFrame:
    """Return the counts per document as results have them, of the first rules."""
    rows = found.counts.filter(task=study.tasks[0], matching=study.matchings[0])
    rows = rows.with_columns(target=pl.lit(found.target), profile=pl.lit(found.profile))
    sums = [pl.col(name).sum().cast(pl.Float64) for name in ("tp", "fp", "fn")]
    keys = ["system", "target", "profile", "task", "matching", "column", "slice", "document"]
    return rows.group_by(keys, maintain_order=True).agg(sums)
