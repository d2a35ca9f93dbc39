"""Filters of GERBIL's extension: what keeps some entities of many, by queries, ranked lists, and combinations of them.

`definition` reads the properties file, `services` ask endpoints, files and what is here, `kept` keeps the answers.
Röder, Usbeck, Ngonga Ngomo: GERBIL – Benchmarking named entity recognition and linking consistently, Semantic Web 9(5),
2018, has GERBIL; its filters are of Waitelonis, Jürges, Sack: Remixing entity linking evaluation datasets for focused
benchmarking, Semantic Web 10(2), 2019.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from remix import progress
from remix.errors import BadInput, EmptySelection, MissingKnowledge, NotAllowed, UsageError
from remix.frames import Frames
from remix.names import ITSRDF, NIF
from remix.rdf.iris import is_legal
from remix.rdf.terms import quote
from remix.remixes.filters.definition import FilterDefinition, FilterFile, name_one, read_filters
from remix.remixes.filters.kept import KeptAnswers
from remix.remixes.filters.services import EndpointService, Service, Surroundings, replaced_services, service_of
from remix.store.queries import Query
from remix.tables import Printed

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase

UNASKED = (NotAllowed, BadInput, MissingKnowledge)
"""Why a filter is not asked: its address is not allowed, or what it asks is not there. A failure is none of these."""
_MADE_BY = "#+ filter: "
_VALUE = ("    (<", ">)")
"""What stands before and behind each link on its line of such a query."""
"""How the line begins by which a query is known to be made of what a filter keeps."""


@dataclass(frozen=True, repr=False)
class EntityFilter(Printed):
    """One filter of a file: what it keeps of entities, and the query that selects their mentions."""

    file: FilterFile
    definition: FilterDefinition
    around: Surroundings

    @property
    def name(self) -> str:
        """Return its name."""
        return self.definition.name

    @property
    def addresses(self) -> set[str]:
        """Return the addresses that it asks, as they may be shown; raises `UsageError` for what is none."""
        return {service.label for _, service in self._endpoints()}

    @property
    def bases(self) -> list[FilterDefinition]:
        """Return the filters that it is made of in the end, each once: itself, or those that it combines."""
        return [*{one.name: one for one in self.file.bases(self.definition)}.values()]

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return its name, and what it asks."""
        return f"filter '{self.name}' of {self.file.path}", describe_filters([self])

    def select(self, entities: Iterable[str] | pl.Series) -> pl.Series:
        """Return which of the entities are kept, each once, sorted; they are asked about by exactly these IRIs.

        What is no IRI, and what the file's white list leaves out, is not asked about and not kept. Answers that are
        kept already are not asked for again.

        Raises `NotAllowed` where an address would be asked that is not allowed, `StoreError` or `Timeout` where it does
        not answer, `BadInput` for a file that is not there, `MissingKnowledge` without a knowledge base that is asked,
        `UsageError` where the file switches its filters off.
        """
        if not self.file.enabled:
            raise UsageError(f"{self.file.path} switches its filters off: set org.aksw.gerbil.util.filter.enabled=True")
        asked = pl.Series("entity", entities, dtype=pl.String)
        return self._keep(self.definition, self._askable(asked)).sort()

    def _askable(self, entities: pl.Series) -> pl.Series:
        """Return the entities that are asked about, each once, sorted."""
        asked = entities.alias("entity").drop_nulls().unique().sort()
        asked = asked.to_frame().filter(is_legal(pl.col("entity")))["entity"]
        return asked.filter(asked.str.contains_any([*self.file.whitelist])) if self.file.whitelist else asked

    def _keep(self, one: FilterDefinition, entities: pl.Series) -> pl.Series:
        """Return what a filter keeps; those that a combination needs no answer about are not asked about."""
        if one.kind != "combinator":
            return entities if entities.is_empty() else self._ask(one, entities)
        members = [self.file.find(name) for name in one.members]
        how, left = one.service.lower(), entities
        for place, member in enumerate(members):
            kept = self._keep(member, left)
            takes = how == "and" or (how == "diff" and place == 0)
            left = kept if takes else left.filter(~left.is_in(kept.implode()))
        return entities.filter(~entities.is_in(left.implode())) if how == "or" else left

    def _ask(self, one: FilterDefinition, entities: pl.Series) -> pl.Series:
        service = service_of(self.file, one, self.around)
        answers = self._answers(one, service)
        known = answers.read().filter(pl.lit(not self.around.refresh))
        new = entities.filter(~entities.is_in(known["entity"].implode()))
        found = [known]
        if len(new) and self.around.kept_only and service.identity:
            raise NotAllowed(f"'{one.name}' of {self.file.path} was not asked about {len(new)} of the entities yet")
        if len(new):
            with progress.moving(f"{one.name} ({service.label})", len(new), " entities") as done:
                for chunk, kept in service.ask(new):
                    found.append(pl.DataFrame({"entity": chunk, "kept": chunk.is_in(kept.implode())}))
                    answers.add(found[-1])
                    done(len(chunk))
        kept = pl.concat(found).filter("kept")["entity"]
        return entities.filter(entities.is_in(kept.implode()))

    def _answers(self, one: FilterDefinition, service: Service) -> KeptAnswers:
        cache = self.around.cache if self.file.keeps and service.identity else None
        return KeptAnswers(cache, self.file.hash_of(one), service.identity)

    def count_requests(self, frames: Frames) -> int:
        """Return how many requests to endpoints it takes at most to know what is kept of what annotations link to."""
        asked = self._askable(names_of(keep_gold_links(frames), self.around.kb)["name"])
        number = 0
        for one, service in self._endpoints():
            known = self._answers(one, service).read()["entity"]
            number += -(-len(asked.filter(~asked.is_in(known.implode()))) // one.chunk)
        return number

    def _endpoints(self) -> Iterator[tuple[FilterDefinition, EndpointService]]:
        for one in self.bases:
            if "://" in self.around.place_of(one):
                service = service_of(self.file, one, self.around)
                if isinstance(service, EndpointService):
                    yield one, service

    def keep_links(self, links: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of links (annotation, entity, entity_as_given) whose entity is kept.

        An entity is asked about by all its IRIs: as the data have it, in canonical form, and as what that stands for in
        the knowledge base; one that is kept is enough, as GERBIL has it of the IRIs of a meaning.
        """
        names = names_of(links, self.around.kb)
        kept = names.filter(pl.col("name").is_in(self.select(names["name"]).implode()))
        return links.filter(_link().is_in(kept["link"].unique().implode()))

    def keep(self, frames: Frames) -> Frames:
        """Return the frames with those annotations alone that link to what is kept, gold or the answers of a system.

        So the extension scores: gold is filtered by its entities, answers by theirs. `evaluate(filter.keep(gold),
        {"name": filter.keep(answers)})` has its figures; a remix, which is cut by gold alone, has others. Raises as
        `select`.
        """
        return frames.keep(annotations=self.keep_links(frames.links)["annotation"].unique())

    def query(self, frames: Frames) -> Query:
        """Return the query that selects the mentions of what is kept of the entities that annotations link to.

        It names the links that are kept, so that it says the same wherever it runs, and asks nobody. Raises as
        `select`, and `EmptySelection` where nothing is kept.
        """
        links = keep_gold_links(frames)
        kept = self.keep_links(links).select(_link())["link"].unique().sort()
        if kept.is_empty():
            raise EmptySelection(
                f"filter '{self.name}' of {self.file.path} keeps none of {links['entity'].n_unique()} entities"
            )
        return _query_of(self, kept)


class Filters(Printed, dict[str, EntityFilter]):
    """The filters of a file by their names, in its order."""

    def __init__(self, file: FilterFile, around: Surroundings) -> None:
        super().__init__({one.name: EntityFilter(file, one, around) for one in file.filters})
        self.file = file
        self.around = around

    def find(self, name: str = "") -> EntityFilter:
        """Return the filter of a name, whatever its case; of the only one no name is needed. Raises `UsageError`."""
        return self[name_one(self.file, name).name]

    def preview(self) -> tuple[str, pl.DataFrame]:
        """Return how many there are, and what each asks."""
        return f"{len(self)} filters of {self.file.path}", describe_filters(self.values())


def open_filters(file: Path | str, around: Surroundings, *, service: Sequence[str] = ()) -> Filters:
    """Return the filters of a properties file; nothing is asked yet.

    `service` are settings `OLD=NEW`: what is asked in the place of a service that the file names. Raises as
    `remix.remixes.filters.definition.read_filters`, and `UsageError` for a service that the file does not name.
    """
    from dataclasses import replace

    found = read_filters(file)
    for note in found.notes:
        progress.note(note)
    return Filters(found, replace(around, instead=replaced_services(found, service)))


def links_kept_by(query: str) -> pl.Series | None:
    """Return the links that a query names which `EntityFilter.query` made, None for any other query.

    Its filter was asked about entities of gold alone, so that it says nothing of others.
    """
    lines = pl.Series("link", query.split("\n"))
    if not lines.str.starts_with(_MADE_BY).any():
        return None
    return lines.str.extract(rf"^{re.escape(_VALUE[0])}(.*){re.escape(_VALUE[1])}$", 1).drop_nulls()


def _tell(one: EntityFilter, definition: FilterDefinition) -> str:
    """Return what a filter asks of whom, for a manifest: no path, and nothing that authenticates."""
    if definition.kind != "combinator":
        text = " ".join(definition.text.split())
        return f"{service_of(one.file, definition, one.around).label}: {text}"
    members = (one.file.find(name) for name in definition.members)
    return f" {definition.service.lower()} ".join(f"({_tell(one, member)})" for member in members)


def _query_of(one: EntityFilter, links: pl.Series) -> Query:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", one.name).strip("-.") or "filter"
    values = "\n".join(f"{_VALUE[0]}{link}{_VALUE[1]}" for link in links)
    text = f"""#+ summary: {quote(f"Mentions of entities that the filter '{one.name}' keeps")}
{_MADE_BY}{quote(_tell(one, one.definition))}
PREFIX nif: <{NIF}>
PREFIX itsrdf: <{ITSRDF}>
SELECT ?document ?annotation WHERE {{
  VALUES (?link) {{
{values}
  }}
  ?annotation itsrdf:taIdentRef ?link ;
              nif:referenceContext ?document .
}}
"""
    return Query.parse(text, name, f"{one.file.path}#{one.name}")


def _link() -> pl.Expr:
    """Return the entity of a link as the data have it."""
    return pl.coalesce("entity_as_given", "entity").alias("link")


def names_of(links: pl.DataFrame, kb: KnowledgeBase | None) -> pl.DataFrame:
    """Return link, an entity as the data have it, and name: each IRI that a filter is asked about it by."""
    rows = links.select(_link(), "entity").unique()
    known = [rows.select("link", name="link"), rows.select("link", name="entity")]
    if kb is not None:
        known.append(rows.select("link", name=kb.resolve(rows["entity"])))
    return pl.concat(known).drop_nulls().unique().sort("link", "name")


def keep_gold_links(frames: Frames) -> pl.DataFrame:
    """Return the links of annotations that count."""
    gold = frames.annotations.filter(pl.col("ignorable").is_null())
    return frames.links.join(gold.select("annotation"), on="annotation", how="semi", maintain_order="left")


def describe_filters(filters: Iterable[EntityFilter]) -> pl.DataFrame:
    """Return filter, kind, service, chunk (of an endpoint) and text: the query, the parts, or what is combined."""
    rows = []
    for one in filters:
        said = one.definition
        instead = one.around.place_of(said)
        chunk = said.chunk if "://" in instead and said.kind == "query" else None
        told = ", ".join(said.members) if said.members else " ".join(said.text.split())
        rows.append((said.name, said.kind, _tell_service(instead), chunk, told))
    schema = {"filter": pl.String, "kind": pl.String, "service": pl.String, "chunk": pl.Int64, "text": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _tell_service(service: str) -> str:
    from remix.connections import without_secrets

    return without_secrets(service) if "://" in service else service


def count_kept(filters: Iterable[EntityFilter], frames: Frames) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return what filters keep of datasets, a row a filter and dataset, and why some were not asked.

    Columns: filter, dataset ('all' is of all together, where there are several), `entities` (distinct ones, in
    canonical form) and `kept_entities`, `annotations` (alternatives counting once; NIL and others without an entity are
    among them and never kept) and `kept_annotations`, `share` of annotations. Of a filter that was not asked, as its
    address is not allowed or what it asks is not there, the numbers of what is kept are null.
    """
    filters, links = [*filters], keep_gold_links(frames)
    gold = frames.annotations.filter(pl.col("ignorable").is_null()).select("annotation", "dataset", "document", "group")
    rows, untold = [], dict[str, str]()
    for one in filters:
        kept = None
        try:
            kept = one.keep_links(links).select("annotation", "entity")
        except UNASKED as error:
            untold[one.name] = str(error)
        rows.append(_count(one.name, gold, links, kept))
    return pl.concat(rows), untold


def _count(name: str, gold: pl.DataFrame, links: pl.DataFrame, kept: pl.DataFrame | None) -> pl.DataFrame:
    every = gold.join(links.select("annotation", "entity"), on="annotation", how="left")
    if kept is None:
        every = every.with_columns(is_kept=pl.lit(None, pl.Boolean))
    else:
        marked = kept.unique().with_columns(is_kept=pl.lit(True))
        every = every.join(marked, on=["annotation", "entity"], how="left").with_columns(
            pl.col("is_kept").fill_null(False)
        )
    mention, is_kept = pl.struct("document", "group"), pl.col("is_kept")
    counts = {
        "entities": pl.col("entity").drop_nulls().n_unique(),
        "kept_entities": pl.when(is_kept.is_not_null().all()).then(pl.col("entity").filter(is_kept).n_unique()),
        "annotations": mention.n_unique(),
        "kept_annotations": pl.when(is_kept.is_not_null().all()).then(mention.filter(is_kept).n_unique()),
    }
    found = every.group_by("dataset").agg(**counts).sort("dataset")
    if found.height > 1:
        found = pl.concat([found, every.select(pl.lit("all").alias("dataset"), **counts)])
    share = pl.col("kept_annotations") / pl.col("annotations")
    return found.select(pl.lit(name).alias("filter"), pl.all(), share=share).with_columns(
        pl.col(*counts).cast(pl.Int64)
    )


def compare_filters(filters: Iterable[EntityFilter], frames: Frames) -> pl.DataFrame:
    """Return what each two filters keep of the entities of datasets.

    Columns: first, second, `kept_first`, `kept_second`, `both`, `only_first`, `only_second`, `neither` (distinct
    entities in canonical form), and `jaccard`: both by either, null where neither keeps any. Raises as
    `EntityFilter.select`.
    """
    links = keep_gold_links(frames)
    every = links["entity"].n_unique()
    kept = {one.name: {*one.keep_links(links)["entity"]} for one in filters}
    if len(kept) < 2:
        raise UsageError("one filter has nothing to be compared with: name two, or none for all of the file")
    rows = [
        (a, b, len(kept[a]), len(kept[b]), both := len(kept[a] & kept[b]), len(kept[a]) - both, len(kept[b]) - both,
         every - (either := len(kept[a] | kept[b])), both / either if either else None)
        for a, b in combinations(kept, 2)
    ]  # fmt: skip
    numbers = ("kept_first", "kept_second", "both", "only_first", "only_second", "neither")
    schema: Mapping[str, type[pl.DataType]] = {
        "first": pl.String, "second": pl.String, **dict.fromkeys(numbers, pl.Int64), "jaccard": pl.Float64
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def mark_entities(filters: Iterable[EntityFilter], frames: Frames) -> pl.DataFrame:
    """Return entity (in canonical form) and annotations, and of each filter whether it keeps it, sorted by entity.

    Raises as `EntityFilter.select`.
    """
    links = keep_gold_links(frames)
    counts = links.group_by("entity").agg(annotations=pl.col("annotation").n_unique().cast(pl.Int64)).sort("entity")
    marks = {}
    for one in filters:
        marks[one.name] = pl.col("entity").is_in(one.keep_links(links)["entity"].unique().implode())
    return counts.with_columns(**marks)
