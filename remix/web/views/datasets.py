"""All datasets with their measures in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.measures import AVERAGES, Measured
from remix.measures.enrichment import measures_of
from remix.measures.labels import COUNT, COUNTED, headings_of_measures, label_of, words_of_measures
from remix.reports.statistics import (
    ALTERNATIVES,
    by_average,
    columns_by_measure,
    explain_averages,
    explain_lacking,
    explain_stored,
)
from remix.store import DatasetEntry
from remix.web import forms, page
from remix.web.addresses import address, address_of_measure
from remix.web.answers import count_inherited

_FIRST = "density,ambiguitySurfaceForm,candidateRecall,nilExplicit,typePerson"
"""What is shown unless other measures are chosen: how much is annotated, how ambiguous it is, how well known.

They are as many as have room beside each other on a usual screen.
"""


@dataclass(frozen=True)
class _Said:
    """What is said of each measure that any dataset has a value of, by its name, whichever of them are shown."""

    explained: Mapping[str, str]
    words: Mapping[str, str]
    headings: Mapping[str, tuple[str, str]]
    units: Mapping[str, str]


def _say(measured: Measured) -> _Said:
    explained = explain_averages(measured)
    units = {name: label_of(name, of_statistics=True).unit for name in explained}
    headings = headings_of_measures(explained, of_statistics=True)
    return _Said(explained, words_of_measures(explained), headings, units)


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    entries = page.list_datasets(work)
    if not entries:
        return page.Page("Datasets", [page.NOTHING])
    measured = measures_of(work.store)
    said = work.store.cached("said of measures", lambda: _say(measured))
    average = parameters.get("average") or "micro"
    names, dropped = _choose_measures(parameters, [*said.explained])
    sizes = _list_sizes(work, entries, measured)
    counted = [name for name in names if average == COUNT and name in COUNTED]
    counted_headings = {name: (said.headings.get(name, (name, ""))[0], f"{name}, number") for name in counted}
    plain = any(not entry.enrichment for entry in entries)
    rows = sizes.join(columns_by_measure(measured.datasets, names, average), on="dataset", how="left")
    table = page.Table(
        "datasets",
        rows,
        {**_LINKS, **{name: partial(_lead, name) for name in names}},
        f"Measures are {by_average(average)}. In small letters: the share of annotations or documents for which a "
        "measure could be computed.",
        {
            **said.explained,
            **_SIZES,
            "stored": "Whether queries and partitions see its measures.",
            "runs": "How many runs answer it, of a remix also those of other systems on what it was cut from.",
        },
        ("documents", "annotations", *names),
        {name: f"share with {name}" for name in names},
        leads=f"A number leads to what it counts or is of. {ALTERNATIVES}",
        headings={**said.headings, **counted_headings},
        units={**said.units, **dict.fromkeys(counted, "number")},
        unseen=() if plain else ("stored",),
        below="Darker cells have higher values than others of their column.",
    )
    form = forms.Form(
        [
            forms.choose("average", "average", AVERAGES, average, page.MICRO_OR_MACRO),
            forms.choose_several("measures", "measures", said.explained, names, words=said.words),
        ]
    )
    lacking = explain_lacking(measured.datasets, names, average)
    blocks = [
        form,
        *([page.Note(lacking)] if lacking else []),
        table,
        *_notes(entries, measured),
        _LEADS,
        *_tell_kb(work),
    ]
    return page.Page("Datasets", blocks, dropped=dropped)


def _list_sizes(work: page.Explored, entries: Sequence[DatasetEntry], measured: Measured) -> pl.DataFrame:
    """Return how large each dataset is, whether its measures are stored, and how many runs answer it."""
    annotated = measured.datasets.filter(measure="numAnnotations", average=COUNT)
    mentions = {name: int(value) for name, value in annotated.select("dataset", "value").drop_nulls().iter_rows()}
    held, inherited = page.measure_datasets(work), count_inherited(work)
    return pl.DataFrame(
        {
            "dataset": [entry.name for entry in entries],
            "documents": [entry.documents for entry in entries],
            "mentions": [mentions.get(entry.name) for entry in entries],
            "annotations": [held[entry.name]["annotations"] for entry in entries],
            "stored": ["yes" if entry.enrichment else "no" for entry in entries],
            "runs": [
                sum(name.startswith("run-") for name in entry.attached) + inherited.get(entry.name, 0)
                for entry in entries
            ],
        }
    )


def _tell_kb(work: page.Explored) -> list[page.Table]:
    """Return what the attached knowledge base holds, nothing where there is none."""
    if work.kb is None:
        return []
    held = dict(work.kb.summary().iter_rows())
    counts = {part: int(held[part]) for part in _HELD if int(held.get(part, 0))}
    told = [f"{counts[part]:,} {words}" for part, words in _HELD.items() if part in counts]
    whole = "" if held["complete"] == "yes" else " It is a part of a larger one: what it lacks is not known."
    words = f"It holds {', '.join(told[:-1])} and {told[-1]}.{whole}" if len(told) > 1 else f"It holds {told[0]}."
    rows = pl.DataFrame([*held.items()], schema=["what", "value"], orient="row").filter(pl.col("what") != "folder")
    return [page.Table("knowledge base", rows, words=words)]


_HELD = {
    "entities": "entities",
    "surface forms": "pairs of a name and an entity",
    "redirects": "redirects",
    "types": "types of entities",
    "links": "links between entities",
}
"""What a knowledge base holds, by its parts, that people are told."""


def _lead(measure: str, row: Mapping[str, Any]) -> str:
    """Return the address of what a measure of a dataset is of, none where it has no value."""
    return "" if row[measure] is None else address_of_measure(row["dataset"], measure)


_LINKS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "dataset": lambda row: address("dataset", name=row["dataset"]),
    "documents": lambda row: address("dataset", name=row["dataset"]) + "#documents",
    "mentions": lambda row: address("annotations", dataset=row["dataset"]),
    "annotations": lambda row: address("annotations", dataset=row["dataset"]),
    "runs": lambda row: address("systems", datasets=row["dataset"]) if row["runs"] else "",
}
"""Where the numbers of a dataset lead."""


def _choose_measures(parameters: page.Parameters, known: Sequence[str]) -> tuple[list[str], list[UsageError]]:
    """Return the measures that are asked for, and what is wrong in them.

    They are those of `measures`, and those that `columns` names: of the table, and in addresses of before, which
    named no table, in place of `measures`.
    """
    columns = [name for name in parameters.get("columns", "").split(",") if name in known]
    of_before = ",".join(columns) if "table" not in parameters else ""
    asked = [name for name in (parameters.get("measures") or of_before or _FIRST).split(",") if name]
    dropped: list[UsageError] = []
    if "measures" in parameters:
        unknown = [name for name in asked if name not in known]
        dropped = [UnknownName("measure that a dataset has", name, known, "remix list measures") for name in unknown]
    return [name for name in dict.fromkeys([*asked, *columns]) if name in known], dropped


_SIZES = {
    "mentions": "spans that are annotated, each once, which scores count",
    "annotations": "mentions with all alternatives that gold allows for them",
}
_LEADS = page.Note(
    "A dataset's name leads to its distributions and documents.",
    links={"Compare datasets": "/compare", "What datasets share": "/overlap"},
)


def _notes(entries: Sequence[DatasetEntry], measured: Measured) -> list[page.Note]:
    """Return what to do about measures that are not stored, that were stored by other choices, or that were skipped."""
    notes = []
    if plain := sum(entry.enrichment is None for entry in entries):
        said = f"The measures of {plain} of the datasets are not stored: queries and partitions do not see them yet."
        notes.append(page.Note(said, ["remix enrich"]))
    others = dict.fromkeys(explain_stored(entry, measured) for entry in entries if entry.enrichment)
    notes += [page.Note(said, ["remix enrich"]) for said in others if said]
    if skipped := measured.skipped:
        said = f"Without a knowledge base these say nothing: {', '.join(skipped)}."
        notes.append(page.Note(said, ["remix kb attach", "remix kb build"]))
    return notes


datasets = page.View("datasets", "Datasets", _show, menu=2, parameters=("average", "measures"))
