"""Where partitions are cut and how much is in each part: Table 4 of the remixing paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from remix.paper import Typesetting
from remix.studies.exhibit import Exhibit, ShownTable
from remix.studies.exhibits._holes import list_names
from remix.studies.exhibits._measures import name_columns, name_file
from remix.studies.exhibits._parts import has_boundaries, parts_of_columns, unit_of, upper_boundary
from remix.studies.results import PARTS, Parts, Results


def show(results: Results) -> Iterator[ShownTable]:
    """Yield for each part of each partition its upper boundary and how many annotations or documents it has.

    Partitions of numbers stand side by side, part by part; those of classes have a table each.
    """
    found = parts_of_columns(results)
    known = {column: own for column, own in found.items() if own.height}
    numbers = {column: own for column, own in known.items() if has_boundaries(own)}
    names = name_columns(results.columns)
    notes = [f"There are no parts of {list_names(names[one] for one, own in found.items() if own.is_empty())}."]
    notes = notes if len(known) < len(found) else []
    whole = {
        one: int(results.targets.filter(target=results.unfiltered)[one].sum()) for one in ("documents", "mentions")
    }
    if numbers or notes:
        yield _side_by_side(numbers, names, notes, whole)
    for column, own in known.items():
        if column not in numbers:
            yield _classes(column, names[column], own, whole)


def _side_by_side(
    numbers: Mapping[str, Parts], names: Mapping[str, str], notes: list[str], whole: Mapping[str, int]
) -> ShownTable:
    """Return the parts of several columns of numbers: a row for the parts of each number."""
    every = pl.concat([PARTS.empty(), *(own for own in numbers.values())])
    frame = every.select("part").unique().sort("part")
    headings = {"part": "part"}
    for column, own in numbers.items():
        counted = unit_of(own)
        name, label = names[column], f"{counted} by {column}"
        cells = own.select(
            "part",
            pl.col("low").alias(f"above by {column}"),
            pl.col("high").alias(f"to by {column}"),
            upper_boundary(own).alias(f"boundary by {column}"),
            pl.col(counted).alias(label),
        )
        frame = frame.join(cells, on="part", how="left", maintain_order="left")
        headings |= {f"boundary by {column}": name, label: counted}
    spelt = "; ".join(f"{names[column]} by {column.partition(':')[2] or 'value'}" for column in numbers)
    said = [
        "A part reaches from above the boundary of the part before it up to its own; part 0 is what has no value.",
        f"How each is cut: {spelt}.",
        *(_total(names[column], own, whole) for column, own in numbers.items()),
    ]
    said = [*(said if numbers else []), *notes]
    title = "Boundaries and sizes of the parts of partitions, over all datasets together."
    return ShownTable("partitions", title, frame, Typesetting(columns=headings), tuple(said))


def _classes(column: str, name: str, own: Parts, whole: Mapping[str, int]) -> ShownTable:
    """Return the parts of one column of classes, which can overlap where something has several."""
    counted = unit_of(own)
    frame = own.select("part", "slice", counted, share=pl.col(counted) / max(1, whole[counted]))
    headings = {"part": "part", "slice": name, counted: counted, "share": f"share of {counted}"}
    without = int(own.filter(part=0)[counted].sum())
    notes = [f"{without:,} of {whole[counted]:,} {counted} have no value."]
    notes += ["Parts overlap: some have several classes."] * (own[counted].sum() > whole[counted])
    title = f"Sizes of the parts of {name}, over all datasets together."
    return ShownTable(f"partition-{name_file(column)}", title, frame, Typesetting(columns=headings), tuple(notes))


def _total(name: str, own: Parts, whole: Mapping[str, int]) -> str:
    counted = unit_of(own)
    without = int(own.filter(part=0)[counted].sum())
    overlap = ", alternatives of one in several parts" if own[counted].sum() > whole[counted] else ""
    return f"{name}: {whole[counted]:,} {counted}, {without:,} of them without a value{overlap}."


PARTITIONS = Exhibit(
    name="partitions",
    title="Partitions",
    place=40,
    show=show,
    source="Table 4 of the remixing paper",
)
