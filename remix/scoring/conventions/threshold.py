"""Which answers are confident enough."""

from __future__ import annotations

from remix.scoring.conventions import Convention
from remix.scoring.statistics.thresholds import choose_best


class Threshold(Convention):
    """Which answers are confident enough."""


threshold_none = Threshold(name="threshold-none", words="every answer counts")
threshold_on_test = Threshold(
    name="threshold-on-test",
    words="answers count above the confidence that gives the best micro-F1 on this very gold, the lowest such one",
    choose=choose_best,
)
