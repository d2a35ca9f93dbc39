"""How difficult mentions are: the share of systems that do not find one, how it is spread, and by part."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from remix.paper import Typesetting
from remix.reports.charts import figure_of_parts
from remix.studies.exhibit import Exhibit, ShownFigure, ShownTable
from remix.studies.exhibits._measures import name_columns, name_file
from remix.studies.exhibits._parts import label_parts, parts_of_columns, tell_boundaries
from remix.studies.exhibits._verdicts import Found, found_mentions, groups_of, tell_fitted
from remix.studies.results import Results


def show(results: Results) -> Iterator[ShownFigure | ShownTable]:
    """Yield how many mentions how many systems find, by dataset, and the mean difficulty of each remix and part."""
    found = found_mentions(results)
    if len(found.systems) < 2:
        return
    yield _spread(results, found)
    means = _means(results, found)
    how = Typesetting(
        columns={"of": "", "part": "", "mentions": "mentions", "difficulty": "difficulty"},
        intervals={"difficulty": ("low", "high")},
        digits=3,
    )
    said = "In brackets stands the interval of 95 %, where ten documents hold the mentions."
    notes = (*found.notes(), *tell_fitted(results), said)
    title = "Difficulty of mentions, the share of systems that do not find one, in the mean."
    yield ShownTable("difficulty", title, means, how, notes)
    names = name_columns(results.columns)
    for column, parts in parts_of_columns(results).items():
        own = means.filter(pl.col("of") == names[column]).rename({"part": "slice"})
        if own.is_empty():
            continue
        cells = label_parts(parts).join(own, on="slice", how="left", maintain_order="left")
        cells = cells.select(
            pl.col("label").alias("part"),
            "low",
            "high",
            "mentions",
            series=pl.lit("difficulty"),
            value="difficulty",
            share=pl.col("mentions").fill_null(0) / len(found.mentions),
        )
        title = f"Difficulty of mentions by {names[column]}, over the share of mentions in each part."
        figure = figure_of_parts(cells, title=title, label="difficulty", column=names[column])
        said = "Whiskers are intervals of 95 %."
        yield ShownFigure(
            f"difficulty-by-{name_file(column)}", title, figure, (said, *found.notes(), *tell_boundaries(parts))
        )


def _spread(results: Results, found: Found) -> ShownFigure:
    """Return which share of the mentions of each dataset is found by no system, by one, and so on to all."""
    right, number = found.right.sum(axis=1), len(found.systems)
    cells = [
        {"series": name, "part": str(count), "value": float((right[own] == count).mean())}
        for of, name, own in groups_of(results, found.mentions)
        if of == "dataset" and len(own)
        for count in range(number + 1)
    ]
    title = "Shares of the mentions that so many systems find, by dataset."
    figure = figure_of_parts(
        pl.DataFrame(cells), title=title, label="share of mentions", column="systems that find a mention"
    )
    return ShownFigure("difficulty-of-mentions", title, figure, tuple(found.notes()))


def _means(results: Results, found: Found) -> pl.DataFrame:
    """Return of, part, mentions, difficulty, low and high of each dataset, remix, class and part."""
    difficulty = 1 - found.right.mean(axis=1, dtype=np.float64)
    rows = [(of, name, len(own), *found.rate(difficulty, own)) for of, name, own in groups_of(results, found.mentions)]
    kinds = {"of": pl.String, "part": pl.String, "mentions": pl.Int64}
    return pl.DataFrame(
        rows, schema={**kinds, **dict.fromkeys(("difficulty", "low", "high"), pl.Float64)}, orient="row"
    )


DIFFICULTY = Exhibit(name="difficulty", title="Difficulty of mentions", place=95, show=show)
