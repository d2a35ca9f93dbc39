"""The knowledge base as it is asked: names, links and types of entities, read from Parquet when first needed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from remix.errors import MissingKnowledge, StoreError
from remix.iris import canonical
from remix.kb.forms import normalise
from remix.kb.naming import link_status, names, superclasses
from remix.kb.parts import FEW, FORMAT, SORTED_BY, found, matched
from remix.kb.placing import placement
from remix.kb.source_names import GOLD, matching, named

if TYPE_CHECKING:
    import networkx

__all__ = ["KnowledgeBase"]

_EMPTY: dict[str, dict[str, pl.DataType]] = {
    "subclasses": {"class": pl.String(), "parent": pl.String(), "source": pl.String()}
}
"""Parts that a knowledge base may lack."""

_WITH_SOURCES = ("surface_forms", "types")
"""Parts of which rows may be left out by their source."""


class KnowledgeBase:
    """A dictionary of surface forms with prominence, types, redirects and sameAs of its entities.

    The frames are read from the folder when they are first needed; `scan` filters a part without reading it all.
    """

    def __init__(self, folder: Path, described: dict[str, Any]) -> None:
        self.folder = folder
        self.described = described
        self.name: str = described["name"]
        self.version: str = described["version"]
        self.complete: bool = described["complete"]
        self.left_out: tuple[str, ...] = ()
        self.keeps_gold = False
        self.case_sensitive = False
        self._scans: dict[str, pl.LazyFrame] = {}

    @classmethod
    def open(cls, folder: Path) -> KnowledgeBase:
        """Return the knowledge base of a folder; raises `MissingKnowledge` where there is none, or one of old."""
        try:
            described = json.loads((folder / "kb.json").read_text(encoding="utf-8"))
            kb = cls(folder, described)
        except (OSError, ValueError, KeyError, TypeError):
            raise MissingKnowledge(
                f"{folder} holds no knowledge base: build one with `remix kb build --from tables DIR`"
            ) from None
        if described.get("format") != FORMAT:
            raise MissingKnowledge(f"{folder} holds a knowledge base of another version of remix: build it again")
        return kb

    def __repr__(self) -> str:
        return f"KnowledgeBase({self.signature!r})"

    @property
    def signature(self) -> str:
        """Return name and version, what is left out of it, and whether it keeps gold (`keeping_gold`) and case."""
        more = "".join(f"-{pattern}" for pattern in self.left_out)
        gold = "+gold" if self.keeps_gold else ""
        case = "+case" if self.case_sensitive else ""
        return f"{self.name}@{self.version[:12]}{more}{gold}{case}"

    def summary(self) -> pl.DataFrame:
        """Return what and value: name, version, choices and numbers of rows."""
        rows: dict[str, str] = {"name": self.name, "version": self.version[:12], "folder": str(self.folder)}
        rows["complete"] = "yes" if self.complete else "no"
        rows["without sources"] = ", ".join(self.described["without_sources"]) or "none left out"
        for choice in ("languages", "uncounted", "scores", "prominence", "damping", "tolerance"):
            if value := self.described.get(choice):
                rows[choice] = ", ".join(value) if isinstance(value, list | tuple) else f"{value}"
        rows["circular redirects"] = str(self.described["circular_redirects"]["count"])
        if unknown := self.described.get("unknown_link_targets"):
            rows["unknown link targets"] = str(unknown["count"])
        files = (file for file in self.folder.rglob("*.parquet") if file.is_file())  # parts may be folders
        rows["megabytes"] = f"{sum(file.stat().st_size for file in files) / 1e6:.1f}"
        rows |= {part.replace("_", " "): str(count) for part, count in self.described["rows"].items()}
        return pl.DataFrame({"what": list(rows), "value": list(rows.values())})

    def has(self, part: str) -> bool:
        """Return whether the knowledge base was built with a part."""
        return (self.folder / f"{part}.parquet").exists()

    def scan(self, part: str) -> pl.LazyFrame:
        """Return a part as a lazy frame, so that filters on sorted columns read only what they need.

        Raises `StoreError` where the part is gone or damaged.
        """
        rows = self._scanned(part)
        if part == "surface_forms" and self.case_sensitive:
            rows = rows.with_columns(key=normalise(pl.col("surface_form"), case_sensitive=True))
        if self.left_out and part in _WITH_SOURCES:
            rows = rows.filter(~matching(pl.col("source"), self.left_out, self._sources))
        if part == "entities":
            rows = self._placed(rows)
        return rows

    def _scanned(self, part: str) -> pl.LazyFrame:
        # A lazy frame remembers the footer of its file, which takes longer to read than a row group.
        if part not in self._scans:
            file = self.folder / f"{part}.parquet"
            if not file.exists() and part in _EMPTY:
                return pl.LazyFrame(schema=_EMPTY[part])
            if not file.exists():
                raise StoreError(f"{file} is gone: build the knowledge base '{self.name}' again")
            rows = pl.scan_parquet(file)
            if part in SORTED_BY:
                rows = rows.set_sorted(SORTED_BY[part])
            try:
                rows.collect_schema()
            except (OSError, pl.exceptions.PolarsError):
                raise StoreError(f"{file} is damaged: build the knowledge base '{self.name}' again") from None
            self._scans[part] = rows
        rows = self._scans[part]
        # What is known through gold alone is unknown without it.
        return rows.filter(~pl.col("of_gold")) if part == "entities" and self._without_gold else rows

    @property
    def _sources(self) -> list[str]:
        return sorted({*self.described["form_sources"], *self.described["type_sources"]})

    @property
    def _without_gold(self) -> bool:
        gold = named(self._sources, GOLD)
        return bool(gold) and set(gold) <= set(named(self._sources, self.left_out))

    def rows(self, part: str, column: str, values: pl.Series, select: Iterable[str] = ()) -> pl.DataFrame:
        """Return the rows of a part whose column has one of the values, by default with all columns, in any order.

        A few values in the column that the part is sorted by take milliseconds whatever its size.
        """
        names = [*select] or self.scan(part).collect_schema().names()
        asked = values.drop_nulls().unique()
        if len(asked) > FEW and self._sorted(part, column):
            return self.found(part, column, asked, names).drop("place")
        return matched(self.scan(part), column, asked, names)

    def found(self, part: str, column: str, values: pl.Series, select: Iterable[str]) -> pl.DataFrame:
        """Return columns of the rows of a part whose column has one of the values, with `place`, that of the value.

        The values all differ, and the part is sorted by the column (`SORTED_BY`); the rows are in any order.
        """
        names = [*select]
        if part != "entities":
            return found(self.scan(part), column, values, names)
        # What follows from a rank is computed for the rows that are found alone.
        rows = found(self._scanned(part), column, values, dict.fromkeys(one for name in names for one in _kept(name)))
        return self._placed(rows.lazy()).select("place", *names).collect()

    def _placed(self, entities: pl.LazyFrame) -> pl.LazyFrame:
        """Return entities with percentile and segment of each score whose rank and equals are among the columns."""
        columns = entities.collect_schema().names()
        return entities.with_columns(
            place
            for score, count in self.described["scored"].items()
            if f"{score}_equal" in columns
            for place in placement(score, pl.lit(count))
        )

    def _sorted(self, part: str, column: str) -> bool:
        """Return whether the rows of a part lie sorted by a column, all of those that are asked for."""
        if part == "surface_forms" and self.case_sensitive:
            return False
        filtered = self.left_out and part in _WITH_SOURCES
        return SORTED_BY.get(part) == column and not filtered

    def to_networkx(self) -> networkx.DiGraph:
        """Return the link graph as one of networkx, for small ones; nodes are entities, edges fold redirects.

        Raises `MissingKnowledge` where the knowledge base was built without links, `Error` without networkx.
        """
        if not self.has("links"):
            raise MissingKnowledge(f"the knowledge base '{self.name}' keeps no links: build it from sources with links")
        from remix.kb.graph import named_edges, to_networkx

        return to_networkx(named_edges(self.folder / "entities.parquet", self.folder / "links.parquet"))

    @property
    def as_built(self) -> bool:
        """Return whether the dictionary is asked as it was built."""
        return not self.left_out and not self.case_sensitive

    @property
    def form_sources(self) -> list[str]:
        """Return the sources of the dictionary's rows, sorted, without those that are left out."""
        every: list[str] = self.described["form_sources"]
        left_out = named(every, self.left_out)
        return [source for source in every if source not in left_out]

    @cached_property
    def surface_forms(self) -> pl.DataFrame:
        """Return key (the normalised form), surface_form, entity, count and source; sorted by key and entity."""
        return self.scan("surface_forms").collect()

    @cached_property
    def entities(self) -> pl.DataFrame:
        """Return entity, label, forms, pagerank, hits and hub, each with its _rank, _percentile and _segment."""
        return self.scan("entities").collect()

    @cached_property
    def types(self) -> pl.DataFrame:
        """Return entity, class and source."""
        return self.scan("types").collect()

    @cached_property
    def redirects(self) -> pl.DataFrame:
        """Return redirect and target, the last one of a chain."""
        return self.scan("redirects").collect()

    @cached_property
    def sameas(self) -> pl.DataFrame:
        """Return wikidata and entity."""
        return self.scan("sameas").collect()

    @cached_property
    def disambiguations(self) -> pl.DataFrame:
        """Return page and entity: which entities a disambiguation page lists."""
        return self.scan("disambiguations").collect()

    @cached_property
    def resolution(self) -> pl.DataFrame:
        """Return iri and entity for every IRI that stands for another entity."""
        return self.scan("resolution").collect()

    def resolve(self, entities: pl.Series) -> pl.Series:
        """Return what each entity stands for: in canonical form, redirects and sameAs links followed."""
        forms = canonical(entities).alias("iri").to_frame()
        stands_for = self.rows("resolution", "iri", forms["iri"])
        found = forms.join(stands_for, on="iri", how="left", maintain_order="left")
        return found.select(pl.coalesce("entity", "iri").alias(entities.name)).to_series()

    def link_status(self, iris: pl.Series) -> pl.DataFrame:
        """Return iri and status of each distinct IRI in canonical form; see `remix.kb.naming.link_status`."""
        return link_status(self, iris)

    def names(self, iris: pl.Series) -> pl.DataFrame:
        """Return iri, canonical, status, dbpedia, wikipedia and wikidata; see `remix.kb.naming.names`."""
        return names(self, iris)

    def superclasses(self, classes: pl.Series) -> pl.DataFrame:
        """Return class and superclass, direct and indirect; see `remix.kb.naming.superclasses`."""
        return superclasses(self.scan("subclasses"), classes)

    def normalise(self, form: pl.Expr) -> pl.Expr:
        """Return the form as the keys of this knowledge base are written."""
        return normalise(form, case_sensitive=self.case_sensitive)

    def candidates(self, forms: pl.DataFrame) -> pl.DataFrame:
        """Return the candidates of each distinct form: form, entity, count, pagerank, prior and rank.

        `forms` has a column form. Sorted by form, then by rank: more counts first, then higher PageRank; equals
        share the better rank and follow by name. The prior is the share of the form's counts, null where the
        dictionary has no counts for the form.
        """
        asked = forms.select("form").drop_nulls().unique().with_columns(key=self.normalise(pl.col("form")))
        total = pl.col("count").sum().over("key")
        place = pl.struct(-pl.col("count").fill_null(0), -pl.col("pagerank").fill_null(0.0))
        ranked = self.pairs(asked["key"]).with_columns(
            prior=pl.when(total > 0).then(pl.col("count").fill_null(0) / total),
            rank=place.rank("min").over("key").cast(pl.Int64),
        )
        return (
            asked.join(ranked, on="key")
            .select("form", "entity", "count", "pagerank", "prior", "rank")
            .sort("form", "rank", "entity")
        )

    def pairs(self, keys: pl.Series) -> pl.DataFrame:
        """Return key, entity, count and pagerank of the dictionary's pairs with these keys, in any order.

        The count is summed over the sources that count, null where none does.
        """
        if self.as_built:
            return self.rows("dictionary", "key", keys, ["key", "entity", "count", "pagerank"])
        pairs = _summed(self.rows("surface_forms", "key", keys, ["key", "entity", "count"]))
        scores = self.rows("entities", "entity", pairs["entity"], ["entity", "pagerank"])
        return pairs.join(scores, on="entity", how="left")

    def numbered_pairs(self, keys: pl.Series) -> pl.DataFrame:
        """Return place, that of the key among these, and number, count and pagerank of the pairs with the keys.

        The keys all differ. A number is the place of an entity in the part `entities`.
        """
        columns = ["number", "count", "pagerank"]
        if self.as_built:
            return self.found("dictionary", "key", keys, columns)
        places = pl.DataFrame({"key": keys}).with_row_index("place").drop_nulls()
        pairs = _summed(self.rows("surface_forms", "key", keys, ["key", "entity", "count"])).join(places, on="key")
        scores = self.rows("entities", "entity", pairs["entity"], ["entity", "number", "pagerank"])
        return pairs.join(scores, on="entity", how="left").select("place", *columns)

    def pairs_of(self, entities: pl.Series) -> pl.DataFrame:
        """Return key, entity and count of the dictionary's pairs with these entities, in any order."""
        columns = ["key", "entity", "count"]
        if self.as_built:
            return self.rows("dictionary_by_entity", "entity", entities, columns)
        return _summed(self.rows("surface_forms", "entity", entities, columns))

    def form_counts(self, entities: pl.Series) -> pl.DataFrame:
        """Return entity and forms: how many keys the dictionary has for each of the entities that has any."""
        if self.as_built:
            return self.rows("entities", "entity", entities, ["entity", "forms"]).filter(pl.col("forms") > 0)
        return self.pairs_of(entities).group_by("entity").agg(forms=pl.len().cast(pl.Int64))

    def without_sources(self, patterns: Iterable[str]) -> KnowledgeBase:
        """Return it without the dictionary and type rows whose source matches a pattern such as 'names*'.

        A pattern that no source matches leaves it as it is.
        """
        fewer = KnowledgeBase(self.folder, self.described)
        matched = {pattern for pattern in patterns if named(self._sources, [pattern])}
        fewer.left_out = tuple(sorted({*self.left_out, *matched}))
        fewer.keeps_gold, fewer.case_sensitive = self.keeps_gold, self.case_sensitive
        fewer._scans = self._scans
        return fewer

    def without_gold(self) -> KnowledgeBase:
        """Return it as measures see it: without what was derived from gold, unless that is kept (`keeping_gold`)."""
        return self if self.keeps_gold else self.without_sources(GOLD)

    def keeping_gold(self) -> KnowledgeBase:
        """Return it with what was derived from gold also where it measures gold, which makes measures circular."""
        other = self.without_sources(())
        other.keeps_gold = bool(named(self._sources, GOLD))
        return other

    def keeping_case(self) -> KnowledgeBase:
        """Return it with forms compared as they are written, not casefolded."""
        other = self.without_sources(())
        other.case_sensitive = True
        return other


def _kept(column: str) -> list[str]:
    """Return the columns of entities on disk that a column is made of: percentile and segment follow from the rank."""
    score, place, _ = re.sub("_(percentile|segment)$", "\n", column).partition("\n")
    return [f"{score}_rank", f"{score}_equal"] if place else [column]


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    count = pl.when(pl.col("count").count() > 0).then(pl.col("count").sum())
    return rows.group_by("key", "entity").agg(count)
