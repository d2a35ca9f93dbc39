"""ERec: the system gets the text; spans are compared."""

from __future__ import annotations

import polars as pl

from remix.scoring.matching import Matching
from remix.scoring.matching.cases import Case
from remix.scoring.tasks import Task, tally


def _count(case: Case, matching: Matching) -> pl.DataFrame:
    return tally(case, "span", matching)


erec = Task("ERec", "text given; spans compared, whatever they link to", _count)
