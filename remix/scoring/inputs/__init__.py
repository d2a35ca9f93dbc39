"""What an evaluation is of: gold, runs, where gold comes from, and what is known of mentions and entities."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from remix.documents import align
from remix.errors import UsageError
from remix.frames import FINE_GRAINED, Frames
from remix.vocabularies import Vocabularies

if TYPE_CHECKING:
    from remix.kb import KnowledgeBase
    from remix.measures.partitions import Partition


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known beside gold and runs, all of it optional.

    - `columns` (annotation and one column each), `document_columns` (document, likewise): what can be sliced by;
    - `types` (entity, class), by default the knowledge base's, tells which answers are in the scope of a class, and
      `stated` (home, entity, class) what the data say of it: a home is a dataset that gold comes from;
    - `names` (entity, name): what entities are called, for profiles that ask for it;
    - `subclasses` (class, parent), by default the knowledge base's: the hierarchy in which classes are compared;
    - `kb`: the knowledge base;
    - `shelf`: the folders of knowledge bases that could be attached in its place, which only messages speak of;
    - `backgrounds`: where gold comes from and the queries it was cut by, which tell which answers are in scope; by
      default gold itself, cut by no query that is known;
    - `kept`: the datasets of gold of which only documents with a kept mention count, unless the choice says otherwise;
    - `vocabularies`: those of a column of classes in all of gold, by the column's name: what is scored apart shows the
      same one. By default each part has its own;
    - `partitions`: likewise what numbers are cut into, by the label of the column and its scheme.
    """

    columns: pl.DataFrame | None = None
    document_columns: pl.DataFrame | None = None
    types: pl.DataFrame | None = None
    names: pl.DataFrame | None = None
    subclasses: pl.DataFrame | None = None
    kb: KnowledgeBase | None = None
    shelf: tuple[Path, ...] = ()
    backgrounds: tuple[Background, ...] = ()
    stated: pl.DataFrame | None = None
    kept: frozenset[str] = frozenset()
    vocabularies: Mapping[str, Vocabularies] = field(default_factory=dict)
    partitions: Mapping[str, Partition] = field(default_factory=dict)

    @property
    def tables(self) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
        """Return the tables to slice and weigh by."""
        return self.columns, self.document_columns

    def with_types(self) -> Knowledge:
        """Return the same with the types of the knowledge base, unless others are given."""
        return self if self.types is not None or self.kb is None else replace(self, types=self.kb.types)


class GoldPart(NamedTuple):
    """A part of gold that runs are registered on as a whole or not: documents of a dataset of gold that come from one.

    `emptied` are those that a remix holds nothing of any more.
    """

    home: str
    dataset: str
    emptied: bool


@dataclass(frozen=True, eq=False)
class Inputs:
    """What is evaluated: gold, runs by the names of systems, and what is known.

    `contents` are the hashes of runs by system and of gold by '', for the signature, where files tell them; the frames
    are hashed where they do not. `others` are runs that are not scored: columns may be about them (`error:SYSTEM`).
    `given_spans` are the answers of systems that have a run of their own in tasks that give them the spans of gold;
    `made_for` is the task that a run was made for, where that is known, as of those that are registered. These are
    scored on what they are registered on alone: `homes` (gold, home) is the loaded dataset that a document comes from,
    `emptied` are the documents of gold that a remix holds nothing of any more.
    `unrevised` are the runs, each with the task that it was made for, of which nothing says on which revision of the
    texts they were made.
    """

    gold: Frames
    runs: Mapping[str, Frames]
    knowledge: Knowledge = field(default_factory=Knowledge)
    contents: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Frames] = field(default_factory=dict)
    given_spans: Mapping[str, Frames] = field(default_factory=dict)
    made_for: Mapping[str, str] = field(default_factory=dict)
    homes: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema={"gold": pl.String, "home": pl.String}))
    emptied: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String))
    unrevised: frozenset[tuple[str, str]] = frozenset()

    def split_by_registration(self) -> list[Inputs]:
        """Return them by what is scored of gold: the runs that are registered on the same of its datasets together."""
        groups: dict[object, list[str]] = {}
        for name in self.runs:
            runs = [self.runs[name], self.given_spans.get(name, self.runs[name])]
            groups.setdefault(tuple(self.without_answers(name, run) for run in runs), []).append(name)
        if len(groups) < 2:
            return [self]
        return [
            replace(
                self,
                runs={name: self.runs[name] for name in names},
                # Columns may be about the runs of another group.
                others={**{name: run for name, run in self.runs.items() if name not in names}, **self.others},
                given_spans={name: run for name, run in self.given_spans.items() if name in names},
            )
            for names in groups.values()
        ]

    def without_answers(self, name: str, run: Frames) -> frozenset[GoldPart]:
        """Return the parts of gold that a run is not registered on.

        It may be registered on a remix that was loaded, or on what that was cut from. One that has answers to the
        remix itself was not asked about the documents that this emptied.
        """
        on = run.dataset_names
        of_all = on >= self.gold.dataset_names and self.emptied.is_empty()
        if name not in self.made_for or of_all or not self._parts:
            return frozenset()
        return frozenset(
            part for part in self._parts if not on & {part.home, part.dataset} or (part.emptied and part.dataset in on)
        )

    def list_unasked(self) -> dict[str, pl.Series]:
        """Return the documents of gold that each run is not registered on, of the runs for which there are some."""
        out = {name: self.without_answers(name, run) for name, run in self.runs.items()}
        found = {name: self.gold_of(parts)["document"] for name, parts in out.items() if parts}
        return {name: documents for name, documents in found.items() if len(documents)}

    def pair_documents(self, name: str) -> pl.DataFrame:
        """Return `gold` and `document`: which document of a run answers which of gold, wherever it is scored.

        One that is registered answers each dataset by its own answers, whatever texts several share. Nothing is said.
        """
        apart = name in self.made_for
        return align(self.gold, self.runs[name], name, told=False, apart=apart, homes=self.list_homes())

    def list_homes(self) -> dict[str, list[str]]:
        """Return the loaded datasets that the documents of each dataset of gold come from, of registered runs alone."""
        homes = self._places.drop_nulls("dataset").group_by("dataset").agg(pl.col("home").unique().sort())
        return dict(homes.iter_rows())

    @cached_property
    def _places(self) -> pl.DataFrame:
        emptied = pl.col("gold").is_in(self.emptied.implode())
        return self.homes.join(self.gold.documents.select("dataset", gold="document"), on="gold").with_columns(
            emptied=emptied
        )

    @cached_property
    def _parts(self) -> list[GoldPart]:
        return [GoldPart(*row) for row in self._places.select(GoldPart._fields).unique().iter_rows()]

    def with_runs_for(self, *, spans: bool) -> Inputs:
        """Return them for tasks that do or do not give the spans of gold: the runs are those made for such a task.

        Where a system has none, it is the one that it has. Gold is what all of these runs are on; of a remix that one
        of them has answers to in its own documents alone, only those with a kept mention count. Raises `UsageError`
        where all are on nothing.
        """
        found = replace(self, given_spans={})
        if spans and self.given_spans:
            found = replace(
                found,
                runs={name: self.given_spans.get(name, run) for name, run in self.runs.items()},
                contents={name: known for name, known in self.contents.items() if name not in self.given_spans},
                made_for={**self.made_for, **dict.fromkeys(self.given_spans, "D2KB")},
            )
        out = {one for name, run in found.runs.items() for one in found.without_answers(name, run)}
        if not out:
            return found
        free = ~pl.col("document").is_in(found.gold_of(out)["document"].implode())
        documents = found.gold.documents.filter(free)["document"]
        if documents.is_empty():
            raise UsageError(f"no dataset is one that all of {', '.join(found.runs)} are registered on")
        kept = found.knowledge.kept | {part.dataset for part in out if part.emptied}
        return replace(found, gold=found.gold.keep(documents=documents), knowledge=replace(found.knowledge, kept=kept))

    def gold_of(self, parts: Collection[GoldPart]) -> pl.DataFrame:
        """Return the documents of these parts of gold."""
        schema = {"home": pl.String, "dataset": pl.String, "emptied": pl.Boolean}
        wanted = pl.DataFrame(sorted(parts), schema=schema, orient="row")
        own = self._places.join(wanted, on=[*schema], how="semi")["gold"]
        return self.gold.documents.filter(pl.col("document").is_in(own.implode()))


@dataclass(frozen=True)
class Background:
    """The origin of gold, and how it was measured there.

    - `frames`: D of the formulas, with the annotations that a remix dropped;
    - `places`: `gold` and `document`, which document of the frames each document of gold is; each document of gold has
      one background, so that nothing of it depends on what else is scored;
    - `kb`: the knowledge base, without what it was measured without;
    - `queries`: the bound query that a dataset of gold was cut by, by the dataset's name;
    - `drawn`: the columns that its mentions were drawn to be even in, by the name of a dataset that is balanced;
    - `selected_by`: the systems by whose runs a dataset was selected, by its name;
    - `reference`, `case_sensitive`: as in `remix.measures.compute`;
    - `knowledge`: the knowledge base that it was measured by when a remix was cut, as signatures name it.
    """

    frames: Frames
    places: pl.DataFrame
    kb: KnowledgeBase | None
    queries: Mapping[str, str] = field(default_factory=dict)
    drawn: Mapping[str, str] = field(default_factory=dict)
    selected_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reference: str = "dataset"
    case_sensitive: bool = False
    knowledge: str = ""

    @classmethod
    def of(cls, gold: Frames, kb: KnowledgeBase | None, queries: Mapping[str, str] | None = None) -> Background:
        """Return gold as its own origin, as far as it holds it: what was dropped is among it again."""
        places = gold.documents.select("document", gold="document").unique()
        return cls(restore_dropped(gold), places, kb, queries or {})

    def statements(self) -> pl.DataFrame:
        """Return home, entity and class as the data say it of the mentions of each dataset of the frames.

        Fine-grained categories are not about entities.
        """
        homes = self.frames.annotations.select("annotation", home="dataset")
        rows = self.frames.classes.filter(~FINE_GRAINED).join(self.frames.links, on="annotation")
        return rows.join(homes, on="annotation").select("home", "entity", "class").unique()

    @cached_property
    def homes(self) -> pl.DataFrame:
        """Return gold and `home`: the dataset of the frames that each document of gold comes from."""
        documents = self.frames.documents.select("document", home="dataset")
        return self.places.join(documents, on="document").select("gold", "home")


def restore_dropped(gold: Frames) -> Frames:
    """Return gold with its dropped annotations required again, as they were where it was cut out.

    >>> rows = pl.DataFrame({"annotation": ["a", "b"], "ignorable": ["dropped", "optional"]})
    >>> restore_dropped(Frames.of(annotations=rows)).annotations["ignorable"].to_list()
    [None, 'optional']
    """
    kept = pl.when(pl.col("ignorable") != "dropped").then("ignorable").alias("ignorable")
    return replace(gold, annotations=gold.annotations.with_columns(kept))
