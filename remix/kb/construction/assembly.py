"""From the staged rows of all sources to the parts of a knowledge base, stage by stage.

A stage writes one file, which appears when it is complete: a build that was interrupted goes on after the last file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from remix.errors import BadInput
from remix.frames import write_parquet
from remix.kb import relations
from remix.kb.engines import Session, height
from remix.kb.networks import find_circles
from remix.kb.parts import GOLD, SORTED_BY, match_sources
from remix.kb.prominence import SCORES, add_ranks
from remix.kb.prominence.graph import rank_nodes
from remix.kb.staging import TABLES
from remix.places import aside_of
from remix.progress import stage

Frame = nw.LazyFrame[Any]
SHOWN = 10
MANY = 100_000
"""Circular redirects among which circles are looked for."""


@dataclass(frozen=True)
class Rules:
    """The choices that decide what becomes of the staged rows; see `remix.kb.build`."""

    without_sources: Sequence[str] = ()
    uncounted: Sequence[str] = ()
    complete: bool = False
    damping: float = 0.85
    tolerance: float = 1e-12
    scores: str = "computed"


@dataclass
class Assembly:
    """The stages between staged files, by table, and the files of a knowledge base in the folder `to`.

    Files that only later stages need lie in `work`.
    """

    session: Session
    staged: Mapping[str, Sequence[Path]]
    work: Path
    to: Path
    rules: Rules
    found: dict[str, Any] = field(default_factory=dict)

    def run(self) -> dict[str, Any]:
        """Return what was found on the way: the sources of forms and types, and circular redirects and sameAs links and
        unknown link targets, count and first ten.

        Raises `BadInput` where no surface form is left.
        """
        self._redirects()
        self._resolution()
        self._forms()
        self._describe()
        self._scores()
        self._entities()
        self._dictionary()
        return self.found

    def _redirects(self) -> None:
        first = self._write("first_targets", relations.first_targets(self._rows("redirects")))
        ends, circular = self._follow(first, "redirects")
        self._file("redirects", ends.select(redirect="iri", target="entity"), "redirect")
        self._tell_circles("redirects", circular)

    def _resolution(self) -> None:
        self._file("sameas", relations.sameas_pairs(self._rows("sameas")), "wikidata")
        redirects = self._scan("redirects")
        steps = self._write("same_steps", relations.same_steps(self._scan("sameas"), redirects))
        ends, circular = self._follow(steps, "sameas")
        if count := self._tell_circles("sameas", circular):
            ends = nw.concat([ends, self._close_circles(circular, count)])
        self._file("resolution", relations.resolution(redirects, ends), "iri")
        self._file("resolution_by_entity", self._scan("resolution"), "entity", "iri")

    def _follow(self, first: Frame, name: str) -> tuple[Frame, Frame]:
        """Return the steps (iri, entity) that end, each with its last entity, and the first ones of the others.

        Each round takes what has not ended twice as far. A round after which as many are open as before leaves only
        those that lead in a circle, as the open one that is nearest to its end closes in every round.
        """
        further, ends = relations.split_steps(first, first)
        closed, open_, before, rounds = [ends], self._file(f"{name}-open-0", further), -1, 0
        while (count := height(open_)) not in (0, before):
            before, rounds = count, rounds + 1
            steps = self.session.scan([open_])
            moved = relations.double_steps(steps, nw.concat([*closed, steps]))
            further, ends = relations.split_steps(self._write(f"{name}-moved-{rounds}", moved), first)
            closed.append(ends)
            open_ = self._file(f"{name}-open-{rounds}", further)
        return nw.concat(closed), first.join(self.session.scan([open_]).select("iri"), on="iri", how="semi")

    def _tell_circles(self, part: str, circular: Frame) -> int:
        """Return how many steps of a part lead in circles, and note the first of them and of the circles."""
        file = self._file(f"circular_{part}", circular.select("iri", "entity"), "iri")
        self.found[f"circular_{part}"] = _first(file)
        steps = pl.scan_parquet(file).head(MANY).collect()
        self.found[f"circles_of_{part}"] = find_circles(steps)[:SHOWN] if steps.height else []
        return height(file)

    def _close_circles(self, circular: Frame, count: int) -> Frame:
        """Return the steps that lead in circles, which are so many, each with the first by name of its circle."""
        steps = circular.select("iri", "entity", nw.col("entity").alias("least"))
        for number in range(count.bit_length()):  # each round doubles the length of a step, which is 1 at first
            steps = self._write(f"sameas-around-{number}", relations.double_circles(steps))
        return relations.close_circles(steps)

    def _forms(self) -> None:
        uncounted = match_sources(self._sources("surface_forms"), self.rules.uncounted)
        pages = relations.distinct(self._rows("disambiguations"), ["page"])
        forms = relations.count_forms(self._resolve("surface_forms"), pages, uncounted)
        file = self._file("surface_forms", forms, "key", "entity", "surface_form", "source")
        if not height(file):
            raise BadInput("the knowledge base", "no surface forms are left: there is nothing to look up")
        self.found["form_sources"] = _sources_in(file)

    def _describe(self) -> None:
        types = relations.distinct(self._resolve("types"), ["entity", "class", "source"])
        self.found["type_sources"] = _sources_in(self._file("unnumbered-types", types))
        subclasses = ["class", "parent", "source"]
        self._file("subclasses", relations.distinct(self._rows("subclasses"), subclasses), *subclasses)
        pages = ["page", "entity"]
        self._file("disambiguations", relations.distinct(self._resolve("disambiguations"), pages), *pages)
        demonyms = ["key", "demonym", "entity", "source"]
        self._file("demonyms", relations.distinct(self._resolve("demonyms"), demonyms), *demonyms)
        self._write("labels", relations.best_labels(self._resolve("labels")))

    def _scores(self) -> None:
        scores = self.work / "scores.parquet"
        links, published = self._files("links"), self._files("scores")
        taken = bool(published) and (self.rules.scores == "published" or not links)
        self.found["prominence"] = "published" if taken else "computed"
        edges = self.to / "links.parquet"
        if scores.exists() and (taken or edges.exists()):
            return
        with stage("prominence"):
            if taken:
                highest = relations.scores_of_entities(self._resolve("scores"))
                _place_published(self._file("highest", highest, "entity"), scores)
            else:
                resolution, rules = self.to / "resolution.parquet", self.rules
                how: Any = {"damping": rules.damping, "tolerance": rules.tolerance}
                how["distributed"] = self.session.distributed
                rank_nodes(self.session, links, resolution, self.work, **how).edges.rename(edges)

    def _entities(self) -> None:
        pairs = self._write("pairs", relations.sum_counts(self._scan("surface_forms"), "key", "entity"))
        labels, scores, types = (self._scan(name) for name in ("labels", "scores", "unnumbered-types"))
        ends = self._scan("redirects").select(nw.col("target").alias("entity"))
        others = [self._scan(part) for part in ("disambiguations", "sameas")]
        known = self.work / "known.parquet"
        if not known.exists():
            every = relations.known_entities([pairs, types, *others, ends, labels, scores], self._scan("resolution"))
            self.session.number(every, "entity", known)
        gold = match_sources([*self.found["form_sources"], *self.found["type_sources"]], GOLD)
        forms, types = (relations.without(rows, "source", gold) for rows in (self._scan("surface_forms"), types))
        elsewhere = [forms, types, *others, ends, labels, scores] if gold else None
        self._file("entities", relations.entities(self._scan("known"), labels, scores, pairs, elsewhere), "number")
        of_scores = (pl.col(score).count() for score in SCORES)
        ranked = pl.scan_parquet(self.work / "scores.parquet").select(of_scores).collect()
        self.found["scored"] = ranked.row(0, named=True)
        if self._files("labels"):
            unknown = relations.unknown_targets(self._scan("entities"), [pairs, types, labels])
            self.found["unknown_link_targets"] = _first(self._file("unknown", unknown, "entity"))

    def _dictionary(self) -> None:
        pairs, types, entities = (self._scan(name) for name in ("pairs", "unnumbered-types", "entities"))
        # The candidates of a form stand in the order of their ranks.
        order = ["key", "-count", "-pagerank", "number"]
        self._file("dictionary", relations.dictionary(pairs, entities), *order)
        self._file("dictionary_by_entity", self._scan("dictionary"), "number", "key")
        self._file("types", relations.add_numbers(types, entities), "number", "class", "source")

    # What a stage reads ------------------------------------------------------------------------------------------

    def _rows(self, table: str) -> Frame:
        """Return the staged rows of a table that are not left out."""
        files = [*self.staged.get(table, [])]
        if not files:
            files = [self.work / f"no-{table}.parquet"]
            write_parquet(pl.DataFrame(schema=TABLES[table]), files[0])
        left_out = match_sources(self._sources(table), self.rules.without_sources) if self.rules.without_sources else []
        return relations.without(self.session.scan(files), _source_column(table), left_out)

    def _files(self, table: str) -> list[Path]:
        """Return the files of a table without the rows that are left out; none where there is no row."""
        if not self.staged.get(table):
            return []
        if not match_sources(self._sources(table), self.rules.without_sources):
            return [*self.staged[table]]
        file = self._file(f"left-{table}", self._rows(table))
        return [file] if height(file) else []

    def _resolve(self, table: str) -> Frame:
        return relations.resolve(self._rows(table), "entity", self._scan("resolution"))

    def _sources(self, table: str) -> list[str | None]:
        column = _source_column(table)
        if not self.staged.get(table):
            return []
        return pl.scan_parquet(list(self.staged[table])).select(column).unique().collect()[column].to_list()

    # What a stage writes -----------------------------------------------------------------------------------------

    def _place(self, name: str) -> Path:
        """Return the file of a part of the knowledge base, or of what only later stages need."""
        return (self.to if name in SORTED_BY else self.work) / f"{name}.parquet"

    def _file(self, name: str, rows: Frame, *sort_by: str) -> Path:
        """Return the file with these rows, written unless it is there."""
        file = self._place(name)
        if not file.exists():
            self.session.write(rows, file, sort_by)
        return file

    def _write(self, name: str, rows: Frame) -> Frame:
        return self.session.scan([self._file(name, rows)])

    def _scan(self, name: str) -> Frame:
        return self.session.scan([self._place(name)])


def _source_column(table: str) -> str:
    return "origin" if "origin" in TABLES[table] else "source"


def _place_published(highest: Path, to: Path) -> None:
    """Write published scores of entities (entity, pagerank, hits, hub) with their places; a score of 0 is none."""
    positive = (pl.when(pl.col(score) > 0).then(pl.col(score)).alias(score) for score in SCORES)
    degrees = (pl.lit(None, pl.Int64).alias(degree) for degree in ("in_degree", "out_degree"))
    scores = pl.read_parquet(highest).select("entity", *degrees, *positive)
    for score in SCORES:
        scores = add_ranks(scores, score)
    with aside_of(to) as aside:
        write_parquet(scores.sort("entity"), aside)
        aside.replace(to)


def _sources_in(file: Path) -> list[str]:
    rows = pl.scan_parquet(file).select(pl.col("source").drop_nulls().unique().sort())
    return rows.collect()["source"].to_list()


def _first(file: Path) -> dict[str, object]:
    """Return how many rows a sorted file of one column has, and the first ten."""
    first = pl.scan_parquet(file).head(SHOWN).collect()
    return {"count": height(file), "first": first.to_series().to_list()}
