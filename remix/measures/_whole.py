"""The sets of a dataset that is larger than memory, gathered from its parts.

Which entities a form means and which forms an entity has (E^D, S^D), in which part a value comes first, and how often
each comes. All is kept by number (`Codes`), the strings once for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import RLock
from typing import Any

import polars as pl

from remix.frames import Frames
from remix.measures._coded import CODE_OF
from remix.measures._percentiles import percentiles_of
from remix.measures._threads import cached_property
from remix.measures.codes import Numbers, by_number, taken
from remix.measures.corpus import Corpus

__all__ = ["Gathered", "Part", "Sets", "Whole", "sets_of"]


@dataclass(frozen=True)
class Sets:
    """What is gathered.

    In the order of the codes, `keyed`: form_code, scope, dataset and key; `entities`: entity_code, scope, entity and
    target_code; `targets`: linked, entity, target_code and link_code. `links`: form_code and entity_code. `forms` and
    `mentioned`: the code of the form, or of the annotation's entity, the batch where it comes first, and the count of
    annotations. `documents`: how often each value of a documents' column comes.
    """

    keyed: pl.DataFrame
    entities: pl.DataFrame
    targets: pl.DataFrame
    links: pl.DataFrame
    forms: pl.DataFrame
    mentioned: pl.DataFrame
    documents: dict[str, pl.DataFrame]


class Whole(Corpus):
    """The sets of a whole dataset: each form, entity and pair of the two once, instead of annotations.

    The corpus has no annotations, but the codes and the knowledge base of those that the sets were gathered from.
    """

    def __init__(self, corpus: Corpus, sets: Sets) -> None:
        super().__init__(
            Frames.empty(),
            corpus.kb,
            reference=corpus.reference,
            case_sensitive=corpus.case_sensitive,
            codes=corpus.codes,
        )
        targets = sets.entities["target_code"].gather(sets.links["entity_code"])
        self.__dict__ |= {
            "_keyed": sets.keyed,
            "_entities": sets.entities,
            "targets": sets.targets,
            "_linked": sets.links.with_columns(targets),
        }
        self.ask()
        self.batches = {
            column: codes.select(code).join(counted, on=code, how="left", maintain_order="left")["batch"]
            for (column, code), codes, counted in zip(
                CODE_OF.items(), (self._forms, self._entities), (sets.forms, sets.mentioned), strict=True
            )
        }
        self.percentiles = {column: percentiles_of(column, counts) for column, counts in sets.documents.items()}
        for column, counted, sizes in (
            ("union_entities", sets.forms, self.form_sizes),
            ("union_forms", sets.mentioned.drop_nulls(), self.entity_sizes),
        ):
            sized = counted.select("count", sizes[column].gather(counted.to_series()).fill_null(0))
            self.percentiles[column] = percentiles_of(column, sized.group_by(column).agg(pl.col("count").sum()))
        self._one = RLock()

    def shared(self, name: str) -> Any:
        """Return an attribute that threads may ask for at the same time: the first computes it, others wait."""
        with self._one:
            return getattr(self, name)


def _of_whole(name: str) -> Any:
    """Return a property of parts that is the same for all of them."""
    return property(lambda part: part.whole.shared(name))


class Part(Corpus):
    """Some documents of a dataset, measured as part of the whole, whose codes, sets and knowledge hold here."""

    def __init__(self, frames: Frames, whole: Whole, batch: int) -> None:
        super().__init__(
            frames,
            whole.kb,
            reference=whole.reference,
            case_sensitive=whole.case_sensitive,
            codes=replace(whole.codes, documents=Numbers()),
        )
        self.whole, self.batch = whole, batch

    _forms = _of_whole("_forms")
    _entities = _of_whole("_entities")
    _targets = _of_whole("_targets")
    entities = _of_whole("entities")
    form_sizes = _of_whole("form_sizes")
    entity_sizes = _of_whole("entity_sizes")
    linked_candidates = _of_whole("linked_candidates")
    totals = _of_whole("totals")
    names_of_places = _of_whole("names_of_places")
    demonyms = _of_whole("demonyms")
    class_flags = _of_whole("class_flags")
    labels = _of_whole("labels")

    @cached_property
    def targets(self) -> pl.DataFrame:
        """Return what the links of this part stand for; see `Corpus.targets`."""
        return taken(self.whole.targets, self.codes.links.of(self._distinct_links[0]))

    @cached_property
    def statuses(self) -> pl.Series:
        """Return the status of each of `targets`."""
        of_whole: pl.Series = self.whole.shared("statuses")
        return of_whole.gather(self.targets["link_code"])

    @cached_property
    def known_classes(self) -> pl.DataFrame:
        """Return the classes of the entities of this part."""
        rows: pl.DataFrame = self.whole.shared("known_classes")
        return rows.join(self.targets, on="target_code", how="semi", maintain_order="left")

    def with_percentiles(self, rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Return rows with the percentile of each column among all that is measured, in this batch or another."""
        for column in columns:
            rows = rows.join(self.whole.percentiles[column], on=column, how="left", maintain_order="left")
        return rows

    def first_in_dataset(self, column: str) -> pl.Series:
        """Return for each of `annotations` whether it is the first of the whole dataset with its value of a column."""
        batch = self.whole.batches[column].gather(self.annotations[CODE_OF[column]])
        return super().first_in_dataset(column) & batch.eq_missing(self.batch)


class Gathered:
    """The sets of the parts so far, which have the same codes, given in the order of the parts."""

    def __init__(self) -> None:
        self._found: list[Sets] = []

    def add(self, sets: Sets) -> None:
        """Take the sets of a further part."""
        self._found.append(sets)
        # Put together with each part anew, the sets of all would be grouped as often as there are parts.
        first, *others = (found.links.height for found in self._found)
        if sum(others) > first:
            self._found = [_together(self._found)]

    def whole(self, corpus: Corpus) -> Whole:
        """Return the sets of the whole dataset; of `corpus` see `Whole`."""
        return Whole(corpus, _together(self._found))


def sets_of(corpus: Corpus, batch: int) -> Sets:
    """Return the sets of a part, and where among the parts that is."""
    documents = corpus.counted_documents
    return Sets(
        keyed=by_number(corpus._keyed.select("form_code", "scope", "dataset", "key"), "form_code"),
        entities=by_number(corpus._linked.select("entity_code", "scope", "entity", "target_code"), "entity_code"),
        targets=corpus.targets,
        links=corpus._linked.select("form_code", "entity_code").unique(),
        forms=_counted(corpus._keyed, "form_code", batch),
        mentioned=_counted(
            corpus._keyed.select(row=pl.int_range(pl.len(), dtype=pl.UInt32)).join(
                corpus.principal.select("row", "entity_code"), on="row", how="left"
            ),
            "entity_code",
            batch,
        ),
        documents={
            column: documents.group_by(column).agg(count=pl.len().cast(pl.Int64)).drop_nulls()
            for column in ("mentions", "density")
        },
    )


def _counted(mentions: pl.DataFrame, code: str, batch: int) -> pl.DataFrame:
    return mentions.group_by(code).agg(batch=pl.lit(batch, pl.Int64), count=pl.len().cast(pl.Int64))


def _together(found: list[Sets]) -> Sets:
    def together(column: str) -> pl.DataFrame:
        parts: list[pl.DataFrame] = [getattr(sets, column) for sets in found]
        return pl.concat(parts)

    def first_and_all(counted: pl.DataFrame) -> pl.DataFrame:
        return counted.group_by(counted.columns[0]).agg(pl.col("batch").min(), pl.col("count").sum())

    return Sets(
        keyed=by_number(together("keyed"), "form_code"),
        entities=by_number(together("entities"), "entity_code"),
        targets=by_number(together("targets"), "link_code"),
        links=together("links").unique(),
        forms=first_and_all(together("forms")),
        mentioned=first_and_all(together("mentioned")),
        documents={
            column: pl.concat([sets.documents[column] for sets in found]).group_by(column).agg(pl.col("count").sum())
            for column in found[0].documents
        },
    )
