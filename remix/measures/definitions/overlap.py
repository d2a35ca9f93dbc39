"""Overlap of mentions: none, maximal, intermediate, minimal or crossing, computed from the spans."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from remix.measures.codes import places_of, take_rows
from remix.measures.corpus import Corpus
from remix.measures.declaration import FINE_GRAINED, Column, Measure, shares

KINDS = ("none", "maximal", "intermediate", "minimal", "crossing")
Numbers = NDArray[np.int64]


def _overlaps(corpus: Corpus) -> pl.DataFrame:
    """Return the overlap of each annotation with other spans of its document; equal spans do not overlap."""
    spans = corpus.annotations.select("row", "document_code", "begin", "end").drop_nulls()
    # Documents are laid one after another on one line, so that the spans of two never touch.
    lengths = spans.group_by("document_code").agg(length=pl.col("end").max() + 1)
    offsets = lengths.select("document_code", offset=pl.col("length").cum_sum() - pl.col("length"))
    line = (
        spans.join(offsets, on="document_code")
        .select("row", first=pl.col("begin") + pl.col("offset"), last=pl.col("end") + pl.col("offset"))
        .sort("first")
    )
    # Few spans touch another one, which all that overlap do.
    before = pl.col("last").cum_max().shift().fill_null(-1)
    touching = (before >= pl.col("first")) | (pl.col("first").shift(-1) <= pl.col("last")).fill_null(False)
    found = line.filter(touching)
    each = found.select("first", "last").unique().sort("first", "last", descending=[False, True])
    kinds = each.with_columns(_kinds(*(each[side].to_numpy().astype(np.int64) for side in ("first", "last"))))
    overlapping = found.join(kinds, on=["first", "last"])
    known = take_rows(overlapping.select("overlap"), places_of(overlapping["row"], corpus.annotations.height))
    placed = corpus.annotations.select(
        pl.all_horizontal(pl.col("document_code", "begin", "end").is_not_null())
    ).to_series()
    return known.select(overlap=pl.when(placed).then(pl.col("overlap").fill_null("none")))


def _kinds(begin: Numbers, end: Numbers) -> pl.Series:
    """Return the overlap of spans on one line, which are sorted by begin, longer ones first."""
    inside, holds, crosses = _inside(end), _holds(begin, end), _crosses(begin, end)
    places = [KINDS.index(kind) for kind in ("intermediate", "maximal", "minimal", "crossing")]
    kind = np.select([inside & holds, holds, inside, crosses], places, KINDS.index("none"))
    return pl.Series("overlap", KINDS, dtype=pl.String).gather(kind)


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
        Column("rmx:overlap", "string", pl.col("overlap"), "none, maximal, intermediate, minimal or crossing", KINDS),
    ),
    summaries=shares("overlap", KINDS, "overlap"),
)
