"""Which answers are confident enough."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.scoring.cases import Case
from remix.scoring.conventions import Choosing, Counter
from remix.scoring.details import with_detail


def _all(case: Case, task: str, matching: str, count: Counter) -> Case:
    return case


def _best_on_test(case: Case, task: str, matching: str, count: Counter) -> Case:
    """Return the case with the answers above the threshold that gives the best micro-F1 on this very gold.

    Each system has a threshold of its own in each dataset, the lowest of the best. Without confidence nothing changes.
    """
    case = with_detail(case, "confidence")
    places = case.mentions.documents.select("doc", "dataset")
    answers = case.answers.join(places, on="doc", maintain_order="left")
    found = [
        _best(count(_at_every_threshold(case, own, states), task, matching), states, places).with_columns(system=system)
        for (system,), own in answers.filter(pl.col("confidence").is_not_null().any().over("system")).group_by("system")
        if len(states := _states(own))
    ]
    if not found:
        return case
    chosen = answers.join(pl.concat(found), on=["system", "dataset"], how="left", maintain_order="left")
    chosen = chosen.filter(_confident()).select("a")
    return replace(case, answers=case.answers.join(chosen, on="a", how="semi", maintain_order="left"), _judged={})


def _confident() -> pl.Expr:
    unscored = pl.col("confidence").is_null() | pl.col("above").is_null()
    return unscored | (pl.col("confidence") > pl.col("above"))


def _states(answers: pl.DataFrame) -> pl.DataFrame:
    """Return doc, above, state: each document without threshold (null) and with each of its own scores as threshold."""
    scores = answers.select("doc", above="confidence").drop_nulls().unique()
    every = scores.select("doc").unique().with_columns(above=pl.lit(None, pl.Float64))
    states = pl.concat([every, scores]).sort("doc", "above", nulls_last=False)
    return states.with_columns(state=pl.int_range(pl.len(), dtype=pl.Int64))


def _at_every_threshold(case: Case, answers: pl.DataFrame, states: pl.DataFrame) -> Case:
    """Return a case of one system in which each state of a document is a document of its own."""
    number = pl.int_range(pl.len(), dtype=pl.Int64)
    left = case.gold.join(states.select("doc", "state"), on="doc").with_columns(new=number)
    right = answers.join(states, on="doc").filter(_confident()).with_columns(new=number)
    pairs = case.overlaps.join(left.select("g", "state", left="new"), on="g")
    pairs = pairs.join(right.select("a", "state", right="new"), on=["a", "state"])
    mentions = replace(
        case.mentions,
        systems=case.mentions.systems[:1],
        gold_links=left.select("g", "new").join(case.mentions.gold_links, on="g").select("entity", g="new"),
        answer_links=right.select("a", "new").join(case.mentions.answer_links, on="a").select("entity", a="new"),
    )
    numbered = left.with_columns(
        g="new",
        doc="state",
        group=pl.col("new").min().over("state", "group"),
        option=pl.col("new").min().over("state", "option"),
    )
    return replace(
        case,
        mentions=replace(mentions, gold=numbered, answers=right.with_columns(a="new")),
        gold=numbered.select(case.gold.columns),
        answers=right.with_columns(a="new", doc="state", system=pl.lit(0, pl.Int64)).select(case.answers.columns),
        overlaps=pairs.with_columns(g="left", a="right").select(case.overlaps.columns),
        scope=None,
        _judged={},
    )


def _best(counts: pl.DataFrame, states: pl.DataFrame, places: pl.DataFrame) -> pl.DataFrame:
    """Return dataset and the lowest threshold of the best micro-F1, null where none is best."""
    rows = states.join(counts.select("tp", "fp", "fn", state="doc"), on="state", how="left").join(places, on="doc")
    names = ["tp", "fp", "fn"]
    rows = rows.sort("doc", "above", nulls_last=False).with_columns(pl.col(names).fill_null(0))
    # Each threshold changes the counts of the documents that have it as a score; sums of changes are the counts.
    changes = rows.with_columns((pl.col(name) - pl.col(name).shift(1, fill_value=0).over("doc")) for name in names)
    sums = changes.group_by("dataset", "above").agg(pl.col(names).sum()).sort("dataset", "above", nulls_last=False)
    sums = sums.with_columns(pl.col(name).cum_sum().over("dataset") for name in names)
    f1 = (
        pl.when(pl.col("tp") > 0).then(2 * pl.col("tp") / (2 * pl.col("tp") + pl.col("fp") + pl.col("fn"))).otherwise(0)
    )
    best = sums.with_columns(f1=f1).sort("dataset", "f1", maintain_order=True, descending=[False, True])
    return best.unique("dataset", keep="first", maintain_order=True).select("dataset", "above")


threshold_none = Choosing(aspect="threshold", name="threshold-none", words="every answer counts", choose=_all)
threshold_on_test = Choosing(
    aspect="threshold",
    name="threshold-on-test",
    words="answers count above the confidence that gives the best micro-F1 on this very gold, the lowest such one",
    choose=_best_on_test,
)
