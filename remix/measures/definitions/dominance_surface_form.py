"""Dominance: of the entities that the dictionary gives for the surface form, the share that the dataset uses."""

import polars as pl

from remix.measures.declaration import REMIXING, VAN_ERP, Column, Measure, Summary, terms_of

# An empty dictionary set is a division by 0: absent, not 0 and not 1. An empty set of the dataset, of a form that it
# has as NIL alone, is none: the dataset uses nothing of what the dictionary has.
_SPOKEN = pl.col("w_entities") > 0
_DICTIONARY = pl.when(_SPOKEN).then(pl.col("w_entities"))
_RAW = pl.col("d_entities") / _DICTIONARY
_COVERED = pl.col("common_entities") / _DICTIONARY
_BOUNDED = pl.when(_SPOKEN).then(pl.col("d_entities") / pl.col("union_entities"))

MEASURE = Measure(
    name="dominance-surface-form",
    levels=("annotation", "document", "dataset"),
    unit="share, above 1 where the dictionary is incomplete",
    formula="|E^D(s)| / |W_E(s)| (7); documents use E^d(s)",
    citation=f"{REMIXING}, section 2.6, formula (7); {VAN_ERP}",
    high="the dataset uses the variety that there is; above 1 the dictionary lacks what the dataset uses",
    low="the dataset shows little of the variety: systems may fit to it",
    empty="absent where the dictionary set is empty, left out of numerator and denominator (see the coverage); "
    "0 where the dataset has the form as NIL alone",
    needs=("surface_forms",),
    columns=(
        Column(
            "rmx:dominanceSurfaceForm",
            "double",
            _RAW,
            "of the entities that the dictionary gives for the surface form, the share that the dataset uses",
        ),
        Column(
            "rmx:coverageSurfaceForm",
            "double",
            _COVERED,
            "bounded twin: what dataset and dictionary share, of what the dictionary has",
        ),
        Column(
            "rmx:boundedDominanceSurfaceForm",
            "double",
            _BOUNDED,
            "bounded twin: what the dataset uses, of what dataset or dictionary have",
        ),
    ),
    summaries=(
        Summary(
            name="dominanceSurfaceForm",
            meaning="mean dominance",
            terms={
                "document": ("hfts:diversitySurfaceForms",),
                "micro": ("hfts:microDiversitySurfaceForms", "hfts:diversitySurfaceForms"),
                "macro": ("hfts:macroDiversitySurfaceForms",),
                "distinct": ("rmx:distinctDiversitySurfaceForms",),
            },
            part=_RAW,
            unit="key",
            of_unit=True,
            own=(pl.col("own_entities").fill_null(0) / _DICTIONARY, pl.lit(1.0), "annotations"),
            is_share=True,
        ),
        *(
            Summary(
                name=name,
                meaning=meaning,
                terms=terms_of(statistic, "micro", "distinct"),
                part=part,
                unit="key",
                of_unit=True,
                is_share=True,
            )
            for name, statistic, meaning, part in (
                (
                    "coverageSurfaceForm",
                    "coverageSurfaceForms",
                    "mean share of the dictionary's set that the dataset uses",
                    _COVERED,
                ),
                (
                    "boundedDominanceSurfaceForm",
                    "boundedDominanceSurfaceForms",
                    "mean share of the joint set that the dataset uses",
                    _BOUNDED,
                ),
            )
        ),
    ),
)
