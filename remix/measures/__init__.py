"""Measures of datasets, documents and annotations: one file a measure in `definitions`, found by scanning.

`compute` applies all of them; averages are derived in `_averages`, triples in `measured`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Unpack

from remix.frames import Frames
from remix.kb import KnowledgeBase
from remix.measures._averages import compute_averages
from remix.measures._hfts import tables as hfts_tables
from remix.measures.corpus import Corpus
from remix.measures.declaration import AVERAGES, Column, Measure, Summary
from remix.measures.measured import LOW_COVERAGE, Measured
from remix.measures.measurement import (
    MEASURES,
    Measuring,
    choice_of,
    column_named,
    measure_named,
    measured_of,
    measured_tables,
    prepare_kb,
    signature_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from remix.frames_folder import FramesFolder
    from remix.measures._spark import MeasuredTable

__all__ = [
    "AVERAGES",
    "LOW_COVERAGE",
    "MEASURES",
    "column_named",
    "measure_named",
    "Column",
    "Measure",
    "Measured",
    "Measuring",
    "Summary",
    "compute",
    "compute_folder",
    "compute_table",
    "prepare_kb",
    "signature_of",
]


def compute(
    frames: Frames,
    kb: KnowledgeBase | None,
    *,
    reference: str = "dataset",
    case_sensitive: bool = False,
    without_sources: Iterable[str] = (),
    with_gold: bool = False,
    measures: Iterable[str] | None = None,
    profile: str = "remix",
    within: Frames | None = None,
) -> Measured:
    """Return the values of all measures, or of those named, on these datasets.

    Ignorable annotations are not counted. Rows of the knowledge base that were derived from a gold standard (source
    `gold:…`) are left out unless they are asked for (`with_gold`), since they make measures of gold circular, and so
    are those of `without_sources`; an entity that is known through such rows alone is unknown. `reference` says what D
    is in the formulas: the annotation's own `dataset`, or the `union` of all given. Measures that need a knowledge
    base are skipped and named where there is none. The profile `hfts` follows that library instead of the formulas (see
    `_hfts`). `within` is what D consists of where it is not what is measured, as for the answers of a system.
    Raises `UsageError` for an unknown reference, profile or measure.
    """
    kb = prepare_kb(kb, case_sensitive, without_sources, with_gold)
    chosen = choice_of(kb, reference, case_sensitive, measures, profile)
    corpus = Corpus(frames, chosen.kb, reference=reference, case_sensitive=case_sensitive, within=within)
    corpus.whole.ask()
    values, tables = measured_tables(corpus, chosen.measures)
    if profile == "hfts":
        tables |= hfts_tables(corpus, values)
    documents, datasets = compute_averages(chosen.summaries, tables, empty=0.0 if profile == "hfts" else None)
    return measured_of(corpus, chosen, values, documents, datasets)


def compute_folder(
    folder: FramesFolder, kb: KnowledgeBase | None, *, engine: str = "polars", **choices: Unpack[Measuring]
) -> Measured:
    """Return the measures of the dataset in a folder of frames, computed part by part, or on Spark (`engine`).

    What is returned holds no documents and no annotations. `choices` are `reference`, `case_sensitive`,
    `without_sources`, `with_gold` and `measures` of `compute`, with its errors. Raises `BadInput` for a folder without
    parts, `Error` for Spark without PySpark or Java.
    """
    if engine == "spark":
        from remix.measures import _spark  # with the engine, which is an extra

        return _spark.compute_folder(folder, kb, **choices)
    from remix.measures import _parts  # with threads and temporary files, which frames in memory do not need

    return _parts.compute_parts(folder, kb, **choices)


def compute_table(
    tables: Mapping[str, DataFrame], kb: KnowledgeBase | None, **choices: Unpack[Measuring]
) -> MeasuredTable:
    """Return the values of measures on tables of Spark, which `compute` takes as frames, in tables of Spark.

    The tables are documents and annotations, and where there are, links, classes and regions, with the columns of the
    frames (`remix.frames`); those that may be null may lack. `choices` are `reference`, `case_sensitive`,
    `without_sources`, `with_gold` and `measures` of `compute`. Raises `UsageError` as that, and for a table that is
    none of these.
    """
    from remix.measures import _spark  # with the engine, which measuring frames does not need

    return _spark.compute_table(tables, kb, **choices)
