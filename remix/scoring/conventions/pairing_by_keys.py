"""Annotations are held against each other by the fields of a key, as neleval does."""

from __future__ import annotations

import polars as pl

from remix.scoring.conventions.pairing import Pairing
from remix.scoring.matching import Case
from remix.scoring.neleval import counts_by_triple, triple_named


def _keys(case: Case, task: str, matching: str) -> pl.DataFrame:
    return counts_by_triple(case, triple_named(matching, task))


pair_keys = Pairing(
    name="pair-keys",
    words="annotations are the same where the fields of the measure's key are; each key counts once a side, "
    "clusters are the mentions of one entity identifier",
    count=_keys,
)
