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

from functools import cached_property

import polars as pl

from remix.frames import Frames
from remix.kb import KnowledgeBase, normalise
from remix.measures._classes import classes_of
from remix.measures._dictionary import ENTITIES, apart, derived_from, entity_forms, form_entities, ranked
from remix.measures._percentiles import percentile

__all__ = ["Corpus"]

_NAME = pl.col("dataset").str.extract(r"([^/:#]+)$")
"""The name of a dataset, which the frames may call by its IRI."""


class Corpus:
    """The datasets that are measured, with the knowledge base that they are measured against."""

    def __init__(
        self,
        frames: Frames,
        kb: KnowledgeBase | None,
        *,
        reference: str,
        case_sensitive: bool,
        within: Frames | None = None,
    ) -> None:
        self.frames = frames
        self.within = within
        self.kb = kb
        self.reference = reference
        self.case_sensitive = case_sensitive

    @cached_property
    def targets(self) -> pl.DataFrame:
        """Return linked and entity: what each distinct link stands for after redirects and sameAs, sorted by entity."""
        linked = self.frames.links["entity"].drop_nulls().unique().alias("linked")
        entity = self.kb.resolve(linked) if self.kb else linked
        return pl.DataFrame({"linked": linked, "entity": entity.alias("entity")}).sort("entity", "linked")

    @cached_property
    def links(self) -> pl.DataFrame:
        """Return every acceptable link, sorted by annotation, entity and linked.

        Columns: annotation, document, dataset, scope, key, linked and entity, row (the place of the annotation among
        the mentions), place (that of the link among the targets), and the codes of form, entity and document.
        """
        return self._linked.join(self._entities, on=["scope", "entity"], maintain_order="left")

    @cached_property
    def _linked(self) -> pl.DataFrame:
        columns = ["annotation", "document", "dataset", "scope", "key", "form_code", "name_code", "document_code"]
        numbered = (
            self.frames.links.lazy()
            .select("annotation", linked="entity")
            .join(self.targets.lazy().select("linked").with_row_index("place"), on="linked")
            .join(self._mentions.lazy().select("row", "annotation"), on="annotation")
            .select("row", "place")
            .unique()
            .sort("row", "place")
            .collect()
        )
        own = self._mentions.select(pl.col(columns).gather(numbered["row"]))
        return pl.concat([numbered, own, self.targets.select(pl.all().gather(numbered["place"]))], how="horizontal")

    @cached_property
    def of_dataset(self) -> pl.DataFrame:
        """Return the links that D consists of: those of the frames, unless D was said to be another corpus."""
        if self._other is None:
            return self.links
        links = self._other._linked.drop("form_code", "name_code", "document_code")
        for codes, on in (
            (self._forms, ["scope", "key"]),
            (self._documents, ["document"]),
            (self._entities, ["scope", "entity"]),
        ):
            links = links.join(codes, on=on, how="left", maintain_order="left")
        return links

    @cached_property
    def _other(self) -> Corpus | None:
        if self.within is None:
            return None
        return Corpus(self.within, self.kb, reference=self.reference, case_sensitive=self.case_sensitive)

    @cached_property
    def _keyed(self) -> pl.DataFrame:
        """Return the annotations that count, without the ignorable ones, sorted, with scope and key."""
        scope = pl.lit("union") if self.reference == "union" else pl.col("dataset")
        key = normalise(pl.col("surface_form"), case_sensitive=self.case_sensitive)
        counted = self.frames.annotations.filter(pl.col("ignorable").is_null())
        if not counted["annotation"].is_sorted():
            counted = counted.sort("annotation")
        return counted.with_columns(scope=scope, key=key)

    @cached_property
    def _mentions(self) -> pl.DataFrame:
        """Return the annotations that count, with row, their place, and the codes of form and document."""
        return (
            self._keyed.with_row_index("row")
            .join(self._forms, on=["scope", "key"], how="left", maintain_order="left")
            .join(self._documents, on="document", how="left", maintain_order="left")
        )

    @cached_property
    def _forms(self) -> pl.DataFrame:
        """Return scope and key of the forms of the corpus and of D with form_code: joins on integers are faster.

        Further name_code, the same in all scopes that share the dictionary's rows for the key, and apart, the scope
        where a key has rows of its own.
        """
        forms = _numbered([corpus._keyed for corpus in self._both], "form_code", "scope", "key")
        return _numbered_by(apart(self.kb, "key", forms, self._derived), "name_code", "key", "apart")

    @cached_property
    def _documents(self) -> pl.DataFrame:
        return _numbered([corpus._keyed for corpus in self._both], "document_code", "document")

    @cached_property
    def _entities(self) -> pl.DataFrame:
        """Return scope and entity with entity_code, and target_code, the number of the entity in any scope."""
        entities = _numbered([corpus._linked for corpus in self._both], "entity_code", "scope", "entity")
        return _numbered_by(entities, "target_code", "entity")

    @property
    def _both(self) -> list[Corpus]:
        return [self, self._other] if self._other else [self]

    @cached_property
    def entities(self) -> pl.DataFrame:
        """Return what the knowledge base knows of the linked entities: label and prominence."""
        if self.kb is None:
            return pl.DataFrame(schema=ENTITIES)
        return self.kb.rows("entities", "entity", self.targets["entity"], list(ENTITIES))

    @cached_property
    def classes(self) -> pl.DataFrame:
        """Return annotation and class; see `remix.measures._classes.classes_of`."""
        return classes_of(self)

    @cached_property
    def principal(self) -> pl.DataFrame:
        """Return row, linked, entity and the codes of the entity: one link of each annotation, the most prominent."""
        best = (
            self.targets.with_row_index("place")
            .join(self.entities.select("entity", "pagerank"), on="entity", how="left")
            .sort("pagerank", "entity", "linked", descending=[True, False, False], nulls_last=True)
            .select("place")
            .with_row_index("order")
            .sort("place")
        )
        return (
            self.links.select("row", "linked", "entity", "entity_code", "target_code", "place")
            .with_columns(best["order"].gather(self.links["place"]))
            .sort("row", "order")
            .filter(pl.col("row").ne_missing(pl.col("row").shift()))
            .drop("place", "order")
        )

    @cached_property
    def dictionary(self) -> pl.DataFrame:
        """Return W_E for the names of the corpus: name_code, count, pagerank, and target_code if linked."""
        linked = self._entities.select("entity", "target_code").unique("target_code")
        found = self._pairs.join(linked.lazy(), on="entity", how="left")
        return found.select("name_code", "target_code", "count", "pagerank").collect(engine="streaming")

    @property
    def _pairs(self) -> pl.LazyFrame:
        names = self._forms.select("name_code", "key", "apart").unique("name_code")
        return form_entities(self.kb, names, self._derived)

    @cached_property
    def known_pairs(self) -> pl.DataFrame:
        """Return form_code and entity_code of the links whose entity is among the dictionary's for the form."""
        codes = ["name_code", "target_code"]
        known = self.dictionary.select(codes).drop_nulls()
        pairs = pl.concat([links.select("form_code", "entity_code", *codes) for links in self._linked_pairs]).unique()
        return pairs.join(known, on=codes, how="semi").select("form_code", "entity_code")

    @property
    def _linked_pairs(self) -> list[pl.DataFrame]:
        return [self.links, *([self.of_dataset] if self._other else [])]

    @cached_property
    def candidates(self) -> pl.DataFrame:
        """Return the dictionary with total, prior and rank of every candidate; see `_dictionary.ranked`."""
        return ranked(self.dictionary)

    @cached_property
    def leading(self) -> pl.DataFrame:
        """Return name_code and entity of the candidates that rank first."""
        order = ["name_code", "count", "pagerank"]
        first = self.candidates.filter(pl.col("rank") == 1).select(order).unique()
        pairs = self._pairs.with_columns(pl.col("count").fill_null(0), pl.col("pagerank").fill_null(0.0))
        return pairs.join(first.lazy(), on=order).select("name_code", "entity").collect(engine="streaming")

    @cached_property
    def _derived(self) -> pl.DataFrame:
        """Return source and scope where the dictionary's source was derived from a dataset of the scope."""
        sources = self.kb.form_sources if self.kb else []
        named = self._keyed.select("scope", name=_NAME).unique().drop_nulls().rows()
        rows = {(source, scope) for scope, name in named for source in sources if derived_from(source, name)}
        return pl.DataFrame(sorted(rows), schema={"source": pl.String, "scope": pl.String}, orient="row")

    @cached_property
    def form_sizes(self) -> pl.DataFrame:
        """Return form_code and how many entities the form has in W, in D, in both and in either."""
        names = self.dictionary.group_by("name_code").agg(w_entities=pl.len().cast(pl.Int64))
        w = self._forms.select("form_code", "name_code").join(names, on="name_code").drop("name_code")
        return self._sizes(w, "form_code", "entities")

    @cached_property
    def entity_sizes(self) -> pl.DataFrame:
        """Return entity_code and how many forms the entity has in W, in D, in both and in either."""
        return self._sizes(entity_forms(self.kb, self._entities, self._derived), "entity_code", "forms")

    def _sizes(self, w: pl.DataFrame, code: str, what: str) -> pl.DataFrame:
        """Return the sizes of the sets of each form, or entity, by its code; those of W are given."""
        used = self.of_dataset.select("form_code", "entity_code").unique()
        both = used.join(self.known_pairs, on=["form_code", "entity_code"], how="semi")
        d = used.group_by(code).agg(pl.len().cast(pl.Int64).alias(f"d_{what}"))
        common = both.group_by(code).agg(pl.len().cast(pl.Int64).alias(f"common_{what}"))
        joined = w.join(d, on=code, how="full", coalesce=True).join(common, on=code, how="left").fill_null(0)
        union = pl.col(f"w_{what}") + pl.col(f"d_{what}") - pl.col(f"common_{what}")
        return joined.with_columns(union.alias(f"union_{what}"))

    @cached_property
    def annotations(self) -> pl.DataFrame:
        """Return the annotations with their entity and the sizes of all sets, sorted by annotation."""
        used = self.of_dataset.select("document_code", "form_code", "entity_code").unique()
        joined = self._mentions.join(self.principal, on="row", how="left", maintain_order="left")
        for sizes, on in (
            (self.form_sizes, ["form_code"]),
            (self.entity_sizes, ["entity_code"]),
            (used.group_by("document_code", "form_code").agg(own_entities=pl.len()), ["document_code", "form_code"]),
            (used.group_by("document_code", "entity_code").agg(own_forms=pl.len()), ["document_code", "entity_code"]),
            (self._known_targets, ["target_code"]),
        ):
            joined = joined.join(sizes, on=on, how="left", maintain_order="left")
        zero = ("w_entities", "d_entities", "union_entities", "common_entities")
        # Only an entity that is not of D can have no form at all.
        linked = pl.when(pl.col("entity").is_not_null()).then(pl.col("union_forms").fill_null(0))
        return joined.with_columns(*(pl.col(column).fill_null(0) for column in zero), union_forms=linked)

    @property
    def _known_targets(self) -> pl.DataFrame:
        targets = self._entities.select("target_code", "entity").unique("target_code")
        return targets.join(self.entities, on="entity").drop("entity")

    @cached_property
    def documents(self) -> pl.DataFrame:
        """Return the documents with words of the annotated region, mentions, and mentions with the ignorable ones."""
        linked = pl.col("entity_code").drop_nulls().n_unique().cast(pl.Int64)
        entities = self.annotations.group_by("document").agg(distinct_entities=linked)
        counted = self.counted_documents.join(entities, on="document", how="left", maintain_order="left")
        whole = counted.with_columns(pl.col("distinct_entities").fill_null(0))
        return self.with_percentiles(whole, "mentions", "density")

    @cached_property
    def counted_documents(self) -> pl.DataFrame:
        """Return the documents without what depends on other documents or on links; sorted by document."""
        groups = self.frames.annotations.group_by("document").agg(
            mentions=pl.col("group").filter(pl.col("ignorable").is_null()).n_unique(),
            all_mentions=pl.col("group").n_unique(),
        )
        return (
            self.frames.documents.join(self._region_words, on="document", how="left")
            .join(groups, on="document", how="left")
            .with_columns(
                pl.col("mentions", "all_mentions").fill_null(0).cast(pl.Int64),
                region_words=pl.coalesce("region_words", "words"),
                characters=pl.col("text").str.len_chars().cast(pl.Int64),
            )
            .with_columns(density=pl.when(pl.col("region_words") > 0).then(pl.col("mentions") / pl.col("region_words")))
            .sort("document")
        )

    def with_percentiles(self, rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Return rows of the corpus with the percentile of each column among all that is measured."""
        return rows.with_columns(percentile(column) for column in columns)

    def first_in_dataset(self, column: str) -> pl.Series:
        """Return for each of `annotations` whether it is the first of its dataset with its value of a column."""
        return self.annotations.select(pl.struct("dataset", column).is_first_distinct()).to_series()

    @cached_property
    def _region_words(self) -> pl.DataFrame:
        texts = self.frames.documents.select("document", "text")
        part = pl.col("text").str.slice(pl.col("begin"), pl.col("end") - pl.col("begin"))
        counted = self.frames.regions.join(texts, on="document").with_columns(part.str.count_matches(r"\S+"))
        return counted.group_by("document").agg(region_words=pl.col("text").sum().cast(pl.Int64))


def _numbered(parts: list[pl.DataFrame], code: str, *columns: str) -> pl.DataFrame:
    """Return the distinct rows of these columns in all parts, without nulls, each with a number."""
    rows = pl.concat([part.select(columns).unique() for part in parts]).unique()
    return rows.drop_nulls().with_row_index(code)


def _numbered_by(rows: pl.DataFrame, code: str, *columns: str) -> pl.DataFrame:
    """Return the rows with the number of their values in the columns."""
    numbers = rows.select(columns).unique().with_row_index(code)
    return rows.join(numbers, on=columns, how="left", nulls_equal=True, maintain_order="left")
