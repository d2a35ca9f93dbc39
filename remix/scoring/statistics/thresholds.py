"""Thresholds: which answers are confident enough, and which threshold would be best.

An answer counts where its confidence is above the threshold; an answer without confidence always counts.
"""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl

from remix import progress
from remix.errors import UsageError, nearest
from remix.expressions import sum_up
from remix.scoring.inputs.case_tables import CaseDocuments, Counts, SystemAnswers
from remix.scoring.matching import Case, Counter, Scope, with_detail
from remix.scoring.statistics import UNSCOPED, scores, with_tp_of_gold

RULES = ("none", "oracle", "tuned")


def threshold_rule(text: str) -> tuple[str, float | None]:
    """Return the rule of 'none', 'oracle', 'tuned:DATASET' or a number ('fixed'), and the number.

    Raises `UsageError` for anything else.

    >>> threshold_rule("0.3"), threshold_rule("tuned:news")
    (('fixed', 0.3), ('tuned', None))
    """
    name, colon, dataset = text.partition(":")
    if text in ("", "none"):
        return "none", None
    if text == "oracle" or (name == "tuned" and dataset):
        return name, None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        asks = "; tuned needs a dataset: tuned:DATASET" if name == "tuned" else nearest(name, RULES)
        raise UsageError(f"'{text}' is no threshold{asks}: write none, 0.3, tuned:DATASET or oracle")
    return "fixed", number


def thresholds_by(
    case: Case, task: str, matching: str, count: Counter, text: str, tuning: Case | None, *, of_nothing: float = 0.0
) -> pl.DataFrame:
    """Return system (its number) and `above`, null where every answer counts, by a rule of `threshold_rule`.

    `oracle` is the best on this very gold, `tuned` the best on that of `tuning`, for each system its own: of the best
    micro-F1 of the task and matching the lowest. `of_nothing` is as `best_thresholds` has it.
    """
    rule, number = threshold_rule(text)
    systems = case.mentions.names.select("system")
    if rule == "fixed":
        _tell_unscored(case, with_detail(case, "confidence").answers.drop_nulls("confidence"))
    if rule in ("none", "fixed"):
        return systems.with_columns(above=pl.lit(number, pl.Float64))
    if rule == "tuned" and tuning is None:
        raise UsageError(f"'{text}': the dataset to tune on is not given")
    source = case if tuning is None or rule == "oracle" else tuning
    sums = sums_by_threshold(source, task, matching, count, together(source))
    found = best_thresholds(sums, of_nothing=of_nothing)
    _tell_unscored(case, found)
    return systems.join(found.select("system", "above"), on="system", how="left", maintain_order="left")


def _tell_unscored(case: Case, scored: pl.DataFrame) -> None:
    without = sorted(set(range(len(case.mentions.systems))) - set(scored["system"]))
    if without:
        names = ", ".join(f"'{case.mentions.systems[number]}'" for number in without)
        said = (
            "run {} has no confidence: all of its answers"
            if len(without) == 1
            else "runs {} have no confidence: all answers"
        )
        progress.note(f"{said.format(names)} count")


def together(case: Case) -> pl.DataFrame:
    """Return doc and `dataset`, one for all documents."""
    return case.mentions.documents.select("doc", dataset=pl.lit("all"))


def above(case: Case, thresholds: pl.DataFrame) -> Case:
    """Return the case with the answers that are above the thresholds.

    `thresholds` has system, `above` and, where each has its own, dataset.
    """
    if thresholds["above"].null_count() == len(thresholds):
        return case
    case = with_detail(case, "confidence")
    rows, keys = case.answers, ["system"]
    if "dataset" in thresholds.columns:
        places = case.mentions.documents.select("doc", "dataset")
        rows, keys = rows.join(places, on="doc", maintain_order="left"), [*keys, "dataset"]
    rows = rows.join(thresholds, on=keys, how="left", maintain_order="left").filter(confident())
    return replace(case, answers=rows.select(case.answers.columns))


def sums_by_threshold(case: Case, task: str, matching: str, count: Counter, places: pl.DataFrame) -> pl.DataFrame:
    """Return system, dataset, `above` (null is no threshold) and sums of counts at every threshold that changes any.

    `places` has doc and dataset. Systems without any confidence have no rows.
    """
    case = with_detail(case, "confidence")
    found = [_SUMS]
    for (system,), own in case.answers.group_by("system", maintain_order=True):
        if len(states := _states(own, case.mentions.documents)):
            counts = count(_at_every_threshold(case, case.mentions.systems[system], own, states), task, matching)
            found.append(_sum_up(counts, states, places).select(pl.lit(system, pl.Int64).alias("system"), pl.all()))
    return pl.concat(found).sort("system", "dataset", "above", nulls_last=False)


_NAMES = ("tp", "tp_of_gold", "fp", "fn")

_SUMS = pl.DataFrame(
    schema={"system": pl.Int64, "dataset": pl.String, "above": pl.Float64} | dict.fromkeys(_NAMES, pl.Float64)
)


def best_thresholds(sums: pl.DataFrame, *, of_nothing: float = 0.0) -> pl.DataFrame:
    """Return system, dataset and `above`, the lowest threshold of the best micro-F1, null where none is best.

    `of_nothing` is the F1 where nothing is asked and nothing answered, as is so of empty gold above all confidences.

    >>> sums = pl.DataFrame({"system": 0, "dataset": "x", "above": [None, 0.5], "tp": 0, "fp": [1, 0], "fn": 0})
    >>> best_thresholds(sums)["above"].item(), best_thresholds(sums, of_nothing=1.0)["above"].item()
    (None, 0.5)
    """
    f1 = scores()["f1"].fill_null(of_nothing)
    best = (
        with_tp_of_gold(sums)
        .with_columns(UNSCOPED)
        .with_columns(f1=f1)
        .sort("system", "dataset", "f1", maintain_order=True, descending=[False, False, True])
    )
    return best.unique(["system", "dataset"], keep="first", maintain_order=True).select("system", "dataset", "above")


def confident() -> pl.Expr:
    """Return whether an answer of that `confidence` counts where the threshold is `above`."""
    unscored = pl.col("confidence").is_null() | pl.col("above").is_null()
    return unscored | (pl.col("confidence") > pl.col("above"))


def _states(answers: SystemAnswers, documents: CaseDocuments) -> pl.DataFrame:
    """Return doc, above, state: each document without threshold (null) and with each of its own scores as threshold.

    Nothing where no answer has a score.
    """
    scores = answers.select("doc", above="confidence").drop_nulls().unique()
    every = documents.select("doc").filter(len(scores) > 0).with_columns(above=pl.lit(None, pl.Float64))
    states = pl.concat([every, scores]).sort("doc", "above", nulls_last=False)
    return states.with_columns(state=pl.int_range(pl.len(), dtype=pl.Int64))


def _at_every_threshold(case: Case, system: str, answers: SystemAnswers, states: pl.DataFrame) -> Case:
    """Return a case of one system in which each state of a document is a document of its own, with its text."""
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    left = case.gold.join(states.select("doc", "state"), on="doc").with_columns(new=number)
    right = answers.join(states, on="doc").filter(confident()).with_columns(new=number)
    pairs = case.overlaps.join(left.select("mention", "state", left="new"), on="mention")
    pairs = pairs.join(right.select("answer", "state", right="new"), on=["answer", "state"])
    documents = case.mentions.documents.join(states.select("doc", "state"), on="doc", maintain_order="left")
    mentions = replace(
        case.mentions,
        documents=documents.with_columns(doc="state").select(case.mentions.documents.columns),
        systems=(system,),
        gold_links=left.select("mention", "new")
        .join(case.mentions.gold_links, on="mention")
        .select("entity", mention="new"),
        answer_links=right.select("answer", "new")
        .join(case.mentions.answer_links, on="answer")
        .select("entity", answer="new"),
    )
    numbered = left.with_columns(
        mention="new",
        doc="state",
        group=pl.col("new").min().over("state", "group"),
        option=pl.col("new").min().over("state", "option"),
    )
    mentions = replace(mentions, gold=numbered, answers=right.with_columns(answer="new"))
    told = case.evidence
    return replace(
        case,
        mentions=mentions,
        evidence=replace(told, mentions=mentions, inputs=replace(told.inputs, runs={system: told.runs[system]})),
        gold=numbered.select(case.gold.columns),
        answers=right.with_columns(answer="new", doc="state", system=pl.lit(0, pl.Int64)).select(case.answers.columns),
        overlaps=pairs.with_columns(mention="left", answer="right").select(case.overlaps.columns),
        scope=Scope(),
    )


def _sum_up(counts: Counts, states: pl.DataFrame, places: pl.DataFrame) -> pl.DataFrame:
    """Return dataset, above and the sums of the documents' counts at that threshold."""
    counts = with_tp_of_gold(counts).select(*_NAMES, state="doc")
    rows = states.join(counts, on="state", how="left").join(places, on="doc")
    names = [*_NAMES]
    rows = rows.sort("doc", "above", nulls_last=False).with_columns(pl.col(names).fill_null(0))
    # Each threshold changes the counts of the documents that have it as a score; sums of changes are the counts.
    changes = rows.with_columns((pl.col(name) - pl.col(name).shift(1, fill_value=0).over("doc")) for name in names)
    sums = sum_up(changes, ["dataset", "above"], pl.col(names).sum()).sort("dataset", "above", nulls_last=False)
    sums = sums.with_columns(pl.col(name).cum_sum().over("dataset") for name in names)
    # Counts in part are sums of changes but for the last digits.
    return sums.select("dataset", "above", *(pl.col(name).cast(pl.Float64).round(9) for name in names))


def choose_best(case: Case, task: str, matching: str, count: Counter, *, of_nothing: float = 0.0) -> Case:
    """Return the case with the answers above the threshold that gives the best micro-F1 on this very gold.

    Each system has a threshold of its own in each dataset, the lowest of the best; linked and NIL mentions have that
    of the whole. Without confidence nothing changes. `of_nothing` is as `best_thresholds` has it.
    """
    places = case.mentions.documents.select("doc", "dataset")

    def best(whole: Case) -> pl.DataFrame:
        """Return the thresholds that are best for all mentions."""
        return best_thresholds(sums_by_threshold(whole, task, matching, count, places), of_nothing=of_nothing)

    chosen: pl.DataFrame = (case.part_of or case).once(("thresholds", task, matching, count, of_nothing), best)
    return case if chosen.is_empty() else replace(above(case, chosen), thresholds=chosen)
