"""What is scored, and by which conventions."""

from __future__ import annotations

from dataclasses import dataclass

from remix.scoring.profiles import Profile

__all__ = ["Choice"]


@dataclass(frozen=True)
class Choice:
    """What is scored, by which conventions; every field can change a number and is in the signature."""

    profile: Profile
    tasks: tuple[str, ...]
    matchings: tuple[str, ...]
    by: tuple[str, ...] = ()
    scope: str = ""
    spans: str = "all"
    bootstrap: int = 0
    seed: int = 0
    errors: tuple[str, ...] = ()
    weight: str = ""
    unit: str = "document"
    against: str = ""
    min_support: int = 0
    threshold: str = ""
    offsets: str = ""
