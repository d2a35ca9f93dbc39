"""Measures of frames in parts: what `compute` gives on all of them together, in memory for some of them at a time.

The frames pass twice. First the sets of the whole dataset are gathered: which entities a form means and which forms
an entity has (E^D, S^D), what comes first where, and how values are distributed. Then each batch of parts is measured
as part of that whole; averages are made of sums (`_averages`), those of each form and entity wait on disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from remix.frames import Frames
from remix.frames_folder import FramesFolder
from remix.kb import KnowledgeBase
from remix.measures import choice_of, measured_of, measured_tables
from remix.measures._averages import Sums, Units, added, averages, means_of_units, summed
from remix.measures._corpus import Corpus
from remix.measures._declaration import Measure, Summary
from remix.measures._measured import Measured
from remix.measures._percentiles import percentiles_of
from remix.progress import moving

__all__ = ["BATCH", "Whole", "compute_parts", "gathered"]

BATCH = 250_000
"""How many annotations are in memory at a time."""

UNITS = 1_000_000
"""How many forms or entities have their sums in memory at a time."""

Take = Callable[[Measured, range], None]


class Whole(Corpus):
    """The sets of a whole dataset: `links` has each form with each of its entities once, instead of annotations.

    `firsts` says for `key` and `entity` in which batch a value comes first; `counts` how often each value of a
    column that has percentiles comes.
    """

    def __init__(self, corpus: Corpus, sets: Sets) -> None:
        super().__init__(Frames.empty(), corpus.kb, reference=corpus.reference, case_sensitive=corpus.case_sensitive)
        self.__dict__["_keyed"] = sets.forms
        self.__dict__["_linked"] = sets.links.join(self._forms, on=["scope", "key"], how="left", maintain_order="left")
        self.firsts = {
            "key": sets.forms.select("dataset", "key", "batch"),
            "entity": sets.entities.select("dataset", "entity", "batch"),
        }
        self.percentiles = {column: percentiles_of(column, counts) for column, counts in sets.documents.items()}
        for column, rows, codes, sizes, side in (
            ("union_entities", sets.forms, self._forms, self.form_sizes, "key"),
            ("union_forms", sets.entities.drop_nulls("entity"), self._entities, self.entity_sizes, "entity"),
        ):
            code = sizes.columns[0]
            named = codes.select("scope", side, code).join(sizes.select(code, column), on=code)
            sized = rows.join(named, on=["scope", side], how="left")
            counts = sized.group_by(pl.col(column).fill_null(0)).agg(pl.col("count").sum())
            self.percentiles[column] = percentiles_of(column, counts)


@dataclass(frozen=True)
class Sets:
    """What the first pass gathers.

    `links`: scope, dataset, key, entity. `forms` and `entities`: scope, dataset, the value, batch (where it comes
    first) and count (of annotations). `documents`: how often each value of a documents' column comes.
    """

    links: pl.DataFrame
    forms: pl.DataFrame
    entities: pl.DataFrame
    documents: dict[str, pl.DataFrame]


class Part(Corpus):
    """Some documents of a dataset, measured as part of the whole."""

    def __init__(self, frames: Frames, whole: Whole, batch: int) -> None:
        super().__init__(frames, whole.kb, reference=whole.reference, case_sensitive=whole.case_sensitive)
        self.whole = whole
        self.batch = batch
        # The codes are those of the whole, so that its sizes and candidates hold here.
        forms = whole._forms.join(self._keyed.select("scope", "key").unique(), on=["scope", "key"], how="semi")
        self.__dict__ |= {"_forms": forms, "_derived": whole._derived}
        linked = self._linked.select("scope", "entity").unique()
        entities = whole._entities.join(linked, on=["scope", "entity"], how="semi")
        self.__dict__ |= {
            "_entities": entities,
            "form_sizes": whole.form_sizes.join(forms, on="form_code", how="semi"),
            "entity_sizes": whole.entity_sizes.join(entities, on="entity_code", how="semi"),
        }

    @cached_property
    def dictionary(self) -> pl.DataFrame:
        """Return W_E for the names of this part."""
        return self.whole.dictionary.join(self._forms, on="name_code", how="semi")

    @cached_property
    def candidates(self) -> pl.DataFrame:
        """Return the candidates of the names of this part."""
        return self.whole.candidates.join(self._forms, on="name_code", how="semi")

    @cached_property
    def leading(self) -> pl.DataFrame:
        """Return the candidates of the names of this part that rank first."""
        return self.whole.leading.join(self._forms, on="name_code", how="semi")

    def with_percentiles(self, rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Return rows with the percentile of each column among all that is measured, in this batch or another."""
        for column in columns:
            rows = rows.join(self.whole.percentiles[column], on=column, how="left", maintain_order="left")
        return rows

    def first_in_dataset(self, column: str) -> pl.Series:
        """Return for each of `annotations` whether it is the first of the whole dataset with its value of a column."""
        rows = self.annotations.select("dataset", column, here=super().first_in_dataset(column))
        known = self.whole.firsts[column]
        joined = rows.join(known, on=["dataset", column], how="left", nulls_equal=True, maintain_order="left")
        return joined.select(pl.col("here") & (pl.col("batch") == self.batch)).to_series()


def compute_parts(
    folder: FramesFolder,
    kb: KnowledgeBase | None,
    *,
    reference: str = "dataset",
    case_sensitive: bool = False,
    without_sources: Iterable[str] = (),
    measures: Iterable[str] | None = None,
    take: Take | None = None,
    batch: int = BATCH,
) -> Measured:
    """Return the measures of the dataset; `take` is given those of documents and annotations, batch by batch.

    What is returned holds no documents and no annotations. Values are those of `compute` on all parts together (sums
    of fractions may differ in the last digit, since they are added in another order). The parameters and errors are
    those of `compute`; `batch` is how many annotations are in memory at a time.
    """
    chosen = choice_of(kb, reference, case_sensitive, without_sources, measures)
    named = {str(folder.manifest["iri"]): folder.name}
    batches = list(folder.batches(batch))

    def corpus(numbers: range) -> Corpus:
        frames = _named(folder.read(numbers), named)
        return Corpus(frames, chosen.kb, reference=reference, case_sensitive=case_sensitive)

    with moving("sets of the dataset", len(batches), " batches") as done:
        whole = gathered((corpus(numbers) for numbers in batches), done)
    summaries = chosen.summaries
    with tempfile.TemporaryDirectory(prefix="remix-") as place, moving("measures", len(batches), " batches") as done:
        waiting = _Units(Path(place), sum(rows.height for rows in whole.firsts.values()))
        sums: list[Sums] = []
        for number, numbers in enumerate(batches):
            part = Part(corpus(numbers).frames, whole, number)
            values, tables = measured_tables(part, chosen.measures)
            documents, summed_up = summed(summaries, tables)
            if take is not None:
                take(measured_of(part, chosen, values, documents, _NO_AVERAGES), numbers)
            waiting.add(summed_up.units)
            sums.append(replace(summed_up, units={}))
            done(1)
        datasets = averages(summaries, added(sums), waiting.means(summaries))
    empty = Corpus(Frames.empty(), chosen.kb, reference=reference, case_sensitive=case_sensitive)
    return measured_of(empty, chosen, *_nothing(empty, chosen.measures, summaries), datasets)


_NO_AVERAGES = pl.DataFrame(
    schema={
        "dataset": pl.String,
        "measure": pl.String,
        "average": pl.String,
        "value": pl.Float64,
        "coverage": pl.Float64,
    }
)


def _nothing(
    empty: Corpus, measures: tuple[Measure, ...], summaries: list[Summary]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    values, tables = measured_tables(empty, measures)
    return values, summed(summaries, tables)[0]


def _named(frames: Frames, names: dict[str, str]) -> Frames:
    name = pl.col("dataset").replace(names)
    return replace(
        frames, documents=frames.documents.with_columns(name), annotations=frames.annotations.with_columns(name)
    )


def gathered(parts: Iterable[Corpus], done: Callable[[int], None]) -> Whole:
    """Return the sets of the whole dataset of which these are the parts, one after another."""
    found: Sets | None = None
    for number, part in enumerate(parts):
        new = _sets(part, number)
        found = new if found is None else _together(found, new)
        last = part
        done(1)
    assert found is not None
    return Whole(last, found)


def _sets(corpus: Corpus, batch: int) -> Sets:
    mentions = corpus._mentions.join(corpus.principal, on="row", how="left", maintain_order="left")
    forms, entities = (
        mentions.group_by("scope", "dataset", side, maintain_order=True).agg(
            batch=pl.lit(batch, pl.Int64), count=pl.len().cast(pl.Int64)
        )
        for side in ("key", "entity")
    )
    documents = corpus.counted_documents
    counts = {
        column: documents.group_by(column).agg(count=pl.len().cast(pl.Int64)).drop_nulls()
        for column in ("mentions", "density")
    }
    links = corpus.links.select("scope", "dataset", "key", "entity").unique(maintain_order=True)
    return Sets(links, forms, entities, counts)


def _together(one: Sets, two: Sets) -> Sets:
    def merged(a: pl.DataFrame, b: pl.DataFrame, side: str) -> pl.DataFrame:
        keys = ["scope", "dataset", side]
        return pl.concat([a, b]).group_by(keys, maintain_order=True).agg(pl.col("batch").min(), pl.col("count").sum())

    documents = {
        column: pl.concat([counts, two.documents[column]]).group_by(column).agg(pl.col("count").sum())
        for column, counts in one.documents.items()
    }
    return Sets(
        pl.concat([one.links, two.links]).unique(maintain_order=True),
        merged(one.forms, two.forms, "key"),
        merged(one.entities, two.entities, "entity"),
        documents,
    )


class _Units:
    """The sums of each form and entity, on disk until all batches are in."""

    def __init__(self, folder: Path, expected: int) -> None:
        self.folder = folder
        self.shares = 1 + expected // UNITS
        self._keys: dict[tuple[str, str], int] = {}
        self._batches = 0

    def add(self, units: Units) -> None:
        """Set the sums of a batch aside."""
        for number, (key, rows) in enumerate(units.items()):
            self._keys[key] = number
            share = (pl.col(key[1]).hash(0) % self.shares).alias(":share")
            for (place,), part in (
                rows.with_columns(share).partition_by(":share", as_dict=True, include_key=False).items()
            ):
                part.write_ipc(self.folder / f"{number}-{place}-{self._batches}.arrow", compression="lz4")
        self._batches += 1

    def means(self, summaries: list[Summary]) -> Units:
        """Return what the averages over distinct units are made of."""
        means: Units = {}
        for key, number in self._keys.items():
            shares = []
            for place in range(self.shares):
                files = [self.folder / f"{number}-{place}-{batch}.arrow" for batch in range(self._batches)]
                parts = [pl.read_ipc(file) for file in files if file.exists()]
                if parts:
                    rows = pl.concat(parts).group_by("dataset", key[1], maintain_order=True).agg(pl.all().sum())
                    shares.append(means_of_units(summaries, {key: rows})[key])
            if shares:
                means[key] = pl.concat(shares).group_by("dataset", maintain_order=True).agg(pl.all().sum())
        return means
