"""Rosales-Méndez, Hogan and Poblete, Fine-Grained Evaluation for Entity Linking (EMNLP 2019)."""

from dataclasses import replace

import polars as pl

from remix.frames import Frames
from remix.scoring.conventions import aspects
from remix.scoring.inputs.mentions import TOLD
from remix.scoring.profiles import Conventions, Profile


def _merge(run: Frames) -> Frames:
    """Return the run with the answers of one span as one answer, right where one of its links is."""
    rows = run.annotations.with_columns(TOLD)
    span = ["document", "begin", "end", "told"]
    if not rows.select(span).is_duplicated().any():
        return run
    rows = rows.with_columns(first=pl.col("annotation").min().over(span)).drop("told")
    links = run.links.join(rows.select("annotation", "first"), on="annotation")
    links = links.with_columns(annotation="first").drop("first").unique()
    return replace(run, annotations=rows.filter(pl.col("annotation") == pl.col("first")).drop("first"), links=links)


emnlp2019 = Profile(
    name="emnlp2019",
    summary="answers on gold mentions only; a category is scored with all other gold removed",
    source="Rosales-Méndez et al., EMNLP 2019, and their published scripts",
    tasks=("D2KB",),
    matchings=("strong",),
    headline=("D2KB", "strong"),
    conventions=Conventions(
        alternatives=aspects.Alternatives(
            name="answers-merged",
            words="the answers on one span are one answer, right where one of its links is",
            source="Table4_5_6-Appendix.py, beSureOnlyOneAnnotation",
            run=_merge,
        ),
    ),
    outside_slice="removed",
    notes={
        "answers": "only those whose span is a gold mention's (Table4_5_6-Appendix.py, KeepOnlyAnnotationsOf)",
        "slices": "gold is restricted to the category, the rest is removed (Table4_5_6-Appendix.py, KeepOnlyTag)",
        "printed": "the paper prints 0 where a score has no denominator",
    },
)
