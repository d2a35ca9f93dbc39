"""Conventions: the rules in which evaluators differ, each exchangeable for another of its aspect. One file an aspect.

A profile is a set of conventions, one of each aspect; what one of them does to a score is found by exchanging it
alone and counting again (`remix.scoring.differences`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from remix.frames import Frames
from remix.registry import Registry
from remix.scoring.matching.cases import Case

__all__ = [
    "ASPECTS",
    "CONVENTIONS",
    "Choosing",
    "Convention",
    "Counter",
    "Macro",
    "Pairing",
    "Reading",
    "Repeated",
    "Undefined",
]

ASPECTS = (
    "documents",
    "nil",
    "optional",
    "regions",
    "alternatives",
    "repeated",
    "overlapping",
    "threshold",
    "pairing",
    "macro",
    "undefined",
)
"""What conventions decide, in the order in which they are exchanged."""

Counter = Callable[[Case, str, str], pl.DataFrame]
"""The counts of a case by the names of task and matching, as `remix.scoring.tasks.Task.count` returns them."""


def unchanged(frames: Frames) -> Frames:
    """Return the frames as they are."""
    return frames


def alone(gold: Frames, runs: Mapping[str, Frames]) -> Frames:
    """Return gold as it is, whatever the runs."""
    return gold


@dataclass(frozen=True, kw_only=True)
class Convention:
    """A rule: what it decides (`aspect`), its name (unique), and the rule in words."""

    aspect: str
    name: str
    words: str


@dataclass(frozen=True, kw_only=True)
class Reading(Convention):
    """A rule about what is compared at all: what becomes of gold (`among` the runs) and of each run."""

    gold: Callable[[Frames], Frames] = unchanged
    among: Callable[[Frames, Mapping[str, Frames]], Frames] = alone
    run: Callable[[Frames], Frames] = unchanged


@dataclass(frozen=True, kw_only=True)
class Repeated(Convention):
    """A rule about annotations of one span and one entity: with `collapse` they count once on either side."""

    collapse: bool


@dataclass(frozen=True, kw_only=True)
class Choosing(Convention):
    """A rule about which answers are compared, given how they would be counted."""

    choose: Callable[[Case, str, str, Counter], Case]


@dataclass(frozen=True, kw_only=True)
class Pairing(Convention):
    """A rule about which answer is held against which gold mention."""

    count: Counter


@dataclass(frozen=True, kw_only=True)
class Undefined(Convention):
    """A rule about scores without denominator: `scores` returns the expression of each score over counts."""

    scores: Callable[[], Mapping[str, pl.Expr]]


@dataclass(frozen=True, kw_only=True)
class Macro(Convention):
    """A rule about means over documents.

    `documents`: 'defined' (where the score is), 'asked' (with gold), 'all'. With `harmonic`, macro-F1 is the harmonic
    mean of macro precision and recall, else the mean of the documents' F1.
    """

    documents: str
    harmonic: bool = False


CONVENTIONS: Registry[Convention] = Registry("convention", "remix.scoring.conventions", Convention)
