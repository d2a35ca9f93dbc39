"""A2KB: the system gets the text; spans and links are compared."""

from __future__ import annotations

import polars as pl

from remix.scoring.matching import Matching
from remix.scoring.matching.cases import Case
from remix.scoring.tasks import Task, tally


def _count(case: Case, matching: Matching) -> pl.DataFrame:
    return tally(case, "link", matching)


a2kb = Task("A2KB", "text given; spans and links compared", _count)
