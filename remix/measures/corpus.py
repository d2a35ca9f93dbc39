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

from concurrent.futures import ThreadPoolExecutor

import polars as pl

from remix.kb import normalise
from remix.measures._coded import CODE_OF, Coded
from remix.measures._dictionary import ENTITIES, form_entities, ranked
from remix.measures._documents import counted_documents
from remix.measures._percentiles import percentile
from remix.measures._threads import cached_property
from remix.measures.classes import class_flags, classes_of, names_of_places
from remix.measures.codes import MANY, by_number, distinct, paired, places_in, places_of, taken

__all__ = ["Corpus"]

_TITLE = r"^http://(?:[a-z][a-z-]*\.)?dbpedia\.org/resource/(.+)$"


class Corpus(Coded):
    """The datasets that are measured, with what the knowledge base they are measured against says of them."""

    @cached_property
    def entities(self) -> pl.DataFrame:
        """Return what the knowledge base knows of the targets (`ENTITIES`), in the order of their codes."""
        if self.kb is None:
            return pl.DataFrame(schema=ENTITIES).clear(self._targets.height)
        known = self.kb.find("entities", "entity", self._targets["entity"], ENTITIES)
        return taken(known.drop("place").cast(ENTITIES), places_of(known["place"], self._targets.height))

    @cached_property
    def statuses(self) -> pl.Series:
        """Return the status of each of `targets`; all are unknown where there is no knowledge base."""
        if self.kb is None:
            return self.targets.select(status=pl.lit("unknown")).to_series()
        known = self.kb.link_status(self.targets["linked"]).rename({"iri": "linked"})
        return self.targets.join(known, on="linked", how="left", maintain_order="left")["status"]

    @cached_property
    def known_classes(self) -> pl.DataFrame:
        """Return target_code and class of the targets, as the knowledge base has them."""
        if self.kb is None:
            return pl.DataFrame(schema={"target_code": pl.UInt32, "class": pl.String})
        known = self.kb.find("types", "number", self.entities["number"], ["class"])
        return known.select(self._targets["target_code"].gather(known["place"]), "class")

    @cached_property
    def classes(self) -> pl.DataFrame:
        """Return row and class; see `remix.measures.classes.classes_of`."""
        return classes_of(self)

    @cached_property
    def principal(self) -> pl.DataFrame:
        """Return row, linked, entity and the codes of the entity: one link of each annotation, the most prominent."""
        links = self._linked.select("row", "linked", "entity", "entity_code", "target_code", "place")
        if not self._several:
            return links.drop("place")
        # Entities are in the order of their numbers, of which a part of the dataset has some alone.
        known = self._targets.select("target_code").with_columns(self.entities["pagerank"])
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

    @cached_property
    def _several(self) -> bool:
        """Return whether any annotation has several links."""
        row = self._linked["row"]
        return bool((row == row.shift()).any())

    def of_mentions(self, of_links: pl.DataFrame, *best: pl.Expr) -> pl.DataFrame:
        """Return for each annotation what is said of its links, given for each of `links`; nulls where it has none.

        `best` makes one value of those of several links.
        """
        rows = of_links.with_columns(self._linked["row"])
        if self._several:
            rows = rows.group_by("row").agg(*best)
        return taken(rows.drop("row"), places_of(rows["row"], self._keyed.height))

    def best_option(self, reached: pl.Series) -> pl.Series:
        """Return for each annotation whether an option of its mention has all of its annotations reached.

        Annotations that are null are not asked for. A mention without alternatives is its only option.
        """
        if (self._counted["weight"] == 1).all():
            return reached
        rows = self._counted.select("dataset", "group", "option", reached.alias("reached"))
        whole = rows.with_columns(pl.col("reached").min().over("dataset", "group", "option"))
        return whole.select(pl.col("reached").max().over("dataset", "group")).to_series()

    @cached_property
    def linked_mentions(self) -> pl.DataFrame:
        """Return the annotations that count with their principal link, before any size is known."""
        places = places_of(self.principal["row"], self._keyed.height)
        return pl.concat([self._mentions, taken(self.principal.drop("row"), places)], how="horizontal")

    def ask(self) -> None:
        """Ask the knowledge base for the entities and for the names at the same time: neither waits for the other."""
        with ThreadPoolExecutor(1) as other:
            entities = other.submit(lambda: self.entities)
            self._pairs  # noqa: B018 - a cached property
            entities.result()

    @cached_property
    def dictionary(self) -> pl.DataFrame:
        """Return W_E for the names of the corpus: name_code, number, count, pagerank, and target_code if linked."""
        linked = self._targets.select("target_code", self.entities["number"])
        return self._pairs.join(linked, on="number", how="left", maintain_order="left")

    @cached_property
    def _pairs(self) -> pl.DataFrame:
        return form_entities(self.kb, by_number(self._forms, "name_code").select("name_code", "key"))

    @cached_property
    def known_pairs(self) -> pl.DataFrame:
        """Return form_code and entity_code of the links whose entity is among the dictionary's for the form."""
        codes = ["name_code", "target_code"]
        known = self.dictionary.select(codes).drop_nulls()
        names = self._forms["name_code"]
        pairs = [
            links.select("form_code", "entity_code", "target_code", names.gather(links["form_code"]).alias("name_code"))
            for links in ([self._linked, self.of_dataset] if self._other else [self._linked])
        ]
        return pl.concat(pairs).unique().join(known, on=codes, how="semi").select("form_code", "entity_code")

    @cached_property
    def candidates(self) -> pl.DataFrame:
        """Return the dictionary with total, prior and rank of every candidate; see `_dictionary.ranked`."""
        return ranked(self.dictionary)

    @cached_property
    def linked_candidates(self) -> pl.DataFrame:
        """Return the candidates that are linked: pair (codes of name and target as one), prior, rank, first; sorted."""
        linked = self.candidates.drop_nulls("target_code")
        return linked.select(paired(linked, "name_code", "target_code"), "prior", "rank", "first").sort("pair")

    @cached_property
    def candidate(self) -> pl.Series:
        """Return for each of `links` its place among `linked_candidates`, null where it is no candidate of the name."""
        return places_in(self.linked_candidates["pair"], paired(self.links, "name_code", "target_code"))

    @cached_property
    def totals(self) -> pl.Series:
        """Return the sum of the counts of each name that has candidates, others null, in the order of their codes."""
        names = self._forms.select(pl.col("name_code").unique().sort())
        totals = self.candidates.group_by("name_code").agg(pl.col("total").first())
        return names.join(totals, on="name_code", how="left", maintain_order="left")["total"]

    @cached_property
    def names_of_places(self) -> pl.Series:
        """Return whether each name means a place in the first place; see `remix.measures.classes.names_of_places`."""
        return names_of_places(self)

    @cached_property
    def demonyms(self) -> pl.Series:
        """Return whether each name is a demonym of a place, null where none are known, in the order of their codes."""
        names = by_number(self._forms, "name_code")["key"]
        return self.kb.are_demonyms(names) if self.kb else pl.repeat(None, len(names), dtype=pl.Boolean, eager=True)

    @cached_property
    def class_flags(self) -> pl.DataFrame:
        """Return of which coarse classes each target is; see `remix.measures.classes.class_flags`."""
        return class_flags(self.known_classes, "target_code", self._targets.height)

    @cached_property
    def labels(self) -> pl.Series:
        """Return the primary label of each target as keys are written, else its title, in the order of their codes."""
        title = self._targets["entity"].str.extract(_TITLE).str.replace(r"_\([^)]*\)$", "")
        label = pl.coalesce(self._known_labels, title)
        return pl.select(normalise(label, case_sensitive=self.case_sensitive)).to_series()

    @property
    def _known_labels(self) -> pl.Series:
        if self.kb is None:
            return pl.repeat(None, self._targets.height, dtype=pl.String, eager=True)
        known = self.kb.find("entities", "number", self.entities["number"], ["label"])
        return taken(known.select("label"), places_of(known["place"], self._targets.height)).to_series()

    @cached_property
    def form_sizes(self) -> pl.DataFrame:
        """Return how many entities each form has in W, in D, in both and in either, in the order of the form codes."""
        names = self.dictionary.group_by("name_code").agg(w_entities=pl.len().cast(pl.Int64))
        w = self._forms.select("form_code", "name_code").join(names, on="name_code").drop("name_code")
        return self._sizes(w, self._forms, "form_code", "entities")

    @cached_property
    def entity_sizes(self) -> pl.DataFrame:
        """Return how many forms each entity has in W, in D, in both and in either, in the order of the entity codes."""
        if self.kb is None or self.kb.as_built:
            counts = self._targets.select("target_code", self.entities["forms"])
        else:
            counts = self._targets.join(self.kb.form_counts(self._targets["entity"]), on="entity")
        w = self._entities.join(counts, on="target_code").select("entity_code", w_forms="forms")
        return self._sizes(w, self._entities, "entity_code", "forms")

    def _sizes(self, w: pl.DataFrame, every: pl.DataFrame, code: str, what: str) -> pl.DataFrame:
        """Return the sizes of the sets of each form, or entity, by its code; those of W are given."""
        used = self.of_dataset.select("form_code", "entity_code").unique()
        both = used.join(self.known_pairs, on=["form_code", "entity_code"], how="semi")
        sizes = every.select(code).join(w, on=code, how="left", maintain_order="left")
        for name, pairs in (("d", used), ("common", both)):
            counted = pairs.group_by(code).agg(pl.len().cast(pl.Int64).alias(f"{name}_{what}"))
            sizes = sizes.join(counted, on=code, how="left", maintain_order="left")
        union = pl.col(f"w_{what}") + pl.col(f"d_{what}") - pl.col(f"common_{what}")
        return sizes.drop(code).fill_null(0).with_columns(union.alias(f"union_{what}"))

    @cached_property
    def annotations(self) -> pl.DataFrame:
        """Return the annotations with their entity and the sizes of all sets, sorted by annotation."""
        joined = self.linked_mentions.with_columns(
            self._sizes_in_document("form_code", "entity_code").alias("own_entities"),
            self._sizes_in_document("entity_code", "form_code").alias("own_forms"),
        )
        of_entity = (
            taken(self.entity_sizes, joined["entity_code"]),
            taken(self.entities.drop("number", "forms"), joined["target_code"]),
        )
        sized = pl.concat([joined, taken(self.form_sizes, joined["form_code"]), *of_entity], how="horizontal")
        zero = ("w_entities", "d_entities", "union_entities", "common_entities")
        return sized.with_columns(pl.col(column).fill_null(0) for column in zero)

    def _sizes_in_document(self, side: str, other: str) -> pl.Series:
        """Return for each mention how many of the other side its document has, in D, for its form or entity."""
        used = paired(self.of_dataset, "document_code", side)
        own = used.unique().sort()
        pairs = pl.DataFrame({"own": used.rank("dense") - 1, "other": self.of_dataset[other]})
        sizes = (paired(pairs, "own", "other").unique().sort() // MANY).rle().struct.field("len")
        return sizes.gather(places_in(own, paired(self.linked_mentions, "document_code", side)))

    @cached_property
    def documents(self) -> pl.DataFrame:
        """Return the documents with words of the annotated region, mentions, and mentions with the ignorable ones."""
        linked = pl.col("entity_code").drop_nulls().n_unique().cast(pl.Int64)
        entities = self.annotations.group_by("document").agg(distinct_entities=linked)
        counted = self.counted_documents.join(entities, on="document", how="left", maintain_order="left")
        whole = counted.with_columns(
            pl.col("distinct_entities").fill_null(0), characters=pl.col("text").str.len_chars().cast(pl.Int64)
        )
        return self.with_percentiles(whole, "mentions", "density")

    @cached_property
    def counted_documents(self) -> pl.DataFrame:
        """Return the documents without what depends on other documents or on links; sorted by document."""
        return counted_documents(self.frames)

    def with_percentiles(self, rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Return rows of the corpus with the percentile of each column among all that is measured."""
        return rows.with_columns(percentile(column) for column in columns)

    def first_in_dataset(self, column: str) -> pl.Series:
        """Return for each of `annotations` whether it is the first of its dataset with its value of key or entity."""
        return self._first(distinct(self.annotations["dataset"])[1], column)

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
