"""Conventions: the rules in which evaluators differ, each exchangeable for another of its aspect.

A profile has one of each aspect (`remix.scoring.profiles.Conventions`). The `aspects` stand in the order of counting,
with the rules that several tools have; a rule that one tool alone has stands in the file of its profile. What a rule
does to a score is found by exchanging it alone and counting again (`remix.scoring.differences`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from remix.frames import Frames
from remix.scoring.matching import Case, Counter


@dataclass(frozen=True, kw_only=True)
class Convention:
    """A rule: its name (unique), the rule in words, and what it does; what it leaves out stays as it is.

    - `source`: where the rule stands in what a tool ships, for the profile of that tool;
    - `gold`, `run`: what becomes of gold and of each run before they are compared;
    - `gold_beside_runs`: what becomes of gold in view of the runs;
    - `choose`: which mentions and answers are compared, given how they would be counted; None for all.

    Each aspect is a subclass, whose docstring says what it decides.
    """

    name: str
    words: str
    source: str = field(default="", compare=False)
    gold: Callable[[Frames], Frames] = lambda frames: frames
    gold_beside_runs: Callable[[Frames, Mapping[str, Frames]], Frames] = lambda gold, runs: gold
    run: Callable[[Frames], Frames] = lambda frames: frames
    choose: Callable[[Case, str, str, Counter], Case] | None = None

    @property
    def aspect(self) -> str:
        """What the rule decides, as the field of a profile's conventions is called."""
        return type(self).__name__.lower()

    def with_source(self, source: str) -> Self:
        """Return the same rule with the place where a tool has it."""
        return replace(self, source=source)
