"""Maximum recall: the share of surface forms that a dictionary knows at all."""

import polars as pl

from remix.measures._declaration import Column, Measure, Summary
from remix.measures._sources import REMIXING, STEINMETZ

_KNOWN = pl.col("w_entities") > 0

MEASURE = Measure(
    name="maximum-recall",
    levels=("annotation", "document", "dataset"),
    unit="share",
    formula="1 − |S^d ∖ W| / |S^d| (9) over distinct surface forms; micro takes the dataset as one document",
    citation=f"{REMIXING}, section 2.7, formula (9); {STEINMETZ}",
    high="a linker with this dictionary may find everything",
    low="a linker with this dictionary cannot reach a higher recall than this",
    empty="a document without annotations has no value and is left out of the macro average",
    needs=("surface_forms",),
    columns=(Column("rmx:inDictionary", "boolean", _KNOWN, "whether the dictionary knows the surface form"),),
    summaries=(
        Summary(
            name="maxRecall",
            meaning="share of distinct surface forms that the dictionary knows",
            terms={
                "document": ("hfts:maxRecall",),
                "micro": ("hfts:microMaxRecall",),
                "macro": ("hfts:macroMaxRecall",),
            },
            part=_KNOWN,
            over="dataset_forms",
            own=(_KNOWN, pl.lit(1.0), "document_forms"),
        ),
        Summary(
            name="maxRecallPooled",
            meaning="share of annotations whose surface form the dictionary knows, as the hfts library counts",
            terms={"micro": ("rmx:maxRecallPooled",)},
            part=_KNOWN,
        ),
    ),
)
