"""Pairs of names that gold and a run have on one span, and that are one entity to remix."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix.documents import align
from remix.frames import Frames
from remix.scoring.inputs import Inputs


@dataclass(frozen=True)
class Gap:
    """Two names of one entity: that of gold and that of the answer."""

    gold: str
    answer: str


def gaps_of(inputs: Inputs) -> tuple[Gap, ...]:
    """Return the pairs of entities on one span that are written otherwise and are one, each once.

    They are one by the canonical form of their names, or as the knowledge base knows a redirect or what is the same.
    """
    pairs: list[tuple[str, str]] = []
    gold = _name_entities(inputs, inputs.gold)
    for name, run in inputs.runs.items():
        same = align(inputs.gold, run, name, told=False)
        own = _name_entities(inputs, run).join(same, on="document").drop("document").rename({"gold": "document"})
        met = gold.join(own, on=["document", "begin", "end", "one"], suffix="_run", nulls_equal=True)
        met = met.filter(pl.col("written") != pl.col("written_run"))
        pairs += met.select("written", "written_run").unique().sort("written", "written_run").rows()
    return tuple(Gap(one, other) for one, other in dict.fromkeys(pairs))


def _name_entities(inputs: Inputs, frames: Frames) -> pl.DataFrame:
    """Return document, begin, end, the entity as it is `written`, and the `one` that it is."""
    links = frames.links.select("annotation", written=pl.coalesce("entity_as_given", "entity"), one="entity")
    if inputs.knowledge.kb is not None:
        links = links.with_columns(one=inputs.knowledge.kb.resolve(links["one"]))
    return frames.annotations.select("annotation", "document", "begin", "end").join(links, on="annotation")
