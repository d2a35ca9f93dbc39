"""All datasets with their measures in one table."""

from __future__ import annotations

import polars as pl

from remix.measures import AVERAGES
from remix.reports.statistics import columns_by_measure, explain_averages
from remix.web.page import (
    MICRO_OR_MACRO,
    NOTHING,
    Explored,
    Field,
    Form,
    Note,
    Page,
    Parameters,
    Table,
    View,
    address,
    choose,
)

_FIRST = "density,ambiguitySurfaceForm,ambiguityEntity,pagerank,prior,candidateRecall,nilExplicit,typePerson,typePlace"
"""What is shown unless other measures are chosen: how much is annotated, how ambiguous it is, how well known."""


def _show(work: Explored, parameters: Parameters) -> Page:
    entries = work.datasets()
    if not entries:
        return Page("Datasets", [NOTHING])
    measured = work.measures()
    explained = explain_averages(measured)
    chosen = parameters.get("columns") or _FIRST
    average = parameters.get("average") or "micro"
    names = [name for name in dict.fromkeys(chosen.split(",")) if name in explained]
    sizes = pl.DataFrame(
        {
            "dataset": [entry.name for entry in entries],
            "documents": [entry.documents for entry in entries],
            "annotations": [entry.annotations for entry in entries],
            "stored": ["yes" if entry.enrichment else "no" for entry in entries],
            "runs": [sum(name.startswith("run-") for name in entry.attached) for entry in entries],
        }
    )
    rows = sizes.join(columns_by_measure(measured.datasets, names, average), on="dataset", how="left")
    table = Table(
        "datasets",
        rows,
        {"dataset": lambda row: address("dataset", name=row["dataset"])},
        "In small letters: the share of annotations or documents for which a measure could be computed. Darker cells "
        "have higher values than others of their column.",
        {**explained, "stored": "Whether queries and partitions see its measures.", "runs": "How many runs answer it."},
        ("documents", "annotations", *names),
        {name: f"share with {name}" for name in names},
    )
    form = Form(
        [
            choose("average", "average", AVERAGES, average, MICRO_OR_MACRO),
            Field("columns", "measures", ",".join(names), [*explained], "many"),
        ]
    )
    unknown = [name for name in parameters.get("columns", "").split(",") if name and name not in explained]
    told = [Note(f"No dataset has a value of: {', '.join(unknown)}.", ["remix list measures"])] if unknown else []
    return Page("Datasets", [form, *told, table, *_notes(work, rows), _LEADS])


_LEADS = Note(
    "A dataset's name leads to its distributions and documents.",
    links={"Compare datasets": "/compare", "What datasets share": "/overlap"},
)


def _notes(work: Explored, rows: pl.DataFrame) -> list[Note]:
    """Return what to do about datasets whose measures are not stored, and about measures that were skipped."""
    notes = []
    if plain := rows.filter(stored="no").height:
        said = f"The measures of {plain} of the datasets are not stored: queries and partitions do not see them yet."
        notes.append(Note(said, ["remix enrich"]))
    if skipped := work.measures().skipped:
        said = f"Without a knowledge base these say nothing: {', '.join(skipped)}."
        notes.append(Note(said, ["remix kb attach", "remix kb build"]))
    return notes


datasets = View("datasets", "Datasets", _show, menu=1)
