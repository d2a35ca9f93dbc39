"""What people see first of scores: a row per system and a column per dataset, of what runs were made for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from remix.expressions import fill
from remix.question import Question
from remix.reports.readable import MADE_FOR, readable, with_made_for
from remix.scoring.profiles import Profile

BROADEST = 8
"""Columns of scores beside each other that a terminal has room for."""

_PLAIN = {"system", "dataset", "task", "matching", MADE_FOR, "mentions", "tp", "fp", "fn", "ignored"}
_PLAIN |= {"P", "R", "F1", "macro-F1"}
"""Columns of scores of which one number, micro-F1, stands for the others."""

_AVERAGES = ("all", "mean")
_REPEAT = r"#[0-9]+$"


def headline_rows(rows: pl.DataFrame, profile: Profile, question: Question[Any]) -> pl.DataFrame:
    """Return the rows of the tasks that runs were made for, under one matching, unless the question names others.

    That is the task that a registered run was made for, else the profile's headline task, and its headline matching.
    """
    tasks, matchings = rows["task"].drop_nulls().unique(maintain_order=True), rows["matching"].drop_nulls().unique()
    task, matching = profile.headline
    whole = pl.col("column") == "error_class"
    if not question.task and len(tasks):
        made = pl.lit(task if task in tasks else tasks[0])
        if "run_task" in rows.columns:
            # The mean of a run's repeats is of what they were made for.
            own = pl.col("run_task").drop_nulls().first().over(pl.col("system").str.replace(_REPEAT, ""), "task")
            made = pl.when(own.is_in(tasks.implode())).then(own).otherwise(made)
        rows = rows.filter(whole | (pl.col("task") == made))
    if not question.match and not any("match=" in one for one in question.task) and matching in matchings:
        of_no_span = pl.col("task").is_in(rows.filter(matching=matching)["task"].drop_nulls().unique().implode()).not_()
        rows = rows.filter((pl.col("matching") == matching) | of_no_span.fill_null(False))
    return rows


def with_equal_averages(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows without averages that are over other datasets than those of others, and a line that says so.

    A registered run is scored on what it is registered on. 'all' and 'mean' stay of the systems, and of the means of
    repeats, that have a score on each dataset; where none has, of nobody.
    """
    one = pl.col("dataset").is_in(_AVERAGES).not_()
    repeats = pl.col("repeats") if "repeats" in rows.columns else pl.lit(None, pl.Int64)
    scored = rows.filter(one, pl.col("column") == "")
    of_all = scored.group_by("task").agg(every=pl.col("dataset").n_unique())
    own = scored.group_by("system", "task", maintain_order=True).agg(
        datasets=pl.col("dataset").n_unique(), uneven=repeats.n_unique() > 1
    )
    own = own.join(of_all, on="task").with_columns(
        partial=(pl.col("datasets") < pl.col("every")) | pl.col("uneven"), alone=pl.col("datasets") == 1
    )
    averaged = (pl.col("column") == "") & ~one
    marked = rows.join(own.select("system", "task", "partial", "alone"), on=["system", "task"], how="left")
    kept = marked.filter(~(averaged & pl.any_horizontal("partial", "alone").fill_null(False)))
    partial = own.filter("partial")["system"].unique().sort()
    told = f"no average stands beside {', '.join(partial)}, with answers to other datasets than the rest"
    return kept.drop("partial", "alone"), [told] if len(partial) else []


def systems_by_datasets(rows: pl.DataFrame, datasets: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Return the micro-F1 of each system on each dataset as one table by its title, or none where more was asked for.

    More is a breakdown, an interval, a threshold, a weight or a precision of its own, which need columns each; and of
    one dataset there is room for counts, precision and recall. Of many datasets each has a row, and each system a
    column. The best systems come first, those without averages last.
    """
    whole = rows.filter(pl.col("column") == "")
    names = [name for name in whole["dataset"].unique().sort() if name not in _AVERAGES]
    if len(names) < 2 or not set(readable(rows, datasets).columns) <= _PLAIN:
        return {}
    rows = whole.filter(average="micro").with_columns(
        matching=pl.when(pl.col("task") != "C2KB").then("matching").otherwise(pl.lit(""))
    )
    rows = rows.unique(["system", "dataset", "task", "matching"], keep="first", maintain_order=True)
    rows = _tell_made_for(rows, names)
    kinds = [name for name in ("task", "matching") if rows[name].n_unique() > 1]
    kinds += [MADE_FOR] if (rows[MADE_FOR] != "").any() else []
    shown = [*names, *(name for name in _AVERAGES if name in rows["dataset"])]
    order = pl.col("dataset").replace_strict({name: place for place, name in enumerate(shown)}, return_dtype=pl.Int64)
    every = (pl.len() == len(shown)).over("system", "task", "matching")
    partial = pl.col("dataset").is_in(names).sum().over("system", "task", "matching") < len(names)
    rows = rows.with_columns(f1=pl.when(partial & pl.col("dataset").is_in(_AVERAGES)).then(None).otherwise("f1"))
    of_one = pl.col("f1").filter(pl.col("dataset").is_in(names)).mean().over("system", "task", "matching")
    places = rows.with_columns(place=order, every=every, of_one=of_one, f1=pl.col("f1").round(3))
    sorting = ["every", "of_one", "system", "place"]
    places = places.sort(sorting, descending=[True, True, False, False], nulls_last=True)
    if kinds:
        first = {task: place for place, task in enumerate(rows["task"].unique(maintain_order=True))}
        places = places.sort(pl.col("task").replace_strict(first, return_dtype=pl.Int64), maintain_order=True)
    systems = places.select("system", *kinds).unique(maintain_order=True)
    if len(names) > BROADEST and len(systems) < len(names):
        made = pl.when(pl.col(MADE_FOR) != "").then(fill(" ({} {})", pl.lit(MADE_FOR), MADE_FOR)).otherwise(pl.lit(""))
        labels = pl.concat_str("system", *(name for name in kinds if name != MADE_FOR), separator=" ") + made
        table = places.with_columns(column=labels).pivot("column", index=["dataset", "place"], values="f1")
        table = table.sort("place").drop("place")
    else:
        table = places.pivot("dataset", index=["system", *kinds], values="f1", maintain_order=True)
        table = table.select("system", *kinds, *shown)
    of_what = [rows["task"][0]] if "task" not in kinds else []
    of_what += [f"{rows['matching'][0]} matching"] if "matching" not in kinds and rows["matching"][0] else []
    return {", ".join(["micro-F1", *of_what]): table}


def _tell_made_for(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return rows with the task that runs were made for, where it is another, and on how many of the datasets."""
    if "run_task" not in rows.columns:
        return rows.with_columns(pl.lit("").alias(MADE_FOR))
    keys = ["system", "task", "matching"]
    one = with_made_for(rows.filter(pl.col("dataset").is_in(names)))
    counts = one.group_by(*keys, "made_for").agg(number=pl.len()).with_columns(of=pl.col("number").sum().over(keys))
    counts = counts.drop_nulls("made_for").sort("made_for")
    some = pl.when(pl.col("number") < pl.col("of")).then(fill(" ({} of {})", "number", "of")).otherwise(pl.lit(""))
    told = counts.group_by(keys, maintain_order=True).agg((pl.col("made_for") + some).str.join(", ").alias(MADE_FOR))
    return rows.join(told, on=keys, how="left", maintain_order="left").with_columns(pl.col(MADE_FOR).fill_null(""))


def explain_overview(table: pl.DataFrame) -> list[str]:
    """Return what the averages in the table of systems by datasets are."""
    names = {*table.columns, *(table["dataset"] if "dataset" in table.columns else [])}
    return ["all pools the mentions of all datasets, mean is the mean of their scores"] if {*_AVERAGES} <= names else []


def tell_more(rows: pl.DataFrame, shown: pl.DataFrame, *, counts: bool, scores: bool) -> list[str]:
    """Return a line on what `--full` shows beside what is shown, which may be without `counts` or `scores`."""
    tasks, matchings = (rows[name].drop_nulls().unique(maintain_order=True).to_list() for name in ("task", "matching"))
    more = [name for name in tasks if name not in shown["task"]]
    others = [f"{name} matching" for name in matchings if name not in shown["matching"]]
    more += others if len(others) < 4 else [f"{len(others)} other matchings"]
    more += ["counts and macro-F1"] if not counts else []
    more += ["precision and recall"] if not scores else []
    return [f"--full also shows {'; '.join(more)}"] if more else []
