"""Pairs of names that gold and a run have on one span, and that are one entity to remix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from remix.documents import align
from remix.frames import Frames
from remix.scoring.inputs import Inputs

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase


@dataclass(frozen=True)
class Gap:
    """Two names of one entity: that of gold and that of the answer."""

    gold: str
    answer: str


def gaps_of(inputs: Inputs, kb: KnowledgeBase | None = None) -> tuple[Gap, ...]:
    """Return the pairs of entities on one span that are written otherwise and are one, each once.

    They are one by the canonical form of their names; with a knowledge base as that knows a redirect or what is the
    same, and then names of one canonical form are no pair.
    """
    pairs: list[tuple[str, str]] = []
    gold = _name_entities(kb, inputs.gold)
    for name, run in inputs.runs.items():
        same = align(inputs.gold, run, name, told=False)
        own = _name_entities(kb, run).join(same, on="document").drop("document").rename({"gold": "document"})
        met = gold.join(own, on=["document", "begin", "end", "one"], suffix="_run", nulls_equal=True)
        met = met.filter(pl.col("written") != pl.col("written_run"))
        pairs += met.select("written", "written_run").unique().sort("written", "written_run").rows()
    return tuple(Gap(one, other) for one, other in dict.fromkeys(pairs))


def _name_entities(kb: KnowledgeBase | None, frames: Frames) -> pl.DataFrame:
    """Return document, begin, end, the entity as it is `written`, and the `one` that it is."""
    written = pl.coalesce("entity_as_given", "entity") if kb is None else pl.col("entity")
    links = frames.links.select("annotation", written=written, one="entity")
    if kb is not None:
        links = links.with_columns(one=kb.resolve(links["one"]))
    return frames.annotations.select("annotation", "document", "begin", "end").join(links, on="annotation")


def join_names(inputs: Inputs, kb: KnowledgeBase) -> Inputs:
    """Return the inputs with each entity as the one that it stands for in a knowledge base."""

    def join(frames: Frames) -> Frames:
        return replace(frames, links=frames.links.with_columns(entity=kb.resolve(frames.links["entity"])))

    return replace(inputs, gold=join(inputs.gold), runs={name: join(run) for name, run in inputs.runs.items()})
