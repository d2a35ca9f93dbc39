"""How many annotations a document has: the context that a linker can use."""

import polars as pl

from remix.measures.declaration import REMIXING, Measure, Summary

MEASURE = Measure(
    name="number-of-annotations",
    levels=("document", "dataset"),
    unit="annotations",
    formula="|d_a|, alternatives of a group counted once; on datasets the sum, and the mean over documents (1)",
    citation=f"{REMIXING}, section 2.1, formula (1)",
    high="much context for joint disambiguation",
    low="little context; single mentions must be decided by prior and text alone",
    empty="a document without annotations has 0; a dataset without documents has no value",
    summaries=(
        Summary(
            name="numAnnotations",
            meaning="number of annotations; of a dataset their sum and their mean per document",
            terms={"count": ("hfts:numAnnotations",), "macro": ("rmx:meanAnnotations",)},
            part=pl.col("mentions"),
            over="documents",
            label="mentions",
            measured_in="mentions",
        ),
        Summary(
            name="numAnnotationsPercentile",
            meaning="percentile of hfts:numAnnotations among the documents of all datasets measured together",
            terms={"document": ("rmx:numAnnotationsPercentile",)},
            part=pl.col("mentions_percentile"),
            over="documents",
            label="mentions, percentile",
            measured_in="percentile",
        ),
    ),
)
