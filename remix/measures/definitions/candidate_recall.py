"""Candidate recall: the share of annotations whose gold entity is among the dictionary's candidates."""

import polars as pl

from remix.measures.corpus import Corpus
from remix.measures.declaration import REMIXING, Column, Measure, Summary, terms_of


def _candidates(corpus: Corpus) -> pl.DataFrame:
    """Return whether any acceptable link is among W_E(s), and whether one of its mention is; null without a link, and
    without a text."""
    named = corpus.links.select(pl.col("name_code").is_not_null(), place=corpus.candidate)
    hits = named.select(is_candidate=pl.when("name_code").then(pl.col("place").is_not_null()))
    found = corpus.of_mentions(hits, pl.col("is_candidate").max())
    reached = corpus.best_option(found["is_candidate"]).alias("reached")
    # An alternative that is NIL has no entity to reach, whatever the others of its mention have.
    return found.with_columns(candidate_reached=pl.when(pl.col("is_candidate").is_not_null()).then(reached))


MEASURE = Measure(
    name="candidate-recall",
    levels=("annotation", "document", "dataset"),
    unit="share",
    formula="share of linked annotations with e ∈ W_E(s): what maximum recall (9) approximates; "
    "of alternatives the best counts",
    citation=f"{REMIXING}, section 2.7, which checks the form only",
    high="the right answer is among the candidates: what is left is disambiguation",
    low="a linker with this dictionary must fail, however well it disambiguates",
    empty="NIL annotations have no value, nor have those without text; a document without linked annotations has none",
    needs=("surface_forms",),
    prepare=_candidates,
    columns=(
        Column(
            "rmx:isCandidate",
            "boolean",
            pl.col("is_candidate"),
            "whether the gold entity is a candidate of the form",
            label="entity among the candidates",
        ),
    ),
    summaries=(
        Summary(
            name="candidateRecall",
            meaning="share of linked annotations whose entity is among the candidates",
            terms=terms_of("candidateRecall", "document", "micro", "macro", "distinct"),
            part=pl.col("candidate_reached"),
            unit="key",
            is_share=True,
            label="candidate recall",
        ),
    ),
)
