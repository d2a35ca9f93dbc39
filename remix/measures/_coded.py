"""The annotations and links that are measured, by number: forms, entities and documents have codes.

Forms and entities are numbered within a scope (the dataset, or 'union'): `form_code`, `entity_code`. `target_code` is
the number of an entity in any scope, `name_code` that of a key.
"""

from __future__ import annotations

import polars as pl

from remix.frames import Frames
from remix.kb import KnowledgeBase, normalise
from remix.measures._threads import cached_property
from remix.measures.codes import MANY, Codes, Numbers, by_number, distinct, paired, taken

__all__ = ["CODE_OF", "Coded"]

CODE_OF = {"key": "form_code", "entity": "entity_code"}
"""The column with the number of a value."""
_OF_MENTION = ("scope", "key", "form_code", "document_code")


class Coded:
    """The datasets that are measured, and the knowledge base that says which links stand for one entity.

    Rows: `_keyed` and `_mentions` are the annotations that count, `links` their links. Sets, in the order of their
    codes: `_forms`, `_entities` and `_targets`, of the corpus and of D where that is another corpus.
    """

    def __init__(
        self,
        frames: Frames,
        kb: KnowledgeBase | None,
        *,
        reference: str,
        case_sensitive: bool,
        within: Frames | None = None,
        codes: Codes | None = None,
    ) -> None:
        self.frames = frames
        self.within = within
        self.kb = kb
        self.reference = reference
        self.case_sensitive = case_sensitive
        self.codes = codes or Codes()

    @cached_property
    def targets(self) -> pl.DataFrame:
        """Return linked, entity, target_code and link_code: what each distinct link stands for, as they are met.

        Redirects and sameAs are followed. `link_code` is the number of the link itself.
        """
        linked, _ = self._distinct_links
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
    def _distinct_links(self) -> tuple[pl.Series, pl.Series]:
        return distinct(self.frames.links["entity"])

    @cached_property
    def links(self) -> pl.DataFrame:
        """Return every acceptable link, sorted by annotation.

        Columns: row (the place of the annotation among the mentions) and place (that of the link among the targets),
        scope, key, linked and entity, and the codes of form, name, entity, target, link and document.
        """
        names = self._forms["name_code"].gather(self._linked["form_code"])
        return self._linked.with_columns(names)

    @cached_property
    def _linked(self) -> pl.DataFrame:
        links = self.frames.links.select("annotation", place=self._distinct_links[1])
        placed = links.join(self._keyed.select("annotation").with_row_index("row"), on="annotation")
        pairs = paired(placed, "row", "place").drop_nulls().unique().sort()
        row, place = (pairs // MANY).alias("row").cast(pl.UInt32), (pairs % MANY).alias("place").cast(pl.UInt32)
        own = taken(self._keyed.select(*_OF_MENTION), row)
        linked = pl.concat([row.to_frame(), place.to_frame(), own, taken(self.targets, place)], how="horizontal")
        codes = _scoped(self.codes.entities, linked["scope"], place, self.targets["entity"])
        return linked.with_columns(entity_code=codes)

    @cached_property
    def _keyed(self) -> pl.DataFrame:
        """Return the annotations that count, without the ignorable ones, sorted, with scope, key and codes."""
        scope = pl.lit("union") if self.reference == "union" else pl.col("dataset")
        forms, places = self.distinct_forms
        keys = forms.to_frame("form").select(normalise(pl.col("form"), case_sensitive=self.case_sensitive)).to_series()
        keyed = self._counted.with_columns(scope=scope, key=keys.gather(places))
        return keyed.with_columns(
            form_code=_scoped(self.codes.forms, keyed["scope"], places, keys),
            document_code=self.codes.documents.of(keyed["document"]),
        )

    @cached_property
    def _counted(self) -> pl.DataFrame:
        counted = self.frames.annotations
        if counted["ignorable"].null_count() < counted.height:
            counted = counted.filter(pl.col("ignorable").is_null())
        ordered = counted if counted["annotation"].is_sorted() else counted.sort("annotation")
        return ordered.with_columns(weight=_weight(ordered))

    @cached_property
    def distinct_forms(self) -> tuple[pl.Series, pl.Series]:
        """Return the different surface forms as they are written, and for each annotation the place of its own."""
        return distinct(self._counted["surface_form"])

    @cached_property
    def _mentions(self) -> pl.DataFrame:
        """Return the annotations that count, with row, their place, and the codes of form, name and document."""
        names = self._forms["name_code"].gather(self._keyed["form_code"])
        return self._keyed.with_columns(names).with_row_index("row")

    @cached_property
    def _forms(self) -> pl.DataFrame:
        """Return form_code, scope, key and name_code, in the order of the codes, of the corpus and of D."""
        columns = ["form_code", "scope", "key"]
        forms = by_number(pl.concat([corpus._keyed.select(columns) for corpus in self._both]), "form_code")
        return forms.with_columns(name_code=Numbers().of(forms["key"]))

    @cached_property
    def _entities(self) -> pl.DataFrame:
        """Return entity_code, scope, entity and target_code, in the order of the codes, of the corpus and of D."""
        columns = ["entity_code", "scope", "entity", "target_code"]
        return by_number(pl.concat([corpus._linked.select(columns) for corpus in self._both]), "entity_code")

    @cached_property
    def _targets(self) -> pl.DataFrame:
        """Return target_code and entity, in the order of the codes, of the corpus and of D."""
        columns = ["target_code", "entity"]
        return by_number(pl.concat([corpus.targets.select(columns) for corpus in self._both]), "target_code")

    @cached_property
    def of_dataset(self) -> pl.DataFrame:
        """Return the links that D consists of: those of the frames, unless D was said to be another corpus."""
        return self._other._linked if self._other else self._linked

    @cached_property
    def _other(self) -> Coded | None:
        if self.within is None:
            return None
        return Coded(
            self.within,
            self.kb,
            reference=self.reference,
            case_sensitive=self.case_sensitive,
            codes=self.codes,
        )

    @property
    def _both(self) -> list[Coded]:
        return [self, self._other] if self._other else [self]


def _weight(annotations: pl.DataFrame) -> pl.Expr:
    """Return what an annotation counts: a mention 1, each of its options alike, and so each annotation of an option."""
    if annotations["group"].n_unique() == annotations.height:
        return pl.lit(1.0)
    return 1 / (pl.col("option").n_unique().over("dataset", "group") * pl.len().over("dataset", "group", "option"))


def _scoped(numbers: Numbers, scopes: pl.Series, places: pl.Series, strings: pl.Series) -> pl.Series:
    """Return the number of scope and string of each row, given the place of its string among all of them.

    The two are put together once for each pair.
    """
    names, of_scope = distinct(scopes)
    pairs = paired(pl.DataFrame({"scope": of_scope, "place": places}), "scope", "place")
    each = pairs.drop_nulls().unique().sort()
    both = pl.format("{}\n{}", names.gather(each // MANY), strings.gather(each % MANY))
    return numbers.of(pl.select(both).to_series()).gather(pairs.rank("dense") - 1)
