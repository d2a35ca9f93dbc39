"""Which answers are confident enough."""

from __future__ import annotations

from remix.scoring.conventions import Choosing, Counter
from remix.scoring.matching.cases import Case
from remix.scoring.statistics.thresholds import choose_best


def _all(case: Case, task: str, matching: str, count: Counter) -> Case:
    return case


threshold_none = Choosing(aspect="threshold", name="threshold-none", words="every answer counts", choose=_all)
threshold_on_test = Choosing(
    aspect="threshold",
    name="threshold-on-test",
    words="answers count above the confidence that gives the best micro-F1 on this very gold, the lowest such one",
    choose=choose_best,
)
