"""Prior of the gold entity given the form, its rank among the candidates, and whether it is rare."""

import polars as pl

from remix.measures.codes import take_rows
from remix.measures.corpus import Corpus
from remix.measures.declaration import FAIR, VAN_ERP, Column, Measure, Summary, terms_of


def _priors(corpus: Corpus) -> pl.DataFrame:
    """Return prior, rank and whether it is rare of the best acceptable link; a form without candidates has neither.

    Candidates rank by their prior, so the largest is that of the first: what ranks lower is rare, unless its prior is
    the same and only its PageRank is lower (`first`, the rank by the prior alone).
    """
    known = take_rows(corpus.whole.linked_candidates.select("prior", "rank", "first"), corpus.candidate)
    best = corpus.of_mentions(known, pl.col("prior").max(), pl.col("rank").min(), pl.col("first").max())
    linked = corpus.annotations.select("entity_code", total=corpus.whole.totals.gather(corpus.annotations["name_code"]))
    total = pl.when(pl.col("entity_code").is_not_null()).then("total")
    return pl.concat([best, linked], how="horizontal").select(
        prior=pl.when(total > 0).then(pl.col("prior").fill_null(0.0)), candidate_rank="rank", is_rare=~pl.col("first")
    )


MEASURE = Measure(
    name="prior",
    levels=("annotation", "document", "dataset"),
    unit="probability, rank, share",
    formula="P(e | s) = count(s, e) / Σ count(s, ·); rank by count, then PageRank, equals share; "
    "rare: a candidate whose prior is below the largest, by PageRank where the form has no counts",
    citation=f"{VAN_ERP} (who call P(e | s) dominance); rare after {FAIR}, whose own rule is in the profile elevant",
    high="prior: the name nearly always means this entity; rare: the dataset asks for unusual readings",
    low="prior: the name usually means something else; rare: the most common candidate is nearly always right",
    empty="no prior where the dictionary has no counts for the form; what is no candidate has no rank and is not rare, "
    "which is absent: candidate recall tells it",
    needs=("surface_forms", "entities"),
    prepare=_priors,
    columns=(
        Column(
            "rmx:prior",
            "double",
            pl.col("prior"),
            "share of the form's dictionary counts that mean the entity",
            label="prior",
            measured_in="probability",
        ),
        Column(
            "rmx:candidateRank",
            "integer",
            pl.col("candidate_rank"),
            "rank of the entity among the candidates",
            label="rank among the candidates",
            measured_in="rank",
        ),
        Column(
            "rmx:isRare",
            "boolean",
            pl.col("is_rare"),
            "whether the entity is a candidate of its form, but not the likeliest",
            label="rare readings",
        ),
    ),
    summaries=(
        Summary(
            name="prior",
            meaning="mean prior of the gold entity",
            terms=terms_of("meanPrior", "document", "micro", "macro", "distinct"),
            part=pl.col("prior"),
            unit="key",
            label="prior",
            measured_in="probability",
        ),
        Summary(
            name="isRare",
            meaning="share of the annotations whose entity is a candidate, where another one is likelier",
            terms=terms_of("rare"),
            part=pl.col("is_rare"),
            unit="key",
            is_share=True,
            label="rare readings",
        ),
    ),
)
