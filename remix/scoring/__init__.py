"""Scoring: runs against gold, matched once, counted per document, summed up by the conventions of a profile."""

from remix.scoring.evaluation import evaluate
from remix.scoring.matching import MATCHINGS, Matching
from remix.scoring.profiles import PROFILES, Profile
from remix.scoring.tasks import TASKS, Task

__all__ = ["MATCHINGS", "PROFILES", "TASKS", "Matching", "Profile", "Task", "evaluate"]
