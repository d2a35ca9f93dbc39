"""Mentions that the dictionary of the knowledge base can link: their form leads to their entity."""

from __future__ import annotations

import polars as pl

from remix.errors import MissingKnowledge
from remix.scoring.cases import Case
from remix.scoring.details import with_detail

__all__ = ["linkable"]


def linkable(case: Case) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return gold and answers whose entity, or one of whose entities, the dictionary has under the mention's form.

    Hachey et al. (2013) so leave out what no system that looks names up in that dictionary could have found. NIL is
    left out. Raises `MissingKnowledge` without a knowledge base.
    """
    kb = case.known.kb if case.known is not None else None
    if kb is None:
        raise MissingKnowledge(
            "filter 'linkable' asks the dictionary of a knowledge base: build or attach one (`remix kb build`)"
        )
    whole = with_detail(case, "surface_form")
    gold, answers = (
        side.with_columns(key=kb.normalise(pl.col("surface_form"))) for side in (whole.gold, whole.answers)
    )
    known = kb.pairs(pl.concat([gold["key"], answers["key"]]).drop_nulls().unique()).select("key", "entity")
    names = case.mentions.entities.rename("name").to_frame().with_row_index("number")
    pairs = known.join(names, left_on="entity", right_on="name").select("key", entity=pl.col("number").cast(pl.Int64))
    left = gold.join(case.mentions.gold_links, on="g").join(pairs, on=["key", "entity"], how="semi")
    right = answers.join(case.mentions.answer_links, on="a").join(pairs, on=["key", "entity"], how="semi")
    return (
        case.gold.join(left.select("g"), on="g", how="semi", maintain_order="left"),
        case.answers.join(right.select("a"), on="a", how="semi", maintain_order="left"),
    )
