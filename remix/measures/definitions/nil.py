"""NIL: annotations whose entity is not in the knowledge base, by their own word or because it does not exist."""

from dataclasses import replace

import polars as pl

from remix.measures.corpus import Corpus
from remix.measures.declaration import EUEF, Column, Measure, shares
from remix.measures.definitions.link_health import status

KINDS = ("explicit", "implicit")


def _implicit(corpus: Corpus) -> pl.DataFrame:
    """Return whether a complete knowledge base knows none of the annotation's links."""
    if corpus.kb is None or not corpus.kb.complete:
        return corpus.annotations.select(implicit_nil=pl.repeat(False, pl.len()))
    # Of the healthiest of several links: worse than unknown is none.
    return status(corpus).select(implicit_nil=pl.col("link_status").eq_missing("unknown"))


_LABELS = {"explicit": "NIL mentions", "implicit": "links to what the knowledge base lacks"}

MEASURE = Measure(
    name="nil",
    levels=("annotation", "document", "dataset"),
    unit="kind; shares",
    formula="explicit: marked as NIL; implicit: no link, after redirects, exists in a knowledge base that is complete",
    citation=f"{EUEF}, section 4.3",
    high="the dataset asks systems to say that there is no entity",
    low="every mention has an entity",
    empty="no value on annotations that are linked; a document without annotations has no share",
    prepare=_implicit,
    columns=(
        Column(
            "rmx:nil",
            "string",
            pl.when(pl.col("is_nil")).then(pl.lit("explicit")).when(pl.col("implicit_nil")).then(pl.lit("implicit")),
            "explicit or implicit, absent where there is an entity",
            KINDS,
            label="kind of NIL",
        ),
    ),
    # What is linked has no kind of NIL, and is among those of which NIL is a share.
    summaries=tuple(
        replace(one, part=one.part.fill_null(False), is_told=True)
        for one in shares("nil", KINDS, "kind of NIL", labels=_LABELS)
    ),
)
