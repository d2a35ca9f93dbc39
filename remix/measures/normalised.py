"""Percentiles among all datasets that are measured together: statistics that compare across measures."""

from remix.measures._corpus import percentile
from remix.measures._declaration import Column, Measure
from remix.measures._sources import REMIXING

_COLUMNS = {"ambiguitySurfaceForm": "union_entities", "ambiguityEntity": "union_forms"}

MEASURE = Measure(
    name="normalised",
    levels=("annotation",),
    unit="percentile",
    formula="100 × share of the annotations of all measured datasets whose value is not higher",
    citation=f"{REMIXING}, end of section 3.3, where harmonised statistics are future work",
    high="among the highest of all measured datasets",
    low="among the lowest of all measured datasets",
    empty="absent where the value itself is absent",
    needs=("surface_forms",),
    columns=tuple(
        Column(f"rmx:{name}Percentile", "double", percentile(column), f"percentile of hfts:{name} in all datasets")
        for name, column in _COLUMNS.items()
    ),
)
