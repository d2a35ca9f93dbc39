"""How long the texts are, in words and characters."""

import polars as pl

from remix.measures.declaration import EUEF, Measure, Summary

_LENGTHS = {"Words": ("words", "words (runs without white space)"), "Characters": ("characters", "code points")}

MEASURE = Measure(
    name="text",
    levels=("document", "dataset"),
    unit="words, code points",
    formula="|d_t|; on datasets the sum and the mean over documents",
    citation=f"{EUEF}, Table 1",
    high="long texts: much context",
    low="short texts, as in micro-posts: little context",
    empty="documents without a text have no value",
    summaries=tuple(
        Summary(
            name=f"num{name}",
            meaning=f"number of {what}; of a dataset their sum and their mean per document",
            terms={"count": (f"rmx:num{name}",), "macro": (f"rmx:mean{name}",)},
            part=pl.col(column),
            over="documents",
            label=f"{name.lower()} of the texts",
            measured_in=name.lower(),
        )
        for name, (column, what) in _LENGTHS.items()
    ),
)
