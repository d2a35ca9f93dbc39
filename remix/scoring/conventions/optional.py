"""What becomes of gold that is neither required nor wrong."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.frames import Frames
from remix.scoring.conventions import Convention


class Optional(Convention):
    """Gold that is neither required nor wrong."""


def _keep_required(frames: Frames) -> Frames:
    if frames.annotations["ignorable"].null_count() == len(frames.annotations):
        return frames
    return replace(frames, annotations=frames.annotations.filter(pl.col("ignorable").is_null()))


optional_ignored = Optional(
    name="optional-ignored",
    words="an answer that fits an optional or dropped annotation counts neither way",
)
optional_unknown = Optional(
    name="optional-unknown",
    words="optional and dropped annotations are not in gold: an answer there is wrong",
    gold=_keep_required,
)
