"""The knowledge base as it is asked: names, links, types and candidates of entities."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.expressions import fill
from remix.frames import Annotations
from remix.iris import canonical, expand
from remix.kb.forms import normalise
from remix.kb.parts import GOLD, Parts, match_sources
from remix.kb.titles import ITEM, RESOURCE, language_of

if TYPE_CHECKING:
    import networkx

STATUS = ("canonical", "redirect", "disambiguation", "unknown")
"""What a link may be, from the healthiest to the worst."""

_TESTS = (
    ("disambiguation", "disambiguations", "page"),
    ("redirect", "redirects", "redirect"),
    ("canonical", "entities", "entity"),
    ("canonical", "sameas", "wikidata"),
)
"""Status, part and column that says so; the first that holds counts."""


class KnowledgeBase(Parts):
    """A dictionary of surface forms with prominence, types, redirects and sameAs of its entities.

    `rows`, `find` and `scan` ask a part for what is needed; the properties read a whole part.
    """

    @cached_property
    def _views(self) -> dict[str, KnowledgeBase]:
        return {}

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

    @property
    def as_built(self) -> bool:
        """Return whether the dictionary is asked as it was built."""
        return not self.left_out and not self.case_sensitive

    @property
    def form_sources(self) -> list[str]:
        """Return the sources of the dictionary's rows, sorted, without those that are left out."""
        every: list[str] = self.described["form_sources"]
        left_out = match_sources(every, self.left_out)
        return [source for source in every if source not in left_out]

    @cached_property
    def surface_forms(self) -> pl.DataFrame:
        """Return key (the normalised form), surface_form, entity, count and source; sorted by key and entity."""
        return self.scan("surface_forms").collect()

    @cached_property
    def form_keys(self) -> pl.DataFrame:
        """Return key: the normalised forms that the dictionary has, each once."""
        return self.surface_forms.select("key").unique()

    @cached_property
    def entities(self) -> pl.DataFrame:
        """Return entity, label, forms, pagerank, hits and hub, each with its _rank, _percentile and _segment."""
        return self.scan("entities").collect()

    @cached_property
    def types(self) -> pl.DataFrame:
        """Return entity, class and source."""
        return self.scan("types").collect()

    def resolve(self, entities: pl.Series) -> pl.Series:
        """Return what each entity stands for: in canonical form, redirects and sameAs links followed."""
        forms = canonical(entities).alias("iri").to_frame()
        stands_for = self.rows("resolution", "iri", forms["iri"])
        found = forms.join(stands_for, on="iri", how="left", maintain_order="left")
        return found.select(pl.coalesce("entity", "iri").alias(entities.name)).to_series()

    def link_status(self, iris: pl.Series) -> pl.DataFrame:
        """Return iri and status of each distinct IRI, which is in canonical form.

        A link is a disambiguation page, a redirect, an entity of the knowledge base or a Wikidata item that is the same
        as one ('canonical'), or 'unknown', in this order. After Hachey, Nothman, Radford: Cheap and easy entity
        evaluation, ACL 2014.
        """
        asked = iris.drop_nulls().unique().sort().alias("iri").to_frame()
        found = [
            self.rows(part, column, asked["iri"], [column]).select(iri=column, place=pl.lit(place, pl.Int8))
            for place, (_, part, column) in enumerate(_TESTS)
        ]
        first = pl.concat(found).group_by("iri").agg(pl.col("place").min())
        status = pl.col("place").replace_strict(dict(enumerate(test[0] for test in _TESTS)), return_dtype=pl.String)
        joined = asked.join(first, on="iri", how="left", maintain_order="left")
        return joined.select("iri", status=status.fill_null("unknown"))

    def names(self, iris: pl.Series) -> pl.DataFrame:
        """Return iri, canonical, status, dbpedia, wikipedia and wikidata: a row for each IRI, in their order.

        The IRIs may be written in any way: of a DBpedia or a Wikipedia of any language, of Wikidata, with http or
        https, percent-encoded, or with a well-known prefix. `canonical` is the entity that the IRI stands for after
        redirects and sameAs links; the three names are its own, null where it has none: the Wikipedia article is the
        one that the DBpedia resource is about, of several Wikidata items the one with the lowest number is taken.
        `status` is that of the IRI as given (see `link_status`). A null is answered with nulls.
        """
        iris = iris.cast(pl.String)
        asked = pl.DataFrame({"iri": iris}).with_columns(form=canonical(expand(iris)))
        asked = asked.with_columns(canonical=self.resolve(asked["form"]))
        status = self.link_status(asked["form"]).rename({"iri": "form"})
        items = (
            self.aliases(asked["canonical"])
            .filter(pl.col("iri").str.contains(ITEM))
            .sort(pl.col("iri").str.extract("([0-9]+)$").cast(pl.Int64))
            .group_by("entity", maintain_order=True)
            .agg(item=pl.col("iri").first())
        )
        entity, language = pl.col("canonical"), language_of(pl.col("canonical"))
        article = fill("https://{}.wikipedia.org/wiki/{}", language, entity.str.replace(RESOURCE, ""))
        return (
            asked.join(status, on="form", how="left", maintain_order="left")
            .join(items, left_on="canonical", right_on="entity", how="left", maintain_order="left")
            .select(
                "iri",
                "canonical",
                "status",
                dbpedia=pl.when(language.is_not_null()).then(entity),
                wikipedia=article,
                wikidata=pl.when(entity.str.contains(ITEM)).then(entity).otherwise("item"),
            )
        )

    def aliases(self, entities: pl.Series) -> pl.DataFrame:
        """Return iri and entity of every IRI that stands for one of the entities, sorted by both."""
        return self.rows("resolution_by_entity", "entity", entities, ["iri", "entity"]).sort("entity", "iri")

    def superclasses(self, classes: pl.Series) -> pl.DataFrame:
        """Return class and superclass for every class above each of these; see `remix.kb.networks.superclasses`."""
        from remix.kb.networks import superclasses

        return superclasses(self.scan("subclasses"), classes)

    def to_networkx(self, of: str = "links") -> networkx.DiGraph:
        """Return a graph of networkx: of the 'links' between entities, or of the 'classes' and those above them.

        See `remix.kb.networks` for nodes and edges, and for what is too large. Raises `MissingKnowledge` where the
        knowledge base was built without links, `UsageError` for another kind of graph.
        """
        from remix.kb.networks import class_graph, link_graph

        graphs = {"links": link_graph, "classes": class_graph}
        if of not in graphs:
            raise UsageError(f"there is no graph of '{of}', but of {' and of '.join(graphs)}")
        return graphs[of](self)

    def candidate_graph(self, annotations: Annotations, document: str | None) -> networkx.DiGraph:
        """Return the annotations of a document, their candidates, and the links between these as a graph of networkx.

        See `remix.kb.networks.candidate_graph`. Raises `UsageError` without a document, `UnknownName` where it has no
        annotations, `MissingKnowledge` as `to_networkx`.
        """
        from remix.kb.networks import candidate_graph

        if document is None:
            raise UsageError("candidates are those of a document: name it by its IRI")
        mentions = annotations.filter(pl.col("document") == document).select("annotation", form="surface_form")
        if mentions.is_empty():
            raise UnknownName("document", document, annotations["document"].unique(), "remix query documents")
        return candidate_graph(mentions.drop_nulls(), self.candidates(mentions), self.to_networkx())

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
        asked = keys.drop_nulls().unique()
        return self.find_pairs(asked, ["key", "entity", "count", "pagerank"]).drop("place")

    def find_pairs(self, keys: pl.Series, select: Iterable[str]) -> pl.DataFrame:
        """Return place, that of the key among these, and columns of `pairs`, or `number`, that of the entity.

        The keys all differ. A number is the place of an entity in the part `entities`.
        """
        if self.as_built:
            return self.find("dictionary", "key", keys, select)
        places = pl.DataFrame({"key": keys}).with_row_index("place")
        pairs = _sum_counts(self.rows("surface_forms", "key", keys, ["key", "entity", "count"])).join(places, on="key")
        scores = self.rows("entities", "entity", pairs["entity"], ["entity", "number", "pagerank"])
        return pairs.join(scores, on="entity", how="left").select("place", *select)

    def pairs_of(self, entities: pl.Series) -> pl.DataFrame:
        """Return key, entity and count of the dictionary's pairs with these entities, in any order."""
        columns = ["key", "entity", "count"]
        if self.as_built:
            return self.rows("dictionary_by_entity", "entity", entities, columns)
        return _sum_counts(self.rows("surface_forms", "entity", entities, columns))

    def form_counts(self, entities: pl.Series) -> pl.DataFrame:
        """Return entity and forms: how many keys the dictionary has for each of the entities that has any."""
        if self.as_built:
            return self.rows("entities", "entity", entities, ["entity", "forms"]).filter(pl.col("forms") > 0)
        return self.pairs_of(entities).group_by("entity").agg(forms=pl.len().cast(pl.Int64))

    def are_demonyms(self, keys: pl.Series) -> pl.Series:
        """Return whether each key is a demonym of a place, as 'dutch'; null where no demonyms are known at all."""
        known = self.rows("demonyms", "key", keys, ["key"])["key"]
        if known.is_empty() and not self.described["rows"].get("demonyms"):
            return pl.repeat(None, len(keys), dtype=pl.Boolean, eager=True)
        return keys.is_in(known.implode())

    def without_sources(self, patterns: Iterable[str]) -> KnowledgeBase:
        """Return it without the dictionary and type rows whose source matches a pattern such as 'names*'.

        A pattern that no source matches leaves it as it is.
        """
        known = {pattern for pattern in patterns if match_sources(self.sources, [pattern])}
        return self._see(left_out=tuple(sorted({*self.left_out, *known})))

    def without_gold(self) -> KnowledgeBase:
        """Return it as measures see it: without what was derived from gold, unless that is kept (`keeping_gold`)."""
        return self if self.keeps_gold else self.without_sources(GOLD)

    def keeping_gold(self) -> KnowledgeBase:
        """Return it with what was derived from gold also where it measures gold, which makes measures circular."""
        return self._see(keeps_gold=bool(match_sources(self.sources, GOLD)))

    def keeping_case(self) -> KnowledgeBase:
        """Return it with forms compared as they are written, not casefolded."""
        return self._see(case_sensitive=True)

    def _see(self, **choices: Any) -> KnowledgeBase:
        """Return it with these choices; the same choices give the same object, with the parts that it has read."""
        chosen = {**self.choices, **choices}
        key = repr(sorted(chosen.items()))
        if key not in self._views:
            other = KnowledgeBase(self.folder, self.described, **chosen)
            other._scans = self._scans
            self._views[key] = other
        return self._views[key]


def _sum_counts(rows: pl.DataFrame) -> pl.DataFrame:
    count = pl.when(pl.col("count").count() > 0).then(pl.col("count").sum())
    return rows.group_by("key", "entity").agg(count)
