"""Some documents of a table, measured as part of it: what each worker does with the batches that it is given.

A row of a batch is a document with all that is said of it, so measures within documents, as overlap, need nothing
else; the sizes of the sets of the whole table come with each annotation (`sets`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from remix.frames import Frames
from remix.measures._averages import Sums, means_of_units
from remix.measures._threads import cached_property, shared_property
from remix.measures.coded import Basis
from remix.measures.codes import pair_codes
from remix.measures.corpus import Corpus
from remix.measures.measurement import MeasureChoice, measured_of, sum_up_part
from remix.measures.whole import Whole

if TYPE_CHECKING:
    import pyarrow

Schema = Mapping[str, pl.DataType]
Percentiles = Mapping[str, pl.DataFrame]
"""Small frames of the whole table, by column: each value with its percentile."""
NESTED = ("annotations", "links", "classes", "regions")
"""The frames whose rows come nested in their document."""

MENTIONS: Schema = {
    **dict.fromkeys(("kind", "document", "annotation", "dataset", "scope", "key", "entity"), pl.String()),
    "mentions": pl.Int64(),
    "count": pl.Int64(),
    "density": pl.Float64(),
}
"""What the first pass gives: rows of the kinds mention, with its entity, link, with its `count`, and document."""

SUMS: Schema = {"part": pl.Int64(), "dataset": pl.String(), "unit": pl.String(), "numbers": pl.List(pl.Float64())}


class _TableWhole(Whole):
    """The whole table, of which a batch has some documents: sizes of sets and percentiles come with the batch."""

    def __init__(self, corpus: Corpus, sets: pl.DataFrame, percentiles: Percentiles) -> None:
        super().__init__(corpus.sets, corpus.basis)
        self._sizes_given, self._percentiles = sets, percentiles

    @shared_property
    def form_sizes(self) -> pl.DataFrame:
        """Return the sizes of the sets of the forms; see `Whole.form_sizes`."""
        return self._look_up_sizes(self.forms, "key", "entities")

    @shared_property
    def entity_sizes(self) -> pl.DataFrame:
        """Return the sizes of the sets of the entities; see `Whole.entity_sizes`."""
        return self._look_up_sizes(self.sets.entities, "entity", "forms")

    def _look_up_sizes(self, codes: pl.DataFrame, side: str, what: str) -> pl.DataFrame:
        return self._look_up(codes, side, [f"{of}_{what}" for of in ("w", "d", "common", "union")])

    def _look_up(self, codes: pl.DataFrame, side: str, columns: Sequence[str]) -> pl.DataFrame:
        known = self._sizes_given.select("scope", side, *columns).drop_nulls(side).unique()
        return codes.join(known, on=["scope", side], how="left", maintain_order="left").select(columns)

    @shared_property
    def form_frequencies(self) -> pl.DataFrame:
        """Return frequency and entropy of the forms; see `Whole.form_frequencies`."""
        return self._look_up(self.forms, "key", ("form_frequency", "form_entropy"))

    @shared_property
    def entity_frequencies(self) -> pl.Series:
        """Return the frequency of the entities; see `Whole.entity_frequencies`."""
        return self._look_up(self.sets.entities, "entity", ("entity_frequency",))["entity_frequency"]

    @shared_property
    def meaning_ranks(self) -> pl.DataFrame:
        """Return the ranks of the entities of forms; see `Whole.meaning_ranks`."""
        known = self._sizes_given.select("scope", "key", "entity", rank="meaning_rank").drop_nulls().unique()
        coded = known.join(self.forms, on=["scope", "key"]).join(self.sets.entities, on=["scope", "entity"])
        return coded.select(pair_codes(coded, "form_code", "entity_code"), "rank").sort("pair")

    def percentiles(self, column: str) -> pl.DataFrame:
        """Return each value of a column with its percentile."""
        return self._percentiles[column]


class _Batch(Corpus):
    """Documents of a table with the sizes of the sets of the whole table."""

    def __init__(self, frames: Frames, basis: Basis, sets: pl.DataFrame, percentiles: Percentiles) -> None:
        super().__init__(frames, basis)
        self._sets, self._percentiles = sets, percentiles

    @cached_property
    def whole(self) -> Whole:
        """Return the whole table as this batch knows it."""
        return _TableWhole(self, self._sets, self._percentiles)

    def first_in_dataset(self, column: str) -> pl.Series:
        """Return for each of `annotations` whether it is the first of the whole dataset with its value of a column."""
        first = self._sets.select("annotation", first=f"first_{column}")
        joined = self.annotations.select("annotation").join(first, on="annotation", how="left", maintain_order="left")
        return joined["first"]


def frames_of(batch: pl.DataFrame) -> Frames:
    """Return the frames of documents, one a row, with their annotations, links, classes and regions nested."""
    nested = {name: _unnest(batch, name) for name in NESTED}
    links, classes = (nested[name].drop("document") for name in ("links", "classes"))
    documents = batch.select(pl.exclude(*NESTED, "sets"))
    return Frames.of(
        documents=documents, annotations=nested["annotations"], links=links, classes=classes, regions=nested["regions"]
    )


def _unnest(batch: pl.DataFrame, column: str) -> pl.DataFrame:
    return batch.select("document", column).explode(column).drop_nulls(column).unnest(column)


def mentions_of(chosen: MeasureChoice, batch: pl.DataFrame) -> pl.DataFrame:
    """Return what a batch has of the sets of the whole table, which the first pass gathers (`MENTIONS`)."""
    corpus = Corpus(frames_of(batch), chosen.basis)
    columns = ["document", "annotation", "dataset", "scope", "key", "entity"]
    parts = {
        "mention": corpus.linked_mentions.select(columns),
        "link": corpus.linked.group_by("scope", "key", "entity").agg(count=pl.len().cast(pl.Int64)),
        "document": corpus.counted_documents.select("document", "mentions", "density"),
    }
    rows = [part.with_columns(kind=pl.lit(kind)) for kind, part in parts.items()]
    return pl.concat(rows, how="diagonal").select(list(MENTIONS))


def results_of(chosen: MeasureChoice, percentiles: Percentiles, batch: pl.DataFrame) -> pl.DataFrame:
    """Return a row a document with its values, and those of its annotations and classes; and one row with `sums`."""
    corpus = _Batch(frames_of(batch), chosen.basis, _unnest(batch, "sets"), percentiles)
    values, documents, sums = sum_up_part(corpus, chosen)
    measured = measured_of(corpus, chosen, values, documents)
    place = measured.annotations.select("annotation", "document")
    nested = measured.documents.select("document", "dataset", values=pl.struct(pl.exclude("document", "dataset")))
    for name, rows in (
        ("annotations", measured.annotations),
        ("classes", measured.classes.join(place, on="annotation")),
    ):
        lists = rows.group_by("document").agg(pl.struct(pl.exclude("document")).alias(name))
        nested = nested.join(lists, on="document", how="left")
    rows = _list_sums(sums)
    return pl.concat([nested, rows.select(sums=pl.struct(pl.all()).implode())], how="diagonal")


def sums_parts(sums: Sums) -> list[tuple[str, pl.DataFrame]]:
    """Return the parts of sums in one order: what they are of, and the frame."""
    return [*sums.pooled.items(), *sums.units.items(), ("macro", sums.macro)]


def _list_sums(sums: Sums) -> pl.DataFrame:
    rows = []
    for number, (_, frame) in enumerate(sums_parts(sums)):
        rows.append(
            frame.select(
                part=pl.lit(number, pl.Int64),
                dataset="dataset",
                unit="unit" if "unit" in frame.columns else pl.lit(None, pl.String),
                numbers=pl.concat_list(pl.col(name).cast(pl.Float64) for name in numbers_of(frame)),
            )
        )
    return pl.concat(rows)


def numbers_of(frame: pl.DataFrame) -> list[str]:
    """Return the columns of sums that are numbers which add up; codes differ from batch to batch."""
    return [name for name in frame.columns if name not in ("dataset", "unit", "code")]


def totals_of(chosen: MeasureChoice, unit: str, columns: Sequence[str], batch: pl.DataFrame) -> pl.DataFrame:
    """Return dataset and numbers: what the averages over the units of a batch, each summed up, are made of."""
    totals = means_of_units(chosen.summaries, {unit: batch.select("dataset", *columns)})[unit]
    return totals.select("dataset", numbers=pl.concat_list(pl.exclude("dataset").cast(pl.Float64)))


def in_arrow(
    work: Callable[[pl.DataFrame], pl.DataFrame], schema: pyarrow.Schema
) -> Callable[[Iterable[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """Return what Spark's mapInArrow takes: the work on each batch, as polars frames."""

    def map_batches(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                rows = pl.DataFrame(pl.from_arrow(batch))
                yield from work(rows).select(schema.names).to_arrow().cast(schema).to_batches()

    return map_batches
