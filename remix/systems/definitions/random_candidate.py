"""Any candidate of the longest dictionary match: what chance alone achieves."""

from __future__ import annotations

import numpy as np
import polars as pl

from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.systems import Answers, System, candidates, spans


def answer(frames: Frames, kb: KnowledgeBase, task: str, seed: int) -> Answers:
    """Return one of the candidates of every span, each as likely as the others; the seed decides."""
    place = ["document", "begin", "end"]
    wanted = spans(frames, kb, task)
    found = candidates(wanted, kb)
    draws = pl.Series("draw", np.random.default_rng(seed).random(wanted.height))
    drawn = (
        found.join(wanted.select(place).with_columns(draws), on=place, maintain_order="left")
        .with_columns(number=pl.int_range(pl.len()).over(place), many=pl.len().over(place))
        .filter(pl.col("number") == (pl.col("draw") * pl.col("many")).floor().cast(pl.Int64))
    )
    return wanted.select(place).join(
        drawn.select(*place, "entity"), on=place, how="left" if task == "D2KB" else "inner"
    )


system = System("random-candidate", "longest dictionary match, a random candidate (seeded)", answer)
