"""Measures of frames in parts: what `compute` gives on all of them together, in memory for some of them at a time.

The frames pass twice. First the sets of the whole dataset are gathered: which entities a form means and which forms
an entity has (E^D, S^D), what comes first where, and how values are distributed. Then each batch of parts is measured
as part of that whole; averages are made of sums (`_averages`), those of each form and entity wait on disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from remix.errors import BadInput
from remix.expressions import sum_up
from remix.frames import Frames
from remix.frames_folder import FramesFolder
from remix.measures._averages import Sums, Units, add_sums, averages, means_of_units
from remix.measures._threads import in_order
from remix.measures.codes import Numbers
from remix.measures.corpus import Corpus
from remix.measures.declaration import Summary
from remix.measures.measured import Measured
from remix.measures.measurement import MeasureChoice, measured_of, sum_up_part
from remix.measures.whole import GatheredSets, Whole, gather_sets, merge_sets
from remix.progress import moving

BATCH = 250_000
"""How many annotations are in a batch, of which each thread has one in memory."""

UNITS = 1_000_000
"""About how many forms or entities have their sums in memory at a time."""

_NOT_MEASURED = ("given", "confidence", "entity_as_given", "language", "source")
_NOT_OF_SETS = (*_NOT_MEASURED, "option", "text", "begin", "end", "is_nil", "class")
"""Columns that the measures do not need; and that the sets of the dataset do not, unless texts have regions."""

Take = Callable[[Measured, range], None]


def compute_parts(
    folder: FramesFolder, chosen: MeasureChoice, *, take: Take | None = None, batch: int = BATCH
) -> Measured:
    """Return the measures of the dataset; `take` is given those of documents and annotations, batch by batch.

    What is returned holds no documents and no annotations. Values are those of `compute` on all parts together (sums
    of fractions may differ in the last digit, since they are added in another order). `batch` is how many annotations
    each thread has in memory at a time. Values do not depend on the number of threads; `take` is called in the one of
    the caller, in the order of the batches. Raises `BadInput` for a folder without parts.
    """
    batches = _Batches(folder, list(folder.batches(batch)))
    if not batches.numbers:
        raise BadInput(
            str(folder.path), "the folder of frames has no part: write it again with `remix load --to frames`"
        )
    empty = Corpus(Frames.empty(), chosen.basis)
    whole = _gather(batches, empty)
    summaries = chosen.summaries
    sums: list[Sums] = []

    def measure_part(number: int) -> tuple[range, Sums, Measured | None]:
        part = batches.part(number, _NOT_MEASURED, empty, whole)
        values, documents, of_part = sum_up_part(part, chosen)
        taken = measured_of(part, chosen, values, documents) if take else None
        return batches.numbers[number], of_part, taken

    with (
        tempfile.TemporaryDirectory(prefix="remix-") as place,
        moving("measures", len(batches.numbers), " batches") as done,
    ):
        waiting = _Units(Path(place), {"key": whole.sets.forms.height, "entity": whole.sets.entities.height})

        def keep_part(part: tuple[range, Sums, Measured | None]) -> None:
            numbers, of_part, taken = part
            if take and taken:
                take(taken, numbers)
            waiting.add(of_part.units)
            sums.append(replace(of_part, units={}))
            done(1)

        in_order(measure_part, range(len(batches.numbers)), keep_part)
        datasets = averages(summaries, add_sums(sums), waiting.means(summaries))
    values, documents, _ = sum_up_part(empty, chosen)
    return measured_of(empty, chosen, values, documents, datasets)


@dataclass(frozen=True)
class _Batches:
    """A folder of frames, and the numbers of the parts that make up each batch."""

    folder: FramesFolder
    numbers: list[range]

    def frames(self, number: int, without: Iterable[str]) -> Frames:
        """Return the frames of a batch without some columns; the dataset is called by its name."""
        frames = self.folder.read(self.numbers[number], without=tuple(without))
        name = pl.col("dataset").replace({str(self.folder.manifest["iri"]): self.folder.name})
        return replace(
            frames, documents=frames.documents.with_columns(name), annotations=frames.annotations.with_columns(name)
        )

    def part(self, number: int, without: Iterable[str], empty: Corpus, whole: Whole | None = None) -> Corpus:
        """Return a batch as a part of a whole; its knowledge base, choices and codes are those of `empty`."""
        return Corpus(
            self.frames(number, without),
            empty.basis,
            codes=replace(empty.codes, documents=Numbers()),
            whole=whole,
            batch=number,
        )


def _gather(batches: _Batches, empty: Corpus) -> Whole:
    """Return the dataset as a whole, after the knowledge base was asked; `empty` is a corpus without annotations."""
    gathered: list[GatheredSets] = []
    unread = _NOT_MEASURED if (batches.folder.path / "regions").exists() else _NOT_OF_SETS

    def sets(number: int) -> GatheredSets:
        return gather_sets(batches.part(number, unread, empty).sets)

    with moving("sets of the dataset", len(batches.numbers), " batches") as done:

        def keep_part(part: GatheredSets) -> None:
            gathered.append(part)
            # Merged with each batch anew, the sets of all would be grouped as often as there are batches.
            first, *others = (sets.links.height for sets in gathered)
            if sum(others) > first:
                gathered[:] = [merge_sets(gathered)]
            done(1)

        in_order(sets, range(len(batches.numbers)), keep_part)
    whole = Whole(merge_sets(gathered), empty.basis)
    whole.ask()
    return whole


class _Units:
    """The sums of each form and entity, on disk until all batches are in."""

    def __init__(self, folder: Path, heights: Mapping[str, int]) -> None:
        self.folder = folder
        self._shares = {unit: 1 + height // UNITS for unit, height in heights.items()}
        self._files: dict[str, dict[int, list[Path]]] = {}

    def add(self, units: Units) -> None:
        """Set the sums of a batch aside, in shares by their names: codes are given as threads ask for them."""
        for unit, rows in units.items():
            shares = rows.with_columns((pl.col("unit").hash() % self._shares[unit]).alias(":share")).drop("unit")
            for (share,), part in shares.partition_by(":share", as_dict=True, include_key=False).items():
                files = self._files.setdefault(unit, {}).setdefault(int(share), [])
                file = self.folder / f"{unit}-{share}-{len(files)}.arrow"
                part.write_ipc(file, compression="lz4")
                files.append(file)

    def means(self, summaries: list[Summary]) -> Units:
        """Return the sums over distinct units, share by share of these, for `averages`."""
        means: Units = {}
        for unit, shares in self._files.items():
            found = []
            for _, files in sorted(shares.items()):
                parts = pl.concat(pl.read_ipc(file) for file in files)
                rows = sum_up(parts, ["dataset", "code"], pl.all().sum())
                found.append(means_of_units(summaries, {unit: rows})[unit])
            means[unit] = sum_up(pl.concat(found), "dataset", pl.all().sum())
        return means
