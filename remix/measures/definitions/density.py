"""Annotations per word: an estimate of how much was left unannotated."""

import polars as pl

from remix.measures.declaration import REMIXING, Measure, Summary, terms_of

MEASURE = Measure(
    name="density",
    levels=("document", "dataset"),
    unit="annotations per word",
    formula="|d_a| / |d_t| (3); words are runs without white space in the annotated region; micro pools words",
    citation=f"{REMIXING}, section 2.3, formula (3)",
    high="annotated exhaustively, common nouns often included",
    low="sparse: correct answers of a system may lack their gold annotation and count as false positives",
    empty="a document without words has no value; one without annotations has 0",
    summaries=(
        Summary(
            name="density",
            meaning="annotations per word",
            terms=terms_of("hfts:density", "document", "micro", "macro"),
            part=pl.col("mentions"),
            whole=pl.col("region_words"),
            over="documents",
            label="mentions a word",
            measured_in="mentions a word",
            is_told=True,
        ),
        Summary(
            name="densityWithIgnorable",
            meaning="annotations per word, the ignorable ones counted as well",
            terms=terms_of("densityWithIgnorable", "document", "micro", "macro"),
            part=pl.col("all_mentions"),
            whole=pl.col("region_words"),
            over="documents",
            label="mentions a word, ignorable ones as well",
            measured_in="mentions a word",
        ),
        Summary(
            name="densityPercentile",
            meaning="percentile of hfts:density among the documents of all datasets measured together",
            terms={"document": ("rmx:densityPercentile",)},
            part=pl.col("density_percentile"),
            over="documents",
            label="mentions a word, percentile",
            measured_in="percentile",
        ),
    ),
)
