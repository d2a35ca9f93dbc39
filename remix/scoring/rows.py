"""Rows of scores made of counts: tasks and their parts, averages, datasets, intervals."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.expressions import sum_up
from remix.measures.partitions import label_of
from remix.scoring.choice import Choice
from remix.scoring.inputs.case_tables import CaseDocuments, LabelledCounts
from remix.scoring.matching import Case
from remix.scoring.statistics import F1, SCORES, SPREAD, WRONG, precision_of_f1, with_fp_of_f1
from remix.scoring.statistics.weights import FUZZY, fuzzy_scores

REPEATED = (*SCORES, *FUZZY)
"""What has a mean, and its sample standard deviation in a column of its own, `<score>_deviation`."""

_REPEAT = r"^(.+)#[0-9]+$"

ALL_SLICES = "all slices"
"""What the mean over the slices of a column is called, and what their summed counts make."""

KEYS = ["system", "dataset", "task", "matching", "column", "slice"]
BOUNDS = [f"{score}_{end}" for score in ("precision", "recall", "f1") for end in ("low", "high")]


def documents_of(whole: Case) -> CaseDocuments:
    """Return the documents that rows are over: of dataset 'all' and, of several datasets, those of each besides."""
    documents = whole.mentions.documents
    several = documents["dataset"].n_unique() > 1
    together = (whole.pool().mentions.documents if several else documents).with_columns(dataset=pl.lit("all"))
    return pl.concat([documents, together])


def rows_of(
    counts: LabelledCounts,
    places: CaseDocuments,
    systems: Iterable[str],
    choice: Choice,
    kept: Collection[str] = (),
) -> pl.DataFrame:
    """Return the scores of all gold together and, if there are several datasets, of each and their mean.

    The documents that count are `places`, as `documents_of` has them; `kept` are the datasets of which, unless the
    choice says otherwise, those without a kept mention do not.
    """
    # Sums of floats depend on their order: the same scores come out to the last digit.
    every = counts.sort(*KEYS, "doc")
    of_f1 = precision_of_f1(every)
    averages = choice.profile.averages
    parts = [average.summarise(every, KEYS).with_columns(average=pl.lit(name)) for name, average in averages.items()]
    parts += _mean_of_slices(every, choice)
    documents = places.filter(pl.col("dataset").ne_missing("all"))
    several = documents["dataset"].n_unique() > 1
    places = places if several else places.filter(dataset="all")
    sizes = places.group_by("dataset").agg(documents=pl.len())
    shown = _skeleton(systems, sizes["dataset"], choice, averages)
    if choice.profile.sparse and not every.is_empty():
        shown = shown.join(every, on=["task", "matching"], how="semi", maintain_order="left")
    rows = pl.concat(parts, how="diagonal").join(shown, on=[*KEYS, "average"], how="full", coalesce=True)
    taken = {name: choice.documents or ("kept" if name in kept else "all") for name in documents["dataset"].unique()}
    of_all = next(iter(taken.values())) if len({*taken.values()}) == 1 else "mixed"
    counted = pl.col("dataset").replace_strict(taken, default=of_all)
    numbers = pl.col("tp", "fp", "fn", "ignored").fill_null(0)
    rows = rows.join(sizes, on="dataset", how="left").with_columns(numbers, documents_counted=counted)
    # InKB and its like, and tasks of one precision alone, have the F1 of all answers beside whatever others show.
    known = pl.lit(True) if of_f1 == "all" else pl.col(WRONG[F1[of_f1]]).is_not_null()
    rows = rows.with_columns(f1_precision=pl.when(known).then(pl.lit(of_f1)).otherwise(pl.lit("all")))
    if choice.documents == "kept":
        rows = _with_sizes(rows, every)
    every = with_fp_of_f1(every, of_f1)
    if choice.weight:
        rows = rows.join(fuzzy_scores(every, KEYS), on=[*KEYS, "average"], how="left")
    if several:
        rows = pl.concat([rows, _mean(rows, of_f1)], how="diagonal")
    if choice.intervals:
        from remix.scoring.statistics.intervals import intervals
        from remix.scoring.statistics.slices import differences_of_slices

        bounds = intervals(_counted_once(every), KEYS, places, averages=averages)
        rows = rows.join(bounds, on=[*KEYS, "average"], how="left")
        if choice.by:
            drawn: dict[str, Any] = {"against": choice.against, "samples": choice.samples, "seed": choice.seed}
            tests = differences_of_slices(every, KEYS, places, averages=averages, **drawn)
            rows = rows.join(tests.with_columns(average=pl.lit("micro")), on=[*KEYS, "average"], how="left")
    return _order(rows, choice)


def _mean_of_slices(counts: LabelledCounts, choice: Choice) -> list[pl.DataFrame]:
    """Return the rows of all slices of a column together, of the columns of which the profile has them.

    They are called macro: the means over slices of their micro scores, with the sums of their counts; and micro, where
    the profile has it: the scores of these sums.
    """
    micro, keys = choice.profile.averages["micro"], [key for key in KEYS if key != "slice"]
    sliced = counts.filter(pl.col("column").is_in(choice.profile.mean_over))
    if sliced.is_empty():
        return []
    means = sum_up(micro.summarise(sliced, KEYS), keys, pl.col(SCORES).mean())
    sums = micro.summarise(sliced, keys)
    rows = sums.drop(SCORES).join(means, on=keys, maintain_order="left").with_columns(average=pl.lit("macro"))
    pooled = sums.filter(pl.col("column").is_in(choice.profile.sum_over)).with_columns(average=pl.lit("micro"))
    return [one.with_columns(slice=pl.lit(ALL_SLICES)) for one in (pooled, rows)]


def _with_sizes(rows: pl.DataFrame, counts: LabelledCounts) -> pl.DataFrame:
    """Return the rows of slices with the number of documents that hold a kept mention of the slice."""
    keys = ["dataset", "column", "slice"]
    holding = counts.filter(pl.col("column") != "", pl.col("tp") + pl.col("fn") > 0)
    sizes = holding.group_by(keys).agg(holding=pl.col("doc").n_unique())
    rows = rows.join(sizes, on=keys, how="left", maintain_order="left")
    return rows.with_columns(documents=pl.coalesce("holding", "documents")).drop("holding")


def _counted_once(counts: LabelledCounts) -> LabelledCounts:
    """Return the counts of rows whose TPs are the same for precision and recall, which intervals are drawn from."""
    if "tp_of_gold" not in counts.columns:
        return counts
    differs = (pl.col("tp_of_gold") != pl.col("tp")).fill_null(False).any().over(KEYS)
    kept = counts.filter(~differs)
    if len(kept) < len(counts):
        progress.note("no intervals where gold is found in part or twice: precision and recall have TPs of their own")
    return kept


def _skeleton(systems: Iterable[str], datasets: pl.Series, choice: Choice, averages: Iterable[str]) -> pl.DataFrame:
    """Return the keys of the rows of the whole, so that a system with nothing to count has its row too."""
    values = {
        "system": systems,
        "dataset": datasets,
        "task": choice.task,
        "matching": choice.match,
        "column": [""],
        "slice": [""],
        "average": averages,
    }
    return pl.DataFrame([*product(*values.values())], schema=dict.fromkeys(values, pl.String), orient="row")


def _mean(rows: pl.DataFrame, of_f1: str) -> pl.DataFrame:
    """Return the unweighted mean of the datasets' scores."""
    datasets = rows.filter(pl.col("dataset") != "all").sort("dataset")
    keys = [key for key in [*KEYS, "average"] if key != "dataset"]
    scores = [name for name in (*SCORES, *FUZZY) if name in rows.columns]
    # A precision that is not known of one dataset has no mean; one without denominator there is left out of it.
    lost = {name: pl.col(WRONG[name]).is_null() & pl.col(name.partition("_")[0]).is_not_null() for name in SCORES[3:]}
    means = [pl.when(~lost.get(name, pl.lit(False)).any()).then(pl.col(name).mean()).alias(name) for name in scores]
    known = pl.lit(True) if of_f1 == "all" else ~lost[F1[of_f1]].any()
    of_mean = pl.when(known).then(pl.lit(of_f1)).otherwise(pl.lit("all")).alias("f1_precision")
    return sum_up(datasets, keys, *means, of_mean).with_columns(dataset=pl.lit("mean"))


def _order(rows: pl.DataFrame, choice: Choice) -> pl.DataFrame:
    mentions = pl.coalesce("mentions", pl.col("tp") + pl.col("fn"))
    rows = rows.with_columns(mentions=mentions, profile=pl.lit(choice.profile.name))
    first = ["system", "dataset", "task", "matching", "profile", "column", "slice", "average", "documents"]
    first += ["documents_counted", "mentions"]
    first += ["tp", "fp", "fn", "ignored", "precision", "recall", "f1", *SCORES[3:]]
    last = [f"{name}{end}" for end in ("_documents", SPREAD) for name in SCORES[:3]] + BOUNDS
    if choice.intervals:
        from remix.scoring.statistics.slices import DIFFERENCES, UNTESTED

        last += ["interval_doubt", *DIFFERENCES, UNTESTED]
    last = [name for name in (*last, *FUZZY) if name in rows.columns]
    return sort_rows(rows[[*first, "f1_precision", *last]], choice)


def sort_rows(rows: pl.DataFrame, choice: Choice) -> pl.DataFrame:
    """Return rows of scores by task, matching, slice, dataset, system and average, as they were asked for."""
    tasks = [*dict.fromkeys(task_name(task) for task in choice.task)]
    places = {"dataset": ["all", "mean"], "task": tasks, "matching": list(choice.match)}
    places["column"] = ["", "kb", *(label_of(text) for text in choice.by)]
    order = [
        pl.col(name).replace_strict({value: place for place, value in enumerate(known)}, default=len(known))
        for name, known in places.items()
    ]
    # Columns that were not asked for have one place, and parts of several may be called the same.
    sorting = [*order[1:3], order[3], "column", "slice", order[0], "dataset", "system", pl.col("average") != "micro"]
    return rows.sort(sorting)


def with_vocabularies(rows: pl.DataFrame, counts: LabelledCounts) -> pl.DataFrame:
    """Return the rows with `vocabularies`, where slices are of classes and there are several vocabularies of these."""
    if "vocabularies" not in counts.columns:
        return rows
    told = counts.select("column", "vocabularies").drop_nulls().unique("column")
    return rows.join(told, on="column", how="left", maintain_order="left")


def with_means_of_repeats(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of scores, and below them one for the repeats of each system: its name without number.

    `repeats` is how many they are. Scores are means over repeats; the deviation is that of a sample, undefined for one.
    Counts (tp, fp, …) are null, since they are of one run; so is the signature, as each repeat has its own.

    >>> two = pl.DataFrame({"system": ["m#1", "m#2"], "task": ["A2KB"] * 2, "f1": [0.4, 0.6]})
    >>> with_means_of_repeats(two).select("system", "f1", pl.col("f1_deviation").round(3), "repeats").row(2)
    ('m', 0.5, 0.141, 2)
    """
    repeated = rows.filter(pl.col("system").str.contains(_REPEAT))
    if repeated.is_empty():
        return rows
    keys = ["dataset", "task", "matching", "profile", "column", "slice", "average"]
    keys = [key for key in keys if key in rows.columns]
    scores = [name for name in REPEATED if name in rows.columns]
    means = [pl.col(name).mean() for name in scores]
    deviations = [pl.col(name).std().alias(f"{name}_deviation") for name in scores]
    same = [pl.col(name).first() for name in ("documents", "mentions", "f1_precision") if name in rows.columns]
    repeated = repeated.with_columns(pl.col("system").str.extract(_REPEAT, 1))
    number = pl.len().cast(pl.Int64)
    parts = sum_up(repeated, ["system", *keys], *means, *deviations, *same, repeats=number)
    if "column" in rows.columns:
        parts = parts.filter(pl.col("column") != "error_class")
    return pl.concat([rows, parts], how="diagonal_relaxed")


_OF_A_MEAN = [*(key for key in KEYS if key != "task"), "profile", "average", "documents", "documents_counted"]


def task_name(task: str) -> str:
    """Return what rows call a task: its name without the matching, which is a column of its own.

    >>> task_name("A2KB(match=weak)")
    'A2KB'
    """
    return _split(task)[0]


@cache
def _split(name: str) -> tuple[str, str]:
    """Return the name of a task without its matching, and the matching, empty without one.

    >>> _split("A2KB(match=fuzzy(0.5), filter=nil)"), _split("D2KB")
    (('A2KB(filter=nil)', 'fuzzy(0.5)'), ('D2KB', ''))
    """
    parts = re.fullmatch(r"([\w-]+)\((.*)\)", name)
    if parts is None:
        return name, ""
    settings = [one.strip() for one in parts[2].split(",")]
    matchings = [one.removeprefix("match=") for one in settings if one.startswith("match=")]
    if len(matchings) > 1:
        raise UsageError(f"'{name}' names several matchings: write it once for each")
    rest = ", ".join(one for one in settings if not one.startswith("match="))
    return (f"{parts[1]}({rest})" if rest else parts[1]), "".join(matchings)


def expand(choice: Choice) -> Choice:
    """Return the choice with what is counted for it: the parts of tasks, and every matching that one names."""
    split = [_split(task) for task in choice.task]
    tasks = [part for task, _ in split for part in (choice.profile.parts_of(task) or (task,))]
    own = [matching for _, matching in split if matching]
    shared = choice.match if any(not matching for _, matching in split) else ()
    task, match = tuple(dict.fromkeys(tasks)), tuple(dict.fromkeys([*shared, *own]))
    return choice if (task, match) == (choice.task, choice.match) else replace(choice, task=task, match=match)


def with_means(rows: pl.DataFrame, choice: Choice) -> pl.DataFrame:
    """Return, of the rows that were counted, those that the choice asks for, with the means of tasks with parts.

    A mean is over the parts that have the score; a precision or recall without denominator is 0 in it where the
    part's F1 is defined. Means have no counts.
    """
    counted, means = [pl.lit(False)], []
    for task, own in dict.fromkeys(_split(task) for task in choice.task):
        parts, matching = choice.profile.parts_of(task), pl.col("matching").is_in([own] if own else list(choice.match))
        if parts:
            means.append(_mean_of_parts(rows.filter(pl.col("task").is_in(parts), matching), task, parts))
        else:
            counted.append((pl.col("task") == task) & matching)
    # Rows of a task without matching hold those of the same task with one.
    return pl.concat([rows.filter(pl.any_horizontal(counted)), *means], how="diagonal_relaxed").unique(
        maintain_order=True
    )


def _mean_of_parts(rows: pl.DataFrame, task: str, parts: tuple[str, ...]) -> pl.DataFrame:
    zero = pl.when(pl.col("f1").is_not_null()).then(0.0)
    filled = [pl.coalesce(name, zero).alias(name) for name in ("precision", "recall")]
    # A tool that gives InKB and its like of some tasks alone has no mean of them.
    every = (pl.col("column") != "kb") | (pl.col("task").n_unique().over(_OF_A_MEAN) == len(parts))
    meant = rows.filter(every).with_columns(filled)
    taken = pl.coalesce(pl.col("f1_precision").filter(pl.col("f1_precision") != "all").first(), pl.lit("all"))
    means = sum_up(meant, _OF_A_MEAN, pl.col(SCORES).mean(), taken.alias("f1_precision"))
    return means.with_columns(task=pl.lit(task))
