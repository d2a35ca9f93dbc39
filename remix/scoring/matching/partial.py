"""Partial matching: spans that overlap are right by the share of characters that they have in common."""

from __future__ import annotations

import polars as pl

from remix.dense import look_up
from remix.scoring.matching import Case, Judged, Matching

_KEYS = ["system", "doc"]
_SHARES = ("of_answer", "of_gold")


def _credit(case: Case, judged: Judged, counts: pl.DataFrame, on_mention_only: bool) -> pl.DataFrame:
    """Return the counts with each pair as right as its answer is inside gold (`tp`) and gold inside it (`tp_of_gold`).

    What is missing to one is a part of an FP, and of an FN. A mention of several annotations has the mean of theirs.
    """
    shares = _shares(case, judged).group_by(_KEYS, maintain_order=True).agg(pl.col(_SHARES).sum())
    rows = counts.join(shares, on=_KEYS, how="left", maintain_order="left").with_columns(pl.col(_SHARES).fill_null(0.0))
    beside = pl.col("tp") - pl.col("of_answer")
    wrong = [pl.col(name) + beside for name in ("fp", "fp_in_scope", "fp_on_mention")]
    rows = rows.with_columns(
        *wrong,
        asked=pl.col("tp") + pl.col("fn"),
        tp="of_answer",
        tp_of_gold="of_gold",
        fn=pl.col("fn") + pl.col("tp") - pl.col("of_gold"),
    )
    return rows.drop(_SHARES)


def _shares(case: Case, judged: Judged) -> pl.DataFrame:
    """Return system, doc, group, option and the two shares of each mention that was found."""
    right = judged.pairs.filter("correct").join(case.overlaps.select("g", "a", "shared"), on=["g", "a"])
    right = look_up(right, "g", case.gold.with_columns(of_gold=_length()), ["doc", "group", "option", "of_gold"])
    right = look_up(right, "a", case.answers.with_columns(of_answer=_length()), ["of_answer"])
    right = right.join(judged.groups, on=["system", "group"], how="semi").sort("system", "group", "g")
    parts = [(pl.col("shared") / pl.col(name)).mean().alias(name) for name in _SHARES]
    return right.group_by("system", "doc", "group", maintain_order=True).agg(pl.col("option").first(), *parts)


def _of_gold(case: Case, judged: Judged) -> pl.DataFrame:
    return _shares(case, judged).select("system", "doc", "group", "option", share="of_gold")


def _length() -> pl.Expr:
    # An empty span shares one character with its like, as overlaps have it.
    return (pl.col("end") - pl.col("begin")).clip(1)


partial = Matching(
    "partial",
    "spans that overlap are right in part: precision by the share of the answer, recall by that of gold",
    pl.lit(True),
    credit=_credit,
    shares=_of_gold,
)
