"""Measures as exhibits name them, and their values by target."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import polars as pl

from remix.measures import LOW_COVERAGE
from remix.studies.exhibits._holes import list_names
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


def tell_low_coverage(values: pl.DataFrame, name: str) -> list[str]:
    """Return the sentence that names the targets of which a measure speaks for less than half."""
    low = values.filter(pl.col("value").is_not_null(), pl.col("coverage") < LOW_COVERAGE)
    shares = low.select("target", "coverage").iter_rows()
    named = [f"{target} ({100 * share:.0f} %)" for target, share in shares]
    return [f"What is said of {name} speaks for less than half of {list_names(named)}."] if named else []
