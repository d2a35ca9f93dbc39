"""Where in a text answers count."""

from __future__ import annotations

from dataclasses import replace

from remix.frames import Frames
from remix.scoring.conventions import Convention


class Regions(Convention):
    """Where in a text answers count."""


def _whole(frames: Frames) -> Frames:
    return frames if frames.regions.is_empty() else replace(frames, regions=frames.regions.clear())


regions_respected = Regions(
    name="regions-respected", words="answers outside what is annotated exhaustively are left out"
)
regions_unknown = Regions(
    name="regions-unknown", words="answers count in the whole text, annotated or not", gold=_whole
)
