"""Labels that a model answered without identifier, linked to the one entity that the knowledge base calls so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix.errors import MissingKnowledge
from remix.formats.definitions.answers import LABEL
from remix.frames import Frames
from remix.kb.forms import normalise

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

__all__ = ["with_labels_linked"]


def with_labels_linked(
    runs: Mapping[str, Frames], kb: KnowledgeBase | None, names: pl.DataFrame | None = None
) -> dict[str, Frames]:
    """Return the runs, labels linked to an entity where exactly one has that label, whatever its case.

    `names` (entity, name) says what entities are called, by default the knowledge base. Other labels stay entities of
    their own. How many were linked is told. Raises `MissingKnowledge` with neither.
    """
    if names is not None:
        called = names.lazy().select("entity", label="name")
    elif kb is not None:
        called = kb.scan("entities").select("entity", "label")
    else:
        raise MissingKnowledge("labels need names of entities: give --entities, or `remix kb attach NAME`")
    spelt = [run.links.filter(_is_label())["entity_as_given"] for run in runs.values()]
    labels = pl.concat([*spelt, pl.Series([], dtype=pl.String)]).str.strip_prefix(LABEL)
    entity = _entities(called, labels.unique())
    return {name: _linked(name, run, entity) for name, run in runs.items()}


def _is_label() -> pl.Expr:
    return pl.col("entity").str.starts_with(LABEL)


def _entities(called: pl.LazyFrame, labels: pl.Series) -> pl.DataFrame:
    """Return key (the normalised label) and `linked`, of labels that exactly one entity has."""
    asked = pl.DataFrame({"label": labels}, schema={"label": pl.String}).select(key=normalise(pl.col("label"))).unique()
    known = called.select("entity", key=normalise(pl.col("label"))).drop_nulls()
    found = known.join(asked.lazy(), on="key", how="semi").collect()
    return found.group_by("key").agg(pl.len(), linked=pl.col("entity").first()).filter(pl.col("len") == 1).drop("len")


def _linked(name: str, run: Frames, entity: pl.DataFrame) -> Frames:
    key = pl.when(_is_label()).then(normalise(pl.col("entity_as_given").str.strip_prefix(LABEL)))
    links = run.links.with_columns(key=key).join(entity, on="key", how="left", maintain_order="left")
    labelled, linked = links["key"].count(), links["linked"].count()
    if labelled:
        progress.note(f"run '{name}': {linked} of its {labelled} labels without identifier are linked by the label")
    return replace(run, links=links.with_columns(pl.coalesce("linked", "entity").alias("entity")).drop("key", "linked"))
