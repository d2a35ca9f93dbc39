"""Matchings by offsets: strong, weak, partial and single-penalty."""

from __future__ import annotations

import polars as pl

from remix.dense import look_up
from remix.expressions import sum_up
from remix.scoring.matching import Case, Judged, Matching
from remix.scoring.matching.pairs import assign

_KEYS = ["system", "doc"]
_SHARES = ("of_answer", "of_gold")

strong = Matching("strong", "begin and end are equal", pl.col("equal"), by_document=True)
weak = Matching("weak", "the spans share a character", pl.lit(True), by_document=True)


def _credit_shares(case: Case, judged: Judged, on_mention_only: bool) -> pl.DataFrame:
    """Return that each pair is as right as its answer is inside gold (`tp`) and gold inside it (`tp_of_gold`).

    What is missing to one is a part of an FP, and of an FN. A mention of several annotations has the mean of theirs.
    """
    found = sum_up(_shares(case, judged), [*_KEYS], pl.len(), pl.col(_SHARES).sum())
    beside = pl.col("len") - pl.col("of_answer")
    wrong = dict.fromkeys(("fp", "fp_in_scope", "fp_on_mention"), beside)
    missed = pl.col("len") - pl.col("of_gold")
    return found.select(*_KEYS, tp=-beside, **wrong, tp_of_gold=-missed, fn=missed)


def _shares(case: Case, judged: Judged) -> pl.DataFrame:
    """Return system, doc, group, option and the two shares of each mention that was found."""
    # An empty span shares one character with its like, as overlaps have it.
    length = (pl.col("end") - pl.col("begin")).clip(1).fill_null(1)
    right = judged.pairs.filter("correct").join(
        case.overlaps.select("mention", "answer", "shared"), on=["mention", "answer"]
    )
    right = look_up(right, "mention", case.gold.with_columns(of_gold=length), ["doc", "group", "option", "of_gold"])
    right = look_up(right, "answer", case.answers.with_columns(of_answer=length), ["of_answer"])
    right = right.join(judged.groups, on=["system", "group"], how="semi").sort("system", "group", "mention")
    parts = [(pl.col("shared") / pl.col(name)).mean().alias(name) for name in _SHARES]
    return sum_up(right, ["system", "doc", "group"], pl.col("option").first(), *parts)


partial = Matching(
    "partial",
    "spans that overlap are right in part: precision by the share of the answer, recall by that of gold",
    pl.lit(True),
    credit=_credit_shares,
    shares=lambda case, judged: _shares(case, judged).select(*_KEYS, "group", "option", share="of_gold"),
    by_document=True,
)


def _credit_halves(case: Case, judged: Judged, on_mention_only: bool) -> pl.DataFrame:
    """Return half an FP and half an FN less for each answer that is nearly right, which is one error, not two.

    Katrin Ortmann, Fine-Grained Error Analysis and Fair Evaluation of Labeled Spans, LREC 2022: errors of the label, of
    the boundary and of both. Answers are paired with mentions that were not found, one to one: equal spans first
    (errors of the label), then the most pairs, then equal links. One that an ignorable annotation takes is near a
    mention as before, so that none of these adds an FN.
    """
    wrong = judged.answers.filter(pl.col("outcome") != "tp", pl.col("on_mention") | (not on_mention_only))
    wrong = wrong.join(case.answers.filter("inside"), on="answer", how="semi", maintain_order="left")
    pairs = look_up(case.overlaps, "mention", case.kept, ["doc", "group"])
    pairs = look_up(pairs, "answer", wrong, ["system"])
    pairs = pairs.join(judged.groups, on=["system", "group"], how="anti")
    near = assign(pairs.with_columns(option="mention", size=pl.lit(1, pl.Int64), correct="equal"))
    false = pl.col("outcome") == "fp"
    halves = {
        "fp": false.sum(),
        "fp_in_scope": (false & pl.col("in_scope")).sum(),
        "fp_on_mention": (false & pl.col("on_mention")).sum(),
        "fn": pl.len(),
    }
    near = wrong.join(near, on="answer", how="semi")
    return near.group_by(_KEYS).agg((-0.5 * count).alias(name) for name, count in halves.items())


single_penalty = Matching(
    "single-penalty",
    "begin and end are equal; an answer wrong in its link or its bounds is half an FP and half an FN (Ortmann 2022)",
    pl.col("equal"),
    credit=_credit_halves,
    shares=None,
    by_document=True,
)
