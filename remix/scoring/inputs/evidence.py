"""What a case can be asked beyond spans and links: forms, texts, types and names, and the measures of answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from remix.dense import stack
from remix.expressions import fill
from remix.formats.losses import CLUSTER, TYPE_FIELDS
from remix.frames import SCHEMAS, Frames
from remix.scoring.inputs import Background, Inputs, Knowledge
from remix.scoring.inputs.case_tables import NIL
from remix.scoring.inputs.mentions import Mentions

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.measures import Measured

NOT_OF_ANSWERS = frozenset({"overlap"})
"""Measures of annotations that are about their neighbours, not about their own form and entity."""
_PERCENTILE = "Percentile"
"""How columns end whose values are places among those of the origin, which is measured for them."""


class Detail(NamedTuple):
    """What can be asked of gold and runs: the table that has it, and how it is read there.

    Of the table of all runs `read` returns `system`, too (see `Evidence.of_runs`).
    """

    table: str
    read: Callable[[pl.DataFrame], pl.DataFrame]


_OWN = ("^system$", "annotation")
"""What tells an annotation from others: of gold its name, of all runs the number of the system, too."""


def _read_classes(classes: pl.DataFrame) -> pl.DataFrame:
    classes = classes.select(*_OWN, "class").unique()
    return classes.group_by(pl.col(*_OWN)).agg(classes=pl.col("class").sort())


def _read_candidates(candidates: pl.DataFrame) -> pl.DataFrame:
    rows = candidates.sort("score", descending=True, nulls_last=True, maintain_order=True)
    return rows.group_by(pl.col(*_OWN), maintain_order=True).agg(candidates="entity")


def _read_values(values: pl.DataFrame, term: str, column: str) -> pl.DataFrame:
    return values.filter(term=term).select(
        "^system$", pl.col("subject").alias("annotation"), pl.col("text").alias(column)
    )


DETAILS: Mapping[str, Detail] = {
    "confidence": Detail("annotations", lambda rows: rows.select(*_OWN, "confidence")),
    "surface_form": Detail("annotations", lambda rows: rows.select(*_OWN, "surface_form")),
    "cluster": Detail("values", lambda rows: _read_values(rows, CLUSTER, "cluster")),
    "type_fields": Detail("values", lambda rows: _read_values(rows, TYPE_FIELDS, "type_fields")),
    # What a file says of a mention: what is known of its entity is known of gold alone.
    "type": Detail(
        "classes",
        lambda rows: _read_classes(rows.filter(~pl.col("of_entity"))).select(
            *_OWN, type=pl.col("classes").list.join("|")
        ),
    ),
    "classes": Detail("classes", _read_classes),
    "candidates": Detail("candidates", _read_candidates),
}
"""What can be asked of gold and runs: annotation and one column, by its name. Candidates are IRIs, best first."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What gold and runs say of their mentions beyond spans and links, and what is known of their entities.

    Nothing is computed before it is asked for.
    """

    mentions: Mentions
    inputs: Inputs

    @property
    def gold(self) -> Frames:
        """The frames of gold, as they are compared."""
        return self.inputs.gold

    @property
    def runs(self) -> Mapping[str, Frames]:
        """The frames of the runs, by the names of systems."""
        return self.inputs.runs

    @property
    def knowledge(self) -> Knowledge:
        """What is known beside gold and runs."""
        return self.inputs.knowledge

    @cached_property
    def stated(self) -> pl.DataFrame:
        """Return home, entity and class: what the data of each dataset say of it."""
        if self.knowledge.stated is not None:
            return self.knowledge.stated
        return pl.DataFrame(schema=dict.fromkeys(("home", "entity", "class"), pl.String))

    @property
    def _types(self) -> pl.DataFrame:
        known = self.knowledge.types
        return pl.DataFrame(schema={"entity": pl.String, "class": pl.String}) if known is None else known

    @cached_property
    def backgrounds(self) -> tuple[Background, ...]:
        """Return where gold comes from, by default gold itself."""
        known = self.knowledge
        return known.backgrounds or (Background.of(self.gold, known.kb),)

    @cached_property
    def texts(self) -> pl.DataFrame:
        """Return doc and text of gold's documents."""
        texts = self.gold.documents.unique("document", keep="first", maintain_order=True)
        return self.mentions.documents.join(texts, on="document").select("doc", "text")

    def of_runs(self, table: str) -> pl.DataFrame:
        """Return one of the tables of all runs (see `remix.frames.TABLES`), with `system`, the run's number."""
        if table not in self._of_runs:
            columns = list(SCHEMAS[table])
            runs = [*self.runs.values()] or [Frames.empty()]
            self._of_runs[table] = stack([getattr(run, table)[columns] for run in runs], "system")
        return self._of_runs[table]

    @cached_property
    def _of_runs(self) -> dict[str, pl.DataFrame]:
        return {}

    def with_detail(self, name: str, gold: pl.DataFrame, answers: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return mentions of gold, and answers, with a further column, one of `DETAILS`, null where nothing says so.

        Surface forms that a side does not tell are cut out of gold's texts.
        """
        table, read = DETAILS[name]
        gold = _join_first(gold, read(getattr(self.gold, table)), ["annotation"])
        answers = _join_first(answers, read(self.of_runs(table)), ["system", "annotation"])
        if name == "surface_form":
            gold, answers = self._with_forms(gold), self._with_forms(answers)
        return gold, answers

    def _with_forms(self, rows: pl.DataFrame) -> pl.DataFrame:
        missing = rows["surface_form"].is_null()
        if not missing.any():
            return rows
        numbered = rows.with_columns(row=pl.int_range(pl.len()))
        found = numbered.filter(missing).join(self.texts, on="doc").select("row", cut=CUT)
        found = numbered.join(found, on="row", how="left", maintain_order="left")
        return found.with_columns(surface_form=pl.coalesce("surface_form", "cut")).drop("row", "cut")

    @property
    def kb(self) -> KnowledgeBase | None:
        """Return the knowledge base without what was derived from gold, whatever part is asked about."""
        known = [background.kb for background in self.backgrounds if background.kb is not None]
        return known[0].without_sources({one for kb in known for one in kb.left_out}) if known else None

    @cached_property
    def types(self) -> pl.DataFrame:
        """Return entity and class, what the data say anywhere among them."""
        if self.stated.is_empty():
            return self._types
        return pl.concat([one.select("entity", "class") for one in (self._types, self.stated)]).unique()

    def types_at(self, home: str) -> pl.DataFrame:
        """Return entity and class as they hold in the documents of a home: what is known anywhere, and said there."""
        said = self.stated.filter(home=home)
        return pl.concat([one.select("entity", "class") for one in (self._types, said)]).unique()

    @cached_property
    def homes(self) -> pl.DataFrame:
        """Return doc and `home`, the dataset that each document of gold comes from."""
        homes = pl.concat(background.homes for background in self.backgrounds).unique("gold", keep="first")
        documents = self.mentions.documents.select("doc", gold="document").unique("doc")
        return documents.join(homes, on="gold").select("doc", "home")

    def classes_of(self, links: pl.DataFrame) -> pl.DataFrame:
        """Return links (doc, `iri` of an entity, …) with each class of the entity: known anywhere, or said at home."""
        anywhere = links.join(self._types.select("class", iri="entity").drop_nulls(), on="iri")
        if self.stated.is_empty():
            return anywhere
        at_home = links.join(self.homes, on="doc").join(self.stated.rename({"entity": "iri"}), on=["home", "iri"])
        return pl.concat([anywhere, at_home.select(anywhere.columns)]).unique(maintain_order=True)

    @cached_property
    def answered_classes(self) -> pl.DataFrame:
        """Return answer, entity and class of the entities of the answers."""
        mentions = self.mentions
        links = mentions.answer_links.join(mentions.iris, on="entity").join(
            mentions.answers.select("answer", "doc"), on="answer"
        )
        return self.classes_of(links).select("answer", "entity", "class")

    @cached_property
    def names(self) -> pl.DataFrame | None:
        """Return entity and name, those of the knowledge base unless others are given; None with neither."""
        if self.knowledge.names is not None or self.kb is None:
            return self.knowledge.names
        known = self.kb.rows("entities", "entity", self.mentions.entities, ["entity", "label"])
        return known.select("entity", name="label").drop_nulls().unique("entity")

    @property
    def hierarchy(self) -> pl.LazyFrame | None:
        """Return class and parent, as given, else of the knowledge base; None with neither."""
        if self.knowledge.subclasses is not None:
            return self.knowledge.subclasses.lazy()
        return None if self.kb is None else self.kb.scan("subclasses")

    def reach(self, classes: pl.Series, *, below: bool = False) -> pl.DataFrame:
        """Return class and reached: every class above each of the classes, or below it, direct or indirect."""
        from remix.kb.networks import superclasses

        if self.hierarchy is None:
            return pl.DataFrame(schema={"class": pl.String, "reached": pl.String})
        steps = self.hierarchy.select("class", "parent")
        steps = steps.rename({"class": "parent", "parent": "class"}) if below else steps
        return superclasses(steps, classes).rename({"superclass": "reached"})

    @cached_property
    def measured(self) -> tuple[MeasuredAnswers, ...]:
        """Return the answers as they are measured, by the background of their documents."""
        if len(self.backgrounds) == 1:
            return (MeasuredAnswers(self),)
        found = []
        for background in self.backgrounds:
            mentions = self.mentions.within(background.places["gold"])
            known = replace(self.knowledge, backgrounds=(background,))
            found.append(MeasuredAnswers(Evidence(mentions, replace(self.inputs, knowledge=known))))
        return tuple(found)

    def values(self, column: str) -> pl.DataFrame | None:
        """Return answer and `value` of a measure; None where it does not speak of an answer's own form and entity."""
        answers = self.mentions.answers
        if column == "surface_form":
            return self.with_detail("surface_form", self.mentions.gold, answers)[1].select("answer", value=column)
        if column == "is_nil":
            return answers.select("answer", value=pl.col("link") == NIL)
        from remix.measures import MEASURES

        if column in NOT_OF_ANSWERS or column not in {one.name for measure in MEASURES for one in measure.columns}:
            return None
        found = [part.values(column) for part in self.measured if len(part.mentions.documents)]
        known = [values for values in found if values is not None]
        return pl.concat(known, how="vertical_relaxed") if known and len(known) == len(found) else None


def _join_first(rows: pl.DataFrame, told: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    """Return the rows with what is told of each, the first where that is several things."""
    found = rows.join(told, on=on, how="left", maintain_order="left")
    if len(found) == len(rows):
        return found
    return rows.join(told.unique(on, keep="first", maintain_order=True), on=on, how="left", maintain_order="left")


@dataclass(frozen=True, eq=False)
class MeasuredAnswers:
    """Answers as annotations of the documents that gold comes from, each form and entity of a document once.

    Kept mentions of gold are taken along: the condition that gold was cut by must hold for every one of them, or it is
    not to be evaluated in this way. All documents have one background.
    """

    evidence: Evidence

    @property
    def mentions(self) -> Mentions:
        """The mentions and answers."""
        return self.evidence.mentions

    @property
    def background(self) -> Background:
        """Where the documents come from."""
        return self.evidence.backgrounds[0]

    @cached_property
    def numbered(self) -> pl.DataFrame:
        """Return side ('answer', 'gold'), id (answer or mention), doc, begin, end, surface_form, link, and `iri`, that
        of an answer."""
        kept = self.mentions.gold.filter(pl.col("ignorable").is_null()).rename({"mention": "id"})
        answers = self.mentions.answers.rename({"answer": "id"})
        columns = ["id", "doc", "begin", "end", "surface_form", "link"]
        kept, answers = self.evidence.with_detail("surface_form", kept, answers)
        sides = {"answer": answers, "gold": kept}
        rows = pl.concat(rows.select(pl.lit(side).alias("side"), *columns) for side, rows in sides.items())
        # Numbers of sets of entities mean something on their own side alone.
        several = pl.when(pl.col("link") >= len(self.mentions.entities)).then("side")
        number = pl.struct("doc", "surface_form", "link", several.alias("several")).rank("dense")
        return rows.with_columns(iri=fill("urn:remix:answer:{}", number))

    @cached_property
    def frames(self) -> Frames:
        """Return the answers as annotations of the origin's documents, with their links and classes."""
        first = self.numbered.unique("iri", keep="first", maintain_order=True)
        origin = self.background.frames.documents
        places = self.mentions.documents.select("doc", gold="document").join(self.background.places, on="gold")
        places = places.join(origin.select("document", "dataset"), on="document")
        rows = first.join(places.select("doc", "document", "dataset"), on="doc", maintain_order="left")
        of_answers = self.mentions.answer_links.select("entity", id="answer", side=pl.lit("answer"))
        links = pl.concat([of_answers, self.mentions.gold_links.select("entity", id="mention", side=pl.lit("gold"))])
        links = links.join(rows.select("side", "id", "doc", annotation="iri"), on=["side", "id"])
        links = links.join(self.mentions.iris, on="entity")
        classes = (
            self.evidence.classes_of(links.select("doc", "annotation", "iri")).select("annotation", "class").unique()
        )
        links = links.select("annotation", entity="iri", entity_as_given="iri")
        return Frames.of(
            documents=origin,
            annotations=rows.select(
                *("document", "dataset", "begin", "end", "surface_form"),
                annotation="iri",
                is_nil=pl.col("link") == NIL,
            ),
            links=links,
            classes=classes.sort("annotation", "class"),
        )

    @cached_property
    def measured(self) -> Measured:
        """Return all measures of the answers."""
        return self.measure(None)

    def measure(self, asked: Collection[str] | None) -> Measured:
        """Return the measures of these names, or all: of the answers, D being the origin, whose percentiles they have.

        Those of documents and datasets are the origin's: its documents are as they were where gold was cut out.
        """
        from remix.measures import MEASURES, measure_named

        placed = ("ambiguitySurfaceForm", "ambiguityEntity") if asked is None or "normalised" in asked else ()
        # The classes of all answers are told by `types`.
        needed = {*(MEASURES.names() if asked is None else asked), "types", *(measure_named(n).name for n in placed)}
        names, origin_frames = [name for name in _names_of_own() if name in needed], self.background.frames
        origin, found = self._compute(origin_frames, names), self._compute(self.frames, names, within=origin_frames)
        places = [
            _place(found.annotations[name], origin.annotations[name]).alias(f"{name}Percentile")
            for name in placed
            if f"{name}Percentile" in found.annotations.columns
        ]
        annotations = found.annotations.with_columns(places)
        return replace(found, annotations=annotations, documents=origin.documents, datasets=origin.datasets)

    def _compute(self, frames: Frames, names: Sequence[str], within: Frames | None = None) -> Measured:
        from remix.measures import compute

        known = self.background
        how = {"reference": known.reference, "case_sensitive": known.case_sensitive, "within": within}
        return compute(frames, known.kb, measures=names, **how)  # type: ignore[arg-type]

    @cached_property
    def _values(self) -> pl.DataFrame:
        """Return the values of all measures on the answers, for which the origin itself need not be measured."""
        return self._compute(self.frames, _names_of_own(), within=self.background.frames).annotations

    def values(self, column: str) -> pl.DataFrame | None:
        """Return answer and `value` of a column of the measures, None where they have no such column."""
        values = self.measured.annotations if column.endswith(_PERCENTILE) else self._values
        if column not in values.columns:
            return None
        own = self.numbered.filter(side="answer")
        joined = own.join(values.select(iri="annotation", value=column), on="iri", maintain_order="left")
        return joined.select("value", answer="id")


def _names_of_own() -> list[str]:
    """Return the measures that speak of an answer's own form and entity."""
    from remix.measures import MEASURES

    return [one.name for one in MEASURES if not NOT_OF_ANSWERS & {column.name for column in one.columns}]


CUT = pl.col("text").str.slice(pl.col("begin"), pl.col("end") - pl.col("begin"))
"""What stands in a text from `begin` to `end`."""


def _place(values: pl.Series, among: pl.Series) -> pl.Series:
    """Return the percentile of each value among others: the share of these that is smaller, and half of the equal ones.

    That is what an annotation of those has which has the value (`remix.measures.whole.percentiles_of`).

    >>> _place(pl.Series([0, 5, None]), pl.Series([1, 5, 5, None])).round(1).to_list()
    [0.0, 66.7, None]
    """
    ordered = among.drop_nulls().sort()
    if ordered.is_empty():
        return pl.Series([None] * len(values), dtype=pl.Float64)
    smaller, not_higher = (
        pl.Series(ordered.search_sorted(values.fill_null(0), side=side), dtype=pl.Int64) for side in ("left", "right")
    )
    table = pl.DataFrame({"value": values, "middle": (smaller + not_higher) / 2})
    place = pl.when(pl.col("value").is_not_null()).then(100 * pl.col("middle") / len(ordered))
    return table.select(place.round(10)).to_series()
