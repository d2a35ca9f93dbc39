"""Repetition: how many different entities and surface forms there are per annotation."""

import polars as pl

from remix.measures.corpus import Corpus
from remix.measures.declaration import VAN_ERP, Measure, Summary, terms_of

_SIDES = {"entities": ("entity", "entities"), "forms": ("key", "surface forms")}
_LABELS = {"entities": "different entities an annotation", "forms": "different names an annotation"}


def _firsts(corpus: Corpus) -> pl.DataFrame:
    """Return whether an annotation is the first of its dataset, or document, with its entity, or form; and what it
    counts, as far as it has one."""
    rows = pl.concat([corpus.annotations, corpus.firsts], how="horizontal")
    firsts = rows.select(
        pl.when(pl.col(column).is_not_null()).then(f"{column}_{within}").alias(f"first_{side}_{within}")
        for side, (column, _) in _SIDES.items()
        for within in ("dataset", "document")
    )
    counts: dict[str, pl.Expr] = {
        side: pl.when(pl.col(column).is_not_null()).then("weight") for side, (column, _) in _SIDES.items()
    }
    if (rows["weight"] < 1).any():
        # A mention counts once, also where an alternative of it is NIL.
        counts = {side: own / own.sum().over("dataset", "group") for side, own in counts.items()}
    return firsts.with_columns(rows.select(own.alias(f"counted_{side}") for side, own in counts.items()))


MEASURE = Measure(
    name="repetition",
    levels=("document", "dataset"),
    unit="count; share",
    formula="|E^D| / linked annotations, |S^D| / annotations; a mention with alternatives is one; documents use "
    "their own sets",
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
            whole=pl.col(f"counted_{side}"),
            own=(pl.col(f"first_{side}_document"), pl.col(f"counted_{side}"), "annotations"),
            label=_LABELS[side],
            measured_in=f"{what} an annotation",
        )
        for side, (_, what) in _SIDES.items()
    ),
)
