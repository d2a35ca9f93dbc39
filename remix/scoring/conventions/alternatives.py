"""What becomes of several readings of one mention."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.frames import Frames
from remix.scoring.conventions import Convention


class Alternatives(Convention):
    """Several readings of one mention."""


def _separate(frames: Frames) -> Frames:
    own = pl.col("annotation")
    if frames.annotations.select(((pl.col("group") == own) & (pl.col("option") == own)).all()).item():
        return frames
    return replace(frames, annotations=frames.annotations.with_columns(group=own, option=own))


def _merge(run: Frames) -> Frames:
    """Return the run with the answers of one span as one answer, right where one of its links is."""
    if not run.annotations.select("document", "begin", "end").is_duplicated().any():
        return run
    rows = run.annotations.with_columns(first=pl.col("annotation").min().over("document", "begin", "end"))
    links = run.links.join(rows.select("annotation", "first"), on="annotation")
    links = links.with_columns(annotation="first").drop("first").unique()
    return replace(run, annotations=rows.filter(pl.col("annotation") == pl.col("first")).drop("first"), links=links)


alternatives_grouped = Alternatives(
    name="alternatives-grouped",
    words="alternatives of a mention are one TP or one FN together",
)
alternatives_separate = Alternatives(
    name="alternatives-separate",
    words="every annotation of gold is a mention of its own, alternatives too",
    gold=_separate,
)
answers_merged = Alternatives(
    name="answers-merged",
    words="the answers on one span are one answer, right where one of its links is",
    run=_merge,
)
