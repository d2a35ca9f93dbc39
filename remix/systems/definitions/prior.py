"""The most frequent or most prominent candidate of the longest dictionary match."""

from __future__ import annotations

from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.systems import SPAN, Answers, System, candidates, spans


def answer(frames: Frames, kb: KnowledgeBase, task: str, seed: int) -> Answers:
    """Return the first candidate of every span; a given span without candidates is NIL."""
    wanted = spans(frames, kb, task)
    first = candidates(wanted, kb).unique(SPAN, keep="first", maintain_order=True)
    return wanted.select(SPAN).join(first.select(*SPAN, "entity"), on=SPAN, how="left" if task == "D2KB" else "inner")


system = System("prior", "longest dictionary match, most frequent or most prominent candidate", answer, kind="baseline")
