"""Datasets compared in each measure: Figures 12 to 15 of the remixing paper."""

from __future__ import annotations

from collections.abc import Iterator

from remix.studies.exhibit import Exhibit, ShownFigure, ShownTable
from remix.studies.exhibits._holes import order_targets
from remix.studies.exhibits._measures import show_comparisons
from remix.studies.results import Results


def show(results: Results) -> Iterator[ShownFigure | ShownTable]:
    """Yield a figure for each measure, the highest dataset on top, and the table of all values."""
    yield from show_comparisons(results, order_targets(results, "dataset"), "dataset", ordered=False)


DATASETS_COMPARED = Exhibit(
    name="datasets-compared",
    title="Datasets compared",
    place=10,
    show=show,
    source="Figures 12 to 15 of the remixing paper",
)
