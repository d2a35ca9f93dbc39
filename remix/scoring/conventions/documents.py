"""Which documents are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from remix.documents import align
from remix.frames import Frames
from remix.scoring.conventions import Convention


class Documents(Convention):
    """Which documents are compared."""


def _with_answered(gold: Frames, runs: Mapping[str, Frames]) -> Frames:
    """Return gold with the documents that only runs know, where no file says which documents there are.

    Formats with texts name every document of gold. Without texts one that has no annotation is in no file.
    """
    datasets = gold.documents["dataset"].unique()
    if gold.documents["text"].count() or len(datasets) != 1:
        return gold
    for name, run in runs.items():
        known = align(gold, run, name, told=False)
        unknown = pl.col("text").is_null() & ~pl.col("document").is_in(known["document"].implode())
        added = run.documents.filter(unknown).with_columns(dataset=pl.lit(datasets[0]))
        if len(added):
            gold = replace(gold, documents=pl.concat([gold.documents, added.select(gold.documents.columns)]))
    return gold


documents_of_gold = Documents(name="documents-of-gold", words="answers in documents that gold lacks are left out")
documents_of_both = Documents(
    name="documents-of-both",
    words="without texts, answers in documents that gold has no annotation of are wrong",
    among=_with_answered,
)
