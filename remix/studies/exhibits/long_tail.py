"""Recall along the columns of the long-tail study: how ambiguous a form is, how rare its meaning, how often both come.

Source: Ilievski, Vossen and Schlobach, Systematic Study of Long Tail Phenomena in Entity Linking, COLING 2018.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from remix.paper import Typesetting
from remix.reports.charts import figure_of_parts
from remix.studies.exhibit import Exhibit, ShownFigure, ShownTable
from remix.studies.exhibits._verdicts import Found, found_mentions
from remix.studies.results import Results

_UNSPECIFIED = "unspecified"
COLUMNS: dict[str, tuple[str, tuple[float, ...]]] = {
    "formEntropy": ("entropy of the form, in bits", (0, 0.5, 1, 2)),
    "meaningRank": ("rank of the meaning within its form", (1, 2, 3)),
    "formFrequency": ("frequency of the form", (1, 3, 7, 15)),
    "entityFrequency": ("frequency of the entity", (1, 3, 7, 15)),
}
"""What the columns of the measure `frequency` are called, and where they are cut: above the last is a part as well."""


def show(results: Results) -> Iterator[ShownFigure | ShownTable]:
    """Yield for each of these columns that the study has the recall of each system, and a table of all of it."""
    found = found_mentions(results)
    known = [name for name in COLUMNS if name in found.mentions.columns and found.mentions[name].count()]
    if not found.systems or not known:
        return
    cells = {name: _cells(found, name) for name in known}
    for name, own in cells.items():
        title = f"Share of mentions found by {COLUMNS[name][0]}, over the share of mentions in each part."
        figure = figure_of_parts(own, title=title, label="recall", column=COLUMNS[name][0])
        yield ShownFigure(f"long-tail-{name}", title, figure, (*found.notes(), "Whiskers are intervals of 95 %."))
    yield _table(cells, found)


def _cells(found: Found, column: str) -> pl.DataFrame:
    """Return series (system), part, value, low, high, mentions and share of a column, the parts in their order."""
    values = found.mentions[column].cast(pl.Float64).fill_nan(None)
    edges = COLUMNS[column][1]
    number = np.where(values.is_null().to_numpy(), 0, 1 + np.searchsorted(edges, values.fill_null(0).to_numpy()))
    names = [_UNSPECIFIED, *(_name(low, high) for low, high in zip((None, *edges), (*edges, None), strict=True))]
    rows = []
    for place, part in enumerate(names):
        own = np.flatnonzero(number == place)
        if not len(own):
            continue
        for nth, system in enumerate(found.systems):
            bounds = found.rate(found.right[:, nth].astype(np.float64), own)
            rows.append((system, part, *bounds, len(own), len(own) / len(values)))
    kinds = dict.fromkeys(("value", "low", "high"), pl.Float64)
    schema = {"series": pl.String, "part": pl.String, **kinds, "mentions": pl.Int64, "share": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _name(low: float | None, high: float | None) -> str:
    """Return what a part of whole numbers, or of bits, is called.

    >>> _name(None, 1), _name(1, 3), _name(15, None)
    ('≤ 1', '≤ 3', '> 15')
    """
    return f"> {low:g}" if high is None else f"≤ {high:g}"


def _table(cells: dict[str, pl.DataFrame], found: Found) -> ShownTable:
    """Return a row for each part of each column and a column for each system."""
    tables = []
    for column, own in cells.items():
        frame = own.select("part", "mentions").unique("part", keep="first", maintain_order=True)
        for system in found.systems:
            values = own.filter(series=system).select(
                "part",
                pl.col("value").alias(f"share of {system}"),
                pl.col("low").alias(f"low of {system}"),
                pl.col("high").alias(f"high of {system}"),
            )
            frame = frame.join(values, on="part", how="left", maintain_order="left")
        tables.append(frame.select(pl.lit(COLUMNS[column][0]).alias("of"), pl.all()))
    shares = {f"share of {system}": system for system in found.systems}
    how = Typesetting(
        columns={"of": "", "part": "", "mentions": "mentions", **shares},
        best=dict.fromkeys(shares, "highest"),
        across=True,
        intervals={f"share of {one}": (f"low of {one}", f"high of {one}") for one in found.systems},
        digits=dict.fromkeys(shares, 1),
    )
    notes = (*found.notes(), "The best of a row stands in bold; in brackets stands the interval of 95 %.")
    title = "Shares of mentions found along the columns of the long-tail study."
    return ShownTable("long-tail", title, pl.concat(tables), how, notes)


LONG_TAIL = Exhibit(
    name="long-tail",
    title="The long tail",
    place=58,
    show=show,
    source="Ilievski, Vossen and Schlobach, COLING 2018",
)
