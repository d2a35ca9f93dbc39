"""Overlap of mentions: none, maximal, intermediate, minimal or crossing, computed from the spans."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from remix.measures._corpus import Corpus
from remix.measures._declaration import Column, Measure, shares
from remix.measures._sources import FINE_GRAINED

KINDS = ("none", "maximal", "intermediate", "minimal", "crossing")
Numbers = NDArray[np.int64]


def _overlaps(corpus: Corpus) -> pl.DataFrame:
    """Return the overlap of each annotation with other spans of its document; equal spans do not overlap."""
    rows = corpus.annotations.select("document", "begin", "end")
    spans = rows.drop_nulls().unique().sort("document", "begin", "end", descending=[False, False, True])
    if spans.is_empty():
        return rows.with_columns(overlap=pl.lit(None, dtype=pl.String)).select("overlap")
    # Documents are laid one after another on one line, so that the spans of two never touch.
    length = pl.col("end").max().over("document") + 1
    number = (pl.col("document") != pl.col("document").shift()).fill_null(True)
    offset = pl.when(number).then(length.shift().fill_null(0)).otherwise(0).cum_sum()
    line = spans.with_columns(offset=offset)
    begin = (line["begin"] + line["offset"]).to_numpy().astype(np.int64)
    end = (line["end"] + line["offset"]).to_numpy().astype(np.int64)
    inside, holds, crosses = _inside(end), _holds(begin, end), _crosses(begin, end)
    kind = np.select(
        [inside & holds, holds, inside, crosses], ["intermediate", "maximal", "minimal", "crossing"], "none"
    )
    found = spans.with_columns(overlap=pl.Series(kind.tolist(), dtype=pl.String))
    joined = rows.join(found, on=["document", "begin", "end"], how="left", maintain_order="left")
    return joined.select("overlap")


def _inside(end: Numbers) -> NDArray[np.bool_]:
    """Return which spans lie in another one, given that they are sorted by begin, longer ones first."""
    before = np.concatenate([[np.int64(-1)], np.maximum.accumulate(end)[:-1]])
    return np.asarray(before >= end)


def _holds(begin: Numbers, end: Numbers) -> NDArray[np.bool_]:
    """Return which spans have another one in them: a later one in the order that ends no later."""
    after = np.concatenate([np.minimum.accumulate(end[::-1])[::-1][1:], [np.iinfo(np.int64).max]])
    return np.asarray(after <= end)


def _crosses(begin: Numbers, end: Numbers) -> NDArray[np.bool_]:
    """Return which spans overlap another one in part: it begins within and ends behind, or the other way round."""
    first = np.searchsorted(begin, begin, side="right")
    last = np.searchsorted(begin, end, side="left")
    behind = _range_maximum(end, first, last) > end
    by_end = np.argsort(end, kind="stable")
    first = np.searchsorted(end[by_end], begin, side="right")
    last = np.searchsorted(end[by_end], end, side="left")
    before = -_range_maximum(-begin[by_end], first, last) < begin
    return np.asarray(behind | before)


def _range_maximum(values: Numbers, first: Numbers, last: Numbers) -> Numbers:
    """Return the maximum of values[first:last] for each pair, the smallest number where that is empty."""
    levels = [values]
    while (width := 1 << len(levels)) <= len(values):
        half = levels[-1]
        levels.append(np.maximum(half[: len(values) - width + 1], half[width // 2 :][: len(values) - width + 1]))
    result = np.full(len(first), np.iinfo(np.int64).min + 1)
    size = last - first
    for exponent, level in enumerate(levels):
        fits = (size >= 1 << exponent) & (size < 1 << (exponent + 1))
        left, right = first[fits], last[fits] - (1 << exponent)
        result[fits] = np.maximum(level[left], level[right])
    return result


MEASURE = Measure(
    name="overlap",
    levels=("annotation", "document", "dataset"),
    unit="kind; shares",
    formula="holds and lies in others: intermediate; holds: maximal; lies in: minimal; else overlaps in part: crossing",
    citation=f"{FINE_GRAINED}, section 3.3; crossing is ours",
    high="nested mentions are annotated: systems that answer one span per place lose recall",
    low="mentions do not overlap",
    empty="annotations without offsets have no value",
    prepare=_overlaps,
    columns=(
        Column(
            "rmx:overlap",
            "string",
            pl.col("overlap"),
            "none, maximal, intermediate, minimal or crossing",
            KINDS,
        ),
    ),
    summaries=shares("overlap", KINDS, "overlap"),
)
