"""Measures as exhibits name them, and their values by target."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from remix.expressions import fill
from remix.measures import LOW_COVERAGE
from remix.paper import Typesetting
from remix.reports.charts import figure_of_datasets
from remix.studies.exhibit import ShownFigure, ShownTable
from remix.studies.exhibits._holes import list_names, tell_missing
from remix.studies.results import Results, Targets

NAMES = {
    "ambiguitySurfaceForm": "entities per surface form",
    "ambiguityEntity": "surface forms per entity",
    "pagerank": "PageRank",
    "hits": "HITS",
    "numAnnotations": "annotations of the document",
    "density": "density of the document",
    "dominanceSurfaceForm": "dominance of surface forms",
    "dominanceEntity": "dominance of entities",
    "notAnnotated": "documents without annotations",
    "pagerankPercentile": "percentile of PageRank",
    "hitsPercentile": "percentile of HITS",
}
"""What exhibits call the columns and measures of the remixing paper."""


def name_columns(columns: Sequence[str]) -> dict[str, str]:
    """Return what exhibits call columns: without the scheme, unless one column is cut by several.

    >>> name_columns(["pagerank:log-deciles", "candidateRank:thresholds:1,3", "candidateRank:classes"])
    {'pagerank:log-deciles': 'PageRank', 'candidateRank:thresholds:1,3': 'candidateRank by thresholds:1,3', \
'candidateRank:classes': 'candidateRank by classes'}
    """
    parts = {column: column.partition(":") for column in columns}
    often = Counter(name for name, _, _ in parts.values())
    named = {column: NAMES.get(name, name) for column, (name, _, _) in parts.items()}
    return {
        column: f"{named[column]} by {scheme}" if often[name] > 1 and scheme else named[column]
        for column, (name, _, scheme) in parts.items()
    }


def name_file(column: str) -> str:
    """Return a column with its scheme as the name of a file has it.

    >>> name_file("candidateRank:thresholds:1,3")
    'candidateRank-thresholds-1-3'
    """
    return re.sub(r"[^A-Za-z0-9._]+", "-", column).strip("-.")


def values_of_targets(results: Results, targets: Targets, measure: str, average: str = "micro") -> pl.DataFrame:
    """Return target, value and coverage of a measure, a row for each target in its order; null where it has none."""
    own = results.measures.filter(measure=measure, average=average).select("target", "value", "coverage")
    return targets.select("target").join(own, on="target", how="left", maintain_order="left")


@dataclass(frozen=True)
class Compared:
    """A figure that compares targets in measures: a panel for each measure, whose average is taken.

    `scale` is that of the values, `limits` are what their axis shows at least.
    """

    name: str
    title: str
    label: str
    measures: tuple[str, ...]
    average: str = "micro"
    scale: str = "linear"
    limits: tuple[float, float] | None = None


COMPARISONS = (
    Compared("not-annotated", "Documents without annotations", "share of documents", ("notAnnotated",), limits=(0, 1)),
    Compared("density", "Annotations by words of the text", "annotations by words", ("density",), limits=(0, 0.1)),
    Compared("annotations", "Annotations of documents", "mean number of annotations", ("numAnnotations",), "macro"),
    Compared(
        "confusion",
        "Likelihood of confusion",
        "mean over annotations",
        ("ambiguityEntity", "ambiguitySurfaceForm"),
        scale="log",
    ),
    Compared(
        "dominance",
        "Dominance",
        "mean over annotations",
        ("dominanceEntity", "dominanceSurfaceForm"),
        limits=(0, 1),
    ),
    Compared(
        "prominence",
        "Prominence of entities, as a percentile of those of the knowledge base",
        "mean percentile",
        ("pagerankPercentile", "hitsPercentile"),
        limits=(0, 100),
    ),
)
"""The figures in which datasets and remixes are compared: 12 to 15 and 25 to 27 of the remixing paper, and two more."""


_WORDS = (
    pl.when(pl.col("coverage") < 1)
    .then(fill("speaks for {} %", (100 * pl.col("coverage")).floor().cast(pl.Int64)))
    .otherwise(pl.lit(""))
)
"""What is said of a value that does not speak for all; 99.9 % must not look like all."""


def show_comparisons(
    results: Results, targets: Targets, of: str, *, ordered: bool
) -> Iterator[ShownFigure | ShownTable]:
    """Yield the figures that compare targets in each measure, and the table of all of their values.

    `of` is what the targets are, and begins names and titles; `ordered` targets stay in the order of the study.
    """
    plural = "remixes" if of == "remix" else f"{of}s"
    frame, headings = targets.select("target"), {"target": ""}
    told = tell_missing(targets)
    for one in COMPARISONS:
        found = {name: values_of_targets(results, targets, name, one.average) for name in one.measures}
        found = {name: values for name, values in found.items() if values["value"].count()}
        if not found:
            continue
        panels = [
            values.select(panel=pl.lit(NAMES[name]), dataset="target", value="value", words=_WORDS)
            for name, values in found.items()
        ]
        low = [line for name, values in found.items() for line in tell_low_coverage(values, NAMES[name])]
        title = f"{one.title}, by {of}."
        figure = figure_of_datasets(
            pl.concat(panels if len(one.measures) > 1 else [panels[0].drop("panel")]),
            title=title,
            label=one.label,
            scale=one.scale,
            limits=one.limits,
            ordered=ordered,
        )
        yield ShownFigure(f"{one.name}-of-{plural}", title, figure, (*low, *told))
        columns = [values["value"].alias(name) for name, values in found.items()]
        frame, headings = frame.with_columns(columns), headings | {name: NAMES[name] for name in found}
    if len(headings) > 1:
        how = Typesetting(columns=headings, digits={name: 3 for name in headings if name != "target"})
        title = f"Measures of {plural}: averages over annotations, of annotations by document the mean over documents."
        yield ShownTable(f"measures-of-{plural}", title, frame, how, tuple(told))


def tell_low_coverage(values: pl.DataFrame, name: str) -> list[str]:
    """Return the sentence that names the targets of which a measure speaks for less than half."""
    low = values.filter(pl.col("value").is_not_null(), pl.col("coverage") < LOW_COVERAGE)
    shares = low.select("target", "coverage").iter_rows()
    named = [f"{target} ({100 * share:.0f} %)" for target, share in shares]
    return [f"What is said of {name} speaks for less than half of {list_names(named)}."] if named else []
