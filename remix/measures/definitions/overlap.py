"""Overlap of mentions: none, maximal, intermediate, minimal or crossing, computed from the spans."""

import polars as pl

from remix.measures.codes import places_of, take_rows
from remix.measures.corpus import Corpus
from remix.measures.declaration import FINE_GRAINED, Column, Measure, shares

KINDS = ("none", "maximal", "intermediate", "minimal", "crossing")


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
    overlapping = found.join(_add_kinds(each), on=["first", "last"])
    known = take_rows(overlapping.select("overlap"), places_of(overlapping["row"], corpus.annotations.height))
    placed = corpus.annotations.select(
        pl.all_horizontal(pl.col("document_code", "begin", "end").is_not_null())
    ).to_series()
    return known.select(overlap=pl.when(placed).then(pl.col("overlap").fill_null("none")))


def _add_kinds(spans: pl.DataFrame) -> pl.DataFrame:
    """Return spans on one line, which are sorted by `first`, longer ones first, with their `overlap`."""
    last = pl.col("last")
    inside = last.cum_max().shift(fill_value=-1) >= last
    holds = (last.cum_min(reverse=True).shift(-1) <= last).fill_null(False)
    kind = pl.when(inside & holds).then(pl.lit("intermediate")).when(holds).then(pl.lit("maximal"))
    kind = kind.when(inside).then(pl.lit("minimal")).when(_crosses(spans)).then(pl.lit("crossing"))
    return spans.with_columns(overlap=kind.otherwise(pl.lit("none")))


def _crosses(spans: pl.DataFrame) -> pl.Series:
    """Return which spans overlap another one in part: it begins within and ends behind, or the other way round."""
    begin, end = spans["first"], spans["last"]
    latest = _range_maximum(end, begin.search_sorted(begin, "right"), begin.search_sorted(end))
    by_end = spans.sort("last")
    ends = by_end["last"]
    earliest = -_range_maximum(-by_end["first"], ends.search_sorted(begin, "right"), ends.search_sorted(end))
    return (latest > end).fill_null(False) | (earliest < begin).fill_null(False)


def _range_maximum(values: pl.Series, first: pl.Series, last: pl.Series) -> pl.Series:
    """Return the maximum of values[first:last] for each pair, null where that is empty."""
    pairs = pl.DataFrame({"first": first, "last": last}).cast(pl.Int64)
    size = pl.col("last") - pl.col("first")
    longest = pairs.select(size.max()).item() or 0
    found, width = pl.repeat(None, len(pairs), dtype=values.dtype, eager=True), 1
    while width <= longest:
        # `values` are now the maxima of so many in a row; two of these, which may overlap, make that of a pair.
        fits = size.is_between(width, 2 * width - 1)
        ends = pairs.select(left=pl.when(fits).then("first"), right=pl.when(fits).then(pl.col("last") - width))
        each = pl.max_horizontal(values.gather(ends["left"]), values.gather(ends["right"]))
        found = pl.select(pl.coalesce(found, each)).to_series()
        values = pl.select(pl.max_horizontal(values.head(-width), values.slice(width))).to_series()
        width *= 2
    return found


_LABELS = {
    "none": "mentions without overlap",
    "maximal": "mentions that hold others",
    "intermediate": "mentions that hold others and are within others",
    "minimal": "mentions within others",
    "crossing": "mentions that cross others",
}

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
            label="overlap with other mentions",
        ),
    ),
    summaries=shares("overlap", KINDS, "overlap", labels=_LABELS),
)
