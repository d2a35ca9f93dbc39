"""Figures of how often systems make which errors, and errors by type."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from remix.reports.figures import Axis, Figure, Panel, Series
from remix.runs.judgements import Judgements
from remix.scoring.errors import label_of_class

UNTYPED = "no type"
"""The part of mentions whose entities have no coarse type."""


def slice_by_type(judged: Judgements) -> Judgements:
    """Return the judgements with the coarse type of the mention for a slice, several of one that is of several.

    Answers that are on no mention of gold have none.
    """
    typed = pl.when(pl.col("type").fill_null("") == "").then(pl.lit(UNTYPED)).otherwise("type")
    of_gold = pl.when(pl.col("annotation").is_not_null()).then(typed)
    return replace(judged, mentions=judged.mentions.with_columns(slice=of_gold))


def figure_of_errors(counts: pl.DataFrame, over: str, title: str) -> Figure:
    """Return how large a share of what could be wrong is: bars over classes or parts, a series for each system.

    `counts` are rows of `remix.reports.error_counts.count_errors`, `over` is 'class' or 'part'.

    >>> counts = pl.DataFrame({"system": ["a", "a"], "class": ["missing", "extra"], "errors": [1, 0], "of": [4, 0],
    ...     "share": [0.25, None]})
    >>> [point.words for point in figure_of_errors(counts, "class", "Errors").panels[0].drawn[0]]
    ['a; missing mention: 0.25; 1 of 4']
    """
    names = counts[over].unique(maintain_order=True).to_list()
    series = []
    if over == "class":
        called = {name: label_of_class(name) for name in names}
        counts, names = counts.with_columns(pl.col("class").replace(called)), [*called.values()]
    for system in counts["system"].unique().sort():
        own = counts.filter(system=system)
        words = [f"{errors:,} of {of:,}" for errors, of in own.select("errors", "of").iter_rows()]
        series.append(Series(str(system), own[over].to_list(), own["share"].to_list(), words=words))
    panel = Panel("", "bars", series, y=Axis("share", limits=(0, 1)))
    return Figure(title, [panel], f"{title}: bars for {', '.join(one.name for one in series)} over {', '.join(names)}.")
