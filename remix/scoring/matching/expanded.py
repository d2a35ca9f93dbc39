"""Expanded matching: the spans are equal as they are or grown to the boundaries of words, as ELEVANT compares them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from remix.scoring.inputs.dense import looked_up
from remix.scoring.matching import Matching

if TYPE_CHECKING:
    from remix.scoring.matching.cases import Case

_GROWN = ["begin", "end", "first", "last"]


def _grown(case: Case) -> pl.DataFrame:
    """Return the pairs whose grown spans overlap, with `alike`: one of either span's two forms is the other's."""
    from remix.scoring.elevant.words import expanded as grown
    from remix.scoring.matching.overlaps import overlaps

    if case.known is None:
        return case.overlaps.with_columns(alike="equal")
    texts = case.mentions.documents.join(case.known.gold.documents.select("document", "text"), on="document")
    texts = texts.select("doc", "text").drop_nulls()
    spans = pl.concat([side.select("doc", "begin", "end") for side in (case.gold, case.answers)]).unique()
    found = grown(spans, texts)
    gold, answers = (
        side.join(found, on=["doc", "begin", "end"], how="left", maintain_order="left").with_columns(
            pl.col("first").fill_null(pl.col("begin")), pl.col("last").fill_null(pl.col("end"))
        )
        for side in (case.gold, case.answers)
    )
    wide = [side.with_columns(begin="first", end="last").sort("doc", "begin", "end") for side in (gold, answers)]
    pairs = overlaps(replace(case.mentions, gold=wide[0], answers=wide[1])).drop("equal", "shared", "union")
    pairs = looked_up(pairs, "g", gold, _GROWN).rename({name: f"gold_{name}" for name in _GROWN})
    pairs = looked_up(pairs, "a", answers, _GROWN)
    forms = [(begin, end) for begin, end in (("begin", "end"), ("first", "last"))]
    alike = [
        (pl.col(f"gold_{one}") == pl.col(begin)) & (pl.col(f"gold_{two}") == pl.col(end))
        for one, two in forms
        for begin, end in forms
    ]
    shared = pl.min_horizontal("gold_end", "end") - pl.max_horizontal("gold_begin", "begin")
    return pairs.select(
        *("g", "a", "link"),
        equal=alike[0],
        alike=pl.any_horizontal(alike),
        shared=shared.clip(0),
        union=pl.max_horizontal("gold_end", "end") - pl.min_horizontal("gold_begin", "begin"),
    )


expanded = Matching(
    "expanded", "begin and end are equal, as they are or grown to the boundaries of words", pl.col("alike"), _grown
)
