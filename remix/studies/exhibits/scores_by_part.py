"""Precision, recall and F1 by the parts of columns, over the share of mentions: Figures 18 to 24 of the paper."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from remix.reports.charts import figure_of_parts
from remix.reports.figures import MOST
from remix.studies.exhibit import Exhibit, ShownFigure
from remix.studies.exhibits._holes import list_names, order_systems, tell_missing
from remix.studies.exhibits._measures import name_columns, name_file
from remix.studies.exhibits._parts import label_parts, parts_of_columns, tell_boundaries
from remix.studies.results import Parts, Results

SCORES = {"precision": "precision", "recall": "recall", "f1": "F1"}


def show(results: Results) -> Iterator[ShownFigure]:
    """Yield for each column the three scores of each system, and the F1 of all systems together."""
    systems = order_systems(results, "system", "baseline", "oracle")
    names = name_columns(results.columns)
    for column, parts in parts_of_columns(results).items():
        cells = _cells(results, column, parts, systems["system"].to_list())
        if cells["value"].count() == 0:
            continue
        notes = (*_notes(results, names[column], parts, cells), *tell_missing(systems, "system"))
        scored = [name for name in systems["system"] if cells.filter(panel=name)["value"].count()]
        groups = [scored[first : first + MOST] for first in range(0, len(scored), MOST)]
        for number, group in enumerate(groups, 1):
            own = cells.filter(pl.col("panel").is_in(group))
            title = f"Precision, recall and F1 by {names[column]}, over the share of mentions in each part"
            title += f" (systems {number} of {len(groups)})." if len(groups) > 1 else "."
            name = f"scores-by-{name_file(column)}" + (f"-{number}" if len(groups) > 1 else "")
            yield ShownFigure(
                name, title, figure_of_parts(own, title=title, label="score", column=names[column]), notes
            )
        if len(scored) > 1:
            own = cells.filter(pl.col("series") == SCORES["f1"]).with_columns(series="panel").drop("panel")
            own = own.filter(pl.col("series").is_in(scored))
            title = f"F1 of systems by {names[column]}, over the share of mentions in each part."
            yield ShownFigure(
                f"f1-by-{name_file(column)}",
                title,
                figure_of_parts(own, title=title, label="F1", column=names[column]),
                notes,
            )


def _cells(results: Results, column: str, parts: Parts, systems: list[str]) -> pl.DataFrame:
    """Return panel (system), series (score), part, value, low, high, share and mentions: a row for each of them."""
    labels = label_parts(parts)
    whole = int(results.targets.filter(target=results.unfiltered)["mentions"].sum()) or int(parts["mentions"].sum())
    sizes = parts.select("slice", "mentions", share=pl.col("mentions") / max(1, whole))
    scores = results.headline().filter(target=results.unfiltered, column=column)
    grid = pl.DataFrame({"panel": systems}, schema={"panel": pl.String}).join(
        pl.DataFrame({"score": [*SCORES], "series": [*SCORES.values()]}), how="cross"
    )
    grid = grid.join(labels.join(sizes, on="slice", maintain_order="left"), how="cross")
    long = pl.concat(
        [
            scores.select(
                pl.col("system").alias("panel"),
                "slice",
                score=pl.lit(score),
                value=score,
                low=f"{score}_low",
                high=f"{score}_high",
            )
            for score in SCORES
        ]
    )
    found = grid.join(long, on=["panel", "slice", "score"], how="left", maintain_order="left")
    return found.rename({"label": "part"}).drop("slice", "score")


def _notes(results: Results, name: str, parts: Parts, cells: pl.DataFrame) -> Iterator[str]:
    """Yield what is said below the figures of a column."""
    yield f"Scores of mentions in {results.unfiltered}, cut by {name}; whiskers are intervals of 95 %."
    yield from tell_boundaries(parts)
    if without := int(parts.filter(part=0)["mentions"].sum()):
        yield f"{without:,} mentions have no value, and are a part of their own."
    lacking = cells.filter(pl.col("value").is_null(), pl.col("mentions") > 0, pl.col("series") == SCORES["f1"])
    for (system,), rows in lacking.group_by("panel", maintain_order=True):
        if rows.height < cells["part"].n_unique():
            yield f"There is no F1 of {system} in {list_names(rows['part'].to_list())}."


SCORES_BY_PART = Exhibit(
    name="scores-by-part",
    title="Scores by part",
    place=50,
    show=show,
    source="Figures 18 to 24 of the remixing paper",
)
