"""Places for mentions that have none, for what tells mentions apart by where they stand."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.kb.forms import normalise
from remix.scoring.matching import MATCHINGS, Case

TOLD = pl.when(pl.col("begin").is_null()).then(normalise(pl.col("surface_form").fill_null(""))).alias("told")
"""What tells an annotation of frames without a place from others of its document: its form; else null."""


def give_places(case: Case) -> Case:
    """Return the case with a place for each mention, computed once: that of its like on the other side, or of its form.

    Where one of the two has no offsets, an answer stands on the mention that it is assigned, else on the first of its
    form. What is left stands behind all texts, each form in a place of its own.
    """
    if not (case.gold["begin"].null_count() or case.answers["begin"].null_count()):
        return case
    return case.once(("places",), _give_places)


def _give_places(case: Case) -> Case:
    ends = pl.concat(
        [case.gold["end"], case.answers["end"], case.evidence.texts["text"].str.len_chars().cast(pl.Int64)]
    )
    behind = int(ends.max() or 0) + 2 + 2 * pl.col("form")  # type: ignore[arg-type]
    own = [pl.coalesce("begin", behind).alias("begin"), pl.coalesce("end", behind + 1).alias("end")]
    gold = case.gold.with_columns(own, nowhere=pl.col("begin").is_null()).sort("doc", "begin", "end", "mention")
    pairs = case.judge("link", MATCHINGS["strong"]).pairs.select("mention", "answer")
    assigned = pairs.join(gold, on="mention").select("answer", "nowhere", first="begin", last="end")
    alike = gold.unique(["doc", "form"], keep="first", maintain_order=True)
    alike = alike.select("doc", "form", like_first="begin", like_last="end")
    answers = case.answers.join(assigned, on="answer", how="left", maintain_order="left")
    answers = answers.join(alike, on=["doc", "form"], how="left", maintain_order="left")
    here, there = pl.col("begin").is_null(), pl.col("nowhere").fill_null(False)
    moved = [
        pl.coalesce(pl.when(here | there).then(first), pl.when(here).then(like), place).alias(name)
        for name, first, like, place in zip(
            ("begin", "end"), ("first", "last"), ("like_first", "like_last"), own, strict=True
        )
    ]
    answers = answers.with_columns(moved).select(case.answers.columns).sort("doc", "begin", "end", "answer")
    return replace(case, gold=gold.drop("nowhere"), answers=answers)
