"""Gold and the answers of all systems as one table each, with dense integers for all that is joined on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix.errors import UsageError
from remix.frames import Frames
from remix.scoring.documents import aligned

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

__all__ = ["NIL", "Mentions", "mentions_of"]

NIL = -1
"""The `link` of a mention without an entity."""


@dataclass(frozen=True)
class Mentions:
    """What is compared, numbered in an order that depends on content alone (document, offsets, entities).

    - `documents`: doc, document, dataset;
    - `gold`: g, doc, begin, end, link, group (the smallest g in it), option (likewise), ignorable, annotation;
    - `answers`: a, system (its number), doc, begin, end, link, inside (an annotated region), annotation;
    - `gold_links`, `answer_links`: g or a, entity;
    - `entities`: the IRI of each entity number.

    `link` is the entity's number, `NIL`, or a number beyond all entities that stands for a set of several.
    """

    systems: tuple[str, ...]
    documents: pl.DataFrame
    gold: pl.DataFrame
    answers: pl.DataFrame
    gold_links: pl.DataFrame
    answer_links: pl.DataFrame
    entities: pl.Series


def mentions_of(gold: Frames, runs: Mapping[str, Frames], kb: KnowledgeBase | None = None) -> Mentions:
    """Return gold and runs as mentions, documents aligned and duplicates collapsed.

    Entities are compared as the frames have them (canonical); a knowledge base adds its redirects and sameAs links.
    Raises `BadInput` where no document of a run is one of gold's, `UsageError` where gold has no document.
    """
    if gold.documents.is_empty():
        raise UsageError("gold has no documents: name a dataset or a file that has some")
    documents = gold.documents.select("document", "dataset").unique().sort("dataset", "document")
    documents = documents.with_row_index("doc").select(pl.col("doc").cast(pl.Int64), "document", "dataset")
    keys = documents.select("doc", gold="document")
    sides = [_rows(gold, keys.select("doc", document="gold"), 0)]
    links = [_links(gold, 0)]
    for number, (name, run) in enumerate(runs.items()):
        sides.append(_rows(run, aligned(gold, run, name).join(keys, on="gold").select("doc", "document"), number))
        links.append(_links(run, number))
    entities, codes = _coded(pl.concat(links)["entity"], kb)
    left, gold_links = _linked(sides[0], links[0], codes, len(entities))
    right, answer_links = _linked(
        pl.concat(sides[1:] or [sides[0].clear()]), pl.concat(links[1:] or [links[0].clear()]), codes, len(entities)
    )
    right, answer_links = _answers(right, answer_links, gold.regions.join(keys, left_on="document", right_on="gold"))
    return Mentions(
        tuple(runs), documents, _grouped(left), right, gold_links.rename({"id": "g"}), answer_links, entities
    )


def _rows(frames: Frames, keys: pl.DataFrame, system: int) -> pl.DataFrame:
    columns = ["annotation", "doc", "begin", "end", "ignorable", "group", "option"]
    return frames.annotations.join(keys, on="document").select(pl.lit(system, pl.Int64).alias("system"), *columns)


def _links(frames: Frames, system: int) -> pl.DataFrame:
    links = frames.links.select("annotation", "entity").drop_nulls()
    return links.with_columns(system=pl.lit(system, pl.Int64))


def _coded(given: pl.Series, kb: KnowledgeBase | None) -> tuple[pl.Series, pl.DataFrame]:
    """Return the entities in order, and `entity` (as given) with its number as `code`."""
    every = given.unique()
    resolved = every if kb is None else kb.resolve(every)
    entities = resolved.unique().sort()
    codes = resolved.cast(pl.Enum(entities)).to_physical().cast(pl.Int64)
    return entities, pl.DataFrame({"entity": every, "code": codes})


def _linked(
    rows: pl.DataFrame, links: pl.DataFrame, codes: pl.DataFrame, beyond: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows with `link`, sorted and numbered as `id`, and their links by that number."""
    rows = rows.with_row_index("row")
    links = links.join(codes, on="entity").join(rows.select("system", "annotation", "row"), on=["system", "annotation"])
    links = links.select("row", "code").unique()
    sets = links.group_by("row").agg(link=pl.col("code").min(), several=pl.len() > 1)
    several = links.join(sets.filter("several").select("row"), on="row", how="semi").sort("code")
    keys = several.group_by("row").agg(key=pl.col("code").cast(pl.String).str.join(" "))
    keys = keys.select("row", set=pl.col("key").rank("dense").cast(pl.Int64) + (beyond - 1))
    rows = rows.join(sets.select("row", "link"), on="row", how="left").join(keys, on="row", how="left")
    rows = rows.with_columns(link=pl.coalesce("set", "link", pl.lit(NIL))).drop("set")
    rows = _sorted(rows).with_row_index("id").with_columns(pl.col("id").cast(pl.Int64))
    return rows.drop("row"), rows.select("id", "row").join(links, on="row").select("id", entity="code")


def _sorted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows by their numbers and, where all of these are equal, by group, option and name."""
    numbers = ["system", "doc", "begin", "end", "link"]
    equal = rows.filter(pl.struct(numbers).is_duplicated()).sort("group", "option", "annotation")
    places = equal.select("row").with_row_index("place")
    return rows.join(places, on="row", how="left").sort(*numbers, "place").drop("place")


def _grouped(rows: pl.DataFrame) -> pl.DataFrame:
    """Return gold with its groups numbered; equal annotations of different groups become one group."""
    same = ["doc", "begin", "end", "link", "ignorable"]
    rows = rows.join(_composed(rows), on="id", how="left").with_columns(
        alone=pl.col("key").is_null(), key=pl.coalesce("key", "id"), option=pl.coalesce("part", "id")
    )
    first = pl.col("key").min().over([*same, "alone"])
    rows = rows.with_columns(group=pl.when("alone").then(first).otherwise("key"))
    if repeated := int(rows.select((pl.col("group") != pl.col("key")).sum()).item()):
        progress.note(f"gold: {repeated} annotations repeat another of the same span and entity and count once")
    return rows.select(
        "doc",
        "begin",
        "end",
        "link",
        "group",
        "ignorable",
        "annotation",
        "option",
        g="id",
    )


def _composed(rows: pl.DataFrame) -> pl.DataFrame:
    """Return id, `key` and `part`, the smallest id of group and option, for groups of several annotations."""
    named = rows.filter(pl.col("group") != pl.col("annotation"))
    names = named["group"].unique().implode()
    found = (
        rows.filter((pl.col("group") != pl.col("annotation")) | pl.col("annotation").is_in(names))
        if len(named)
        else named
    )
    smallest = pl.col("id").min()
    found = found.select(
        "id",
        key=smallest.over("doc", "group"),
        part=smallest.over("doc", "group", "option"),
        several=pl.len().over("doc", "group") > 1,
    )
    return found.filter("several").drop("several")


def _answers(rows: pl.DataFrame, links: pl.DataFrame, regions: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the answers without repeated ones, and whether each is inside what is annotated."""
    same = ["system", "doc", "begin", "end", "link"]
    kept = rows.unique(same, keep="first", maintain_order=True)
    if len(kept) < len(rows):
        progress.note(
            f"runs: {len(rows) - len(kept)} answers repeat another of the same span and entity and count once"
        )
        links = links.join(kept.select("id"), on="id", how="semi")
    if regions.is_empty():
        inside = pl.lit(True).alias("inside")
    else:
        within = (
            kept.select("id", "doc", "begin", "end")
            .join(regions.select("doc", first="begin", last="end"), on="doc")
            .filter((pl.col("begin") >= pl.col("first")) & (pl.col("end") <= pl.col("last")))
        )
        free = ~pl.col("doc").is_in(regions["doc"].unique().implode())
        inside = (free | pl.col("id").is_in(within["id"].unique().implode())).alias("inside")
    kept = kept.with_columns(inside).with_row_index("a").with_columns(pl.col("a").cast(pl.Int64))
    links = links.join(kept.select("id", "a"), on="id").select("a", "entity")
    return kept.select("a", "system", "doc", "begin", "end", "link", "inside", "annotation"), links
