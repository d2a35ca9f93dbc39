"""Repetition: how many different entities and surface forms there are per annotation."""

import polars as pl

from remix.measures.corpus import Corpus
from remix.measures.declaration import VAN_ERP, Measure, Summary, terms_of

_SIDES = {"entities": ("entity", "entities"), "forms": ("key", "surface forms")}
_LABELS = {"entities": "different entities an annotation", "forms": "different names an annotation"}


def _firsts(corpus: Corpus) -> pl.DataFrame:
    """Return whether an annotation is the first of its dataset, or document, with its entity, or form."""
    rows = pl.concat([corpus.annotations.select("key", "entity"), corpus.firsts], how="horizontal")
    return rows.select(
        pl.when(pl.col(column).is_not_null()).then(f"{column}_{within}").alias(f"first_{side}_{within}")
        for side, (column, _) in _SIDES.items()
        for within in ("dataset", "document")
    )


MEASURE = Measure(
    name="repetition",
    levels=("document", "dataset"),
    unit="count; share",
    formula="|E^D| / linked annotations, |S^D| / annotations; documents use their own sets",
    citation=f"{VAN_ERP}, on overlap and repetition in datasets",
    high="near 1: every mention is about something else",
    low="few entities make up the dataset: one that is learnt by heart decides many annotations",
    empty="a document without annotations has no value",
    prepare=_firsts,
    summaries=tuple(
        Summary(
            name=f"{side}PerAnnotation",
            meaning=f"distinct {what} per annotation",
            terms={
                **terms_of(f"{side}PerAnnotation", "document", "micro", "macro"),
                "count": ("rmx:numEntities" if side == "entities" else "rmx:numForms",),
            },
            part=pl.col(f"first_{side}_dataset"),
            whole=pl.col("weight"),
            own=(pl.col(f"first_{side}_document"), pl.col("weight"), "annotations"),
            label=_LABELS[side],
            measured_in=f"{what} an annotation",
        )
        for side, (_, what) in _SIDES.items()
    ),
)
