"""The figures of scores: which systems are drawn, and in which order."""

from __future__ import annotations

import polars as pl

from remix.reports.figures import COLOURS
from remix.reports.scores import figure_of_columns


def test_systems_are_drawn_from_the_best_on_and_baselines_behind_them() -> None:
    """As many systems as there are colours, the last of them the best, and a baseline that is ahead of all."""
    names = [f"s{number:02}" for number in range(len(COLOURS))]
    scores = {name: number / 20 for number, name in enumerate(names)} | {"prior": 0.9}
    kinds = ["system"] * len(names) + ["baseline"]
    cells = pl.DataFrame({"system": [*scores], "f1": [*scores.values()], "kind": kinds, "part": "news", "mentions": 5})
    figure = figure_of_columns(cells, "micro-F1")["by column"]
    assert [one.name for one in figure.panels[0].series] == names[::-1]
    assert figure.panels[0].title == f"The best {len(names)} of {len(names) + 1}, baselines last."
    few = figure_of_columns(cells.tail(2), "micro-F1")["by column"]
    assert [one.name for one in few.panels[0].series] == [names[-1], "prior"] and few.panels[0].title == ""
