"""Likelihood of confusion: how many entities that the surface form may mean."""

import polars as pl

from remix.measures.declaration import REMIXING, Column, Measure, Summary, terms_of

MEASURE = Measure(
    name="confusion-surface-form",
    levels=("annotation", "document", "dataset"),
    unit="count; mean count",
    formula="|W_E(s) ∪ E^D(s)| (5)",
    citation=f"{REMIXING}, section 2.5, formula (5)",
    high="ambiguous names (homonyms)",
    low="names that mean one thing",
    empty="absent for annotations without text alone: an unknown form counts the entities that the dataset links it to",
    needs=("surface_forms",),
    columns=(
        Column(
            "hfts:ambiguitySurfaceForm",
            "integer",
            pl.col("union_entities"),
            "number of entities that the surface form may mean, in dictionary or dataset",
            label="readings a name",
            measured_in="entities",
        ),
        Column(
            "rmx:dictionaryEntities",
            "integer",
            pl.col("w_entities"),
            "number of entities that the dictionary alone gives for the surface form",
            label="readings a name in the dictionary",
            measured_in="entities",
        ),
    ),
    summaries=(
        Summary(
            name="ambiguitySurfaceForm",
            meaning="mean number of entities that the surface form may mean",
            terms=terms_of("hfts:ambiguitySurfaceForms", "document", "micro", "macro")
            | terms_of("ambiguitySurfaceForms", "distinct"),
            part=pl.col("union_entities"),
            unit="key",
            of_unit=True,
            label="readings a name",
            measured_in="entities",
            is_told=True,
        ),
    ),
)
