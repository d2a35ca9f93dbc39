"""Remixes compared in each measure: Figures 25 to 27 of the remixing paper."""

from __future__ import annotations

from collections.abc import Iterator

from remix.studies.exhibit import Exhibit, ShownFigure, ShownTable
from remix.studies.exhibits._holes import order_targets
from remix.studies.exhibits._measures import show_comparisons
from remix.studies.results import Results


def show(results: Results) -> Iterator[ShownFigure | ShownTable]:
    """Yield a figure for each measure, remixes in the order of the study below what is unfiltered, and the table."""
    targets = order_targets(results, "all", "remix")
    if targets.height > 1:
        yield from show_comparisons(results, targets, "remix", ordered=True)


REMIXES_COMPARED = Exhibit(
    name="remixes-compared",
    title="Remixes compared",
    place=70,
    show=show,
    source="Figures 25 to 27 of the remixing paper",
)
