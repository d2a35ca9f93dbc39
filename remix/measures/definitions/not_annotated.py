"""The share of documents that have no annotation at all."""

import polars as pl

from remix.measures.declaration import REMIXING, Measure, Summary

MEASURE = Measure(
    name="not-annotated",
    levels=("dataset",),
    unit="share of documents",
    formula="|{d : d_a = ∅}| / |D| (2)",
    citation=f"{REMIXING}, section 2.2, formula (2)",
    high="many empty documents: every answer there is a false positive in A2KB",
    low="every document was annotated",
    empty="a dataset without documents has no value",
    summaries=(
        Summary(
            name="notAnnotated",
            meaning="share of documents without annotations",
            terms={"micro": ("hfts:notAnnotated",)},
            part=pl.col("mentions") == 0,
            over="documents",
            is_share=True,
            label="documents without mentions",
        ),
    ),
)
