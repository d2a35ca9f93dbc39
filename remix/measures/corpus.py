"""What is measured: the gold annotations with their entities, and the sets that the formulas speak of.

`annotations` is sorted by annotation, one row each. Besides the frame's columns it has `key` (the normalised
surface form), `scope` (the dataset, or 'union'), `entity` (what the link stands for after redirects and sameAs),
`linked` (the link in canonical form) and the sizes of the sets:

    w_entities, d_entities, own_entities       entities of the form in W, in D, in the document d
    union_entities, common_entities            in W ∪ D, in W ∩ D
    w_forms, d_forms, own_forms, union_forms, common_forms         forms of the entity, likewise

Of several acceptable links, `entity` is the one with the highest PageRank, of equals the first by name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from remix.dense import distinct
from remix.frames import FINE_GRAINED, Frames
from remix.measures._threads import cached_property
from remix.measures.classes import class_flags, with_coarse
from remix.measures.coded import CODE_OF, Basis, CodedMentions
from remix.measures.codes import MANY, Codes, pair_codes, places_in, places_of, take_rows
from remix.measures.whole import DISTRIBUTED, OwnSets, Whole


class Corpus(CodedMentions):
    """Some documents that are measured as part of a whole; by default they are the whole.

    `within` is what D consists of where it is not what is measured. `batch` says which part of the whole this is.
    """

    def __init__(
        self,
        frames: Frames,
        basis: Basis,
        *,
        within: Frames | None = None,
        codes: Codes | None = None,
        whole: Whole | None = None,
        batch: int = 0,
    ) -> None:
        super().__init__(frames, basis, codes=codes)
        self.batch = batch
        self._given = whole
        self._within = within

    @cached_property
    def whole(self) -> Whole:
        """Return the whole that this is a part of, by default what it is itself."""
        return self._given or Whole(self.sets, self.basis)

    @cached_property
    def sets(self) -> OwnSets:
        """Return the sets of this part."""
        return OwnSets(self.both, lambda: self.principal_codes, self.batch)

    @cached_property
    def both(self) -> Sequence[CodedMentions]:
        """Return what is measured and, last, what D consists of: the same, unless D was said to be another corpus."""
        if self._within is None:
            return [self]
        return [self, CodedMentions(self._within, self.basis, codes=self.codes)]

    @cached_property
    def targets(self) -> pl.DataFrame:
        """Return what the links stand for, of a part by what the whole has found; see `CodedMentions.targets`."""
        if self._given is None:
            return super().targets
        return take_rows(self._given.sets.targets, self.codes.links.of(self.distinct_links[0]))

    @cached_property
    def links(self) -> pl.DataFrame:
        """Return every acceptable link (`CodedMentions.linked`) with `name_code`."""
        return self.linked.with_columns(self.whole.forms["name_code"].gather(self.linked["form_code"]))

    @cached_property
    def statuses(self) -> pl.Series:
        """Return the status of each of `targets`; all are unknown where there is no knowledge base."""
        return self.whole.statuses.gather(self.targets["link_code"])

    @cached_property
    def classes(self) -> pl.DataFrame:
        """Return row (the place of the annotation) and class: of data and knowledge base, and what both map to."""
        known = self.linked.select("row", "target_code").join(self.whole.classes, on="target_code")
        rows = with_coarse(pl.concat([self._given_classes, known.select("row", "class")]))
        classes, places = distinct(rows["class"])
        # Numbers are sorted sooner than strings.
        numbers = classes.arg_sort().arg_sort().gather(places)
        pairs = pair_codes(rows.select("row", number=numbers), "row", "number").unique().sort()
        return pl.DataFrame({"row": (pairs // MANY).cast(pl.UInt32), "class": classes.sort().gather(pairs % MANY)})

    @cached_property
    def _given_classes(self) -> pl.DataFrame:
        """Return row and class of the data's classes of entities.

        Fine-grained categories (`el:`, `rmx:`) say how a mention is written, not what the entity is, and are left out.
        """
        return self._by_row(self.frames.classes.filter(~FINE_GRAINED))

    def _by_row(self, classes: pl.DataFrame) -> pl.DataFrame:
        return classes.join(self.annotations.select("annotation", "row"), on="annotation").select("row", "class")

    @cached_property
    def added_classes(self) -> pl.DataFrame:
        """Return annotation, dataset and class of those that the data does not state: a triple must not stand twice."""
        stated = self._by_row(self.frames.classes.filter(~pl.col("of_entity")))
        added = self.classes.join(stated, on=["row", "class"], how="anti", maintain_order="left")
        subjects = take_rows(self.annotations.select("annotation", "dataset"), added["row"])
        return subjects.with_columns(added["class"])

    @cached_property
    def coarse_flags(self) -> pl.DataFrame:
        """Return for each annotation whether it is a person, organisation, place, and whether it has any class."""
        known = self.of_mentions(take_rows(self.whole.class_flags, self.linked["target_code"]), pl.all().max())
        given = class_flags(self._given_classes, "row", known.height)
        return known.select(pl.col(name).fill_null(False) | given[name] for name in known.columns)

    @cached_property
    def principal(self) -> pl.DataFrame:
        """Return row, linked, entity and the codes of the entity: one link of each annotation, the most prominent."""
        links = self.linked.select("row", "linked", "entity", "entity_code", "target_code", "place")
        if not self._several:
            return links.drop("place")
        # Entities are in the order of their numbers, of which a part of the dataset has some alone.
        known = self.whole.targets.select("target_code").with_columns(self.whole.entities["pagerank"])
        best = (
            self.targets.join(known, on="target_code", how="left", maintain_order="left")
            .with_row_index("place")
            .sort("pagerank", "entity", "linked", descending=[True, False, False], nulls_last=True)
            .select("place")
            .with_row_index("order")
            .sort("place")
        )
        return (
            links.with_columns(best["order"].gather(links["place"]))
            .sort("row", "order")
            .filter(pl.col("row").ne_missing(pl.col("row").shift()))
            .drop("place", "order")
        )

    @property
    def principal_codes(self) -> pl.Series:
        """Return the code of the entity of each annotation that counts."""
        places = places_of(self.principal["row"], self.keyed.height)
        return self.principal["entity_code"].gather(places)

    @cached_property
    def _several(self) -> bool:
        """Return whether any annotation has several links."""
        row = self.linked["row"]
        return bool((row == row.shift()).any())

    def of_mentions(self, of_links: pl.DataFrame, *best: pl.Expr) -> pl.DataFrame:
        """Return for each annotation what is said of its links, given for each of `links`; nulls where it has none.

        `best` makes one value of those of several links.
        """
        rows = of_links.with_columns(self.linked["row"])
        if self._several:
            rows = rows.group_by("row").agg(*best)
        return take_rows(rows.drop("row"), places_of(rows["row"], self.keyed.height))

    def best_option(self, reached: pl.Series) -> pl.Series:
        """Return for each annotation whether an option of its mention has all of its annotations reached.

        Annotations that are null are not asked for. A mention without alternatives is its only option.
        """
        if (self.counted["weight"] == 1).all():
            return reached
        rows = self.counted.select("dataset", "group", "option", reached.alias("reached"))
        whole = rows.with_columns(pl.col("reached").min().over("dataset", "group", "option"))
        return whole.select(pl.col("reached").max().over("dataset", "group")).to_series()

    @cached_property
    def linked_mentions(self) -> pl.DataFrame:
        """Return the annotations that count with their principal link, before any size is known."""
        places = places_of(self.principal["row"], self.keyed.height)
        names = self.whole.forms["name_code"].gather(self.keyed["form_code"])
        mentions = self.keyed.with_columns(names).with_row_index("row")
        return pl.concat([mentions, take_rows(self.principal.drop("row"), places)], how="horizontal")

    @cached_property
    def candidate(self) -> pl.Series:
        """Return for each of `links` its place among `linked_candidates`, null where it is no candidate of the name."""
        return places_in(self.whole.linked_candidates["pair"], pair_codes(self.links, "name_code", "target_code"))

    @cached_property
    def annotations(self) -> pl.DataFrame:
        """Return the annotations with their entity and the sizes of all sets, sorted by annotation."""
        joined = self.linked_mentions.with_columns(
            self._sizes_in_document("form_code", "entity_code").alias("own_entities"),
            self._sizes_in_document("entity_code", "form_code").alias("own_forms"),
        )
        of_entity = (
            take_rows(self.whole.entity_sizes, joined["entity_code"]),
            take_rows(self.whole.entities.drop("number", "forms"), joined["target_code"]),
        )
        return pl.concat([joined, take_rows(self.whole.form_sizes, joined["form_code"]), *of_entity], how="horizontal")

    def _sizes_in_document(self, side: str, other: str) -> pl.Series:
        """Return for each mention how many of the other side its document has, in D, for its form or entity."""
        # A mention whose form nobody knows has a link and no set.
        of_dataset = self.both[-1].linked.drop_nulls(["form_code", "entity_code"])
        used = pair_codes(of_dataset, "document_code", side)
        members = used.unique().sort()
        pairs = pl.DataFrame({"member": used.rank("dense") - 1, "other": of_dataset[other]})
        sizes = (pair_codes(pairs, "member", "other").unique().sort() // MANY).rle().struct.field("len")
        return sizes.gather(places_in(members, pair_codes(self.linked_mentions, "document_code", side)))

    @property
    def documents(self) -> pl.DataFrame:
        """Return the documents with all that is counted in them."""
        return self.documents_with(("distinct_entities", *(f"{column}_percentile" for column in DISTRIBUTED)))

    def documents_with(self, asked: Collection[str]) -> pl.DataFrame:
        """Return the documents with words of the annotated region, mentions, mentions with the ignorable ones, and
        characters; where they are asked for, with `distinct_entities` and percentiles."""
        rows = self.counted_documents.with_columns(characters=pl.col("text").str.len_chars().cast(pl.Int64))
        if "distinct_entities" in asked:
            linked = pl.col("entity_code").drop_nulls().n_unique().cast(pl.Int64)
            entities = self.annotations.group_by("document").agg(distinct_entities=linked)
            rows = rows.join(entities, on="document", how="left", maintain_order="left")
            rows = rows.with_columns(pl.col("distinct_entities").fill_null(0))
        return self.with_percentiles(rows, *(column for column in DISTRIBUTED if f"{column}_percentile" in asked))

    def with_percentiles(self, rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Return rows with the percentile of each column among all of the whole; see `Whole.percentiles`."""
        for column in columns:
            rows = rows.join(self.whole.percentiles(column), on=column, how="left", maintain_order="left")
        return rows

    def first_in_dataset(self, column: str) -> pl.Series:
        """Return for each of `annotations` whether it is the first of its dataset with its value of key or entity."""
        first = self._first(distinct(self.annotations["dataset"])[1], column)
        if self._given is None:
            return first
        batch = self.whole.batches[column].gather(self.annotations[CODE_OF[column]])
        return first & batch.eq_missing(self.batch)

    @cached_property
    def firsts(self) -> pl.DataFrame:
        """Return for each of `annotations` whether it is the first with its key, or entity.

        In its document: key_document and entity_document; in its dataset: key_dataset and entity_dataset.
        """
        first = {f"{column}_document": self._first(self.annotations["document_code"], column) for column in CODE_OF}
        return pl.DataFrame(first | {f"{column}_dataset": self.first_in_dataset(column) for column in CODE_OF})

    def _first(self, places: pl.Series, column: str) -> pl.Series:
        code = (self.annotations[CODE_OF[column]].cast(pl.UInt64) + 1).fill_null(0)
        return (places.cast(pl.UInt64) * MANY + code).is_first_distinct()
