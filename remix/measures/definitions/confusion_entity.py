"""Likelihood of confusion: how many surface forms that the entity may have."""

import polars as pl

from remix.measures.declaration import REMIXING, Column, Measure, Summary, terms_of

MEASURE = Measure(
    name="confusion-entity",
    levels=("annotation", "document", "dataset"),
    unit="count; mean count",
    formula="|W_S(e) ∪ S^D(e)| (6)",
    citation=f"{REMIXING}, section 2.5, formula (6)",
    high="entities with many names (synonyms): hard to find by name",
    low="entities with one name",
    empty="NIL annotations have no entity and no value",
    needs=("surface_forms",),
    columns=(
        Column(
            "hfts:ambiguityEntity",
            "integer",
            pl.col("union_forms"),
            "number of surface forms that the entity may have, in dictionary or dataset",
            label="names an entity",
            measured_in="surface forms",
        ),
        Column(
            "rmx:dictionaryForms",
            "integer",
            pl.when(pl.col("entity").is_not_null()).then(pl.col("w_forms").fill_null(0)),
            "number of surface forms that the dictionary alone gives for the entity",
            label="names an entity in the dictionary",
            measured_in="surface forms",
        ),
    ),
    summaries=(
        Summary(
            name="ambiguityEntity",
            meaning="mean number of surface forms that the entity may have",
            terms=terms_of("hfts:ambiguityEntities", "document", "micro", "macro")
            | terms_of("ambiguityEntities", "distinct"),
            part=pl.col("union_forms"),
            unit="entity",
            of_unit=True,
            label="names an entity",
            measured_in="surface forms",
        ),
    ),
)
