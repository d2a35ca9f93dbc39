"""Gold and the answers of all systems as one table each, with dense integers for all that is joined on."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from remix import progress
from remix.dense import Numbers, counts, distinct, look_up, mark, stack
from remix.documents import align_each
from remix.errors import UsageError
from remix.frames import Frames
from remix.kb.forms import normalise
from remix.scoring.inputs.case_tables import NIL, CaseDocuments, GoldMentions, SystemAnswers

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase


TOLD = pl.when(pl.col("begin").is_null()).then(normalise(pl.col("surface_form").fill_null(""))).alias("told")
"""What tells an annotation of frames without a place from others of its document: its form; else null."""


@dataclass(frozen=True)
class Mentions:
    """What is compared, numbered in an order that depends on content alone (document, offsets, entities).

    - `documents`, `gold`, `answers`: as `remix.scoring.inputs.case_tables` declares them;
    - `gold_links`, `answer_links`: mention or answer, entity;
    - `entities`: the IRI of each entity number.

    A mention has no place in answers about conversations, as an example: what is told of it is its form.
    """

    systems: tuple[str, ...]
    documents: CaseDocuments
    gold: GoldMentions
    answers: SystemAnswers
    gold_links: pl.DataFrame
    answer_links: pl.DataFrame
    entities: pl.Series

    @cached_property
    def names(self) -> pl.DataFrame:
        """Return system and name, the name of each system by its number."""
        return pl.DataFrame([*enumerate(self.systems)], {"system": pl.Int64, "name": pl.String}, orient="row")

    def for_each_system(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows once for every system, by its number."""
        return self.names.select("system").join(rows, how="cross")

    @cached_property
    def iris(self) -> pl.DataFrame:
        """Return entity and iri, the IRI of each entity by its number."""
        iris = pl.DataFrame({"iri": self.entities}, schema={"iri": pl.String})
        return iris.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("entity"), "iri")

    def in_datasets(self, datasets: pl.DataFrame) -> Mentions:
        """Return the mentions with the datasets (document, dataset) of their documents in place of those they have."""
        documents = self.documents.drop("dataset").join(datasets, on="document", how="left", maintain_order="left")
        return replace(self, documents=documents.select(self.documents.columns))

    def within(self, documents: pl.Series) -> Mentions:
        """Return the mentions of these documents (IRIs), with the numbers that they have."""
        own = self.documents.filter(pl.col("document").is_in(documents.implode()))
        inside = pl.col("doc").is_in(own["doc"].implode())
        return replace(self, documents=own, gold=self.gold.filter(inside), answers=self.answers.filter(inside))


def mentions_of(
    gold: Frames,
    runs: Mapping[str, Frames],
    kb: KnowledgeBase | None = None,
    *,
    collapse: bool = True,
    unasked: Mapping[str, pl.Series] = MappingProxyType({}),
    registered: Collection[str] = (),
    homes: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Mentions:
    """Return gold and runs as mentions, documents aligned and, with `collapse`, each span and entity once.

    `unasked` are the documents that a run was not asked about, so that nobody is told that it leaves them unanswered.
    Each dataset that a `registered` run is on has its answers to that alone, another one those to its `homes`.
    Entities are compared as the frames have them (canonical); a knowledge base adds its redirects and sameAs links.
    Raises `BadInput` where no document of a run is one of gold's, `UsageError` where gold has no document.
    """
    if gold.documents.is_empty():
        raise UsageError("gold has no documents: name a dataset or a file that has some")
    # Without runs the answers are those of none.
    answered = runs or {"": Frames.empty()}
    every = [replace(one, annotations=one.one_layer()) for one in (gold, *answered.values())]
    documents = gold.documents.select("document", "dataset").unique().sort("dataset", "document")
    documents = documents.select(pl.int_range(pl.len(), dtype=pl.Int64).alias("doc"), "document", "dataset")
    keys = documents.select("doc", gold="document")
    pairs = align_each(gold, answered, unasked=unasked, apart=registered, homes=homes)
    asked = stack([documents[["document", "doc"]]], "system")
    given = stack([*pairs.values()], "system").join(keys, on="gold").select("document", "doc", "system")
    entities, codes = _code([frames.links["entity"] for frames in every], kb)
    forms = _number_forms(every)
    left, gold_links = _side(every[:1], asked, codes[:1], forms[:1], len(entities))
    right, answer_links = _side(every[1:], given, codes[1:], forms[1:], len(entities))
    _tell_without_place(left, right, collapse)
    regions = gold.regions.join(keys, left_on="document", right_on="gold")
    right, answer_links = _answers(right, answer_links, regions, collapse)
    return Mentions(
        tuple(runs),
        documents,
        _group(left, collapse),
        right,
        gold_links.rename({"id": "mention"}),
        answer_links,
        entities,
    )


def _code(given: list[pl.Series], kb: KnowledgeBase | None) -> tuple[pl.Series, list[pl.Series]]:
    """Return the entities in order, and the number of each link's entity; null stays null."""
    every, places = distinct(pl.concat(given, rechunk=True))
    resolved = every if kb is None else kb.resolve(every)
    numbers = (resolved.rank("dense").cast(pl.Int64) - 1).gather(places)
    bounds = np.cumsum([0, *(len(links) for links in given)]).tolist()
    return resolved.drop_nulls().unique().sort(), [numbers[first:last] for first, last in pairwise(bounds)]


def _number_forms(every: list[Frames]) -> list[pl.Series]:
    """Return for each frames the number of each annotation's form, null where every annotation has a place.

    Forms are the same whatever their case and white space. Where none is told it is what stands in the text, if any.
    """
    sizes = [len(one.annotations) for one in every]
    if not any(frames.annotations["begin"].null_count() for frames in every):
        none = pl.Series("form", [None], pl.Int64)
        return [none.new_from_index(0, size) for size in sizes]
    forms = []
    for one in every:
        texts = one.documents.select("document", "text").unique("document", keep="first", maintain_order=True)
        rows = one.annotations.select("document", "begin", "end", "surface_form")
        rows = rows.join(texts, on="document", how="left", maintain_order="left")
        there = pl.col("text").str.slice(pl.col("begin").clip(0), (pl.col("end") - pl.col("begin")).clip(0))
        forms.append(rows.select(normalise(pl.coalesce("surface_form", there).fill_null(""))).to_series())
    named, places = distinct(pl.concat(forms, rechunk=True))
    numbers = (named.rank("dense").cast(pl.Int64) - 1).gather(places)
    bounds = np.cumsum([0, *sizes]).tolist()
    return [numbers[first:last] for first, last in pairwise(bounds)]


def _tell_without_place(gold: pl.DataFrame, answers: pl.DataFrame, collapse: bool) -> None:
    """Say how mentions without offsets are matched, where there are any."""
    asked, answered = (rows["begin"].null_count() for rows in (gold, answers))
    if asked or answered:
        once = ", as sets: what is told twice counts once" if collapse else ", each as often as it is told"
        progress.note(
            f"{asked} mentions of gold and {answered} answers have no offsets: they are matched by form and entity "
            f"within their document{once}"
        )


_TEXTS = ["annotation", "ignorable", "group", "option"]
_NUMBERS = ["system", "doc", "begin", "end", "told", "link"]
"""What mentions are numbered and told apart by; `told` is the form of those without a place."""


def _side(
    frames: Sequence[Frames],
    documents: pl.DataFrame,
    codes: Sequence[pl.Series],
    forms: Sequence[pl.Series],
    beyond: int,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the mentions of gold, or of all runs, and their links (id, entity).

    `documents` (document, doc, system) are those of gold that each of the frames has, `codes` the numbers of their
    links' entities, `forms` those of their annotations' forms. Mentions have `id`, `_NUMBERS` and `_TEXTS`, sorted by
    these, and `again`: whether one has the numbers of the one before it.
    """
    texts = pl.concat([one.annotations[_TEXTS] for one in frames])
    places = stack([one.annotations[["document", "begin", "end"]] for one in frames], "system")
    rows = _place(places.hstack([pl.concat(forms).alias("form")]), documents, len(frames))
    links = _links(frames, codes)
    links = links.filter(mark(rows["row"], len(texts))[links["row"]])
    meant = np.full(len(texts), NIL, np.int64)
    meant[links["row"].to_numpy()] = links["code"].to_numpy()
    several = counts(links["row"]) > 1
    if several.any():
        keys = links.filter(several).sort("code").group_by("row").agg(key=pl.col("code").cast(pl.String).str.join(" "))
        meant[keys["row"].to_numpy()] = keys["key"].rank("dense").cast(pl.Int64).to_numpy() + (beyond - 1)
    rows = _sort(rows.with_columns(link=pl.Series(meant[rows["row"].to_numpy()])), texts)
    if (counts(rows["row"]) > 1).any():  # a document of a run may be several of gold's
        linked = links.join(rows.select("row", "id"), on="row")
    else:
        linked = look_up(links, "row", rows, ["id"])
    return _with_texts(rows, texts).drop("row"), linked.select("id", entity="code")


def _place(rows: pl.DataFrame, documents: pl.DataFrame, systems: int) -> pl.DataFrame:
    """Return system, row (the place among all), doc, begin, end, form and told of the annotations in gold's documents.

    `rows` has document, begin, end, system and form of the annotations, `documents` those of gold by the names that
    each system has for them.
    """
    told = pl.when(pl.col("begin").is_null()).then("form").alias("told")
    row = pl.int_range(pl.len(), dtype=pl.Int64).alias("row")
    names = documents["document"].unique()
    cells = systems * (len(names) + 1)
    if cells > _LARGEST and cells > _SPARSE * (len(documents) + len(rows)):
        return _join_documents(rows.with_columns(row, told), documents)
    # Documents are looked up in a table, a line for each system and a column for each name and for all others.
    own, asked = (
        frame["document"]
        .cast(pl.Enum(names), strict=False)
        .to_physical()
        .cast(pl.Int64)
        .fill_null(len(names))
        .to_numpy()
        for frame in (documents, rows)
    )
    table = np.full((systems, len(names) + 1), -1, np.int64)
    table[documents["system"].to_numpy(), own] = documents["doc"].to_numpy()
    if int((table >= 0).sum()) < len(documents):  # a document of a run is several of gold's
        return _join_documents(rows.with_columns(row, told), documents)
    found = table[rows["system"].to_numpy(), asked]
    rows = rows.with_columns(row, told, pl.Series("doc", found))
    rows = rows.filter(found >= 0) if found.min(initial=0) < 0 else rows
    return rows[_PLACED]


_LARGEST, _SPARSE = 1 << 22, 4
"""A table of more cells than the first, and so many times more than rows, is not made: runs have names of their own."""
_PLACED = ["system", "row", "doc", "begin", "end", "form", "told"]


def _join_documents(rows: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """Return what `_place` returns of rows that have their number."""
    return rows.join(documents, on=["system", "document"], maintain_order="left")[_PLACED]


def _links(frames: Sequence[Frames], codes: Sequence[pl.Series]) -> pl.DataFrame:
    """Return row (the place of the annotation among those of all frames) and code of every link, each once."""
    alike, others, first = [], [], 0
    for one, linked in zip(frames, codes, strict=True):
        own, at = one.annotations["annotation"], one.links["annotation"]
        places = pl.Series("row", np.arange(first, first + len(own)))
        if own.equals(at, check_names=False):  # one link each, in order, as most files have it
            alike.append(pl.DataFrame([places, linked.alias("code")]))
        else:
            others.append((pl.DataFrame([own, places]), pl.DataFrame([at, linked.alias("code")])))
        first += len(own)
    found = [pl.concat(alike).drop_nulls()] if alike else []
    if others:
        rows, links = (stack(side, "part") for side in zip(*others, strict=True))
        joined = links.drop_nulls().join(rows, on=["part", "annotation"])
        found.append(joined.select("row", "code").unique())
    return pl.concat(found)


def _with_texts(rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the texts of their row numbers; what is all null or all a copy is not looked up."""
    alike = {name: "annotation" for name in ("group", "option") if texts[name].equals(texts["annotation"])}
    empty = [name for name in ("ignorable",) if texts[name].null_count() == len(texts)]
    # Looking up in one piece takes a third of the time that it takes in several.
    own = texts.drop(*alike, *empty).rechunk()[rows["row"]]
    return rows.hstack(own).with_columns(**alike, **{name: pl.lit(None, pl.String) for name in empty})


def _sort(rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Return the rows by their numbers and, where all of these are equal, by group, option and name.

    Added are `id`, a number in this order, and `again`, whether a row has the numbers of the one before it.
    """
    numbers = _pack(rows)
    # Rows come in runs that are sorted, which a stable sort merges.
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    again = np.diff(numbers, prepend=numbers[:1] - 1) == 0
    places = np.flatnonzero(again | np.append(again[1:], False))
    if len(places):
        equal = pl.DataFrame({"number": numbers[places], "place": order[places]})
        names = ["group", "option", "annotation"]
        equal = equal.hstack(texts[names][rows["row"].to_numpy()[order[places]]])
        order[places] = equal.sort("number", *names)["place"].to_numpy()
    return rows[order].with_columns(id=pl.int_range(pl.len(), dtype=pl.Int64), again=pl.Series(again))


def _pack(rows: pl.DataFrame) -> Numbers:
    """Return one number for the numbers of each row: equal where these are, else in their order."""
    ranges = [2 + max(_largest(rows[name]), 0) for name in _NUMBERS]
    if math.prod(ranges) >= 2**62 or max(_largest(-rows[name]) for name in ("begin", "end")) > 0:
        packed = pl.struct(_NUMBERS).rank("dense").cast(pl.Int64)
    else:
        packed = pl.lit(0, pl.Int64)
        for name, size in zip(_NUMBERS, ranges, strict=True):
            # NIL is -1, as no offset is: what has none comes first.
            packed = packed * size + (pl.col(name).fill_null(-1) + 1)
    numbers: Numbers = rows.select(packed).to_series().to_numpy()
    return numbers


def _largest(numbers: pl.Series) -> int:
    largest = numbers.max()
    return -1 if largest is None else int(largest)  # type: ignore[arg-type]


def _group(rows: pl.DataFrame, collapse: bool) -> pl.DataFrame:
    """Return gold with its groups numbered; with `collapse` equal annotations of different groups become one group.

    A mention is kept or dropped with all that repeats it, as a group is: a remix that kept one of two equal
    annotations has dropped none.
    """
    alone, key, option = _compose(rows)
    group, again = key.copy(), rows["again"].to_numpy()
    repeated = np.flatnonzero((again | np.append(again[1:], False)) & alone)
    if collapse and len(repeated):
        dropped = pl.col("ignorable") == "dropped"
        equal = rows[repeated].with_columns(key=pl.Series(key[repeated]), like=pl.when(~dropped).then("ignorable"))
        like = [*_NUMBERS, "like"]
        kept = pl.col("ignorable").is_null().any().over(like)
        equal = equal.select(pl.col("key").min().over(like), ignorable=pl.when(~(dropped & kept)).then("ignorable"))
        group[repeated] = equal["key"].to_numpy()
        rows = rows.with_columns(rows["ignorable"].scatter(repeated, equal["ignorable"]))
    composed = np.flatnonzero(~alone)
    if collapse and len(composed):
        parts = rows[composed].with_columns(key=pl.Series(key[composed]), part=pl.Series(option[composed]))
        group[composed] = _first_alike(parts)
    if number := int((group != key).sum()):
        progress.note(f"gold: {number} annotations repeat another of the same span and entity and count once")
    return rows.select(
        *("doc", "begin", "end", "link", "form"),
        pl.Series("group", group),
        *("ignorable", "annotation"),
        pl.Series("option", option),
        mention="id",
    )


def _first_alike(rows: pl.DataFrame) -> Numbers:
    """Return for each row of mentions of several annotations the first `key` of a mention that says the very same.

    That is one of the same options (`part`), each of annotations of the same spans and entities.
    """
    said = pl.concat_str(
        pl.col("begin", "end", "told", "link", "ignorable").cast(pl.String).fill_null(""), separator=" "
    )
    options = rows.group_by("doc", "key", "part").agg(said=said.sort().str.join("\n"))
    whole = options.group_by("doc", "key").agg(pl.col("said").sort().str.join("\n\n"))
    first = whole.with_columns(first=pl.col("key").min().over("doc", "said")).select("key", "first")
    found: Numbers = rows.join(first, on="key", how="left", maintain_order="left")["first"].to_numpy()
    return found


def _compose(rows: pl.DataFrame) -> tuple[npt.NDArray[np.bool_], Numbers, Numbers]:
    """Return for each row whether it is a group alone, and the smallest id of its group and of its option."""
    alone, key, option = np.ones(len(rows), np.bool_), np.arange(len(rows)), np.arange(len(rows))
    named = rows["group"] != rows["annotation"]
    if named.any():
        named |= rows["annotation"].is_in(rows["group"].filter(named).unique().implode())
        smallest, several = pl.col("id").min(), pl.len().over("doc", "group") > 1
        keys = {"key": smallest.over("doc", "group"), "part": smallest.over("doc", "group", "option")}
        found = rows.filter(named).select("id", **keys, several=several).filter("several")
        places = found["id"].to_numpy()
        alone[places], key[places], option[places] = False, found["key"].to_numpy(), found["part"].to_numpy()
    return alone, key, option


def _answers(
    rows: pl.DataFrame, links: pl.DataFrame, regions: pl.DataFrame, collapse: bool
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the answers, with `collapse` without repeated ones, and whether each is inside what is annotated."""
    kept = rows.filter(~pl.col("again")) if collapse else rows
    if len(kept) < len(rows):
        progress.note(
            f"runs: {len(rows) - len(kept)} answers repeat another of the same span and entity and count once"
        )
    inside = pl.lit(True)
    if not regions.is_empty():
        within = (
            kept.select("id", "doc", "begin", "end")
            .join(regions.select("doc", first="begin", last="end"), on="doc")
            .filter((pl.col("begin") >= pl.col("first")) & (pl.col("end") <= pl.col("last")))
        )
        free = ~pl.col("doc").is_in(regions["doc"].unique().implode())
        inside = free | pl.col("begin").is_null() | pl.col("id").is_in(within["id"].unique().implode())
    kept = kept.with_columns(inside=inside, answer=pl.int_range(pl.len(), dtype=pl.Int64))
    links = look_up(links, "id", kept, ["answer"])[["answer", "entity"]]
    return kept[["answer", "system", "doc", "begin", "end", "link", "form", "inside", "annotation"]], links
