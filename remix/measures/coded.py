"""The annotations and links that are measured, by number: forms, entities, documents have codes.

Forms and entities are numbered within a scope (the dataset, or 'union'): `form_code`, `entity_code`. `target_code` is
the number of an entity in any scope, `name_code` that of a key.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from remix.dense import distinct
from remix.expressions import fill
from remix.frames import Frames
from remix.kb import KnowledgeBase, normalise
from remix.measures._threads import cached_property
from remix.measures.codes import MANY, Codes, Numbers, pair_codes, take_rows

CODE_OF = {"key": "form_code", "entity": "entity_code"}
"""The column with the number of a value."""
_OF_MENTION = ("scope", "key", "form_code", "document_code")


@dataclass(frozen=True)
class Basis:
    """What annotations are held against: the knowledge base as measures see it, D (`reference`), and forms in which
    case counts or not."""

    kb: KnowledgeBase | None = None
    reference: str = "dataset"
    case_sensitive: bool = False


class CodedMentions:
    """Annotations that count and their links, by number; the knowledge base says which links stand for one entity."""

    def __init__(self, frames: Frames, basis: Basis, *, codes: Codes | None = None) -> None:
        self.frames = frames
        self.basis = basis
        self.kb = basis.kb
        self._codes = codes

    @cached_property
    def codes(self) -> Codes:
        """Return the numbers of forms, entities, links and documents."""
        return self._codes or Codes()

    @cached_property
    def targets(self) -> pl.DataFrame:
        """Return linked, entity, target_code and link_code: what each distinct link stands for, as they are met.

        Redirects and sameAs are followed. `link_code` is the number of the link itself.
        """
        linked, _ = self.distinct_links
        entity = self.kb.resolve(linked) if self.kb else linked
        return pl.DataFrame(
            {
                "linked": linked,
                "entity": entity,
                "target_code": self.codes.targets.of(entity),
                "link_code": self.codes.links.of(linked),
            }
        )

    @cached_property
    def counted_documents(self) -> pl.DataFrame:
        """Return the documents without what depends on other documents or on links; see `_documents`."""
        return counted_documents(self.frames)

    @cached_property
    def distinct_links(self) -> tuple[pl.Series, pl.Series]:
        """Return the different links as they are written, and for each link the place of its own."""
        return distinct(self.frames.links["entity"])

    @cached_property
    def linked(self) -> pl.DataFrame:
        """Return every acceptable link, sorted by annotation.

        Columns: row (the place of the annotation among the mentions) and place (that of the link among the targets),
        scope, key, linked and entity, and the codes of form, entity, target, link and document.
        """
        links = self.frames.links.select("annotation", place=self.distinct_links[1])
        placed = links.join(self.keyed.select("annotation").with_row_index("row"), on="annotation")
        pairs = pair_codes(placed, "row", "place").drop_nulls().unique().sort()
        row, place = (pairs // MANY).alias("row").cast(pl.UInt32), (pairs % MANY).alias("place").cast(pl.UInt32)
        own = take_rows(self.keyed.select(*_OF_MENTION), row)
        linked = pl.concat([row.to_frame(), place.to_frame(), own, take_rows(self.targets, place)], how="horizontal")
        codes = _number_in_scope(self.codes.entities, linked["scope"], place, self.targets["entity"])
        return linked.with_columns(entity_code=codes)

    @cached_property
    def keyed(self) -> pl.DataFrame:
        """Return the annotations that count, without the ignorable ones, sorted, with scope, key and codes."""
        scope = pl.lit("union") if self.basis.reference == "union" else pl.col("dataset")
        forms, places = self.distinct_forms
        key = normalise(pl.col("form"), case_sensitive=self.basis.case_sensitive)
        keys = forms.to_frame("form").select(key).to_series()
        keyed = self.counted.with_columns(scope=scope, key=keys.gather(places))
        return keyed.with_columns(
            form_code=_number_in_scope(self.codes.forms, keyed["scope"], places, keys),
            document_code=self.codes.documents.of(keyed["document"]),
        )

    @cached_property
    def counted(self) -> pl.DataFrame:
        """Return the annotations that count, sorted, with what each counts (`weight`)."""
        counted = self.frames.annotations
        if counted["ignorable"].null_count() < counted.height:
            counted = counted.filter(pl.col("ignorable").is_null())
        ordered = counted if counted["annotation"].is_sorted() else counted.sort("annotation")
        return ordered.with_columns(weight=_weight(ordered))

    @cached_property
    def distinct_forms(self) -> tuple[pl.Series, pl.Series]:
        """Return the different surface forms as they are written, and for each annotation the place of its own."""
        return distinct(self.counted["surface_form"])


def _weight(annotations: pl.DataFrame) -> pl.Expr:
    """Return what an annotation counts: a mention 1, each of its options alike, and so each annotation of an option."""
    if annotations["group"].n_unique() == annotations.height:
        return pl.lit(1.0)
    return 1 / (pl.col("option").n_unique().over("dataset", "group") * pl.len().over("dataset", "group", "option"))


def _number_in_scope(numbers: Numbers, scopes: pl.Series, places: pl.Series, strings: pl.Series) -> pl.Series:
    """Return the number of scope and string of each row, given the place of its string among all of them.

    The two are put together once for each pair.
    """
    names, of_scope = distinct(scopes)
    pairs = pair_codes(pl.DataFrame({"scope": of_scope, "place": places}), "scope", "place")
    each = pairs.drop_nulls().unique().sort()
    both = fill("{}\n{}", names.gather(each // MANY), strings.gather(each % MANY))
    return numbers.of(pl.select(both).to_series()).gather(pairs.rank("dense") - 1)


def counted_documents(frames: Frames) -> pl.DataFrame:
    """Return the documents, sorted, with mentions, all_mentions (ignorable ones as well), region_words and density."""
    groups = (
        frames.one_layer()
        .group_by("document")
        .agg(
            mentions=pl.col("group").filter(pl.col("ignorable").is_null()).n_unique(),
            all_mentions=pl.col("group").n_unique(),
        )
    )
    return (
        frames.documents.join(_region_words(frames), on="document", how="left")
        .join(groups, on="document", how="left")
        .with_columns(
            pl.col("mentions", "all_mentions").fill_null(0).cast(pl.Int64),
            region_words=pl.coalesce("region_words", "words"),
        )
        .with_columns(density=pl.when(pl.col("region_words") > 0).then(pl.col("mentions") / pl.col("region_words")))
        .sort("document")
    )


def _region_words(frames: Frames) -> pl.DataFrame:
    texts = frames.documents.select("document", "text")
    part = pl.col("text").str.slice(pl.col("begin"), pl.col("end") - pl.col("begin"))
    counted = frames.regions.join(texts, on="document").with_columns(part.str.count_matches(r"\S+"))
    return counted.group_by("document").agg(region_words=pl.col("text").sum().cast(pl.Int64))
