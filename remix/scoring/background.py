"""Where gold comes from: what the measures of answers speak of, and the queries that gold was cut by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import polars as pl

from remix.frames import Frames
from remix.names import EL, RMX

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

__all__ = ["Background", "whole"]


@dataclass(frozen=True)
class Background:
    """The origin of gold, and how it was measured there.

    - `frames`: D of the formulas, with the annotations that a remix dropped;
    - `places`: `gold` and `document`, which document of the frames each document of gold is; each document of gold has
      one background, so that nothing of it depends on what else is scored;
    - `kb`: the knowledge base, without what it was measured without;
    - `queries`: the bound query that a dataset of gold was cut by, by the dataset's name;
    - `reference`, `case_sensitive`: as in `remix.measures.compute`.
    """

    frames: Frames
    places: pl.DataFrame
    kb: KnowledgeBase | None
    queries: Mapping[str, str] = field(default_factory=dict)
    reference: str = "dataset"
    case_sensitive: bool = False

    @classmethod
    def of(cls, gold: Frames, kb: KnowledgeBase | None, queries: Mapping[str, str] | None = None) -> Background:
        """Return gold as its own origin, as far as it holds it: what was dropped is among it again."""
        places = gold.documents.select("document", gold="document").unique()
        return cls(whole(gold), places, kb, queries or {})

    def stated(self) -> pl.DataFrame:
        """Return home, entity and class as the data say it of the mentions of each dataset of the frames.

        Fine-grained categories are not about entities.
        """
        of_entities = ~(pl.col("class").str.starts_with(EL) | pl.col("class").str.starts_with(RMX))
        homes = self.frames.annotations.select("annotation", home="dataset")
        rows = self.frames.classes.filter(of_entities).join(self.frames.links, on="annotation")
        return rows.join(homes, on="annotation").select("home", "entity", "class").unique()

    def homes(self) -> pl.DataFrame:
        """Return gold and `home`: the dataset of the frames that each document of gold comes from."""
        documents = self.frames.documents.select("document", home="dataset")
        return self.places.join(documents, on="document").select("gold", "home")


def whole(gold: Frames) -> Frames:
    """Return gold with its dropped annotations required again, as they were where it was cut out.

    >>> rows = pl.DataFrame({"annotation": ["a", "b"], "ignorable": ["dropped", "optional"]})
    >>> whole(Frames.of(annotations=rows)).annotations["ignorable"].to_list()
    [None, 'optional']
    """
    kept = pl.when(pl.col("ignorable") != "dropped").then("ignorable").alias("ignorable")
    return replace(gold, annotations=gold.annotations.with_columns(kept))
