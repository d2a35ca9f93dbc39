"""Any candidate of the longest dictionary match: what chance alone achieves."""

from __future__ import annotations

import numpy as np
import polars as pl

from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.systems import SPAN, Answers, System, candidates, spans


def answer(frames: Frames, kb: KnowledgeBase, task: str, seed: int) -> Answers:
    """Return one of the candidates of every span, each as likely as the others; the seed decides."""
    wanted = spans(frames, kb, task)
    found = candidates(wanted, kb)
    draws = pl.Series("draw", np.random.default_rng(seed).random(wanted.height))
    drawn = (
        found.join(wanted.select(SPAN).with_columns(draws), on=SPAN, maintain_order="left")
        .with_columns(number=pl.int_range(pl.len()).over(SPAN), many=pl.len().over(SPAN))
        .filter(pl.col("number") == (pl.col("draw") * pl.col("many")).floor().cast(pl.Int64))
    )
    return wanted.select(SPAN).join(drawn.select(*SPAN, "entity"), on=SPAN, how="left" if task == "D2KB" else "inner")


system = System("random-candidate", "longest dictionary match, a random candidate (seeded)", answer, kind="baseline")
