"""Rosales-Méndez, Hogan and Poblete, Fine-Grained Evaluation for Entity Linking (EMNLP 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from remix.frames import Frames
from remix.scoring.profiles import Profile


def _one_answer_a_mention(gold: Frames, runs: Mapping[str, Frames]) -> tuple[Frames, dict[str, Frames]]:
    return gold, {name: _merged(run) for name, run in runs.items()}


def _merged(run: Frames) -> Frames:
    """Return the run with the answers of one span as one answer, right where one of its links is."""
    span = ["document", "begin", "end"]
    rows = run.annotations.with_columns(first=pl.col("annotation").min().over(span))
    links = run.links.join(rows.select("annotation", "first"), on="annotation")
    links = links.with_columns(annotation="first").drop("first").unique()
    return replace(run, annotations=rows.filter(pl.col("annotation") == pl.col("first")).drop("first"), links=links)


emnlp2019 = Profile(
    name="emnlp2019",
    summary="answers on gold mentions only; a category is scored with all other gold removed",
    source="Rosales-Méndez et al., EMNLP 2019, and their published scripts",
    tasks=("D2KB",),
    matchings=("strong",),
    conventions={
        "answers": "only those whose span is a gold mention's; those on one span are one answer",
        "alternatives": "links on one span are one mention, any of them is right",
        "slices": "gold is restricted to the category, the rest is removed",
        "nil": "NIL gold counts as a mention",
        "undefined": "a score without denominator is null (the paper prints 0)",
    },
    prepare=_one_answer_a_mention,
    rest="removed",
)
