"""D2KB: the system gets text and spans; links are compared, on the spans of kept gold mentions only."""

from __future__ import annotations

import polars as pl

from remix.scoring.matching import Matching
from remix.scoring.matching.cases import Case
from remix.scoring.tasks import Task, tally


def _count(case: Case, matching: Matching) -> pl.DataFrame:
    return tally(case, "link", matching, on_mention_only=True)


d2kb = Task("D2KB", "text and spans given; links compared, on gold spans only", _count, given_spans=True)
