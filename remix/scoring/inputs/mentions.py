"""Gold and the answers of all systems as one table each, with dense integers for all that is joined on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from remix import progress
from remix.dense import counts, firsts, look_up, mark
from remix.documents import align
from remix.errors import UsageError
from remix.frames import Frames

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

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

    @property
    def names(self) -> pl.DataFrame:
        """Return system and name, the name of each system by its number."""
        return pl.DataFrame([*enumerate(self.systems)], {"system": pl.Int64, "name": pl.String}, orient="row")

    def for_each_system(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows once for every system, by its number."""
        return self.names.select("system").join(rows, how="cross")

    @property
    def iris(self) -> pl.DataFrame:
        """Return entity and iri, the IRI of each entity by its number."""
        iris = pl.DataFrame({"iri": self.entities}, schema={"iri": pl.String})
        return iris.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("entity"), "iri")

    def within(self, documents: pl.Series) -> Mentions:
        """Return the mentions of these documents (IRIs), with the numbers that they have."""
        own = self.documents.filter(pl.col("document").is_in(documents.implode()))
        inside = pl.col("doc").is_in(own["doc"].implode())
        return replace(self, documents=own, gold=self.gold.filter(inside), answers=self.answers.filter(inside))


def mentions_of(
    gold: Frames, runs: Mapping[str, Frames], kb: KnowledgeBase | None = None, *, collapse: bool = True
) -> Mentions:
    """Return gold and runs as mentions, documents aligned and, with `collapse`, each span and entity once.

    Entities are compared as the frames have them (canonical); a knowledge base adds its redirects and sameAs links.
    Raises `BadInput` where no document of a run is one of gold's, `UsageError` where gold has no document.
    """
    if gold.documents.is_empty():
        raise UsageError("gold has no documents: name a dataset or a file that has some")
    # Without runs the answers are those of none.
    every = [replace(one, annotations=one.one_layer()) for one in (gold, *(runs.values() or [Frames.empty()]))]
    documents = gold.documents.select("document", "dataset").unique().sort("dataset", "document")
    documents = documents.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("doc"), "document", "dataset")
    keys = documents.select("doc", gold="document")
    sides = [_rows(every[0], keys.select("doc", document="gold"), 0)]
    for number, (name, run) in enumerate(zip(runs or [""], every[1:], strict=True)):
        sides.append(_rows(run, align(gold, run, name).join(keys, on="gold").select("doc", "document"), number))
    entities, codes = _code([frames.links["entity"] for frames in every], kb)
    links = [_links(frames, code) for frames, code in zip(every, codes, strict=True)]
    texts = [frames.annotations.select(_TEXTS) for frames in every]
    left, gold_links = _link(*_join(sides[:1], texts[:1], links[:1]), len(entities))
    right, answer_links = _link(*_join(sides[1:], texts[1:], links[1:]), len(entities))
    regions = gold.regions.join(keys, left_on="document", right_on="gold")
    right, answer_links = _answers(right, answer_links, regions, collapse)
    return Mentions(
        tuple(runs), documents, _group(left, collapse), right, gold_links.rename({"id": "g"}), answer_links, entities
    )


def _rows(frames: Frames, keys: pl.DataFrame, system: int) -> pl.DataFrame:
    numbered = frames.annotations.select("document", "begin", "end", row=pl.int_range(pl.len(), dtype=pl.Int64))
    if keys["document"].is_unique().all():
        # Where each document is one of gold's the rows stay as they are.
        places = numbered["document"].cast(pl.Enum(keys["document"]), strict=False).to_physical()
        rows = numbered.with_columns(keys["doc"].gather(places))
        rows = rows.drop_nulls("doc") if places.null_count() else rows
    else:
        rows = numbered.join(keys, on="document")
    return rows.select(pl.lit(system, pl.Int64).alias("system"), "row", "doc", "begin", "end")


def _code(given: list[pl.Series], kb: KnowledgeBase | None) -> tuple[pl.Series, list[pl.Series]]:
    """Return the entities in order, and the number of each link's entity; null stays null."""
    every, places = _distinct(pl.concat(given, rechunk=True))
    resolved = every if kb is None else kb.resolve(every)
    entities = resolved.drop_nulls().unique().sort()
    numbers = (resolved.rank("dense").cast(pl.Int64) - 1).gather(places)
    bounds = np.cumsum([0, *(len(links) for links in given)]).tolist()
    return entities, [numbers[first:last] for first, last in pairwise(bounds)]


def _distinct(values: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the different values, and for each value which of them it is.

    Strings are told apart by their hashes, which takes a third of the time; that these do so is then verified.
    """
    first = firsts(values.hash().to_numpy())
    own = np.flatnonzero(first == np.arange(len(first)))
    numbers = np.empty(len(first), np.uint32)
    numbers[own] = np.arange(len(own))
    every, found = values.gather(own), pl.Series(numbers[first])
    if every.gather(found).eq_missing(values).all():
        return every, found
    every = values.unique()
    places = pl.DataFrame({"value": every}).with_row_index("place")
    found = pl.DataFrame({"value": values}).join(
        places, on="value", how="left", maintain_order="left", nulls_equal=True
    )["place"]
    return every, found


def _links(frames: Frames, codes: pl.Series) -> pl.DataFrame:
    """Return row (the annotation's place in its frame) and code of every link, each once."""
    own, linked = frames.annotations["annotation"], frames.links["annotation"]
    if own.equals(linked, check_names=False):  # one link each, in order, as most files have it
        rows = pl.DataFrame({"row": pl.int_range(len(own), eager=True), "code": codes})
        return rows.drop_nulls()
    places = pl.DataFrame({"annotation": own, "row": pl.int_range(len(own), eager=True)})
    rows = pl.DataFrame({"annotation": linked, "code": codes}).drop_nulls().join(places, on="annotation")
    return rows.select("row", "code").unique()


def _join(
    sides: list[pl.DataFrame], texts: list[pl.DataFrame], links: list[pl.DataFrame]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the rows of all runs, their texts and their links, numbered one after another."""
    shift, moved = 0, []
    for side, text, linked in zip(sides, texts, links, strict=True):
        moved.append((side.with_columns(pl.col("row") + shift), linked.with_columns(pl.col("row") + shift)))
        shift += len(text)
    return pl.concat([side for side, _ in moved]), pl.concat(texts), pl.concat([linked for _, linked in moved])


_TEXTS = ["annotation", "ignorable", "group", "option"]


def _with_texts(rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the texts of their row numbers; what is all null or all a copy is not looked up."""
    alike = {name: "annotation" for name in ("group", "option") if texts[name].equals(texts["annotation"])}
    empty = [name for name in ("ignorable",) if texts[name].null_count() == len(texts)]
    # Looking up in one piece takes a third of the time that it takes in several.
    own = texts.drop(*alike, *empty).rechunk()[rows["row"]]
    return pl.concat([rows, own], how="horizontal").with_columns(
        **alike, **{name: pl.lit(None, pl.String) for name in empty}
    )


def _largest(numbers: pl.Series) -> int:
    largest = numbers.max()
    return -1 if largest is None else int(largest)  # type: ignore[arg-type]


def _link(
    rows: pl.DataFrame, texts: pl.DataFrame, links: pl.DataFrame, beyond: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows with `link` and texts, sorted and numbered as `id`, and their links by that number."""
    links = links.filter(mark(rows["row"], 1 + max(_largest(rows["row"]), _largest(links["row"])))[links["row"]])
    meant = np.full(1 + _largest(rows["row"]), NIL, np.int64)
    meant[links["row"].to_numpy()] = links["code"].to_numpy()
    several = links.filter(counts(links["row"]) > 1)
    if len(several):
        keys = several.sort("code").group_by("row").agg(key=pl.col("code").cast(pl.String).str.join(" "))
        meant[keys["row"].to_numpy()] = keys["key"].rank("dense").cast(pl.Int64).to_numpy() + (beyond - 1)
    rows = _sort(rows.with_columns(link=pl.Series(meant[rows["row"].to_numpy()])), texts)
    rows = rows.with_columns(id=pl.int_range(pl.len(), dtype=pl.Int64))
    if (counts(rows["row"]) > 1).any():  # a document of a run may be several of gold's
        linked = links.join(rows.select("row", "id"), on="row").select("id", entity="code")
    else:
        linked = look_up(links, "row", rows, ["id"]).select("id", entity="code")
    return _with_texts(rows, texts).drop("row"), linked


_NUMBERS = ["system", "doc", "begin", "end", "link"]


def _sort(rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Return the rows by their numbers and, where all of these are equal, by group, option and name."""
    by_numbers = _order(rows)
    rows = rows if by_numbers.is_sorted() else rows[by_numbers]
    before, after = _repeats(rows), _repeats(rows, of=-1)
    places = np.flatnonzero(before | after)
    if not len(places):
        return rows
    order = np.arange(len(rows))
    equal = _with_texts(rows[places], texts).with_columns(place=pl.Series(places))
    order[places] = equal.sort(*_NUMBERS, "group", "option", "annotation")["place"].to_numpy()
    return rows[order]


def _order(rows: pl.DataFrame) -> pl.Series:
    """Return the places of the rows in the order of their numbers: as one number each, where that holds them."""
    ranges = [2 + max(_largest(rows[name]), 0) for name in _NUMBERS]
    negative = rows.select(pl.min_horizontal("begin", "end").min().fill_null(0) < 0).item()
    if math.prod(ranges) >= 2**62 or negative:
        return rows.select(place=pl.arg_sort_by(_NUMBERS)).to_series()
    packed = pl.lit(0, pl.Int64)
    for name, size in zip(_NUMBERS, ranges, strict=True):
        # NIL is -1, as no offset is: what has none comes first.
        packed = packed * size + (pl.col(name).fill_null(-1) + 1)
    # Rows come in runs that are sorted, which a stable sort merges.
    return pl.Series(np.argsort(rows.select(packed).to_series().to_numpy(), kind="stable"))


def _repeats(rows: pl.DataFrame, of: int = 1) -> npt.NDArray[np.bool_]:
    """Return whether each of the sorted rows has the numbers of the one before it (after it for -1)."""
    same = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).shift(of)) for name in _NUMBERS)
    inside = pl.int_range(pl.len()) > 0 if of > 0 else pl.int_range(pl.len()) < pl.len() - 1
    return rows.select(same & inside).to_series().to_numpy()


def _group(rows: pl.DataFrame, collapse: bool) -> pl.DataFrame:
    """Return gold with its groups numbered; with `collapse` equal annotations of different groups become one group.

    A mention is kept or dropped with all that repeats it, as a group is: a remix that kept one of two equal
    annotations has dropped none.
    """
    composed = _compose(rows)
    alone, key, option = np.ones(len(rows), np.bool_), rows["id"].to_numpy().copy(), rows["id"].to_numpy().copy()
    places = composed["id"].to_numpy()
    alone[places], key[places], option[places] = False, composed["key"].to_numpy(), composed["part"].to_numpy()
    group = key.copy()
    again = np.flatnonzero(_repeats(rows) | _repeats(rows, of=-1))
    again = again[alone[again]]
    if collapse and len(again):
        dropped = pl.col("ignorable") == "dropped"
        equal = rows[again].with_columns(key=pl.Series(key[again]), like=pl.when(~dropped).then("ignorable"))
        like = [*_NUMBERS, "like"]
        kept = pl.col("ignorable").is_null().any().over(like)
        equal = equal.select(pl.col("key").min().over(like), ignorable=pl.when(~(dropped & kept)).then("ignorable"))
        group[again] = equal["key"].to_numpy()
        rows = rows.with_columns(rows["ignorable"].scatter(again, equal["ignorable"]))
    if repeated := int((group != key).sum()):
        progress.note(f"gold: {repeated} annotations repeat another of the same span and entity and count once")
    return rows.select(
        *("doc", "begin", "end", "link"),
        pl.Series("group", group),
        *("ignorable", "annotation"),
        pl.Series("option", option),
        g="id",
    )


def _compose(rows: pl.DataFrame) -> pl.DataFrame:
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


def _answers(
    rows: pl.DataFrame, links: pl.DataFrame, regions: pl.DataFrame, collapse: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the answers, with `collapse` without repeated ones, and whether each is inside what is annotated."""
    kept = rows.filter(~_repeats(rows)) if collapse else rows
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
    kept = kept.with_columns(inside, a=pl.int_range(pl.len(), dtype=pl.Int64))
    links = look_up(links, "id", kept, ["a"]).select("a", "entity")
    return kept.select("a", "system", "doc", "begin", "end", "link", "inside", "annotation"), links
