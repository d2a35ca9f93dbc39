"""Distributions: how the values of a column are spread over the annotations or documents of datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from remix.errors import UnknownName
from remix.frames import Frames
from remix.measures import Measured
from remix.measures.declaration import Measure
from remix.measures.measured import document_column
from remix.remixes.partitions import Partition
from remix.reports.figures import Axis, Boundary, Figure, Panel, Series, count_values

__all__ = [
    "Quantity",
    "draw_distribution",
    "draw_shares",
    "explain",
    "explain_averages",
    "list_quantities",
    "summarise",
    "values_of",
]

_POINTS = 200
"""Points of a line that says which share of the values is no larger."""


@dataclass(frozen=True)
class Quantity:
    """A column of numbers: its name, what it is of (`annotations` or `documents`), and what it says."""

    name: str
    of: str
    meaning: str


def explain(measure: Measure, meaning: str = "") -> str:
    """Return what a column or statistic of a measure means, and on the next line how it is made and read."""
    said = f"{meaning[:1].upper()}{meaning[1:]}.\n" if meaning else ""
    parts = {"Formula": measure.formula, "High": measure.high, "Low": measure.low, "Without a value": measure.empty}
    return said + " ".join(f"{name}: {text}." for name, text in parts.items() if text)


def explain_averages(measured: Measured) -> dict[str, str]:
    """Return what each measure that any dataset has a value of says, by its name, in the order of the measures.

    The first line of each says what it is, the second how it is made and read.
    """
    known = {*measured.datasets["measure"]}
    return {
        summary.name: explain(measure, summary.meaning)
        for measure in measured.measures
        for summary in measure.summaries
        if summary.name in known
    }


def list_quantities(measured: Measured) -> Mapping[str, Quantity]:
    """Return the columns of numbers by their names: those of annotations, then those of documents, shares left out."""
    found = {
        "words": Quantity("words", "documents", "The number of words of the text.\nWords are runs without white space.")
    }
    for measure in measured.measures:
        for column in measure.columns:
            if column.kind in ("integer", "double"):
                found[column.name] = Quantity(column.name, "annotations", explain(measure, column.meaning))
        for summary in measure.summaries:
            if "document" in summary.terms and not summary.is_share:
                name = document_column(summary, "document")
                found.setdefault(name, Quantity(name, "documents", explain(measure, summary.meaning)))
    return dict(sorted(found.items(), key=lambda pair: (pair[1].of, pair[0])))


def values_of(name: str, measured: Measured, frames: Frames) -> pl.DataFrame:
    """Return dataset and `value` of a quantity, a row for each annotation or document; null where it has none.

    Raises `UnknownName` for a name that no column of numbers has.
    """
    known = list_quantities(measured)
    if name not in known:
        raise UnknownName("column of numbers", name, known, "remix list columns")
    if name == "words":
        return frames.documents.select("dataset", value="words")
    rows = measured.annotations if known[name].of == "annotations" else measured.documents
    return rows.select("dataset", value=name)


def summarise(measured: Measured, frames: Frames, datasets: Iterable[str]) -> pl.DataFrame:
    """Return a row for each quantity of datasets: column, of, share (that has a value), least, quarters, most, mean."""
    names = pl.Series("dataset", [*datasets], dtype=pl.String)
    rows = []
    for quantity in list_quantities(measured).values():
        found = values_of(quantity.name, measured, frames)
        values = found.filter(pl.col("dataset").is_in(names.implode()))["value"].cast(pl.Float64)
        quarters = [values.quantile(share, "lower") for share in (0, 0.25, 0.5, 0.75, 1)]
        share = (len(values) - values.null_count()) / max(1, len(values))
        rows.append((quantity.name, quantity.of, share, *quarters, values.mean()))
    numbers = ["share", "least", "lower quarter", "median", "upper quarter", "most", "mean"]
    schema = {"column": pl.String, "of": pl.String, **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row").filter(pl.col("share") > 0)


def draw_distribution(quantity: Quantity, values: pl.Series, parts: Partition) -> Figure:
    """Return the histogram of values on a linear and on a logarithmic scale, with the boundaries between them."""
    known = values.cast(pl.Float64).fill_nan(None).drop_nulls()
    edges = sorted({edge for part in parts for edge in (part.low, part.high) if edge is not None})
    # A boundary beyond all values, of parts that have none, would press them together.
    lines = [Boundary(edge) for edge in edges if (known < edge).any() and (known >= edge).any()]
    panels = [
        Panel(
            f"{scale} scale",
            "histogram",
            [count_values(quantity.name, values, scale=scale)],
            Axis(quantity.name, scale),
            Axis(quantity.of),
            lines,
        )
        for scale in ("linear", "log")
    ]
    described = f"How many {quantity.of} have which {quantity.name}, on a linear and on a logarithmic scale."
    return Figure(f"{quantity.name} of {quantity.of}", panels, described, columns=2)


def draw_shares(quantity: Quantity, values: Mapping[str, pl.Series]) -> Figure:
    """Return for each dataset the share of its annotations or documents whose value is no larger than x."""
    panels = []
    for scale in ("linear", "log"):
        series = [_share_below(name, one, scale) for name, one in values.items()]
        across = Axis(quantity.name, scale)
        panels.append(Panel(f"{scale} scale", "steps", series, across, Axis("share of all", limits=(0, 1))))
    described = f"The share of {quantity.of} whose {quantity.name} is no larger than x, a line a dataset."
    return Figure(f"{quantity.name} of {quantity.of}", panels, described, columns=2)


def _share_below(name: str, values: pl.Series, scale: str) -> Series:
    """Return which share of all values is no larger than each; of those without a place on the scale their number."""
    known = values.cast(pl.Float64).drop_nulls().drop_nans().alias("value")
    shares = known.value_counts(name="count").sort("value").with_columns(share=pl.col("count").cum_sum() / len(known))
    placed = shares.filter(pl.col("value") > 0) if scale == "log" else shares
    shown = placed.gather_every(max(1, placed.height // _POINTS)).vstack(placed.tail(1)).unique(maintain_order=True)
    left_out = len(known) - int(placed["count"].sum())
    return Series(name, shown["value"].to_list(), shown["share"].to_list(), left_out=left_out)
