"""Percentiles among all datasets that are measured together: statistics that compare across measures."""

import polars as pl

from remix.measures.corpus import Corpus
from remix.measures.declaration import REMIXING, Column, Measure

_COLUMNS = {"ambiguitySurfaceForm": "union_entities", "ambiguityEntity": "union_forms"}


def _percentiles(corpus: Corpus) -> pl.DataFrame:
    """Return the percentile of each column among all annotations."""
    columns = list(_COLUMNS.values())
    placed = corpus.with_percentiles(corpus.annotations.select(columns), *columns)
    return placed.select(f"{column}_percentile" for column in columns)


_LABELS = {"ambiguitySurfaceForm": "readings a name", "ambiguityEntity": "names an entity"}

MEASURE = Measure(
    name="normalised",
    levels=("annotation",),
    unit="percentile",
    formula="100 × share of all measured datasets' annotations whose value is smaller, and half of the equal ones",
    citation=f"{REMIXING}, end of section 3.3, where harmonised statistics are future work",
    high="among the highest of all measured datasets",
    low="among the lowest of all measured datasets",
    empty="absent where the value itself is absent",
    needs=("surface_forms",),
    prepare=_percentiles,
    columns=tuple(
        Column(
            f"rmx:{name}Percentile",
            "double",
            pl.col(f"{column}_percentile"),
            f"percentile of hfts:{name} in all datasets",
            label=f"{_LABELS[name]}, percentile",
            measured_in="percentile",
        )
        for name, column in _COLUMNS.items()
    ),
)
