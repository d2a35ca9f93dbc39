"""Dominance: of the surface forms that the dictionary gives for the entity, the share that the dataset uses."""

import polars as pl

from remix.measures.declaration import REMIXING, VAN_ERP, Column, Measure, Summary, terms_of

# An empty dictionary set is a division by 0: absent, not 0 and not 1.
_SPOKEN = (pl.col("w_forms") > 0) & (pl.col("d_forms") > 0)
_DICTIONARY = pl.when(_SPOKEN).then(pl.col("w_forms"))
_RAW = pl.col("d_forms") / _DICTIONARY
_COVERED = pl.col("common_forms") / _DICTIONARY
_BOUNDED = pl.when(_SPOKEN).then(pl.col("d_forms") / pl.col("union_forms"))

MEASURE = Measure(
    name="dominance-entity",
    levels=("annotation", "document", "dataset"),
    unit="share, above 1 where the dictionary is incomplete",
    formula="|S^D(e)| / |W_S(e)| (8); documents use S^d(e)",
    citation=f"{REMIXING}, section 2.6, formula (8); {VAN_ERP}",
    high="the dataset uses the variety that there is; above 1 the dictionary lacks what the dataset uses",
    low="the dataset shows little of the variety: systems may fit to it",
    empty="absent where the dictionary set is empty, left out of numerator and denominator; see the coverage",
    needs=("surface_forms",),
    columns=(
        Column(
            "rmx:dominanceEntity",
            "double",
            _RAW,
            "of the surface forms that the dictionary gives for the entity, the share that the dataset uses",
        ),
        Column(
            "rmx:coverageEntity",
            "double",
            _COVERED,
            "bounded twin: what dataset and dictionary share, of what the dictionary has",
        ),
        Column(
            "rmx:boundedDominanceEntity",
            "double",
            _BOUNDED,
            "bounded twin: what the dataset uses, of what dataset or dictionary have",
        ),
    ),
    summaries=(
        Summary(
            name="dominanceEntity",
            meaning="mean dominance",
            terms={
                "document": ("hfts:diversityEntities",),
                "micro": ("hfts:microDiversityEntities", "hfts:diversityEntities"),
                "macro": ("hfts:macroDiversityEntities",),
                "distinct": ("rmx:distinctDiversityEntities",),
            },
            part=_RAW,
            unit="entity",
            of_unit=True,
            own=(pl.col("own_forms") / _DICTIONARY, pl.lit(1.0), "annotations"),
            is_share=True,
        ),
        *(
            Summary(
                name=name,
                meaning=meaning,
                terms=terms_of(statistic, "micro", "distinct"),
                part=part,
                unit="entity",
                of_unit=True,
                is_share=True,
            )
            for name, statistic, meaning, part in (
                (
                    "coverageEntity",
                    "coverageEntities",
                    "mean share of the dictionary's set that the dataset uses",
                    _COVERED,
                ),
                (
                    "boundedDominanceEntity",
                    "boundedDominanceEntities",
                    "mean share of the joint set that the dataset uses",
                    _BOUNDED,
                ),
            )
        ),
    ),
)
