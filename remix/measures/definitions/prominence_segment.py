"""Prominence in three segments: the top 10 %, the next 45 %, the rest."""

import polars as pl

from remix.kb.prominence import SEGMENTS
from remix.measures.declaration import REMIXING, Column, Measure, shares

CATEGORIES = (*SEGMENTS, "unspecified")
_SCORES = {"pagerankSegment": "pagerank_segment", "hitsSegment": "hits_segment"}
_LABELS = {"pagerankSegment": "PageRank", "hitsSegment": "HITS"}


def _column(name: str, place: str) -> Column:
    linked = pl.when(pl.col("entity").is_not_null())
    return Column(
        f"rmx:{name}",
        "string",
        linked.then(pl.col(place).fill_null("unspecified")),
        "head (top 10 %), torso (10 to 55 %), tail (55 to 100 %) of the knowledge base, or unspecified",
        CATEGORIES,
        label=f"prominence by {_LABELS[name]}",
    )


MEASURE = Measure(
    name="prominence-segment",
    levels=("annotation", "document", "dataset"),
    unit="segment; shares",
    formula="segment by the share of the ranked entities that are strictly better: < 10 %, < 55 %, the rest",
    citation=f"{REMIXING}, section 2.4 and Table 3",
    high="a large head: the dataset leans towards popular entities",
    low="a small head, much tail or much that the link graph does not know",
    empty="NIL annotations have no segment; entities without a score are 'unspecified'",
    needs=("entities",),
    columns=tuple(_column(name, place) for name, place in _SCORES.items()),
    summaries=tuple(
        summary
        for name, score in _LABELS.items()
        for summary in shares(
            name,
            CATEGORIES,
            name,
            "entity",
            of_unit=True,
            labels={segment: f"{segment} by {score}" for segment in CATEGORIES},
        )
    ),
)
