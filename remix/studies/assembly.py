"""The results of a study, made of what its steps found: scores, differences, and the tables that exhibits look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import polars as pl

from remix.schemas import fit
from remix.scoring.profiles import PROFILES
from remix.scoring.statistics.significance import holm_within
from remix.studies import results
from remix.studies.applying import is_counted, matchings_of, tasks_of, tell_left_out
from remix.studies.definition import Study
from remix.studies.planning import StudyCell, StudyPlan
from remix.studies.preparation import Aim, Prepared
from remix.studies.results import Results
from remix.studies.shelf import StepShelf


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
        "scores": _scores(study, plan, scored, sizes),
        "differences": tested,
        "counts": counts,
        "thresholds": _thresholds(shelf, plan),
    }
    if mentions is not None and members is not None and cut["parts"] is not None and cut["annotations"] is not None:
        mentions = _name_datasets(mentions, called)
        found["mentions"], found["members"] = mentions, members
        found["parts"] = _sizes_of_parts(cut["parts"], members, mentions)
        found["selected"] = _mentions_of_remixes(shelf, made, plan, cut["annotations"], mentions)
        found["outcomes"] = _outcomes(shelf, plan, cut["annotations"].select("annotation", "mention"))
    empty: dict[str, Any] = {name: schema.empty() for name, schema in results.TABLES.items()}
    from remix.measures.partitions import label_of

    return Results(
        **{**empty, **found},
        profile=study.profiles[0],
        task=study.tasks[0],
        matching=study.matchings[0],
        unfiltered=study.held_against,
        columns=tuple(label_of(text) for text in study.by),
        samples=study.samples,
        seed=study.seed,
        kept=shelf.keep,
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
        rows.append(
            (one.name, one.kind or "system", nth, holes[0].state if lost else "there", holes[0].told if lost else "")
        )
    return pl.DataFrame(rows, schema=results.SYSTEMS.types, orient="row")


def _measures(shelf: StepShelf, plan: StudyPlan) -> pl.DataFrame:
    parts = [
        shelf.get("measures", key, "measures").with_columns(target=pl.lit(name)) for name, key in plan.measures.items()
    ]
    return fit(pl.concat(parts), results.MEASURES.types) if parts else results.MEASURES.empty()


def _scores(study: Study, plan: StudyPlan, scored: pl.DataFrame, sizes: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of scores with those that are missing, which have a state and no number."""
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
            "state": state,
            "told": told,
        }
        for cell, task, matching, state, told in _holes(study, plan, scored)
        for average in PROFILES[cell.profile].averages
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


def _holes(study: Study, plan: StudyPlan, scored: pl.DataFrame) -> Iterator[tuple[StudyCell, str, str, str, str]]:
    """Yield the cells with the task and matching that they have no score of, the state of that, and what is told."""
    keys = ("system", "target", "profile", "task", "matching")
    there = {*scored.filter(column="").select(keys).unique().iter_rows()} if len(scored) else set()
    left = {name: tell_left_out(study, name) for name in study.profiles}
    for cell in plan.cells:
        own = {*product(tasks_of(study, cell.profile), matchings_of(study, cell.profile))}
        for task, matching in product(study.tasks, study.matchings):
            if (task, matching) not in own:
                yield cell, task, matching, results.LEFT_OUT, left[cell.profile]
            elif not is_counted(cell.profile, task, matching):
                continue
            elif cell.state != "there":
                yield cell, task, matching, cell.state, cell.told
            elif (cell.system, cell.target, cell.profile, task, matching) in there:
                continue
            elif PROFILES[cell.profile].sparse:
                told = f"neither gold nor an answer has anything of {task} there"
                yield cell, task, matching, results.NOTHING, told


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


def _mentions_of_remixes(
    shelf: StepShelf, made: Prepared, plan: StudyPlan, annotations: pl.DataFrame, mentions: pl.DataFrame
) -> pl.DataFrame:
    """Return the mentions of each remix by what they have in the datasets: their document, span and entity."""
    places = annotations.join(mentions.select("mention", "entity"), on="mention").rename({"document": "original"})
    parts = [results.SELECTED.empty()]
    for name, key in plan.documents.items():
        if made.aims[name].kind == "remix":
            own = shelf.get("documents", key, "mentions")
            rows = places.join(own, on=["original", "begin", "end", "entity"], how="semi", nulls_equal=True)
            parts.append(rows.select("mention", target=pl.lit(name)).select([*results.SELECTED.types]))
    return pl.concat(parts).unique().sort("target", "mention")


def _thresholds(shelf: StepShelf, plan: StudyPlan) -> pl.DataFrame:
    parts = [results.THRESHOLDS.empty()]
    for system, key in plan.thresholds.items():
        if shelf.has("thresholds", key):  # its counts say what is missing
            rows = shelf.get("thresholds", key, "thresholds").with_columns(system=pl.lit(system))
            parts.append(fit(rows, results.THRESHOLDS.types))
    return pl.concat(parts).sort("system", "above", nulls_last=False)


def _outcomes(shelf: StepShelf, plan: StudyPlan, annotations: pl.DataFrame) -> pl.DataFrame:
    parts = [results.OUTCOMES.empty()]
    for (_, system), key in plan.outcomes.items():
        rows = shelf.get("outcomes", key, "outcomes").join(annotations, on="annotation")
        rows = rows.sort("annotation").unique("mention", keep="first", maintain_order=True)
        parts.append(fit(rows.with_columns(system=pl.lit(system)), results.OUTCOMES.types))
    return pl.concat(parts).sort("mention", "system")
