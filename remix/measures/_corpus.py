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

from remix.files import default_name
from remix.frames import Frames
from remix.kb import KnowledgeBase, normalise

__all__ = ["Corpus", "derived_from"]

_NO_ENTITIES: dict[str, pl.DataType] = {
    "entity": pl.String(),
    "label": pl.String(),
    **{
        f"{score}{suffix}": kind
        for score in ("pagerank", "hits", "hub")
        for suffix, kind in (
            ("", pl.Float64()),
            ("_rank", pl.Int64()),
            ("_percentile", pl.Float64()),
            ("_segment", pl.String()),
        )
    },
}
_NO_FORMS = {"key": pl.String(), "entity": pl.String(), "count": pl.Int64(), "source": pl.String()}

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
    def links(self) -> pl.DataFrame:
        """Return annotation, document, dataset, scope, key, linked and entity of every acceptable link."""
        links = self.frames.links.select("annotation", linked="entity").drop_nulls().unique()
        entity = self.kb.resolve(links["linked"]) if self.kb else links["linked"]
        return (
            links.with_columns(entity=entity)
            .join(self._mentions.select("annotation", "document", "dataset", "scope", "key"), on="annotation")
            .sort("annotation", "entity", "linked")
        )

    @cached_property
    def of_dataset(self) -> pl.DataFrame:
        """Return the links that D consists of: those of the frames, unless D was said to be another corpus."""
        if self.within is None:
            return self.links
        return Corpus(self.within, self.kb, reference=self.reference, case_sensitive=self.case_sensitive).links

    @cached_property
    def _mentions(self) -> pl.DataFrame:
        """Return the annotations that count, without the ignorable ones, sorted."""
        scope = pl.lit("union") if self.reference == "union" else pl.col("dataset")
        key = normalise(pl.col("surface_form"), case_sensitive=self.case_sensitive)
        return (
            self.frames.annotations.filter(pl.col("ignorable").is_null())
            .sort("annotation")
            .with_columns(scope=scope, key=key)
        )

    @cached_property
    def entities(self) -> pl.DataFrame:
        """Return what the knowledge base knows of the linked entities: label and prominence."""
        if self.kb is None:
            return pl.DataFrame(schema=_NO_ENTITIES)
        asked = self.links["entity"].unique()
        return self.kb.entities.filter(pl.col("entity").is_in(asked.implode()))

    @cached_property
    def principal(self) -> pl.DataFrame:
        """Return annotation, linked and entity: one link of each annotation, the most prominent one."""
        return (
            self.links.select("annotation", "linked", "entity")
            .join(self.entities.select("entity", "pagerank"), on="entity", how="left")
            .sort("annotation", "pagerank", "entity", "linked", descending=[False, True, False, False], nulls_last=True)
            .unique("annotation", keep="first", maintain_order=True)
            .drop("pagerank")
        )

    @cached_property
    def dictionary_entities(self) -> pl.DataFrame:
        """Return W_E: scope, key, entity, and the count of the pair, for the forms of the corpus."""
        asked = self._mentions.select("scope", "dataset", "key").unique()
        return self._dictionary("key", asked).group_by("scope", "key", "entity").agg(_total("count"))

    @cached_property
    def candidates(self) -> pl.DataFrame:
        """Return scope, key, entity, count, total, prior and rank of every candidate of the corpus' forms.

        More counts rank first, then a higher PageRank; equals share the better rank. Ranks are taken from one sort:
        window functions over many small groups take many times longer.
        """
        prominence = pl.DataFrame(schema={"entity": pl.String, "pagerank": pl.Float64})
        if self.kb is not None:
            asked = self.dictionary_entities["entity"].unique()
            prominence = self.kb.entities.select("entity", "pagerank").filter(pl.col("entity").is_in(asked.implode()))
        totals = self.dictionary_entities.group_by("scope", "key").agg(total=pl.col("count").sum())
        order = ["form", "count", "pagerank"]
        place = pl.int_range(pl.len(), dtype=pl.Int64)
        new_form, *new_value = (pl.col(column).ne_missing(pl.col(column).shift()) for column in order)
        first = pl.when(new_form).then(place).forward_fill()
        return (
            self.dictionary_entities.join(prominence, on="entity", how="left")
            .join(totals.with_row_index("form"), on=["scope", "key"])
            .with_columns(pl.col("count").fill_null(0), pl.col("pagerank").fill_null(0.0))
            .sort(order, descending=[False, True, True])
            .with_columns(
                prior=pl.when(pl.col("total") > 0).then(pl.col("count") / pl.col("total")),
                rank=pl.when(pl.any_horizontal(new_form, *new_value)).then(place).forward_fill() - first + 1,
            )
            .drop("form")
        )

    @cached_property
    def dictionary_forms(self) -> pl.DataFrame:
        """Return W_S: scope, entity and key, for the entities of the corpus."""
        asked = self.links.select("scope", "dataset", "entity").unique()
        return self._dictionary("entity", asked).select("scope", "entity", "key").unique()

    def _dictionary(self, side: str, asked: pl.DataFrame) -> pl.DataFrame:
        """Return the dictionary rows of what is asked for, without those derived from the dataset itself."""
        if self.kb is None:
            rows = pl.DataFrame(schema=_NO_FORMS)
        else:
            known = self.kb.scan("surface_forms").filter(pl.col(side).is_in(asked[side].unique().implode()))
            rows = known.select("key", "entity", "count", "source").collect()
        own = self._derived(rows["source"].unique().drop_nulls().to_list())
        if self.reference == "union":
            rows = rows.join(own, on="source", how="anti")
            return asked.select("scope", side).unique().join(rows, on=side)
        return asked.join(rows, on=side).join(own, on=["source", "dataset"], how="anti")

    def _derived(self, sources: list[str]) -> pl.DataFrame:
        """Return source and dataset where the source was derived from the dataset."""
        named = self._mentions.select("dataset", name=_NAME).unique().drop_nulls().rows()
        rows = [(source, dataset) for dataset, name in named for source in sources if derived_from(source, name)]
        return pl.DataFrame(rows, schema={"source": pl.String, "dataset": pl.String}, orient="row")

    @cached_property
    def form_sizes(self) -> pl.DataFrame:
        """Return scope, key and how many entities the form has in W, in D, in both and in either."""
        return _sizes(self.of_dataset, self.dictionary_entities, "key", "entity", "entities")

    @cached_property
    def entity_sizes(self) -> pl.DataFrame:
        """Return scope, entity and how many forms the entity has in W, in D, in both and in either."""
        return _sizes(self.of_dataset, self.dictionary_forms, "entity", "key", "forms")

    @cached_property
    def annotations(self) -> pl.DataFrame:
        """Return the annotations with their entity and the sizes of all sets, sorted by annotation."""
        links = self.of_dataset
        own_e = links.group_by("document", "key").agg(own_entities=pl.col("entity").n_unique())
        own_s = links.group_by("document", "entity").agg(own_forms=pl.col("key").n_unique())
        joined = self._mentions.join(self.principal, on="annotation", how="left", maintain_order="left")
        for sizes, on in (
            (self.form_sizes, ["scope", "key"]),
            (self.entity_sizes, ["scope", "entity"]),
            (own_e, ["document", "key"]),
            (own_s, ["document", "entity"]),
            (self.entities, ["entity"]),
        ):
            joined = joined.join(sizes, on=on, how="left", maintain_order="left")
        zero = ("w_entities", "d_entities", "union_entities", "common_entities")
        # Only an entity that is not of D can have no form at all.
        linked = pl.when(pl.col("entity").is_not_null()).then(pl.col("union_forms").fill_null(0))
        return joined.with_columns(*(pl.col(column).fill_null(0) for column in zero), union_forms=linked)

    @cached_property
    def documents(self) -> pl.DataFrame:
        """Return the documents with words of the annotated region, mentions, and mentions with the ignorable ones."""
        groups = self.frames.annotations.group_by("document").agg(
            mentions=pl.col("group").filter(pl.col("ignorable").is_null()).n_unique(),
            all_mentions=pl.col("group").n_unique(),
        )
        entities = self.annotations.group_by("document").agg(distinct_entities=pl.col("entity").drop_nulls().n_unique())
        return (
            self.frames.documents.join(self._region_words, on="document", how="left")
            .join(groups, on="document", how="left")
            .join(entities, on="document", how="left")
            .with_columns(
                pl.col("mentions", "all_mentions", "distinct_entities").fill_null(0).cast(pl.Int64),
                region_words=pl.coalesce("region_words", "words"),
                characters=pl.col("text").str.len_chars().cast(pl.Int64),
            )
            .with_columns(density=pl.when(pl.col("region_words") > 0).then(pl.col("mentions") / pl.col("region_words")))
            .pipe(self.with_percentiles, "mentions", "density")
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


def derived_from(source: str, dataset: str) -> bool:
    """Return whether dictionary rows of a source were derived from the dataset of that name.

    The source may say before the dataset's name in whose edition it was read.

    >>> [derived_from(s, "rss-500") for s in ("gold:RSS-500", "gold:elevant-rss-500", "gold:RSS-500_wd", "names")]
    [True, True, False, False]
    """
    if not source.startswith("gold:"):
        return False
    return f"-{default_name(source.removeprefix('gold:'))}".endswith(f"-{dataset.lower().replace('_', '-')}")


def percentile(column: str) -> pl.Expr:
    """Return the share, in percent, of all rows with a value that have no higher one; equals share the better place.

    >>> pl.DataFrame({"x": [1, 5, 5, None]}).select(percentile("x"))["x_percentile"].round(1).to_list()
    [33.3, 100.0, 100.0, None]
    """
    rank = pl.col(column).rank("min", descending=True)
    return (100 * (1 - (rank - 1) / pl.col(column).count())).round(10).alias(f"{column}_percentile")


def _total(column: str) -> pl.Expr:
    return pl.when(pl.col(column).count() > 0).then(pl.col(column).sum())


def _sizes(links: pl.DataFrame, dictionary: pl.DataFrame, side: str, other: str, what: str) -> pl.DataFrame:
    """Return how many of the other side each form or entity has in W, in D, in both and in either."""
    used = links.select("scope", side, other).unique()
    both = used.join(dictionary, on=["scope", side, other], how="semi")
    counts = {"w": dictionary, "d": used, "common": both}
    sizes = [
        frame.group_by("scope", side).agg(pl.len().cast(pl.Int64).alias(f"{n}_{what}")) for n, frame in counts.items()
    ]
    joined = sizes[0].join(sizes[1], on=["scope", side], how="full", coalesce=True)
    joined = joined.join(sizes[2], on=["scope", side], how="left").fill_null(0)
    union = pl.col(f"w_{what}") + pl.col(f"d_{what}") - pl.col(f"common_{what}")
    return joined.with_columns(union.alias(f"union_{what}"))
