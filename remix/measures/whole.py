"""The dataset as a whole: what the knowledge base says of the sets that the formulas speak of.

The sets of each part are gathered, merged and looked up (`Whole`); then the parts are measured (`Corpus`). A dataset in
memory is one part. Which entities a form means and which forms an entity has (E^D, S^D), in which part a value comes
first, and how often each comes: all is kept by number (`Codes`), the strings once for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import RLock

import polars as pl

from remix.dense import distinct
from remix.kb import normalise
from remix.kb.prominence import SCORES
from remix.measures._threads import cached_property, shared_property
from remix.measures.classes import among, class_flags, classes_for
from remix.measures.coded import CODE_OF, Basis, CodedMentions
from remix.measures.codes import by_number, pair_codes, places_of, take_rows

_SCORES = {"": pl.Float64(), "_rank": pl.Int64(), "_percentile": pl.Float64(), "_segment": pl.String()}
ENTITIES = pl.Schema(
    {"number": pl.UInt32(), "forms": pl.Int64()}
    | {f"{score}{of}": kind for score in SCORES for of, kind in _SCORES.items()}
)
"""What is taken of an entity; its number is its place in the knowledge base."""

_PAIRS = pl.Schema({"name_code": pl.UInt32(), "number": pl.UInt32(), "count": pl.Int64(), "pagerank": pl.Float64()})
_TITLE = r"^http://(?:[a-z][a-z-]*\.)?dbpedia\.org/resource/(.+)$"

DISTRIBUTED = ("mentions", "density")
"""The columns of documents that have percentiles."""


class OwnSets:
    """The sets of one part, each made when it is asked for."""

    def __init__(self, both: Sequence[CodedMentions], principal: Callable[[], pl.Series], batch: int = 0) -> None:
        """`both` are what is measured and, last, what D consists of; `principal` returns the code of the entity of each
        annotation that counts."""
        self._both = both
        self._principal = principal
        self._batch = batch
        self._counted: dict[str, pl.DataFrame] = {}

    @cached_property
    def forms(self) -> pl.DataFrame:
        """Return form_code, scope and key, in the order of the codes."""
        columns = ["form_code", "scope", "key"]
        return by_number(pl.concat([one.keyed.select(columns) for one in self._both]), "form_code")

    @cached_property
    def entities(self) -> pl.DataFrame:
        """Return entity_code, scope, entity and target_code, in the order of the codes."""
        columns = ["entity_code", "scope", "entity", "target_code"]
        return by_number(pl.concat([one.linked.select(columns) for one in self._both]), "entity_code")

    @cached_property
    def targets(self) -> pl.DataFrame:
        """Return linked, entity, target_code and link_code, in the order of the last."""
        return by_number(pl.concat([one.targets for one in self._both]), "link_code")

    @cached_property
    def links(self) -> pl.DataFrame:
        """Return form_code and entity_code of D; what is linked without a text has no form."""
        return self._both[-1].linked.select("form_code", "entity_code").drop_nulls().unique()

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """Return form_code and entity_code of D and of what is measured."""
        if len(self._both) == 1:
            return self.links
        return pl.concat([one.linked.select("form_code", "entity_code") for one in self._both]).unique()

    @cached_property
    def meanings(self) -> pl.DataFrame:
        """Return form_code, entity_code and `count`: how many annotations of D link the form to the entity."""
        links = self._both[-1].linked.select("form_code", "entity_code")
        return links.group_by("form_code", "entity_code").agg(count=pl.len().cast(pl.Int64))

    @cached_property
    def uses(self) -> pl.DataFrame:
        """Return form_code and `count`: how many annotations of D have the form, those that are NIL too."""
        return self._both[-1].keyed.group_by("form_code").agg(count=pl.len().cast(pl.Int64))

    @property
    def counts(self) -> dict[str, pl.DataFrame]:
        """Return by column what `count` returns."""
        return {column: self.count(column) for column in (*CODE_OF, *DISTRIBUTED)}

    def count(self, column: str) -> pl.DataFrame:
        """Return how often each value comes, of key and entity the code, with the first batch that has it."""
        if column in self._counted:
            return self._counted[column]
        if column in DISTRIBUTED:
            values = self._both[0].counted_documents[column]
        else:
            values = self._both[0].keyed["form_code"] if column == "key" else self._principal()
            values = values.alias(CODE_OF[column])
        first, count = pl.lit(self._batch, pl.Int64).alias("batch"), pl.len().cast(pl.Int64).alias("count")
        counted = self._counted[column] = values.to_frame().group_by(values.name).agg(first, count)
        return counted


@dataclass(frozen=True)
class GatheredSets:
    """The sets of one or several parts, without the parts; see `OwnSets`."""

    forms: pl.DataFrame
    entities: pl.DataFrame
    targets: pl.DataFrame
    links: pl.DataFrame
    pairs: pl.DataFrame
    meanings: pl.DataFrame
    uses: pl.DataFrame
    counts: dict[str, pl.DataFrame]

    def count(self, column: str) -> pl.DataFrame:
        """Return how often each value of a column comes; see `OwnSets.count`."""
        return self.counts[column]


Sets = OwnSets | GatheredSets


def gather_sets(sets: OwnSets) -> GatheredSets:
    """Return the sets of a part, all of them made, so that the part itself need not stay in memory."""
    sizes = (sets.meanings, sets.uses, sets.counts)
    return GatheredSets(sets.forms, sets.entities, sets.targets, sets.links, sets.pairs, *sizes)


def merge_sets(parts: Sequence[Sets]) -> GatheredSets:
    """Return the sets of several parts, which have the same codes, given in the order of the parts."""

    def merge_counts(column: str) -> pl.DataFrame:
        rows = pl.concat([sets.counts[column] for sets in parts])
        return rows.group_by(rows.columns[0]).agg(pl.col("batch").min(), pl.col("count").sum())

    return GatheredSets(
        forms=by_number(pl.concat([sets.forms for sets in parts]), "form_code"),
        entities=by_number(pl.concat([sets.entities for sets in parts]), "entity_code"),
        targets=by_number(pl.concat([sets.targets for sets in parts]), "link_code"),
        links=pl.concat([sets.links for sets in parts]).unique(),
        pairs=pl.concat([sets.pairs for sets in parts]).unique(),
        meanings=_add_up([sets.meanings for sets in parts]),
        uses=_add_up([sets.uses for sets in parts]),
        counts={column: merge_counts(column) for column in parts[0].counts},
    )


def _add_up(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    rows = pl.concat(parts)
    return rows.group_by(pl.exclude("count")).agg(pl.col("count").sum())


class Whole:
    """What the knowledge base says of the sets of a dataset; parts that are measured in threads may share it."""

    def __init__(self, sets: Sets, basis: Basis) -> None:
        self.sets = sets
        self.basis = basis
        self.kb = basis.kb
        self.lock = RLock()
        self._entities_found: pl.DataFrame | None = None

    def ask(self) -> None:
        """Ask the knowledge base for the entities and for the names at the same time: neither waits for the other."""
        with ThreadPoolExecutor(1) as other:
            # The lock would make them wait.
            known = other.submit(self._known_entities)
            self._pairs  # noqa: B018 - a cached property
            self._entities_found = known.result()

    @shared_property
    def targets(self) -> pl.DataFrame:
        """Return target_code and entity, in the order of the codes."""
        return by_number(self.sets.targets.select("target_code", "entity"), "target_code")

    @shared_property
    def forms(self) -> pl.DataFrame:
        """Return form_code, scope, key and name_code, in the order of the codes."""
        forms = self.sets.forms
        return forms.with_columns(name_code=distinct(forms["key"])[1])

    @shared_property
    def entities(self) -> pl.DataFrame:
        """Return what the knowledge base knows of the targets (`ENTITIES`), in the order of their codes."""
        return self._known_entities() if self._entities_found is None else self._entities_found

    def _known_entities(self) -> pl.DataFrame:
        targets = by_number(self.sets.targets.select("target_code", "entity"), "target_code")
        if self.kb is None:
            return pl.DataFrame(schema=ENTITIES).clear(targets.height)
        known = self.kb.find("entities", "entity", targets["entity"], ENTITIES)
        return take_rows(known.drop("place").cast(ENTITIES), places_of(known["place"], targets.height))

    @shared_property
    def statuses(self) -> pl.Series:
        """Return the status of each link, in the order of the codes; all are unknown without a knowledge base."""
        if self.kb is None:
            return self.sets.targets.select(status=pl.lit("unknown")).to_series()
        known = self.kb.link_status(self.sets.targets["linked"]).rename({"iri": "linked"})
        return self.sets.targets.join(known, on="linked", how="left", maintain_order="left")["status"]

    @shared_property
    def classes(self) -> pl.DataFrame:
        """Return target_code and class of the targets, as the knowledge base has them."""
        if self.kb is None:
            return pl.DataFrame(schema={"target_code": pl.UInt32, "class": pl.String})
        known = self.kb.find("types", "number", self.entities["number"], ["class"])
        return known.select(self.targets["target_code"].gather(known["place"]), "class")

    @shared_property
    def class_flags(self) -> pl.DataFrame:
        """Return of which coarse classes each target is; see `remix.measures.classes.class_flags`."""
        return class_flags(self.classes, "target_code", self.targets.height)

    @shared_property
    def labels(self) -> pl.Series:
        """Return the primary label of each target as keys are written, else its title, in the order of their codes."""
        title = self.targets["entity"].str.extract(_TITLE).str.replace(r"_\([^)]*\)$", "")
        label = pl.coalesce(self._known_labels(), title)
        return pl.select(normalise(label, case_sensitive=self.basis.case_sensitive)).to_series()

    def _known_labels(self) -> pl.Series:
        if self.kb is None:
            return pl.repeat(None, self.targets.height, dtype=pl.String, eager=True)
        known = self.kb.find("entities", "number", self.entities["number"], ["label"])
        return take_rows(known.select("label"), places_of(known["place"], self.targets.height)).to_series()

    # Names ---------------------------------------------------------------------------------------------------------

    @shared_property
    def _pairs(self) -> pl.DataFrame:
        """Return W_E: name_code, number of the entity, count of the pair and PageRank of the entity."""
        if self.kb is None:
            return pl.DataFrame(schema=_PAIRS)
        names = by_number(self.forms, "name_code")
        columns = list(_PAIRS)[1:]
        found = self.kb.find_pairs(names["key"], columns)
        return found.select(names["name_code"].gather(found["place"]), *columns).cast(_PAIRS)

    @shared_property
    def dictionary(self) -> pl.DataFrame:
        """Return W_E for the names: name_code, number, count, pagerank, and target_code if linked."""
        linked = self.targets.select("target_code", self.entities["number"])
        return self._pairs.join(linked, on="number", how="left", maintain_order="left")

    @shared_property
    def known_pairs(self) -> pl.DataFrame:
        """Return form_code and entity_code of the links whose entity is among the dictionary's for the form."""
        codes = ["name_code", "target_code"]
        pairs = self.sets.pairs
        names = self.forms["name_code"].gather(pairs["form_code"])
        targets = self.sets.entities["target_code"].gather(pairs["entity_code"])
        known = pairs.with_columns(names, targets).join(
            self.dictionary.select(codes).drop_nulls(), on=codes, how="semi"
        )
        return known.select("form_code", "entity_code")

    @shared_property
    def candidates(self) -> pl.DataFrame:
        """Return the dictionary with total, prior and rank of every candidate; see `_rank_pairs`."""
        return _rank_pairs(self.dictionary)

    @shared_property
    def linked_candidates(self) -> pl.DataFrame:
        """Return the candidates that are linked: pair (codes of name and target as one), prior, rank, first; sorted."""
        linked = self.candidates.drop_nulls("target_code")
        return linked.select(pair_codes(linked, "name_code", "target_code"), "prior", "rank", "first").sort("pair")

    @shared_property
    def totals(self) -> pl.Series:
        """Return the sum of the counts of each name that has candidates, others null, in the order of their codes."""
        names = self.forms.select(pl.col("name_code").unique().sort())
        totals = self.candidates.group_by("name_code").agg(pl.col("total").first())
        return names.join(totals, on="name_code", how="left", maintain_order="left")["total"]

    @shared_property
    def names_of_places(self) -> pl.Series:
        """Return for each name, in the order of the codes, whether a candidate that ranks first is a place."""
        names = len(self.totals)
        if self.kb is None:
            return among(pl.Series([], dtype=pl.UInt32), names)
        places = pl.col("class").is_in(classes_for("place").implode())
        first = self.candidates.filter(pl.col("rank") == 1).select("name_code", "number")
        located = self.kb.scan("types").filter(places).select("number").collect()
        return among(first.join(located.cast(pl.UInt32), on="number", how="semi")["name_code"], names)

    @shared_property
    def demonyms(self) -> pl.Series:
        """Return whether each name is a demonym of a place, null where none are known, in the order of their codes."""
        names = by_number(self.forms, "name_code")["key"]
        return self.kb.are_demonyms(names) if self.kb else pl.repeat(None, len(names), dtype=pl.Boolean, eager=True)

    # Sizes of sets -------------------------------------------------------------------------------------------------

    @shared_property
    def form_sizes(self) -> pl.DataFrame:
        """Return how many entities each form has in W, in D, in both and in either, in the order of the form codes."""
        names = self.dictionary.group_by("name_code").agg(w_entities=pl.len().cast(pl.Int64))
        w = self.forms.select("form_code", "name_code").join(names, on="name_code").drop("name_code")
        return self._sizes(w, self.forms, "form_code", "entities")

    @shared_property
    def entity_sizes(self) -> pl.DataFrame:
        """Return how many forms each entity has in W, in D, in both and in either, in the order of the entity codes."""
        if self.kb is None or self.kb.as_built:
            counts = self.targets.select("target_code", self.entities["forms"])
        else:
            counts = self.targets.join(self.kb.form_counts(self.targets["entity"]), on="entity")
        w = self.sets.entities.join(counts, on="target_code").select("entity_code", w_forms="forms")
        return self._sizes(w, self.sets.entities, "entity_code", "forms")

    def _sizes(self, w: pl.DataFrame, members: pl.DataFrame, code: str, what: str) -> pl.DataFrame:
        """Return the sizes of the sets of each member, a form or an entity with its code; those of W are given."""
        used = self.sets.links
        both = used.join(self.known_pairs, on=["form_code", "entity_code"], how="semi")
        sizes = members.select(code).join(w, on=code, how="left", maintain_order="left")
        for name, pairs in (("d", used), ("common", both)):
            counted = pairs.group_by(code).agg(pl.len().cast(pl.Int64).alias(f"{name}_{what}"))
            sizes = sizes.join(counted, on=code, how="left", maintain_order="left")
        union = pl.col(f"w_{what}") + pl.col(f"d_{what}") - pl.col(f"common_{what}")
        return sizes.drop(code).fill_null(0).with_columns(union.alias(f"union_{what}"))

    # How often forms and entities come -----------------------------------------------------------------------------

    @shared_property
    def form_frequencies(self) -> pl.DataFrame:
        """Return `form_frequency` and `form_entropy` of each form in D, in the order of the form codes.

        The entropy is that of the entities that annotations of the form are linked to, in bits; null without any.
        """
        shares = (pl.col("count") / pl.col("count").sum()).sort()
        of_links = (
            self.sets.meanings.drop_nulls().group_by("form_code").agg(form_entropy=-(shares * shares.log(2)).sum())
        )
        rows = self.sets.forms.select("form_code").join(
            self.sets.uses.rename({"count": "form_frequency"}), on="form_code", how="left", maintain_order="left"
        )
        rows = rows.join(of_links, on="form_code", how="left", maintain_order="left")
        # What is certain has no entropy of -0.
        return rows.select("form_frequency", pl.col("form_entropy").abs())

    @shared_property
    def entity_frequencies(self) -> pl.Series:
        """Return how many links of D mean each entity, in the order of the entity codes."""
        counted = self.sets.meanings.group_by("entity_code").agg(pl.col("count").sum().alias("entity_frequency"))
        codes = self.sets.entities.select("entity_code")
        return codes.join(counted, on="entity_code", how="left", maintain_order="left")["entity_frequency"]

    @shared_property
    def meaning_ranks(self) -> pl.DataFrame:
        """Return `pair` (codes of form and entity as one) and `rank` of each link of D, sorted by pair.

        The entity that most annotations of the form are linked to ranks first; equals share the better rank.
        """
        meanings = self.sets.meanings.drop_nulls()
        rank = pl.col("count").rank("min", descending=True).over("form_code").cast(pl.Int64)
        return meanings.select(pair_codes(meanings, "form_code", "entity_code"), rank.alias("rank")).sort("pair")

    # What only the whole can tell ----------------------------------------------------------------------------------

    def percentiles(self, column: str) -> pl.DataFrame:
        """Return each value of a column with its percentile: a size of a set, or a number that documents have."""
        if column in DISTRIBUTED:
            return percentiles_of(column, self.sets.count(column))
        side, sizes = ("key", self.form_sizes) if column.endswith("_entities") else ("entity", self.entity_sizes)
        counts = self.sets.count(side).drop_nulls()
        sized = counts.select("count", sizes[column].gather(counts[CODE_OF[side]]).fill_null(0))
        return percentiles_of(column, sized.group_by(column).agg(pl.col("count").sum()))

    @shared_property
    def batches(self) -> dict[str, pl.Series]:
        """Return in which batch each form, and each entity of an annotation, comes first, in the order of the codes."""
        codes = {"key": self.sets.forms, "entity": self.sets.entities}
        return {
            column: codes[column]
            .select(code)
            .join(self.sets.count(column), on=code, how="left", maintain_order="left")["batch"]
            for column, code in CODE_OF.items()
        }


def percentiles_of(column: str, counts: pl.DataFrame) -> pl.DataFrame:
    """Return each value of a column with its `percentile`, given how often it comes (`count`).

    That is the share of all values that are smaller, in percent, and half of those that are equal.

    >>> percentiles_of("x", pl.DataFrame({"x": [5, 1], "count": [2, 1]}))["x_percentile"].round(1).to_list()
    [66.7, 16.7]
    """
    middle = pl.col("count").cum_sum(reverse=True) - pl.col("count") / 2
    ordered = counts.drop_nulls(column).sort(column, descending=True)
    placed = (100 * middle / pl.col("count").sum()).round(10).alias(f"{column}_percentile")
    return ordered.select(column, placed)


def _rank_pairs(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return name_code, count, PageRank and more of pairs, with total, prior and rank among those of the name.

    More counts rank first, then a higher PageRank; equals share the better rank. `first` says whether none has a larger
    prior, or without any counts a higher rank. Ranks are taken from the order of the
    rows: window functions over many small groups take many times longer.
    """
    order = ["name_code", "count", "pagerank"]
    place = pl.int_range(pl.len(), dtype=pl.Int64)
    new_name, *new_value = (pl.col(column).ne_missing(pl.col(column).shift()) for column in order)
    first = pl.when(new_name).then(place).forward_fill()
    totals = pairs.group_by("name_code").agg(total=pl.col("count").sum())
    rows = pairs.join(totals, on="name_code", how="left", maintain_order="left").with_columns(
        pl.col("count").fill_null(0), pl.col("pagerank").fill_null(0.0)
    )
    if not _in_order(rows):
        rows = rows.sort(order, descending=[False, True, True])
    rank = pl.when(pl.any_horizontal(new_name, *new_value)).then(place).forward_fill() - first + 1
    largest = pl.when(new_name).then("count").forward_fill()
    return rows.with_columns(
        prior=pl.when(pl.col("total") > 0).then(pl.col("count") / pl.col("total")),
        rank=rank,
        first=pl.when(pl.col("total") > 0).then(pl.col("count") == largest).otherwise(rank == 1),
    )


def _in_order(rows: pl.DataFrame) -> bool:
    """Return whether the rows of each name stand together, those that rank first before others."""
    name, count, score = (pl.col(column) for column in ("name_code", "count", "pagerank"))
    begins = name.ne_missing(name.shift())
    later = (count < count.shift()) | ((count == count.shift()) & (score <= score.shift()))
    found = rows.select(sorted=(begins | later).all(), together=begins.sum() == name.n_unique())
    return all(found.row(0))
