"""The parts of partitions in their order, and what they are called."""

from __future__ import annotations

import polars as pl

from remix.names import UNSPECIFIED
from remix.studies.results import Parts, Results

TOGETHER = "all"
_NUMBERED = 6
"""Parts that a figure calls by their boundaries; more are called by their numbers."""


def parts_of_columns(results: Results) -> dict[str, Parts]:
    """Return the parts of each column of the study, counted over all datasets together, in the order of values."""
    parts = results.parts.filter(dataset=TOGETHER).sort("part", "slice")
    return {column: parts.filter(column=column) for column in results.columns}


def has_boundaries(parts: Parts) -> bool:
    """Return whether the parts of a column are intervals of numbers, and no classes."""
    return bool(parts["low"].count() or parts["high"].count())


def unit_of(parts: Parts) -> str:
    """Return what is counted in the parts of a column: documents where it is of documents, else mentions."""
    return "documents" if parts["level"][0] == "document" else "mentions"


def upper_boundary(own: Parts) -> pl.Expr:
    """Return the upper boundary of a part as people write it; of the last, which has none, its lower one."""
    low, high = ([None if one is None else f"{one:.4g}" for one in own[name]] for name in ("low", "high"))
    return (
        pl.when(pl.col("part") == 0)
        .then(pl.lit(UNSPECIFIED))
        .when(pl.col("high").is_not_null())
        .then(pl.lit("≤ ") + pl.Series(high, dtype=pl.String))
        .when(pl.col("low").is_not_null())
        .then(pl.lit("> ") + pl.Series(low, dtype=pl.String))
        .otherwise("slice")
    )


def label_parts(parts: Parts) -> pl.DataFrame:
    """Return slice and label of the parts of a column: what figures call them, in their order.

    Few parts are called by their boundaries, more by their numbers; what has no value is 'unspecified', and is left
    out where there is nothing of the kind.
    """
    own = parts.filter((pl.col("part") > 0) | (pl.col("mentions") > 0) | (pl.col("documents") > 0))
    numbered = has_boundaries(parts) and own.height > _NUMBERED
    label = pl.col("part").cast(pl.String) if numbered else upper_boundary(own)
    label = label if has_boundaries(parts) else pl.col("slice")
    return own.select("slice", label=pl.when(pl.col("part") == 0).then(pl.lit(UNSPECIFIED)).otherwise(label))


def tell_boundaries(parts: Parts) -> list[str]:
    """Return the sentence that says where numbered parts end."""
    own = parts.filter(pl.col("part") > 0)
    if not has_boundaries(parts) or own.height <= _NUMBERED:
        return []
    ends = own.select("part", to=upper_boundary(own)).iter_rows()
    return [f"Boundaries of parts: {'; '.join(f'{number}: {to}' for number, to in ends)}."]
