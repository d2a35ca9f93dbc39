"""How the values of measures are spread over mentions and documents: Figures 16 and 17 of the remixing paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl

from remix.reports.charts import figure_of_distributions
from remix.reports.figures import Figure
from remix.studies.exhibit import Exhibit, ShownFigure
from remix.studies.exhibits._holes import order_datasets
from remix.studies.exhibits._measures import name_columns, name_file
from remix.studies.exhibits._parts import has_boundaries, parts_of_columns, unit_of
from remix.studies.results import Parts, Results


def show(results: Results) -> Iterator[ShownFigure]:
    """Yield for each column of numbers its values from the lowest to the highest, and by dataset."""
    names = name_columns(results.columns)
    drawn = set()
    for column, parts in parts_of_columns(results).items():
        values = _values(results, column)
        if values is None or parts.is_empty() or not has_boundaries(parts):
            continue
        unit, name = unit_of(parts), names[column]
        if unit == "documents":
            values = values.unique("document", keep="first", maintain_order=True)
        known = values["value"].count()
        left_out = [f"{len(values) - known:,} of {len(values):,} {unit} have no value."] if known < len(values) else []
        if unit == "documents":
            left_out.append("Documents without a mention are not among them.")
        title = f"Values of {name}, from the lowest to the highest, on a linear and on a logarithmic scale."
        said = "Lines across are where the partition is cut."
        figure = _ranks(values["value"], name, unit, parts, title)
        yield ShownFigure(f"distribution-{name_file(column)}", title, figure, (said, *left_out))
        by_dataset = {one: values.filter(dataset=one)["value"] for one in order_datasets(results)}
        by_dataset = {one: own for one, own in by_dataset.items() if own.count()}
        bare = column.partition(":")[0]
        if len(by_dataset) > 1 and bare not in drawn:
            drawn.add(bare)
            yield _boxes(by_dataset, name, unit, bare)


def _values(results: Results, column: str) -> pl.DataFrame | None:
    """Return dataset, document and value of each mention, in their order; None where the study has no such numbers."""
    known = [one for one in (column, column.partition(":")[0]) if one in results.mentions.columns]
    if not known or not results.mentions.schema[known[0]].is_numeric():
        return None
    return results.mentions.sort("mention").select(
        "dataset", "document", value=pl.col(known[0]).cast(pl.Float64).fill_nan(None)
    )


def _ranks(values: pl.Series, name: str, unit: str, parts: Parts, title: str) -> Figure:
    """Return the values in their order on both scales, with the boundaries of parts across the second."""
    edges = parts["high"].drop_nulls().unique().sort().to_list()
    linear = figure_of_distributions({name: values}, label=name, of=unit, shown="ranks")
    log = figure_of_distributions({name: values}, label=name, of=unit, shown="ranks", scale="log", boundaries=edges)
    panels = [
        replace(one.panels[0], title=f"{scale} scale") for one, scale in ((linear, "linear"), (log, "logarithmic"))
    ]
    return replace(log, title=title, panels=panels, columns=2)


def _boxes(values: Mapping[str, pl.Series], name: str, unit: str, column: str) -> ShownFigure:
    """Return how the values of each dataset are spread."""
    positive = min(float(str(one.min())) for one in values.values()) > 0
    scale = "log" if positive else "linear"
    title = f"Values of {name} by dataset."
    figure = figure_of_distributions(values, title=title, label=name, of=unit, scale=scale)
    note = (
        "A box has the middle half of the values and their median, whiskers reach from the 5th to the 95th percentile."
    )
    return ShownFigure(f"distribution-by-dataset-{name_file(column)}", title, figure, (note,))


DISTRIBUTIONS = Exhibit(
    name="distributions",
    title="Distributions",
    place=30,
    show=show,
    source="Figures 16 and 17 of the remixing paper",
)
