"""Prior of the gold entity given the form, its rank among the candidates, and whether it is rare."""

import polars as pl

from remix.measures._codes import taken
from remix.measures._corpus import Corpus
from remix.measures._declaration import Column, Measure, Summary, terms_of
from remix.measures._sources import FAIR, VAN_ERP


def _priors(corpus: Corpus) -> pl.DataFrame:
    """Return prior and rank of the best acceptable link; a form without candidates has neither."""
    known = taken(corpus.linked_candidates.select("prior", "rank"), corpus.candidate)
    best = corpus.of_mentions(known, pl.col("prior").max(), pl.col("rank").min())
    linked = corpus.annotations.select("entity_code", total=corpus.totals.gather(corpus.annotations["name_code"]))
    total = pl.when(pl.col("entity_code").is_not_null()).then("total")
    return pl.concat([best, linked], how="horizontal").select(
        prior=pl.when(total > 0).then(pl.col("prior").fill_null(0.0)),
        candidate_rank="rank",
        is_rare=pl.when(total.is_not_null()).then(pl.col("rank").ne_missing(1)),
    )


MEASURE = Measure(
    name="prior",
    levels=("annotation", "document", "dataset"),
    unit="probability, rank, share",
    formula="P(e | s) = count(s, e) / Σ count(s, ·); rank by count, then PageRank, ties share; rare: rank > 1",
    citation=f"{VAN_ERP} (who call P(e | s) dominance); rare as in {FAIR}",
    high="prior: the name nearly always means this entity; rare: the dataset asks for unusual readings",
    low="prior: the name usually means something else; rare: the most common candidate is nearly always right",
    empty="no prior where the dictionary has no counts for the form, no rank where the entity is no candidate",
    needs=("surface_forms", "entities"),
    prepare=_priors,
    columns=(
        Column("rmx:prior", "double", pl.col("prior"), "share of the form's dictionary counts that mean the entity"),
        Column("rmx:candidateRank", "integer", pl.col("candidate_rank"), "rank of the entity among the candidates"),
        Column("rmx:isRare", "boolean", pl.col("is_rare"), "whether the entity is not the top candidate of its form"),
    ),
    summaries=(
        Summary(
            name="meanPrior",
            meaning="mean prior of the gold entity",
            terms=terms_of("meanPrior", "document", "micro", "macro", "distinct"),
            part=pl.col("prior"),
            unit="key",
        ),
        Summary(
            name="rare",
            meaning="share of annotations whose entity is not the top candidate",
            terms=terms_of("rare"),
            part=pl.col("is_rare"),
            unit="key",
        ),
    ),
)
