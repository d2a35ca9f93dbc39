"""The gold link wherever it is among the candidates: the upper bound that maximum recall speaks of."""

from __future__ import annotations

import polars as pl

from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.systems import SPAN, Answers, System, candidates, spans


def answer(frames: Frames, kb: KnowledgeBase, task: str, seed: int) -> Answers:
    """Return, for every annotation, its gold link if that is a candidate of its form; in D2KB the others are NIL.

    NIL annotations have no candidate to be right about and are answered with NIL.
    """
    gold = frames.annotations.join(frames.links, on="annotation", how="left")
    gold = gold.with_columns(resolved=kb.resolve(gold["entity"])).select(*SPAN, "resolved", "is_nil", given="entity")
    found = candidates(spans(frames, kb, "D2KB"), kb)
    right = (
        gold.join(found, left_on=[*SPAN, "resolved"], right_on=[*SPAN, "entity"])
        .sort(*SPAN, "rank", "given")
        .unique(SPAN, keep="first", maintain_order=True)
        .select(*SPAN, entity="given")
    )
    wanted = gold.group_by(SPAN).agg(nil=pl.col("is_nil").all()).sort(SPAN)
    answers = wanted.join(right, on=SPAN, how="left")
    known = pl.col("nil") | pl.col("entity").is_not_null()
    return answers.filter(pl.lit(task == "D2KB") | known).select(*SPAN, "entity")


system = System(
    "oracle-candidates", "the gold link if it is among the candidates (an upper bound)", answer, kind="oracle"
)
