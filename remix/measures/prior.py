"""Prior of the gold entity given the form, its rank among the candidates, and whether it is rare."""

import polars as pl

from remix.measures._corpus import Corpus
from remix.measures._declaration import Column, Measure, Summary, terms_of
from remix.measures._sources import FAIR, VAN_ERP


def _priors(corpus: Corpus) -> pl.DataFrame:
    """Return prior and rank of the best acceptable link; a form without candidates has neither."""
    pair = ["name_code", "target_code"]
    names = corpus.candidates.group_by("name_code").agg(total=pl.col("total").first(), has=pl.lit(True))
    known = corpus.candidates.select(*pair, "prior", "rank").drop_nulls("target_code")
    found = (
        corpus.links.select("row", *pair)
        .join(known, on=pair, how="left")
        .join(names, on="name_code", how="left")
        .with_columns(pl.when(pl.col("total") > 0).then(pl.col("prior").fill_null(0.0)))
        .group_by("row")
        .agg(
            prior=pl.col("prior").max(),
            candidate_rank=pl.col("rank").min(),
            is_rare=pl.when(pl.col("has").any()).then(~(pl.col("rank") == 1).fill_null(False).any()),
        )
    )
    rows = corpus.annotations.select("row")
    return rows.join(found, on="row", how="left", maintain_order="left").drop("row")


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
