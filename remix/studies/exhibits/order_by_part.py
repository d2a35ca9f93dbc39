"""Where the order of systems is another on a part than on the whole, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl

from remix.paper import Typesetting
from remix.reports.charts import figure_of_ranks
from remix.scoring.statistics.intervals import LEAST_UNITS
from remix.scoring.statistics.orders import draw_again
from remix.studies.exhibit import Exhibit, ShownFigure, ShownTable
from remix.studies.exhibits._counts import tables_of_target
from remix.studies.exhibits._holes import THERE, order_systems
from remix.studies.exhibits._measures import name_columns, name_file
from remix.studies.exhibits._parts import label_parts, parts_of_columns, tell_boundaries
from remix.studies.results import Parts, Results

MOST = 1000
"""Draws of documents, of which a share is known to three points."""
_SCHEMA = {
    "column": pl.String,
    "part": pl.String,
    "system": pl.String,
    "other": pl.String,
    "ahead": pl.Float64,
    "behind": pl.Float64,
    "share changed": pl.Float64,
    "share as on all": pl.Float64,
}


def show(results: Results) -> Iterator[ShownFigure | ShownTable]:
    """Yield the pairs of systems whose order is another on a part, and the ranks of systems by part of each column."""
    systems = order_systems(results, "system").filter(state=THERE)["system"].to_list()
    columns = [column for column, parts in parts_of_columns(results).items() if parts.height]
    if len(systems) < 2 or not columns:
        return
    yield _changes(results, systems, columns)
    names = name_columns(results.columns)
    for column in columns:
        if (figure := _ranks(results, systems, column, names[column])) is not None:
            yield figure


def _changes(results: Results, systems: list[str], columns: list[str]) -> ShownTable:
    samples = min(MOST, results.samples)
    rows = [pl.DataFrame(schema=_SCHEMA)]
    names = name_columns(results.columns)
    documents = 0
    for column in columns:
        tables, labels = tables_of_target(results, results.unfiltered, systems, ["", column])
        documents = len(tables.columns)
        if documents < LEAST_UNITS:
            continue
        observed = tables.score("micro", "f1")
        drawn = draw_again(tables, samples=samples, seed=results.seed)
        places = {(part, system): place for place, (_, part, system) in enumerate(labels)}
        own = parts_of_columns(results)[column]
        rows.append(_changes_of(names[column], own, places, systems, observed, drawn))
    every = pl.concat(rows)
    shown = every.filter(pl.col("share changed") >= 0.5)
    shown = shown.sort("share changed", descending=True, maintain_order=True)
    how = Typesetting(
        columns={"column": "", "part": "part", "system": "ahead on all", "other": "ahead on the part"}
        | {"ahead": "points on all", "behind": "points on the part"}
        | {"share changed": "so in", "share as on all": "as on all in"},
        digits={"ahead": 1, "behind": 1, "share changed": 1, "share as on all": 1},
    )
    title = f"Where the order of two systems by micro-F1 on a part is not that on {results.unfiltered}."
    return ShownTable("order-by-part", title, shown, how, tuple(_notes(results, every, shown, samples, documents)))


def _notes(results: Results, every: pl.DataFrame, shown: pl.DataFrame, samples: int, documents: int) -> Iterator[str]:
    if documents < LEAST_UNITS:
        yield f"Nothing was drawn: {results.unfiltered} has fewer than {LEAST_UNITS} documents."
        return
    yield (
        f"Documents were drawn again {samples:,} times, the same for both systems: 'so in' is the share of draws in "
        "which the one is ahead on all and the other on the part, 'as on all in' that in which the order on the part "
        f"is that on {results.unfiltered}. Of what two systems are apart the points are of per cent."
    )
    if left := every.height - shown.height:
        yield f"Left out: {left} changes of order that less than half of the draws show."
    if every.is_empty():
        yield "The order of systems is the same on all parts."


def _changes_of(
    name: str,
    parts: Parts,
    places: dict[tuple[str, str], int],
    systems: list[str],
    observed: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    drawn: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> pl.DataFrame:
    """Return the pairs of systems of which the one is ahead on the whole and the other on a part of a column."""
    rows: list[tuple[object, ...]] = []
    for part in parts["slice"]:
        for pair in combinations(systems, 2):
            if not all((of, system) in places for of in ("", part) for system in pair):
                continue
            one, other = sorted(pair, key=lambda system: -observed[places["", system]])
            ahead, behind = (observed[places[of, one]] - observed[places[of, other]] for of in ("", part))
            if not (ahead > 0 > behind):
                continue
            on_all, on_part = (drawn[:, places[of, one]] - drawn[:, places[of, other]] for of in ("", part))
            known = ~np.isnan(on_all) & ~np.isnan(on_part)
            changed = ((on_all > 0) & (on_part < 0))[known].mean()
            rows.append((name, part, one, other, 100 * ahead, 100 * behind, changed, (on_part > 0)[known].mean()))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _ranks(results: Results, systems: list[str], column: str, name: str) -> ShownFigure | None:
    """Return the ranks of systems by F1 on all and on each part."""
    parts = parts_of_columns(results)[column]
    labels = pl.concat([pl.DataFrame({"slice": [""], "label": [results.unfiltered]}), label_parts(parts)])
    scores = results.headline().filter(target=results.unfiltered).filter(pl.col("column").is_in(["", column]))
    cells = pl.DataFrame({"series": systems}).join(labels, how="cross")
    own = scores.select("slice", series="system", value="f1")
    cells = cells.join(own, on=["series", "slice"], how="left", maintain_order="left").rename({"label": "part"})
    if not cells["value"].count():
        return None
    title = f"Ranks of systems by F1, on all and by {name}."
    notes = (f"Systems of the same F1 share the best of their ranks; {results.unfiltered} is the whole.",)
    figure = figure_of_ranks(cells, title=title, column=name)
    return ShownFigure(f"order-by-{name_file(column)}", title, figure, (*notes, *tell_boundaries(parts)))


ORDER_BY_PART = Exhibit(name="order-by-part", title="Order of systems by part", place=55, show=show)
